"""The target's code and what a blacklist names stay out, whatever they are called."""

from __future__ import annotations

import pytest

from lineage.code_links.exclusion import Exclusion
from lineage.records import CodeLink, Tier, Work, WorkId

TARGET = Work(WorkId("arxiv:2504.17192"), title="Paper2Code", aliases=(WorkId("doi:10.1/p2c"),))
OWN = WorkId("repo:github.com/going-doer/Paper2Code")


def link(paper="arxiv:2504.17192", repo=OWN, tier=Tier.OFFICIAL):
    return CodeLink(WorkId(paper), WorkId(repo), tier, said_by=("latex",))


def repo(name, aliases=(), **meta):
    return Work(WorkId(f"repo:github.com/{name}"), "code", name, aliases=tuple(WorkId(f"repo:github.com/{a}") for a in aliases), meta=meta)


def test_nothing_is_excluded_unless_asked():
    nothing = Exclusion.of((), target=TARGET)
    assert nothing.reason(link()) == ""
    assert nothing.reason_for_work(repo("going-doer/Paper2Code")) == ""
    assert nothing.reason_for_content({"a", "b", "c"}) == ""


def test_the_targets_own_repository_is_excluded_with_its_witness():
    assert Exclusion.of((), no_target_code=True, target=TARGET).reason(link()) == "the target's own code (official, said by latex)"


def test_another_identifier_of_the_target_is_the_target():
    assert Exclusion.of((), no_target_code=True, target=TARGET).reason(link("doi:10.1/p2c")) != ""


def test_a_repository_that_the_target_only_mentions_stays():
    assert Exclusion.of((), no_target_code=True, target=TARGET).reason(link(tier=Tier.MENTIONED)) == ""


def test_code_of_a_cited_paper_stays():
    assert Exclusion.of((), no_target_code=True, target=TARGET).reason(link("arxiv:2107.03374", WorkId("repo:github.com/openai/human-eval"))) == ""


def test_forks_and_renames_of_the_targets_code_are_found_by_name():
    told = Exclusion.of((), no_target_code=True, target=TARGET).knowing([link()])
    assert told.reason_for_work(repo("GOING-DOER/paper2code")) == "github.com/going-doer/paper2code is the target's own code"
    assert told.reason_for_work(repo("someone/p2c", fork_of="going-doer/Paper2Code")).startswith("a fork of github.com/going-doer/paper2code")
    assert told.reason_for_work(repo("new-lab/p2c", aliases=["going-doer/Paper2Code"])) != ""
    assert told.reason_for_work(repo("someone/else")) == ""


def test_a_copy_under_another_name_is_found_by_its_files():
    told = Exclusion.of((), no_target_code=True, target=TARGET).knowing(content={f"h{i}" for i in range(10)})
    assert told.reason_for_content({"h1", "h2", "h3", "x"}) == "3 of its 4 files are files of the target's own code"
    assert told.reason_for_content({"h1", "h2", *"abcdefgh"}) == ""
    assert told.reason_for_content({"h1", "h2", "h3", *(f"y{i}" for i in range(90))}) != ""


FILE = ["https://github.com/Foo/Bar.git", "", "# a comment", "none", "www.example.org/project/"]


@pytest.mark.parametrize(
    ("url", "out"),
    [
        ("https://github.com/foo/bar", True),
        ("https://github.com/foo/bar/tree/main/src", True),
        ("git@github.com:foo/bar.git", True),
        ("https://raw.githubusercontent.com/foo/bar/main/a.py", False),
        ("https://github.com/foo/bar-plus", False),
        ("https://github.com/xfoo/bar", False),
        ("http://example.org/project/page", True),
    ],
)
def test_a_blacklist_line_covers_an_address_and_what_lies_under_it(url, out):
    assert bool(Exclusion.of(FILE).reason_for_url(url)) is out


def test_an_owner_on_the_blacklist_covers_all_of_the_owners_repositories():
    assert Exclusion.of(["github.com/foo"]).reason_for_work(repo("Foo/anything")) == "on the blacklist: github.com/foo"
    assert Exclusion.of(["github.com/foo"]).reason_for_work(repo("foobar/anything")) == ""


def test_a_fork_of_what_is_on_the_blacklist_is_excluded():
    assert (
        Exclusion.of(FILE).reason_for_work(repo("me/bar", fork_of="foo/bar")) == "a fork of github.com/foo/bar: on the blacklist: github.com/foo/bar"
    )


def test_the_reason_for_a_link_names_the_blacklist_line():
    assert Exclusion.of(FILE).reason(link("arxiv:1", WorkId("repo:github.com/foo/Bar"))) == "on the blacklist: github.com/foo/bar"


