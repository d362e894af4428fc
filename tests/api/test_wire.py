"""The shape of a hit, for code and for papers, is the contract."""

from __future__ import annotations

import json
from dataclasses import replace

from api.wire import hits
from api.wire.encode import envelope, error_envelope, to_json
from lineage.errors import AmbiguousTarget
from lineage.records import Answer, Chunk, Focus, Hit, Query, Reason, ReasonKind, Signal, Status, Work, WorkId
from tests.fakes import small_lineage as small

CODE = Hit(
    1,
    0.83,
    replace(small.chunks()[1], start_line=9, end_line=68, id="c_1", copies=("repo:github.com/someone/fork#tent.py#L9-L68",)),
    small.works()[2],
    (Signal("lexical", 1, 14.2), Signal("dense", 2, 0.71234567)),
    Focus(40, 46),
    small.reference(),
    small.works()[1],
    why=(Reason(ReasonKind.LEXICAL, 1.5), Reason(ReasonKind.LINEAGE, 0.27, ("baseline", "", "0.90"))),
)
PAPER = Hit(
    2,
    0.5,
    replace(small.chunks()[5], page=6, box=(72.0, 90.5, 300.0, 110.0), label="sec:setup"),
    small.works()[1],
    (),
    Focus(120, 120),
    small.reference(),
)


def test_a_hit_in_code_is_the_contracts_object():
    assert to_json(hits.hit_view(CODE)) == {
        "rank": 1,
        "score": 0.83,
        "chunk": "c_1",
        "kind": "code",
        "text": small.ADAPT,
        "citation": "github.com/DequanWang/tent/tent.py#L9-L68@e9e926a6",
        "source": {
            "work": "repo:github.com/DequanWang/tent",
            "title": "tent",
            "path": "tent.py",
            "start_line": 9,
            "end_line": 68,
            "symbol": "Tent.forward_and_adapt",
            "commit": small.COMMIT,
            "url": f"https://github.com/DequanWang/tent/blob/{small.COMMIT}/tent.py#L40-L46",
        },
        "focus": {"start_line": 40, "end_line": 46},
        "lineage": {"distance": 1, "role": "baseline", "of": "arxiv:2006.10726", "why": "arxiv:2401.00001, section 4 Method: “We build on Tent.”"},
        "license": "MIT",
        "from_target": False,
        "trust": "untrusted-third-party",
        "flags": [],
        "signals": [{"retriever": "lexical", "rank": 1, "score": 14.2}, {"retriever": "dense", "rank": 2, "score": 0.7123}],
        "why": ["lexical rank 1", "dense rank 2", "baseline of the target"],
        "copies": ["repo:github.com/someone/fork#tent.py#L9-L68"],
    }


def test_a_hit_in_a_paper_has_its_section_page_and_box():
    found = to_json(hits.hit_view(PAPER))
    assert found["citation"] == "arXiv:2006.10726v3#4.1"
    assert found["source"] == {
        "work": "arxiv:2006.10726",
        "title": "Tent: Fully Test-Time Adaptation by Entropy Minimization",
        "section": ["4 Experiments", "4.1 Setup"],
        "page": 6,
        "box": [72.0, 90.5, 300.0, 110.0],
        "label": "sec:setup",
        "url": "https://arxiv.org/abs/2006.10726",
        "path": "main.tex",
        "start_line": 120,
        "end_line": 120,
    }
    assert found["kind"] == "paper"


def test_a_paper_from_latex_has_no_page():
    assert "page" not in to_json(hits.hit_view(replace(PAPER, chunk=small.chunks()[5])))["source"]


def test_a_section_without_a_number_is_cited_by_its_title_and_a_bare_page_by_its_number():
    assert hits.citation(replace(PAPER, chunk=replace(PAPER.chunk, section=("Training details",)))) == "arXiv:2006.10726v3#Training details"
    assert hits.citation(replace(PAPER, chunk=replace(PAPER.chunk, section=("A.2 Seeds",)))) == "arXiv:2006.10726v3#A.2"
    assert hits.citation(replace(PAPER, chunk=replace(PAPER.chunk, section=()))) == "arXiv:2006.10726v3#page=6"


def test_code_without_a_commit_and_local_code_are_cited_without_inventing_one():
    plain = replace(CODE, work=replace(CODE.work, meta={}))
    assert hits.citation(plain) == "github.com/DequanWang/tent/tent.py#L9-L68"
    assert to_json(hits.hit_view(plain))["source"]["url"] == "https://github.com/DequanWang/tent"
    local = replace(CODE, work=Work(WorkId("local:0a1b"), "code", "mine"))
    assert hits.citation(local) == "mine/tent.py#L9-L68"
    assert to_json(hits.hit_view(local))["source"]["url"] == ""


def test_a_path_cannot_break_out_of_the_permalink():
    odd = replace(CODE, chunk=replace(CODE.chunk, path='a b/"><script>#?.py'))
    assert to_json(hits.hit_view(odd))["source"]["url"].startswith(
        f"https://github.com/DequanWang/tent/blob/{small.COMMIT}/a%20b/%22%3E%3Cscript%3E%23%3F.py#L"
    )


