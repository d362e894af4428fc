"""One reference per work, never one too few: what joins, what must not, and what is said about it."""

from __future__ import annotations

import json
import re
from itertools import permutations

import pytest

from lineage.records import BibEntry, ListedReference, Mention, ReferenceList, Status, Work, WorkId
from lineage.references.merge import reconcile
from lineage.references.same_work import merge_all, merge_works
from tests.data import EVAL, needs_eval

TARGET = WorkId("arxiv:2504.17192")


def entry(title, first="Ada Lovelace", year=2020, key="", **more):
    return BibEntry(
        key or re.sub(r"\W", "", title)[:30].lower(), f"{first}. {title}. {year}.", title, (first,) if first else (), year, fields_by="bbl", **more
    )


def listed(title, first="Ada Lovelace", year=2020, work_id="s2:" + "a" * 40, aliases=(), mentions=(), influential=False):
    work = Work(
        WorkId(work_id), title=title, authors=(first,) if first else (), year=year, aliases=tuple(map(WorkId, aliases)), said_by=("semantic_scholar",)
    )
    return ListedReference(work, BibEntry("", ""), mentions, influential)


def service(*entries, expected=None, status=Status.OK):
    return ReferenceList("semantic_scholar", entries, expected, status)


def count(*entries):
    return len(reconcile(TARGET, entries, (), ()).references)


ONE_WORK = [
    (
        "arXiv number with and without version",
        entry("BERT", arxiv="1810.04805v2"),
        entry("Bert: pre-training", year=2019, arxiv="1810.04805", key="b"),
    ),
    ("arXiv DOI", entry("Tent", arxiv="2006.10726"), entry("TENT", doi="10.48550/arXiv.2006.10726", key="b")),
    ("DOI in another case", entry("Fact checking", doi="10.3115/V1/W14-2508"), entry("Fact checking", doi="10.3115/v1/w14-2508", key="b")),
    (
        "case and punctuation",
        entry("Don't Stop Pretraining: Adapt Language Models!"),
        entry("dont stop pretraining — adapt language models", key="b"),
    ),
    ("TeX leftovers", entry(r"{\textsc{Sci}BERT}: A {P}retrained language model"), entry("SciBERT: a pretrained language model", key="b")),
    ("TeX accents", entry(r"Estimation of Fr{\'e}chet means on manifolds"), entry("Estimation of Fréchet means on manifolds", key="b")),
    ("hyphenation", entry("Pre-training of deep representations"), entry("Pretraining of deep representations", key="b")),
    ("subtitle dropped", entry("SciBERT: A pretrained language model for scientific text"), entry("SciBERT", key="b")),
    (
        "cut end that shows",
        entry("Overview of the checkthat lab on automatic identification of claims"),
        entry("Overview of the checkthat lab on automatic ident...", key="b"),
    ),
    (
        "preprint's tail",
        entry("Deep learning using rectified units. arXiv preprint arXiv:1803.08375"),
        entry("Deep learning using rectified units", key="b"),
    ),
    (
        "preprint and published",
        entry("Learning to sum many numbers", year=2018, arxiv="1801.00001"),
        entry("Learning to sum many numbers", year=2020, doi="10.1000/x", key="b"),
    ),
    (
        "names the other way round",
        entry("Learning to sum many numbers", "Lovelace, Ada"),
        entry("Learning to sum many numbers", "A. Lovelace", key="b"),
    ),
    (
        "slip of the pen",
        entry("Improved distributional representatons of things"),
        entry("Improved distributional representations of things", key="b"),
    ),
    (
        "organisation and person",
        entry("DeepSeek-Coder: when the large language model meets programming", "DeepSeek-AI", 2024),
        entry("DeepSeek-Coder: when the large language model meets programming", "Daya Guo", 2024, key="b"),
    ),
]


@pytest.mark.parametrize(("one", "other"), [case[1:] for case in ONE_WORK], ids=[case[0] for case in ONE_WORK])
def test_two_ways_of_writing_one_work_give_one_reference_with_its_reason(one, other):
    found = reconcile(TARGET, (one, other), (), ())
    assert len(found.references) == 1
    assert any("=" in reason for reason in found.references[0].merged)
    assert len(found.witnesses[found.references[0].cited]) == 2