@pytest.mark.parametrize(
    "line",
    [
        "https://github.com/A/B",
        "  HTTP://www.GitHub.com/a/b.git/  ",
        "git@github.com:a/b.git",
        "git+https://github.com/a/b",
        "ssh://git@github.com/a/b",
        "git://github.com/a/b",
        "a/b",
    ],
)
def test_a_blacklist_line_may_be_written_as_any_address_of_the_repository(line):
    assert Exclusion.of([line]).reason_for_work(repo("A/B")).startswith("on the blacklist: ")


@pytest.mark.parametrize("line", ["", "   ", "none", "NONE", "n/a", "# github.com/a/b", "https://", "www."])
def test_a_line_that_names_nothing_excludes_nothing(line):
    assert Exclusion.of([line]).fragments == ()


@pytest.mark.parametrize(
    ("fragment", "url", "out"),
    [
        ("a/b", "https://github.com/a/b/tree/main", True),
        ("a/b", "https://github.com/a/b.git", True),
        ("a/b", "https://github.com/a/b?tab=readme", True),
        ("a/b", "https://github.com/a/b#usage", True),
        ("a/b", "https://github.com/xa/b", False),
        ("a/b", "https://github.com/a/bc", False),
        ("a/b", "https://github.com/xa/b/a/b", True),
        ("/a/b", "https://github.com/a/b", True),
        ("github.com/a", "https://notgithub.com/a", False),
        ("example.org/page", "http://www.example.org/page/", True),
    ],
)
def test_a_fragment_begins_and_ends_where_a_part_of_the_address_does(fragment, url, out):
    assert bool(Exclusion.of([fragment]).reason_for_url(url)) is out


def test_an_address_of_the_targets_own_code_is_excluded_by_its_name():
    known = Exclusion.of((), no_target_code=True, target=TARGET).knowing([link()])
    assert known.reason_for_url("https://github.com/GOING-DOER/paper2code/tree/main") == "github.com/going-doer/paper2code is the target's own code"
    assert known.reason_for_url("https://github.com/going-doer/other") == ""
    assert known.reason_for_url("not an address") == ""


def test_repositories_that_are_only_mentioned_are_not_known_as_the_targets():
    known = Exclusion.of((), no_target_code=True, target=TARGET).knowing([link(tier=Tier.MENTIONED), link("arxiv:1901.00001")])
    assert known.own == frozenset()


def test_a_paper_known_under_a_name_of_the_target_is_the_target():
    asked = Exclusion.of((), no_target_code=True, target=TARGET)
    assert asked.reason(link("s2:" + "a" * 40), Work(WorkId("s2:" + "a" * 40), aliases=(WorkId("arxiv:2504.17192"),))) != ""
    assert asked.reason(link("s2:" + "a" * 40), Work(WorkId("s2:" + "a" * 40))) == ""


def test_a_reimplementation_of_the_target_is_its_code_too():
    nobody = CodeLink(TARGET.id, OWN, Tier.REIMPLEMENTATION)
    assert Exclusion.of((), no_target_code=True, target=TARGET).reason(nobody) == "the target's own code (reimplementation, said by nobody)"


@pytest.mark.parametrize(
    ("theirs", "own", "out"),
    [("abc", "abc", True), ("ab", "abc", False), ("abcdefghij", "abcuvwxyz0", True), ("abcdefghijk", "abclmnopqrs", False), ("", "abc", False)],
)
def test_a_copy_is_three_files_and_three_tenths_of_the_smaller_side(theirs, own, out):
    known = Exclusion().knowing(content=own)
    assert bool(known.reason_for_content(frozenset(theirs))) is out


def test_what_was_known_before_stays_known():
    known = Exclusion.of((), no_target_code=True, target=TARGET).knowing([link()], content="ab").knowing(content="c")
    assert (known.own, known.content) == ({OWN.lower()}, {"a", "b", "c"})


@pytest.mark.parametrize("key", ["fork_of", "parent", "source"])
@pytest.mark.parametrize("said", ["going-doer/Paper2Code", "https://github.com/going-doer/Paper2Code", OWN])
def test_a_parent_is_known_however_the_forge_names_it(key, said):
    known = Exclusion.of(["going-doer/paper2code"])
    assert known.reason_for_work(repo("else/copy", **{key: said})).startswith("a fork of github.com/going-doer/paper2code: on the blacklist")


def test_a_parent_stands_on_the_forge_of_its_fork():
    fork = Work(WorkId("repo:gitlab.com/else/copy"), "code", meta={"fork_of": "going-doer/Paper2Code"})
    assert Exclusion.of(["gitlab.com/going-doer/Paper2Code"]).reason_for_work(fork) != ""
    assert Exclusion.of(["github.com/going-doer/Paper2Code"]).reason_for_work(fork) == ""
    assert Exclusion.of(["going-doer"]).reason_for_work(repo("else/copy", fork_of=True, parent="", source="no repository")) == ""


