"""Code that repositories share: what is counted, what says nothing, and what it does to the rank."""

from __future__ import annotations

import json
from dataclasses import asdict

from lineage.code_reuse.reuse import Shared, shared
from lineage.records import CodeLink, Document, Reference, Span, Tier, Work, WorkId
from lineage.references.ancestors import reuse_signals as signals
from lineage.references.ranking import rank

ONE, TWO, THREE, FOUR = (WorkId(f"repo:github.com/a/{name}") for name in ("one", "two", "three", "four"))
TARGET, CITED = WorkId("arxiv:2401.00001"), WorkId("arxiv:2006.10726")


def function(name: str, lines: int = 6) -> str:
    return f"def {name}(values, weights):\n" + "".join(f"    {name}_{n} = values[{n}] * weights[{n}] + {n}\n" for n in range(lines))


def document(work, path, *definitions, before="", role="function", kind="code"):
    text, spans = before, []
    for body in definitions:
        spans.append(Span(len(text), len(text) + len(body), role, (body.split("(")[0].removeprefix("def "),)))
        text += body
    return Document(work, path, text, tuple(spans), "code@1", kind)


def test_files_that_differ_in_white_space_only_are_shared():
    mine, theirs = document(ONE, "a.py", function("near")), document(TWO, "lib/b.py", function("near").replace("    ", "\t"))
    assert shared([mine, theirs]) == (Shared(ONE, TWO, 1, 0, ("a.py",)),)


def test_functions_of_files_that_differ_are_counted_each():
    mine = document(ONE, "a.py", function("near"), function("far"), function("own"))
    theirs = document(TWO, "b.py", function("far"), function("near"), before="import numpy\n")
    assert shared([mine, theirs]) == (Shared(ONE, TWO, 0, 2, ("a.py:far", "a.py:near")),)


def test_a_class_that_is_shared_is_one_whatever_methods_it_has():
    body = function("forward")
    mine = Document(
        ONE, "a.py", f"x\n{body}", (Span(2, 2 + len(body), "class", ("Net",)), Span(2, 2 + len(body), "method", ("Net", "forward"))), "c", "code"
    )
    theirs = Document(
        TWO, "b.py", f"yy\n{body}", (Span(3, 3 + len(body), "class", ("Net",)), Span(3, 3 + len(body), "method", ("Net", "forward"))), "c", "code"
    )
    assert shared([mine, theirs])[0].definitions == 1


def test_short_texts_licences_and_setup_files_say_nothing():
    short = "def f(x):\n    return x\n"
    for path, body in (("a.py", short), ("LICENSE.py", function("near")), ("setup.py", function("near")), (".github/x.py", function("near"))):
        assert shared([document(ONE, path, body), document(TWO, path, body)]) == ()
    assert shared([document(ONE, "README.md", function("near"), kind="docs"), document(TWO, "README.md", function("near"), kind="docs")]) == ()


def test_what_many_repositories_hold_is_nobodys():
    assert len(shared([document(work, "a.py", function("near")) for work in (ONE, TWO, THREE)])) == 3
    assert shared([document(work, "a.py", function("near")) for work in (ONE, TWO, THREE, FOUR)]) == ()


def test_a_package_vendored_by_both_says_nothing_and_one_vendored_from_the_other_does():
    both = [document(work, "third_party/pkg/a.py", function("near")) for work in (ONE, TWO)]
    assert shared(both) == ()
    assert shared([both[0], document(TWO, "pkg/a.py", function("near"))])[0].files == 1


def test_a_repository_shares_nothing_with_itself():
    assert shared([document(ONE, "a.py", function("near")), document(ONE, "b.py", function("near"))]) == ()


LINKS = (CodeLink(TARGET, ONE, Tier.OFFICIAL), CodeLink(CITED, TWO, Tier.AUTHOR), CodeLink(WorkId("arxiv:1"), THREE, Tier.MENTIONED))


def test_the_target_raises_what_its_repository_was_made_from_and_says_so():
    found = (Shared(ONE, TWO, 3, 12), Shared(ONE, THREE, 9, 9))
    more = signals(found, LINKS, TARGET)
    assert list(more) == [CITED]
    assert more[CITED][0].words == "its repository shares 3 files and 12 functions with the target's"
    works = {name: Work(name, title="x") for name in (CITED, WorkId("arxiv:other"))}
    references = [Reference(TARGET, WorkId("arxiv:other")), Reference(TARGET, CITED)]
    ranked = rank(references, works=works, more=more)
    assert ranked[0].cited == CITED
    assert ranked[0].why[0] == "its repository shares 3 files and 12 functions with the target's"
    assert rank(references, works=works)[0].score == rank(references, works=works)[1].score


def test_one_is_said_as_one():
    assert Shared(ONE, TWO, 1, 1).words() == "1 file and 1 function"
    assert Shared(ONE, TWO, 0, 2).words() == "2 functions"


def test_what_was_kept_comes_back():
    found = Shared(ONE, TWO, 1, 2, ("a.py", "b.py:f"))
    assert Shared.from_meta(json.loads(json.dumps(asdict(found)))) == found
