"""Build real lineages with and without the target's code and compare them, repository by repository: what is lost, what leaks.

    python -m benchmarks.honest --mirror http://127.0.0.1:9000 --home DIR arxiv:2502.17437 [...]

For each target a table: chunks of every repository with the flag, without it, and in answers that leave the target's code out
(`no_target_code` at query time). Lost is what is not the target's and has fewer chunks; a leak is what the lineage
that holds the target's code knows to be the target's and the other holds all the same, or what `lineage check` finds.
Ends with 1 if anything was lost or leaked.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from api.bootstrap import Parts
from api.operations import Service
from indexer.plan import BuildRequest
from lineage import settings
from lineage.catalog.partial import PartialCatalog
from lineage.catalog.reader import Catalog
from lineage.code_links.exclusion import is_telling
from lineage.code_links.target_code import TargetCode, in_catalog, own_exclusion
from lineage.generation import open_generation
from lineage.records import WorkId

WITH, WITHOUT = "honest-with-", "honest-without-"
"""How the lineages are called, before the target."""


@dataclass(frozen=True)
class Compared:
    """Chunks by work in the lineage with everything, in the one built without, in answers without; what is the target's; leaks."""

    everything: Mapping[WorkId, int]
    built: Mapping[WorkId, int]
    asked: Mapping[WorkId, int]
    own: TargetCode
    leaks: tuple[str, ...]

    def expected(self, whole: Catalog, work: WorkId) -> int:
        """How many chunks of a work are to be there without the target's code."""
        files = [path for id_, path in self.own.files if id_ == work]
        return 0 if work in self.own.works else self.everything.get(work, 0) - sum(len(whole.neighbours(work, path)) for path in files)


def chunks(catalog: Catalog) -> Counter[WorkId]:
    """How many chunks each work has."""
    return Counter(chunk.work for chunk in catalog.chunks([int(row) for row in catalog.rows()]))


def _hashes(catalog: Catalog, works: Iterable[WorkId]) -> set[str]:
    return {one.sha256 for work in works for one in catalog.documents(work) if is_telling(one.path, one.length)}


def compared(whole: Catalog, without: Catalog, findings: tuple[str, ...]) -> Compared:
    exclusion = own_exclusion(whole)
    own = in_catalog(whole, exclusion)
    held = {document.work for document in whole.documents()}
    knowing = exclusion.knowing(without.links())
    instead = [work.id for work in without.works() if work.id not in held and knowing.is_anothers(work)]  # others', in the target's place
    theirs = _hashes(without, instead)
    left = in_catalog(without, knowing.without(theirs))
    alone = _hashes(whole, own.works) - _hashes(whole, held - own.works.keys()) - theirs
    same = [f"{one.work} {one.path}: a file that only the target's code has" for one in without.documents() if one.sha256 in alone]
    leaks = (*same, *(f"{work}: {why}" for work, why in left.works.items()), *(f"{work} {path}: {why}" for (work, path), why in left.files.items()))
    return Compared(chunks(whole), chunks(without), chunks(PartialCatalog(whole, own.works, own.files)), own, (*leaks, *findings))


def row(found: Compared, whole: Catalog, work: WorkId) -> tuple[str, bool]:
    wanted = found.expected(whole, work)
    counts = (found.everything.get(work, 0), found.built.get(work, 0), found.asked.get(work, 0))
    further = not counts[0] and work not in found.own.works  # it has the place that the target's repository takes up
    right = counts[2] == wanted and (counts[1] == wanted or further)
    part = f"{counts[0] - wanted} are the target's" if wanted != counts[0] else ""
    whose = "the target's own" if work in found.own.works else "in place of the target's" if further else part
    return f"| {work.removeprefix('repo:')} | {counts[0]} | {counts[1]} | {counts[2]} | {whose} | {'' if right else 'NOT AS EXPECTED'} |", right


def read(home: Path, slug: str, findings: tuple[str, ...] = ()) -> tuple[list[tuple[str, bool]], tuple[str, ...]]:
    """The rows of the two lineages of a target, each with whether it is as expected, and the leaks."""
    with open_generation(home, WITH + slug) as whole, open_generation(home, WITHOUT + slug) as without:
        found = compared(whole.catalog, without.catalog, findings)
        works = sorted({*found.everything, *found.built}, key=lambda work: (not work.startswith("repo:"), work))
        return [row(found, whole.catalog, work) for work in works], found.leaks


def measured(service: Service, home: Path, target: str) -> bool:
    """Print the table of one target; whether all is as expected."""
    slug = target.rpartition(":")[2].replace("/", "-")
    for flag, name in ((False, WITH), (True, WITHOUT)):
        service.build(BuildRequest(target, name=name + slug, no_target_code=flag), tier="first")
    rows, leaks = read(home, slug, tuple(finding.problem for finding in service.check(WITHOUT + slug)))
    print(f"\n## {target}\n\n| work | with | built without | asked without | | |\n|---|---|---|---|---|---|")
    print("\n".join(line for line, right in rows if line.startswith("| github") or not right))
    papers = [right for line, right in rows if not line.startswith("| github")]
    print(f"\n{len(papers)} papers, {sum(papers)} with the same chunks; leaks: {'; '.join(leaks) or 'none'}", flush=True)
    return all(right for _, right in rows) and not leaks


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("targets", nargs="+")
    parser.add_argument("--mirror", required=True)
    parser.add_argument("--home", type=Path, required=True, help="where to build; what it holds already is not fetched again")
    args = parser.parse_args()
    service = Service(Parts(settings.load(home=args.home, mirror=args.mirror)))
    right = [measured(service, args.home, target) for target in args.targets]
    print(f"\n{sum(right)} of {len(right)} lineages lost nothing and leak nothing")
    return int(not all(right))


if __name__ == "__main__":
    sys.exit(main())
