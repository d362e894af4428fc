"""Who the ancestor of each part is, and that the rank knows it."""

from lineage.records import CodeLink, Document, Mention, Reference, Tier, Work, WorkId
from lineage.references.ancestors import ancestors, naming_signals
from lineage.references.ranking import rank
from lineage.references.signals import Ancestor, Part, RankSignal

TARGET = Work(WorkId("arxiv:1"), title="SciFact: verifying claims")
ENCODER, RIVAL, CORPUS = (WorkId(f"arxiv:{n}") for n in (2, 3, 4))
WORKS = {
    ENCODER: Work(ENCODER, title="RoBERTa: a robustly optimized approach"),
    RIVAL: Work(RIVAL, title="A rival verifier"),
    CORPUS: Work(CORPUS, title="S2ORC: an open corpus"),
}
REFERENCES = (
    Reference(TARGET.id, RIVAL, "rival", mentions=tuple(Mention("rival", "We compare with the rival [rival].", ("Results",)) for _ in range(6))),
    Reference(TARGET.id, ENCODER, "liu", mentions=(Mention("liu", "RoBERTa-large [liu] is used as the sentence encoder.", ("Method",)),)),
    Reference(TARGET.id, CORPUS, "lo", mentions=(Mention("lo", "We use documents of the S2ORC corpus [lo].", ("Data",)),)),
)
NAMED = {ENCODER: (Mention("", "We fine-tune RoBERTa ⟦T⟧ for both modules.", ("Method",), said_by="name"),)}
OWN, THEIRS = WorkId("repo:github.com/own/code"), WorkId("repo:github.com/liu/roberta")


def test_what_is_taken_over_stands_before_what_is_often_compared_with():
    ranked = rank(REFERENCES, works=WORKS, target=TARGET, named=NAMED)
    assert ranked[0].cited == ENCODER
    assert ranked[0].why[0].startswith("taken over:")
    assert any("compared with, and nothing" in words for words in next(one for one in ranked if one.cited == RIVAL).why)


def test_every_part_has_its_ancestor_with_the_sentence():
    ranked = rank(REFERENCES, works=WORKS, target=TARGET, named=NAMED)
    found = ancestors(ranked, NAMED, {}, TARGET)
    first = {one.part: one for one in reversed(found)}
    assert first[Part.MODEL].work == ENCODER
    assert "sentence encoder" in first[Part.MODEL].reason
    assert first[Part.DATA].work == CORPUS
    assert all("⟦" not in one.reason and 0 < one.score <= 1 for one in found)
    assert RIVAL not in {one.work for one in found if one.part is Part.MODEL}


def test_code_that_is_shared_makes_an_ancestor_without_a_word():
    silent = (Reference(TARGET.id, ENCODER, score=0.8),)
    found = ancestors(silent, {}, {ENCODER: (RankSignal("reuse", 1.0, "its repository shares 9 files with the target's"),)}, TARGET)
    assert {one.part for one in found[:1]} == {Part.MODEL}
    assert "9 files" in found[0].reason


def test_nothing_said_is_no_ancestor():
    assert ancestors((Reference(TARGET.id, ENCODER, score=0.9),), {}, {}, TARGET) == ()


def test_an_ancestor_comes_back_from_the_catalogue_as_it_was():
    one = Ancestor(Part.LOSS, ENCODER, 0.5, "because")
    assert Ancestor.from_meta(one.as_meta()) == one


def code(path, text, work=OWN):
    return Document(work, path, text, (), "code@1", "code")


LINKS = (CodeLink(TARGET.id, OWN, Tier.OFFICIAL), CodeLink(ENCODER, THEIRS, Tier.OFFICIAL))


def test_own_code_that_loads_or_links_a_work_names_it():
    documents = [
        code("train.py", 'parser.add_argument("--model", default="roberta-large")'),
        code("README.md", "See https://github.com/liu/roberta."),
    ]
    found = naming_signals(documents, REFERENCES, WORKS, LINKS, TARGET)
    assert {one.name for one in found[ENCODER]} == {"named_in_code", "checkpoint"}
    assert "roberta-large in train.py" in next(one.words for one in found[ENCODER] if one.name == "checkpoint")


def test_the_code_of_others_says_nothing_of_the_target():
    assert naming_signals([code("a.py", "roberta", THEIRS)], REFERENCES, WORKS, LINKS, TARGET) == {}
    assert naming_signals([code("a.py", "roberta")], REFERENCES, WORKS, LINKS[1:], TARGET) == {}
