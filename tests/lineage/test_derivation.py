"""Copies of functions between repositories: what is found, what is not, who took it and what was changed."""

from __future__ import annotations

from lineage.code_reuse.clones import normal, pairs
from lineage.code_reuse.derivation import Ages, Derivation, compared, derivations
from lineage.records import CodeLink, Document, Reference, Span, Tier, Work, WorkId

OLD, NEW, OTHER = (WorkId(f"repo:github.com/a/{name}") for name in ("first", "second", "third"))
PAPER, CITED = WorkId("arxiv:2401.00001"), WorkId("arxiv:2006.10726")
ATTENTION = '''def attend(query, key, value, dropout=0.1, scale=8):
    """Scaled dot products."""
    scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(scale)
    mask = torch.tril(torch.ones_like(scores))
    scores = scores.masked_fill(mask == 0, -1e9)
    weights = torch.softmax(scores, dim=-1)
    weights = functional.dropout(weights, p=dropout)
    return torch.matmul(weights, value), weights
'''
LOADER = """def load(folder, size):
    names = sorted(os.listdir(folder))
    images = [Image.open(os.path.join(folder, name)).convert("RGB") for name in names]
    resized = [image.resize((size, size), Image.BILINEAR) for image in images]
    stacked = numpy.stack([numpy.asarray(image) for image in resized])
    return torch.from_numpy(stacked).permute(0, 3, 1, 2).float() / 255
"""
NOBODY = Ages({}, frozenset(), {})


def document(work, path, text, *, kind="code"):
    return Document(work, path, text, (Span(0, len(text), "function", (text.split("(")[0].removeprefix("def "),)),), "code@1", kind)


def found(mine, theirs, ages=NOBODY):
    return derivations([document(OLD, "a.py", mine), document(NEW, "b.py", theirs), document(OTHER, "c.py", LOADER)], ages)


def test_a_function_taken_over_word_for_word_is_exact():
    (one,) = found(ATTENTION, ATTENTION)
    assert (one.kind, one.similarity, one.changes) == ("exact", 1.0, ())
    assert (one.source.path, one.source.start_line, one.source.end_line, one.source.symbol) == ("a.py", 1, 8, "attend")


def test_a_copy_with_other_names_is_renamed_and_says_which():
    (one,) = found(ATTENTION, ATTENTION.replace("weights", "probs"))
    assert (one.kind, one.changes) == ("renamed", ("weights is called probs",))


def test_a_changed_default_is_told_first_and_other_lines_are_counted():
    changed = ATTENTION.replace("dropout=0.1, scale=8", "dropout=0.2, scale=8").replace("    mask =", "    scores = scores + bias\n    mask =")
    (one,) = found(ATTENTION, changed)
    assert one.kind == "adapted"
    assert one.changes == ("0.1 -> 0.2 in `def attend(query, key, value, dropout=0.2, scale=8):`", "1 lines added, 0 removed")


def test_functions_that_do_something_else_are_no_copies():
    assert derivations([document(OLD, "a.py", ATTENTION), document(NEW, "b.py", LOADER)], NOBODY) == ()


def test_a_repository_takes_nothing_from_itself():
    assert derivations([document(OLD, "a.py", ATTENTION), document(OLD, "b.py", ATTENTION)], NOBODY) == ()


def test_what_is_in_three_other_repositories_is_common_property():
    homes = [WorkId(f"repo:github.com/a/r{n}") for n in range(4)]
    assert derivations([document(home, "a.py", ATTENTION) for home in homes], NOBODY) == ()


def test_configuration_documentation_and_setup_files_are_left_alone():
    for path, kind in (("setup.py", "code"), ("README.md", "docs")):
        assert derivations([document(OLD, path, ATTENTION, kind=kind), document(NEW, path, ATTENTION, kind=kind)], NOBODY) == ()


def test_the_one_whose_paper_cites_took_it():
    links = (CodeLink(PAPER, NEW, Tier.OFFICIAL), CodeLink(CITED, OLD, Tier.AUTHOR))
    ages = Ages.of((), links, (Reference(PAPER, CITED),))
    (one,) = found(ATTENTION, ATTENTION, ages)
    assert (one.source.work, one.taker.work, one.why) == (OLD, NEW, "arxiv:2401.00001 cites arxiv:2006.10726")


