"""`lineage check` finds what was lost with the target's code: a linked repository without a row, or kept out wrongly."""

from __future__ import annotations

import pytest

from indexer.store.generations import Store
from indexer.store.verify import verify
from lineage.code_links.exclusion import Ground, KeptOut
from lineage.records import CodeLink, LedgerRow, Status, Tier, Work, WorkId

TARGET = Work(WorkId("arxiv:2401.00001"), title="TinyMask: Masked Modelling for Small Encoders", meta={"published": "2024-01-01"})
CITED = WorkId("arxiv:2006.10726")
BASE = WorkId("repo:github.com/base/line")
CONTENT = "4 of its 4 files are files of the target's own code"
README = "its README says that it is the target's code"
OWNED = "the target's own code (official, said by latex)"
FORKED = "a fork of github.com/tiny/mask: github.com/tiny/mask is the target's own code"


GROUNDS = {CONTENT: Ground.CONTENT, README: Ground.README, OWNED: Ground.LINK}


def link(tier, paper=CITED, repo=BASE):
    return CodeLink(WorkId(paper), repo, tier, ("readme",))


def build(home, *, detail="", links=(), claims=None, began="", works=(), asked=True, paper=CITED):
    """A generation that kept `BASE` out for the reason `detail`, if one is given; `claims` are the links that name it."""
    with Store(home).writing("small") as writing, writing.draft() as draft:
        with draft.catalog() as catalog:
            catalog.add_works([TARGET, Work(CITED, title="Baseline"), *works])
            catalog.add_links(links)
            rows = [LedgerRow("source", paper, BASE, "code", Status.POLICY_SKIPPED, detail)] if detail else []
            catalog.add_ledger(rows)
            catalog.expect("source", len(rows))
            meta = {"target": TARGET.id, "request": {"no_target_code": asked, "blacklist": []}, "kept_out_since": "2024-01-01"}
            if claims is not None:
                meta["kept_out_claims"] = [KeptOut(BASE.lower(), began, tuple(claims), GROUNDS.get(detail, Ground.NAME)).as_meta()]
            for key, value in meta.items():
                catalog.set_meta(key, value)
            catalog.finish()
        draft.commit(target=TARGET.id, fingerprint="f", made_by="test")
    return [finding.problem for finding in verify(home, "small")]


def test_what_is_known_of_a_repository_that_was_kept_out_comes_back():
    claim = KeptOut("repo:github.com/base/line", "2020-01-01", (link(Tier.OFFICIAL),), Ground.README)
    assert KeptOut.from_meta(claim.as_meta()) == claim


@pytest.mark.parametrize(
    ("detail", "claims", "began", "words"),
    [
        (CONTENT, [link(Tier.OFFICIAL)], "2024-05-01", "it is official of arxiv:2006.10726"),
        (CONTENT, [link(Tier.MENTIONED)], "2020-05-01", "it began 2020-05-01, before the target's code could be copied (2024-01-01)"),
        (README, [link(Tier.OFFICIAL)], "2024-05-01", "it is official of arxiv:2006.10726"),
        (OWNED, [link(Tier.OFFICIAL), link(Tier.AUTHOR, TARGET.id)], "", "it is official of arxiv:2006.10726"),
        (OWNED, [link(Tier.MENTIONED, TARGET.id)], "2025-01-01", "nothing says that it is the target's code"),
    ],
)
def test_a_wrong_exclusion_is_found(tmp_path, detail, claims, began, words):
    found = build(tmp_path, detail=detail, claims=claims, began=began)
    assert found == [f"repo:github.com/base/line was kept out ({detail}), but {words}"]


@pytest.mark.parametrize(
    ("detail", "claims", "began"),
    [
        (CONTENT, [link(Tier.MENTIONED)], "2024-05-01"),
        (CONTENT, [], ""),
        (README, [link(Tier.MENTIONED)], "2020-05-01"),
        (FORKED, [link(Tier.OFFICIAL)], "2024-05-01"),
        (OWNED, [link(Tier.OFFICIAL, TARGET.id)], "2020-05-01"),
        (OWNED, [link(Tier.REIMPLEMENTATION, TARGET.id)], ""),
        ("on the blacklist: github.com/base/line", [link(Tier.OFFICIAL)], "2020-05-01"),
    ],
)
def test_a_right_exclusion_is_none(tmp_path, detail, claims, began):
    assert build(tmp_path, detail=detail, claims=claims, began=began) == []


def test_a_linked_repository_that_is_neither_here_nor_in_the_ledger_is_found(tmp_path):
    found = build(tmp_path, links=[link(Tier.OFFICIAL)], claims=[])
    assert found == ["repo:github.com/base/line, linked to arxiv:2006.10726, is not here and no row says why"]


def test_one_that_is_here_under_its_present_name_or_has_a_row_is_not(tmp_path):
    renamed = Work(WorkId("repo:github.com/new/name"), "code", aliases=(BASE,))
    assert build(tmp_path / "a", links=[link(Tier.OFFICIAL)], works=[renamed]) == []
    assert build(tmp_path / "b", links=[link(Tier.OFFICIAL)], detail="github.com does not know it") == []


def test_where_nothing_was_to_be_kept_out_nothing_is_asked(tmp_path):
    assert build(tmp_path, links=[link(Tier.OFFICIAL)], asked=False) == []