TWO_WORKS = [
    ("parts", entry("Foundations of learning, Part I"), entry("Foundations of learning, Part II")),
    ("parts after a colon", entry("Foundations of learning theory"), entry("Foundations of learning theory: Part II")),
    ("versions", entry("YOLOv3: an incremental improvement of detectors"), entry("YOLOv4: an incremental improvement of detectors")),
    ("GPT-2 and GPT-3", entry("GPT-2 technical report on language"), entry("GPT-3 technical report on language")),
    ("version only in one", entry("Evidence inference: more data"), entry("Evidence inference 2.0: more data")),
    ("same title, other authors", entry("A survey of transfer learning", "Pan"), entry("A survey of transfer learning", "Zhuang", key="b")),
    ("same title, far years", entry("A survey of transfer learning", year=2010), entry("A survey of transfer learning", year=2019, key="b")),
    ("opposite words", entry("Supervised learning of word meaning"), entry("Unsupervised learning of word meaning")),
    ("hyper and hypo", entry("Treatment of hypertension in adults"), entry("Treatment of hypotension in adults")),
    ("longer without a mark", entry("Learning to rank for retrieval"), entry("Learning to rank for retrieval in enterprise mail")),
    ("C and C++", entry("Static analysis of programs in C"), entry("Static analysis of programs in C++")),
    (
        "two arXiv numbers",
        entry("Learning to sum many numbers", arxiv="1801.00001"),
        entry("Learning to sum many numbers", arxiv="1801.00002", key="b"),
    ),
    ("comment on it", entry("Attention and memory in networks"), entry("Attention and memory in networks: a reply")),
    ("short titles without authors", entry("Introduction", "", 2001), entry("Introduction", "", 2001, key="b", doi="10.1/abc")),
    (
        "a wrong DOI copied",
        entry("Dense passages for questions", "Karpukhin", doi="10.18653/v1/x"),
        entry("Rationalizing neural predictions", "Lei", doi="10.18653/v1/x"),
    ),
    ("two subtitles", entry("Speech recognition: a survey of methods"), entry("Speech recognition: an open benchmark")),
]


@pytest.mark.parametrize(("one", "other"), [case[1:] for case in TWO_WORKS], ids=[case[0] for case in TWO_WORKS])
def test_works_that_only_look_alike_stay_apart(one, other):
    found = reconcile(TARGET, (one, other), (), ())
    assert len(found.references) == 2
    assert len(found.works) == 2


def test_contradicting_arxiv_numbers_are_not_joined_through_a_third_entry():
    title = "Learning to sum many numbers"
    assert count(entry(title, arxiv="1801.00001", key="a"), entry(title, key="b"), entry(title, arxiv="1801.00002", key="c")) == 2


def test_a_services_list_joins_the_papers_own_bibliography():
    own = (entry("BERT: pre-training of transformers", arxiv="1810.04805"), entry("Only the paper knows this report"))
    theirs = service(
        listed("BERT: Pre-Training of Transformers", aliases=["arxiv:1810.04805"], influential=True),
        listed("Only the service lists this one", work_id="s2:" + "b" * 40),
        expected=3,
    )
    found = reconcile(TARGET, own, (), (theirs,))
    assert [r.cited for r in found.references][0::2] == ["arxiv:1810.04805", "s2:" + "b" * 40]
    assert found.references[0].known_by == ("bbl", "semantic_scholar")
    assert found.references[0].influential
    assert found.references[0].number == 1
    assert found.references[1].cited.startswith("ref:")
    assert [found.coverage[name] for name in ("total", "own only", "services only", "both")] == [3, 1, 1, 1]
    assert "semantic_scholar says 3 references and gives 2" in found.notes


def test_a_reference_without_a_paper_id_is_kept_as_written():
    found = reconcile(TARGET, (), (), (service(ListedReference(None, entry("A thesis nobody indexed", key=""))),))
    assert found.works[found.references[0].cited].title == "A thesis nobody indexed"


def test_mentions_follow_the_key_and_a_services_context_adds_only_its_intents():
    sentence = "We follow the setup of Devlin et al. for every experiment in this paper"
    own = (Mention("bert", sentence + " [bert].", ("Experiments",), said_by="latex"),)
    theirs = (
        Mention("", "follow the setup of Devlin et al. for every experiment in this", intents=("methodology",), said_by="semantic_scholar"),
        Mention("", "An entirely different sentence that cites it again.", said_by="semantic_scholar"),
    )
    listing = service(listed("BERT", aliases=["arxiv:1810.04805"], mentions=theirs))
    found = reconcile(TARGET, (entry("BERT", key="bert", arxiv="1810.04805"),), own, (listing,))
    first, second = found.references[0].mentions
    assert (first.section, first.intents, first.said_by) == (("Experiments",), ("methodology",), "latex")
    assert second.sentence == "An entirely different sentence that cites it again."


def test_duplicate_keys_undefined_keys_and_elided_lists_leave_notes():
    found = reconcile(
        TARGET,
        (entry("One title of a paper", key="k"), entry("Quite another paper here", key="k")),
        (Mention("k", "As in k."), Mention("ghost", "As in ghost.")),
        (service(status=Status.ELIDED, expected=0),),
    )
    assert len(found.references) == 2
    assert [len(r.mentions) for r in found.references] == [1, 0]
    assert found.notes == (
        "key 'k' stands twice in the bibliography; its mentions belong to the first",
        "'ghost' is cited 1 time but is not in the bibliography",
        "semantic_scholar: list is elided: no detail given",
    )