def test_characters_that_nobody_sees_are_taken_out_and_counted():
    hidden = replace(CODE, chunk=replace(CODE.chunk, text="x = 1\u200b\u202e # \U000e0041\x1b[31m"), work=replace(CODE.work, title="te\u200bnt"))
    found = to_json(hits.hit_view(hidden))
    assert found["text"] == "x = 1 # [31m"
    assert found["flags"] == ["invisible-characters:3", "bidi-controls:1"]
    assert found["source"]["title"] == "tent"


def test_names_and_places_are_on_one_line_and_hide_nothing():
    odd = "a\x1b]0;x\x07\nb\u202e.py"
    chunk = replace(CODE.chunk, path=odd, symbol=odd, copies=(odd,))
    found = to_json(hits.hit_view(replace(CODE, chunk=chunk, work=replace(CODE.work, license=odd))))
    said = (found["source"]["path"], found["source"]["symbol"], *found["copies"])
    assert set(said) == {"a]0;x b.py"}
    assert found["license"] == "custom"
    assert found["citation"] == "github.com/DequanWang/tent/a]0;x b.py#L9-L68@e9e926a6"
    paper = to_json(hits.hit_view(replace(PAPER, chunk=replace(PAPER.chunk, path=odd, label=odd))))
    assert {paper["source"]["path"], paper["source"]["label"]} == {"a]0;x b.py"}


def test_letters_of_other_scripts_stay():
    assert hits.visible("größe 学习率 λ") == ("größe 学习率 λ", [])


def test_text_is_cut_at_the_end_of_a_line():
    assert hits.shortened("a\nb") == ("a\nb", False)
    assert hits.shortened("\n".join(map(str, range(80)))) == ("\n".join(map(str, range(60))), True)
    long = "\n".join("x" * 99 for _ in range(40))
    cut, was = hits.shortened(long)
    assert (len(cut), was, cut.endswith("x")) == (2399, True, True)
    assert hits.shortened("y" * 3000) == ("y" * 2400, True)


def test_a_cut_text_says_so():
    many = replace(CODE, chunk=replace(CODE.chunk, text="\n".join(["pass"] * 61)))
    assert to_json(hits.hit_view(many))["flags"] == ["text-cut"]


def test_what_is_the_targets_own_has_no_distance():
    own = Hit(1, 0.9, small.chunks()[6], small.works()[0], from_target=True)
    assert to_json(hits.hit_view(own))["lineage"] == {"distance": 0, "role": "target", "of": "arxiv:2401.00001", "why": ""}


def test_an_answer_names_lineage_generation_and_notes():
    found = to_json(hits.AnswerView.from_record(Answer(Query("why?"), "small", "000001-0a0b0c0d", (CODE,), ("lexical only",))))
    assert {**found, "hits": len(found["hits"])} == {
        "lineage": "small",
        "generation": "000001-0a0b0c0d",
        "query": "why?",
        "supported": True,
        "hits": 1,
        "notes": ["lexical only"],
        "provenance": {"built": "unknown", "upstream": "unknown", "verified": False, "bundle": None, "signer": None},
    }


def test_the_envelope_is_one_line_of_json_with_its_version():
    assert envelope({"a": "größe\n"}) == '{"schema_version": "1", "data": {"a": "größe\\n"}}'
    assert json.loads(envelope("\ud800"))["data"] == "?"


def test_records_become_json_by_their_field_names():
    assert to_json(small.ledger()[0]) == {
        "kind": "reference",
        "work": "arxiv:2401.00001",
        "subject": "arxiv:2006.10726",
        "stage": "text",
        "status": "ok",
        "detail": "",
    }
    assert to_json({"x": (Status.OK, frozenset({"b", "a"}), None)}) == {"x": ["ok", ["a", "b"], None]}


def test_an_error_is_one_object_with_what_to_do():
    found = json.loads(error_envelope(AmbiguousTarget("which one?", ["A", "B"])))
    assert found["error"] == {"type": "AmbiguousTarget", "message": "which one?", "hint": "choose one of:\n  A\n  B", "exit_code": 3}


def test_a_chunk_of_no_kind_known_is_shown_all_the_same():
    odd = Chunk("c_2", WorkId("doi:10.1/x"), "a", "docs", "text", "t", "", 0, 1, 1, 1)
    assert hits.citation(Hit(1, 0.1, odd, Work(WorkId("doi:10.1/x")))) == "doi:10.1/x"


def test_the_parts_of_a_score_are_shown_only_if_asked_for():
    plain, explained = (
        to_json(hits.AnswerView.from_record(Answer(Query("why?", explain=explain), "small", "g", (CODE,))))["hits"][0] for explain in (False, True)
    )
    assert "explain" not in plain
    parts = [{"name": "lexical", "value": 1.5, "of": []}, {"name": "lineage", "value": 0.27, "of": ["baseline", "0.90"]}]
    assert explained == plain | {"explain": {"sum": 1.77, "parts": parts}}
