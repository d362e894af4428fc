"""The names by which a paper goes on speaking of what it cites."""

from lineage.records import Document, Mention, Reference, Span, Work, WorkId
from lineage.references.ancestors import WITNESS, named_mentions, short_names
from lineage.references.citation_cues import TARGET

ROBERTA, MAE, TARGET_WORK = WorkId("arxiv:1907.11692"), WorkId("arxiv:2111.06377"), WorkId("arxiv:1")
WORKS = {
    ROBERTA: Work(ROBERTA, title="RoBERTa: a robustly optimized BERT pretraining approach"),
    MAE: Work(MAE, title="Masked autoencoders are scalable vision learners"),
}


def reference(cited, key, *sentences):
    return Reference(TARGET_WORK, cited, key, mentions=tuple(Mention(key, one, ("Method",)) for one in sentences))


def document(text, title="SciFact: claims"):
    spans = (Span(0, len(text), "paragraph", ("Method", "Training")),)
    return Document(TARGET_WORK, "main.tex", text, spans, "latex@1", "paper", title=title)


def test_a_name_before_a_citation_names_the_work_without_its_size():
    found = short_names(
        "", [reference(ROBERTA, "liu", "We use RoBERTa-large [liu]."), reference(MAE, "he", "Masked autoencoders (MAE) [he] are used.")], WORKS
    )
    assert found == {"RoBERTa": ROBERTA, "MAE": MAE}


def test_a_name_before_authors_and_year_names_the_work_too():
    def printed(cited, key, text, how):
        return Reference(TARGET_WORK, cited, key, mentions=(Mention(key, text, ("Method",), printed=how),))

    text = "We use RoBERTa-large (Liu et al., 2019) and an MAE (He et al., 2022)."
    found = short_names("", [printed(ROBERTA, "ref-1", text, "Liu et al., 2019"), printed(MAE, "ref-2", text, "He et al.")], WORKS)
    assert found == {"RoBERTa": ROBERTA, "MAE": MAE}


def test_mentions_by_name_alone_are_found_with_their_section():
    text = "We use RoBERTa-large [liu]. We fine-tune RoBERTa-base on claims. RoBERTaX is another. RoBERTa-Claims too."
    found = named_mentions(document(text), [reference(ROBERTA, "liu", "We use RoBERTa-large [liu].")], WORKS)
    (one,) = found[ROBERTA]
    assert one.sentence == f"We fine-tune RoBERTa-base {TARGET} on claims."
    assert (one.section, one.said_by) == (("Method", "Training"), WITNESS)


def test_a_shared_name_and_the_own_name_name_nothing():
    shared = [reference(ROBERTA, "a", "We use GPT4 [a]."), reference(MAE, "b", "GPT4 [b] is better.")]
    assert "GPT4" not in short_names("", shared, WORKS)
    assert short_names("MAE: all over", [reference(MAE, "he", "MAE [he] is used.")], WORKS) == {}


def test_names_of_several_that_are_cited_together_are_nobodys():
    assert short_names("", [reference(MAE, "he", "as in ViT [he; dosovitskiy].")], WORKS) == {}


def test_ordinary_words_are_no_names():
    assert short_names("", [reference(MAE, "he", "The model [he] is used.", "Learning [he] helps.")], WORKS) == {}