def test_without_a_citation_the_younger_repository_took_it():
    works = (Work(OLD, "code", meta={"created": "2024-05-01T00:00:00Z"}), Work(NEW, "code", meta={"created": "2021-02-03T00:00:00Z"}))
    (one,) = found(ATTENTION, ATTENTION, Ages.of(works, (), ()))
    assert (one.source.work, one.taker.work, one.why) == (NEW, OLD, "begun 2021-02-03, before 2024-05-01")


def test_where_nothing_tells_the_direction_none_is_claimed():
    assert found(ATTENTION, ATTENTION)[0].why == ""


def test_what_both_adapted_from_a_third_that_nobody_holds_neither_has_from_the_other():
    links = (CodeLink(PAPER, NEW, Tier.OFFICIAL), CodeLink(CITED, OLD, Tier.AUTHOR))
    ages = Ages.of((), links, (Reference(PAPER, CITED),))
    head = "# Based on https://github.com/big/library\n"
    mine = Document(OLD, "a.py", head + ATTENTION, (Span(len(head), len(head + ATTENTION), "function", ("attend",)),), "code@1", "code")
    readme = document(NEW, "README.md", "Adapted from https://github.com/big/library.", kind="docs")
    (one,) = derivations([mine, document(NEW, "b.py", ATTENTION), readme], ages)
    assert (one.why, one.common) == ("", "big/library")
    assert Derivation.from_meta(one.as_meta()) == one


def test_a_derivation_of_an_older_catalogue_has_no_common_origin():
    (one,) = found(ATTENTION, ATTENTION)
    assert Derivation.from_meta({key: value for key, value in one.as_meta().items() if key != "common"}) == one


def test_a_distant_resemblance_counts_only_beside_a_sure_one():
    lines = LOADER.splitlines(keepends=True)
    distant = "".join(
        (*lines[:3], "    kept = [image for image in images if image.width > size]\n", "    log.info('%d of %d', len(kept), len(images))\n", lines[5])
    )
    alone = [document(OLD, "a.py", LOADER), document(NEW, "b.py", distant.replace("load", "read"))]
    assert derivations(alone, NOBODY) == ()
    both = [
        Document(
            work,
            path,
            ATTENTION + text,
            (Span(0, len(ATTENTION), "function", ("attend",)), Span(len(ATTENTION), len(ATTENTION + text), "function", (name,))),
            "c",
            "code",
        )
        for work, path, text, name in ((OLD, "a.py", LOADER, "load"), (NEW, "b.py", distant, "read"))
    ]
    assert [one.taker.symbol for one in derivations(both, NOBODY)] == ["attend", "read"]


def test_a_derivation_survives_the_catalogue():
    (one,) = found(ATTENTION, ATTENTION.replace("0.1", "0.3"))
    assert Derivation.from_meta(one.as_meta()) == one


def test_variables_are_alike_and_what_is_called_keeps_its_name():
    assert normal("total = layer.weight + f(x, 3, 'a')  # note") == ["v", "=", "v", ".", "weight", "+", "f", "(", "v", ",", "0", ",", "s", ")"]


def test_generated_code_of_any_length_is_read_in_part_only():
    assert compared("x = 1\n", "x = 2\n") == ("adapted", ("1 -> 2 in `x = 2`",))
    assert len(normal("x = 1\n" * 1_000_000)) < 20_000


def test_nothing_gives_nothing():
    assert pairs([], []) == []
    assert pairs([1, 2], ["", "x"]) == []


def test_long_functions_of_repeated_lines_are_compared_soon():
    mine, theirs = ("".join(f"    x = layer(x, {n % period})\n" for n in range(6_000)) for period in (7, 5))
    kind, changes = compared(mine, theirs)
    assert kind == "adapted"
    assert changes[0].endswith("in `x = layer(x, 0)`")


def test_a_definition_is_told_by_its_line_in_the_file():
    text = "import torch\n\n\n" + LOADER + "\n\n" + ATTENTION
    at = text.index("def attend")
    spans = (Span(16, 16 + len(LOADER), "function", ("load",)), Span(at, len(text), "function", ("attend",)))
    both = derivations([Document(OLD, "a.py", text, spans, "code@1", "code"), document(NEW, "b.py", ATTENTION)], NOBODY)
    assert [(one.source.symbol, one.source.start_line, one.source.end_line) for one in both] == [("attend", 12, 19)]