def test_a_paper_that_cites_itself_gets_no_edge_but_a_note():
    found = reconcile(TARGET, (entry("Paper2Code", arxiv="2504.17192v3", key="me"),), (), ())
    assert found.references == ()
    assert found.notes == ("bbl:me: the paper cites itself; no edge made",)


def test_an_entry_without_a_title_is_found_by_its_text():
    known = listed("Rationalizing neural predictions of text", "Tao Lei", 2016)
    raw = BibEntry("ref-7", "[7] T. Lei, R. Barzilay. Rationalizing neural predictions of text. In EMNLP, 2016.", fields_by="pdf")
    found = reconcile(TARGET, (raw,), (), (service(known),))
    assert [r.known_by for r in found.references] == [("pdf", "semantic_scholar")]


@pytest.mark.parametrize("year", [1911, 2019])
def test_the_beginning_of_an_arxiv_number_is_no_year(year):
    title = "S2ORC: The Semantic Scholar Open Research Corpus"
    written = entry(title, "Kyle Lo", year, arxiv="1911.02782", key="lo")
    found = reconcile(TARGET, (written,), (), (service(listed(title, "Kyle Lo", 1911, "arxiv:1911.02782")),))
    assert [(r.cited, found.works[r.cited].year) for r in found.references] == [("arxiv:1911.02782", 2019)]


def test_a_record_that_says_its_arxiv_number_for_a_year_is_set_right_when_joined():
    one, other = Work("arxiv:2004.05150", year=2004), Work("arxiv:2004.05150", year=None)
    assert merge_works(one, other).year == 2020
    assert merge_works(Work("arxiv:2004.05150", year=2020), Work("doi:10.1/x", year=2021)).year == 2020


def test_hostile_entries_are_listed_like_any_other():
    entries = (
        entry("\ud800 half a pair", "\udfff", key="\ud800"),
        entry("", "", None, key="empty"),
        entry("\\emph{" * 3000, key="braces"),
        entry("$" * 100_000, "a" * 100_000, key="long"),
        BibEntry("many", "raw", "A paper of very many people", tuple(f"Person Number{chr(97 + i % 26)}" for i in range(5000)), 2020),
        entry("深度学习 的 综述", key="other letters"),
        entry("深度学习 的 历史", key="other letters 2"),
    )
    assert count(*entries) == 7


def test_an_empty_bibliography_gives_an_empty_result():
    assert reconcile(TARGET, (), (), ()).references == ()


def test_merged_records_do_not_depend_on_the_order():
    works = (
        Work(WorkId("s2:" + "c" * 40), title="Roberta: A robustly optimized bert", authors=("Y. Liu", "others"), year=2020, said_by=("s",)),
        Work(
            WorkId("arxiv:1907.11692"),
            title="RoBERTa: A Robustly Optimized BERT",
            authors=("Yinhan Liu", "Myle Ott"),
            year=2019,
            venue="arXiv",
            said_by=("a",),
        ),
        Work(WorkId("doi:10.1/x"), title="RoBERTa: A...", venue="ICLR", license="CC-BY-4.0", meta={"citations": 3}, said_by=("c",)),
    )
    results = [merge_all(order) for order in permutations(works)]
    assert all(result == results[0] for result in results)
    assert results[0].id == "arxiv:1907.11692"
    assert results[0].aliases == ("doi:10.1/x", "s2:" + "c" * 40)
    assert (results[0].title, results[0].year, results[0].venue) == ("RoBERTa: A Robustly Optimized BERT", 2019, "ICLR")
    assert merge_works(works[0], works[0]) == merge_works(merge_works(works[0], works[0]), works[0])


def test_a_hundred_entries_of_one_title_by_different_people_stay_a_hundred():
    entries = [entry("A survey of transfer learning", f"Person{chr(97 + i // 26)}{chr(97 + i % 26)}", key=f"k{i}") for i in range(100)]
    assert count(*entries) == 100


@needs_eval
def test_a_real_bibliography_meets_its_services_list_entry_by_entry():
    gold = [json.loads(line) for line in (EVAL / "references/gold/2004.14974.refs.jsonl").read_text().splitlines()]
    facts = [json.loads(line) for line in (EVAL / "lineage/references.jsonl").read_text().splitlines()]
    own = [
        BibEntry(
            g["key"], g["raw_bbl"], g["title"], tuple(g["authors_bbl"].split(", ")[:1]), g["year"], arxiv=g["arxiv"], doi=g["doi"], fields_by="bbl"
        )
        for g in gold
    ]
    theirs = [
        ListedReference(None, BibEntry("", "", f["title"], (f["first_author"],), f["year"], arxiv=f["arxiv"], doi=f["doi"]))
        for f in facts
        if f["target"] == "2004.14974"
    ]
    found = reconcile(WorkId("arxiv:2004.14974"), own, (), (service(*theirs),))
    assert (found.coverage["total"], found.coverage["both"]) == (36, 36)


