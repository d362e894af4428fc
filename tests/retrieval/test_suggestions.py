"""What is suggested to be added where a lineage holds no answer."""

from __future__ import annotations

from types import SimpleNamespace

from lineage.records import Mention, Reference, Work, WorkId
from retrieval.answers import suggestions

TARGET, HERE, THERE, SHUT = (WorkId(name) for name in ("arxiv:2401.00001", "arxiv:2001.00001", "arxiv:2001.00002", "doi:10.1000/1"))
CITING = "Fixup rescales the weights of residual branches."


def engine(*cited):
    works = (Work(HERE, title="Held"), Work(THERE, title="Residual learning without normalization"), Work(SHUT, title="Shut"))
    catalog = SimpleNamespace(
        documents=lambda: (SimpleNamespace(work=HERE),),
        works=lambda: works,
        references=lambda citing: tuple(Reference(citing, work, mentions=(Mention("key", CITING),)) for work in cited),
    )
    manifest = SimpleNamespace(target=TARGET, lineage="arxiv-2401.00001")
    return SimpleNamespace(generation=SimpleNamespace(catalog=catalog, manifest=manifest), worth=lambda question: {})


def test_a_cited_work_that_is_spoken_of_in_the_questions_words_is_suggested_with_the_sentence():
    (told,) = suggestions(engine(THERE), "how does Fixup rescale the weights?")
    assert told == f"suggest: lineage add arxiv-2401.00001 arxiv:2001.00002 — Residual learning without normalization: “{CITING}”"


def test_nothing_is_suggested_that_is_there_or_cannot_be_fetched_or_is_about_something_else():
    assert suggestions(engine(HERE, SHUT), "how does Fixup rescale the weights?") == ()
    assert suggestions(engine(THERE), "which tea is served in the morning?") == ()
