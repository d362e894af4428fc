"""Which references the target's other references cite too."""

from lineage.records import BibEntry, Reference, Work
from lineage.references.ancestors import cocitation_signals as signals
from lineage.references.ranking import rank

TARGET = "arxiv:9912.00001"
WORKS = {
    "arxiv:9901.00001": Work("arxiv:9901.00001", title="A Common Ground of the Whole Field"),
    "doi:10.1000/a": Work("doi:10.1000/a", title="Something Nobody Else Has Read"),
    "arxiv:9901.00003": Work("arxiv:9901.00003", title="One That Cites the Ground"),
}
REFERENCES = [Reference(TARGET, cited) for cited in WORKS]
LISTS = {
    "arxiv:9901.00003": [BibEntry("x", "", title="A common ground of the whole field."), BibEntry("self", "", arxiv="9901.00003")],
    "arxiv:9901.00004": [BibEntry("y", "", arxiv="9901.00001"), BibEntry("z", "", title="Short")],
}


def test_a_work_that_others_cite_by_title_or_identifier_has_the_signal_and_none_counts_for_itself():
    found = signals(REFERENCES, WORKS, LISTS)
    assert {cited: (one[0].name, one[0].value, one[0].words) for cited, one in found.items()} == {
        "arxiv:9901.00001": ("cocited", 0.4, "cited by 2 of the 2 fetched papers too")
    }


def test_it_raises_the_rank_a_little_and_says_so():
    plain = {r.cited: r.score for r in rank(REFERENCES, works=WORKS)}
    ranked = {r.cited: r for r in rank(REFERENCES, works=WORKS, more=signals(REFERENCES, WORKS, LISTS))}
    assert plain["arxiv:9901.00001"] < ranked["arxiv:9901.00001"].score < plain["arxiv:9901.00001"] + 0.1
    assert "cited by 2 of the 2 fetched papers too" in ranked["arxiv:9901.00001"].why
    assert ranked["doi:10.1000/a"].score == plain["doi:10.1000/a"]


def test_identifiers_meet_however_the_entry_writes_them():
    works = {name: Work(name, title="Short") for name in ("arxiv:math/0309136", "arxiv:2006.10726", "doi:10.1000/a")}
    entries = [BibEntry("a", "", arxiv="math.GT/0309136"), BibEntry("b", "", doi="10.48550/arXiv.2006.10726"), BibEntry("c", "", doi="10.1000/A.")]
    found = signals([Reference(TARGET, name) for name in works], works, {"arxiv:9901.00009": entries})
    assert {name: one[0].words for name, one in found.items()} == dict.fromkeys(works, "cited by 1 of the 1 fetched paper too")


def test_a_work_is_found_under_its_other_identifiers_and_once_for_each_list():
    works = {"doi:10.1000/a": Work("doi:10.1000/a", title="A Common Ground of the Whole Field", aliases=("arxiv:9901.00001",))}
    twice = [BibEntry("x", "", title="A common ground of the whole field"), BibEntry("y", "", arxiv="9901.00001")]
    (one,) = signals([Reference(TARGET, "doi:10.1000/a")], works, {"arxiv:9901.00003": twice})["doi:10.1000/a"]
    assert (one.value, one.words) == (0.2, "cited by 1 of the 1 fetched paper too")


def test_titles_below_sixteen_letters_name_nothing_and_unknown_works_are_passed_over():
    works = {"doi:10.1000/a": Work("doi:10.1000/a", title="Deep learning X"), "doi:10.1000/b": Work("doi:10.1000/b", title="Deep learning XY")}
    references = [Reference(TARGET, name) for name in (*works, "doi:10.1000/unknown")]
    entries = [BibEntry(title, "", title=title, arxiv="none") for title in ("Deep learning X", "Deep learning XY")]
    assert set(signals(references, works, {"arxiv:9901.00003": entries})) == {"doi:10.1000/b"}


def test_sixteen_lists_and_more_are_as_much_as_counts():
    lists = {f"arxiv:9901.{n:05}": [BibEntry("x", "", doi="10.1000/a")] for n in range(40)}
    (one,) = signals([Reference(TARGET, "doi:10.1000/a")], WORKS, lists)["doi:10.1000/a"]
    assert one.value == 1.0
