"""Proof that keeping the target's code out cost nothing else: every linked repository is here, or a row says why not, and rightly.

`indexer.code_links.exclusion_check` shows that nothing of what was to be kept out is there; this is the other direction.
"""

from __future__ import annotations

from collections.abc import Iterator

from indexer.code_links.exclusion_check import Forbidden
from lineage.catalog.reader import Catalog
from lineage.code_links.exclusion import Exclusion, KeptOut
from lineage.records import LedgerRow, Tier, Work, WorkId

_STAGES = {"code", "select"}
_BY_CONTENT = "files are files of the target's own code"
_BY_README = "its README says that it is the target's code"
_BY_NAME = ("a fork of ", "on the blacklist", "github.com/", "gitlab.com/", "bitbucket.org/", "codeberg.org/")


def losses(catalog: Catalog) -> Iterator[str]:
    """What a generation that keeps something out has lost with it, in words."""
    meta = catalog.meta()
    build_request = meta.get("request") or {}
    if not build_request.get("no_target_code") and not build_request.get("blacklist"):
        return
    rows = {row.subject.lower(): row for row in catalog.ledger("source") if row.stage in _STAGES}
    yield from _unaccounted(catalog, rows)
    if not build_request.get("no_target_code"):
        return
    if "kept_out_claims" not in meta:
        yield from _unproven(rows, str(meta.get("target")))
        return
    claims = [KeptOut.from_meta(row) for row in meta["kept_out_claims"]]
    target = catalog.work(str(meta.get("target") or "")) or Work(WorkId(""))
    links = [*catalog.links(), *(link for claim in claims for link in claim.links)]
    plain = Exclusion.of(no_target_code=True, target=target, works=catalog.works())
    full_exclusion = plain.knowing(links, since=str(meta.get("kept_out_since") or ""))
    for claim in claims:
        if (row := rows.get(claim.repo)) and (why := _wrongly(claim, row, full_exclusion)):
            yield f"{claim.repo} was kept out ({row.detail}), but {why}"


def _unaccounted(catalog: Catalog, rows: dict[str, LedgerRow]) -> Iterator[str]:
    """Linked repositories that are neither here nor in the ledger; `strays` tells of those that were to be kept out."""
    forbidden = Forbidden.of(catalog)
    works_by_id = {work.id: work for work in catalog.works()}
    here = {name.lower() for work in works_by_id.values() if work.kind == "code" for name in (work.id, *work.aliases)}
    for link in catalog.links():
        out = forbidden and forbidden.exclusion.reason(link, works_by_id.get(link.paper))
        if not out and link.repo.lower() not in here and link.repo.lower() not in rows:
            yield f"{link.repo}, linked to {link.paper}, is not here and no row says why"


def _unproven(rows: dict[str, LedgerRow], target: str) -> Iterator[str]:
    """Other papers' repositories that a build kept out as copies without noting whose they are."""
    for row in rows.values():
        if row.detail.endswith(_BY_CONTENT) and row.work != target:
            yield f"{row.subject}, linked to {row.work}, was kept out ({row.detail}) by a build that did not note whose it is"


def _wrongly(claim: KeptOut, row: LedgerRow, known: Exclusion) -> str:
    """Why a repository should not have been kept out, or the empty string."""
    if claim.repo in known.own or row.detail.startswith(_BY_NAME):
        return ""
    owner = next((link.paper for link in claim.links if link.tier is Tier.OFFICIAL and link.paper not in known.target), "")
    if claim.repo in known.others:
        return f"it is official of {owner}"
    work = Work(WorkId(claim.repo), "code", meta={"created": claim.began} if claim.began else {})
    if row.detail.endswith(_BY_CONTENT) and known.is_anothers(work):
        return f"it began {claim.began[:10]}, before the target's code could be copied ({known.since[:10]})"
    if row.detail.endswith((_BY_CONTENT, _BY_README)):
        return ""
    return "nothing says that it is the target's code"