CITED = "arxiv:2111.06377"
BASE = WorkId("repo:github.com/base/line")


def known(*links, content=(), since=""):
    return Exclusion.of((), no_target_code=True, target=TARGET).knowing(links, content, since)


def test_a_repository_that_is_official_of_a_cited_work_too_is_that_works():
    both = known(link(), link(CITED))
    assert (both.own, both.others) == (frozenset(), {OWN.lower()})
    assert both.reason(link()) == ""
    assert both.reason_for_work(repo("going-doer/Paper2Code")) == ""


def test_a_repository_that_more_witnesses_call_the_targets_official_one_is_the_targets():
    sure = CodeLink(TARGET.id, OWN, Tier.OFFICIAL, ("latex", "huggingface", "readme"))
    assert known(sure, link(CITED)).reason(sure) != ""


@pytest.mark.parametrize("tier", [Tier.AUTHOR, Tier.REIMPLEMENTATION])
def test_an_uncertain_word_of_the_target_gives_way_to_an_official_link(tier):
    assert known(link(tier=tier), link(CITED)).reason(link(tier=tier)) == ""
    assert known(link(tier=tier), link(CITED, tier=Tier.AUTHOR)).reason(link(tier=tier)) != ""


def test_what_a_target_vendors_is_not_its_own_where_it_is_official_of_another_work():
    vendored = known(link(), link(CITED, BASE), content="abcde")
    assert vendored.reason_for_content(set("abcde"), repo("base/line")) == ""
    assert vendored.reason_for_content(set("abcde"), repo("new/name", aliases=["base/line"])) == ""
    assert vendored.reason_for_content(set("abcde"), repo("some/copy")) != ""


@pytest.mark.parametrize(
    ("meta", "out"),
    [
        ({"created": "2021-11-30T00:00:00Z"}, False),
        ({"created": "2025-04-24T00:00:00Z"}, True),
        ({"created": "2026-01-01T00:00:00Z"}, True),
        ({"created": "2021"}, False),
        ({"commit_date": "2021-11-30T00:00:00Z"}, False),
        ({"created": ""}, True),
        ({}, True),
    ],
)
def test_an_older_repository_is_no_copy_of_the_targets(meta, out):
    vendored = known(link(), content="abcde", since="2025-04-24T09:00:00Z")
    assert bool(vendored.reason_for_content(set("abcde"), repo("base/line", **meta))) is out
    assert known(link(), content="abcde").reason_for_content(set("abcde"), repo("base/line", **meta)) != ""


def test_files_that_another_work_had_first_tell_nothing():
    assert known(link(), content="abcdef").without(set("abcd")).reason_for_content(set("abcd")) == ""


def test_the_target_under_another_identifier_among_the_references_is_the_target():
    titled = Work(TARGET.id, title="Paper2Code: Automating Code Generation")
    twin = Work(WorkId("s2:" + "b" * 40), title="Paper2code — automating code generation!")
    asked = Exclusion.of((), no_target_code=True, target=titled, works=[titled, twin, Work(WorkId("arxiv:1"), title="Paper2Code")])
    assert asked.knowing([link(twin.id)]).own == {OWN.lower()}
    assert asked.knowing([link("arxiv:1")]).own == frozenset()


def test_a_fork_of_a_fork_is_known_by_its_parent():
    fork = repo("third/copy", fork_of="base/line", parent="going-doer/Paper2Code")
    assert known(link()).reason_for_work(fork).startswith("a fork of github.com/going-doer/paper2code")
    assert known(link()).reason_for_work(repo("third/copy", fork_of="base/line")) == ""


@pytest.mark.parametrize(("said_by", "out"), [(("huggingface",), True), (("huggingface", "readme"), False)])
def test_what_a_target_forks_is_not_its_own_where_two_witnesses_name_another_works_authors(said_by, out):
    forked = known(link(), CodeLink(WorkId(CITED), WorkId(BASE), Tier.AUTHOR, said_by), content="abcde")
    assert bool(forked.reason_for_content(set("abcde"), repo("base/line"))) is out


@pytest.mark.parametrize("tier", [Tier.OFFICIAL, Tier.AUTHOR, Tier.REIMPLEMENTATION])
def test_a_repository_that_is_called_the_targets_stays_out_whatever_two_witnesses_say_of_another_works_authors(tier):
    told = known(link(tier=tier), CodeLink(WorkId(CITED), OWN, Tier.AUTHOR, ("huggingface", "readme")), content="abcde")
    assert told.reason(link(tier=tier)) != ""
    assert told.reason_for_work(repo("going-doer/Paper2Code")) != ""
    assert told.reason_for_content(set("abcde"), repo("going-doer/Paper2Code")) != ""
