"""Where the rules of contradictions fire on built lineages, beside what the registry says of them.

    python -m benchmarks.rules --home HOME [--show] [--json]

Counts are of lineages and of conflicts; whether a conflict is right has to be read (`--show` prints each).
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from api.bootstrap import Parts
from lineage import generation as layout
from lineage import settings
from lineage.citation import pinpoint
from lineage.results import Conflict
from retrieval.contradictions.detect import RULES


def fired(home: Path) -> Iterator[tuple[str, Conflict]]:
    """Every conflict of every lineage of a store."""
    parts = Parts(settings.load(home=home))
    for name in layout.names(home):
        with parts.engine(name) as engine:
            yield from ((name, one) for one in parts.report(engine).conflicts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows: dict[str, list[tuple[str, Conflict]]] = defaultdict(list)
    for name, one in fired(options.home):
        rows[one.rule].append((name, one))
    counts = {rule.name: (len({name for name, _ in rows[rule.name]}), len(rows[rule.name])) for rule in RULES}
    if options.json:
        print(json.dumps({name: {"lineages": lineages, "conflicts": conflicts} for name, (lineages, conflicts) in counts.items()}))
        return
    for rule in RULES:
        lineages, conflicts = counts[rule.name]
        registered = f"registry: fired on {rule.fired}, right on {rule.right} of {rule.lineages}"
        print(f"{rule.name:<16} {lineages} lineages, {conflicts} conflicts now; {registered}")
        for name, one in rows[rule.name] if options.show else ():
            print(f"  {name} {one.name}: " + " | ".join(f"{side.fact.value} at {pinpoint(side.evidence)}" for side in one.sides))


if __name__ == "__main__":
    main()