def test_an_entry_of_code_is_named_by_its_repository_and_one_with_a_venue_is_a_paper():
    entries = [
        entry("An engine", url="https://github.com/ada/engine", key="a"),
        entry("A paper", url="https://github.com/ada/paper", venue="ICLR", key="b"),
    ]
    works = reconcile(TARGET, entries, (), ()).works
    assert {name: work.kind for name, work in works.items()} == {"repo:github.com/ada/engine": "code", "repo:github.com/ada/paper": "paper"}
    known = reconcile(TARGET, [entry("An engine", url="https://github.com/ada/engine", doi="10.1000/x")], (), ()).works
    assert [(work.id, work.kind, work.aliases) for work in known.values()] == [("doi:10.1000/x", "paper", ())]


def test_a_wrong_identifier_in_a_bibliography_keeps_two_works_apart_under_two_names():
    entries = [
        entry("Deep learning of images", arxiv="1512.03385", key="a"),
        entry("A cookbook for everyone", "Bob Smith", arxiv="1512.03385", key="b"),
    ]
    found = reconcile(TARGET, entries, (), ())
    assert [r.cited[:5] for r in found.references] == ["arxiv", "ref:" + found.references[1].cited[4]]
    assert found.works[found.references[1].cited].title == "A cookbook for everyone"
    assert found.works[found.references[1].cited].aliases == ()
    assert [note.split(": ")[-1] for note in found.notes] == [
        "bbl:b and bbl:a have the same arXiv identifier 1512.03385 but different titles and authors; kept apart",
        f"arxiv:1512.03385 is taken by another work; listed as {found.references[1].cited}",
    ]


def test_coverage_counts_who_knew_what():
    own = [entry("Deep learning of images", key="a", doi="10.1000/a"), entry("A cookbook for everyone", "Bob Smith", key="b")]
    lists = [
        service(
            listed("Deep learning of images", aliases=("doi:10.1000/a",)), listed("Only the service knows", "Carl Gauss", work_id="s2:" + "b" * 40)
        )
    ]
    found = reconcile(TARGET, own, [Mention("a", "We use it.")], lists)
    assert found.coverage == {
        "total": 3,
        "own only": 1,
        "services only": 1,
        "both": 1,
        "resolved": 2,
        "uncited": 2,
        "listed by the paper": 2,
        "by bbl": 2,
        "by semantic_scholar": 2,
        "listed by semantic_scholar": 2,
    }
    assert reconcile(TARGET, own, (), [service(expected=7)]).coverage["listed by semantic_scholar"] == 7
    assert [witness.name for witness in found.witnesses["doi:10.1000/a"]] == ["bbl:a", "semantic_scholar"]


def test_rows_without_title_and_text_are_counted_in_a_note():
    rows = [ListedReference(None, BibEntry("", "")), ListedReference(None, BibEntry("x", "A text.")), listed("")]
    assert reconcile(TARGET, (), (), [service(*rows)]).notes[0] == "semantic_scholar: 2 references have neither title nor text"


@pytest.mark.parametrize(
    ("raw", "joined"),
    [
        ("Lovelace, A. Deep learning of very large images. 2020.", True),
        ("A. Lovelace: Deep Learning of Very Large Images, Journal 3 (2020)", True),
        ("Deep learning of very large images. Lovelace. 2020.", False),
        ("Lovelace, A. Deep learning of very large images. 2019.", False),
        ("Smith, B. Deep learning of very large images. 2020.", False),
        ("Lovelace, A. Deep learning of very large graphs. 2020.", False),
    ],
)
def test_an_entry_is_found_by_its_text_only_where_title_surname_and_year_stand_in_it(raw, joined):
    own = [BibEntry("a", raw, fields_by="pdf"), entry("Deep learning of very large images", key="b")]
    assert count(*own) == (1 if joined else 2)


def test_a_title_that_is_misspelt_at_its_beginning_is_found_by_its_end():
    assert (
        count(entry("Pesidual learning for deep images", key="a"), entry("Residual learning for deep images", key="b")) == 2
    )  # the first letter tells
    assert count(entry("Rseidual learning for deep images", key="a"), entry("Residual learning for deep images", key="b")) == 1
    assert count(entry("The residual learning for images", key="a"), entry("A residual learning for images", key="b")) == 1
