"""Audits of reproductions: planted deviations that are found, and false alarms on the correct ones.

    python -m benchmarks.audit --home HOME --set FOLDER [--no-target-code] [--model] [--json]

HOME is a store with the lineages; FOLDER has `audit.json` and one folder for each correct reproduction:

    [{"folder": "tabdiff", "lineage": "arxiv-2410.20626", "deviations": [
        {"name": "optimizer", "edits": [{"file": "train.py", "old": "optim.Adam(", "new": "optim.SGD("}]}]}]

`audit_planted.json` beside this file has ten deviations for each of five authors' own repositories; copied as `audit.json` into FOLDER, it asks
for a checkout of each `repo` there under the name `folder`.

Each reproduction is audited as it is: every `deviation` is a false alarm, and `missing` is counted beside it. Then all its
deviations are planted in one copy; one is found if a `deviation` or `missing` that the correct run has not got stands on an
edited line, or names the deviation or its value.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from api.bootstrap import Parts
from api.operations import Service
from benchmarks.parts import run_benchmark
from lineage import settings
from lineage.results import Audit, AuditFinding
from lineage.text.tokens import parts

WRONG = frozenset({"deviation", "missing"})


def plant(folder: Path, deviations: Sequence[Mapping[str, Any]]) -> list[set[str]]:
    """Edit a copy; the places (`file#Lline`) that each deviation changed."""
    places: list[set[str]] = [set() for _ in deviations]
    for at, deviation in enumerate(deviations):
        for edit in deviation["edits"]:
            path = folder / edit["file"]
            text = path.read_text(encoding="utf-8")
            if edit["old"] not in text:
                raise SystemExit(f"{path}: {edit['old']!r} is not in it")
            first = text[: text.index(edit["old"])].count("\n") + 1
            path.write_text(text.replace(edit["old"], edit["new"]), encoding="utf-8")
            places[at] |= {f"{edit['file']}#L{first + line}" for line in range(edit["new"].count("\n") + 1)}
    return places


def is_found(deviation: Mapping[str, Any], places: set[str], findings: Sequence[AuditFinding]) -> bool:
    """Whether a finding names a deviation, or stands where it was planted."""
    wanted = set(parts(deviation["name"]))
    named = (set(parts(f"{one.name} {one.title} {one.expected}")) for one in findings)
    return any(one.where in places for one in findings) or any(wanted <= words for words in named)


def measure(service: Service, row: Mapping[str, Any], folder: Path, **how: bool) -> dict[str, Any]:
    """One reproduction: the false alarms of the correct one, and which of its deviations are found."""
    correct = service.audit(folder, lineage=row["lineage"], **how)
    with tempfile.TemporaryDirectory() as scratch:
        copy = Path(scratch) / folder.name
        shutil.copytree(folder, copy)
        places = plant(copy, row["deviations"])
        after = service.audit(copy, lineage=row["lineage"], **how)
    before = {(one.name, one.found, one.verdict) for one in correct.findings}
    new = [one for one in after.findings if one.verdict in WRONG and (one.name, one.found, one.verdict) not in before]
    return {
        "folder": row["folder"],
        "score": correct.score,
        "score_planted": after.score,
        "false_deviations": _told(correct, "deviation"),
        "missing": _told(correct, "missing"),
        "found": [one["name"] for one, where in zip(row["deviations"], places, strict=True) if is_found(one, where, new)],
        "not_found": [one["name"] for one, where in zip(row["deviations"], places, strict=True) if not is_found(one, where, new)],
    }


def _told(made: Audit, verdict: str) -> list[str]:
    return [f"{one.title}: expected {one.expected}, found {one.found} {one.where}".strip() for one in made.findings if one.verdict == verdict]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--set", type=Path, required=True)
    parser.add_argument("--no-target-code", action="store_true")
    parser.add_argument("--model", action="store_true", help="the configured chat model reads too")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    service = Service(Parts(settings.load(home=options.home)))
    rows = json.loads((options.set / "audit.json").read_text(encoding="utf-8"))
    results = [measure(service, row, options.set / row["folder"], no_target_code=options.no_target_code, model=options.model) for row in rows]
    if options.json:
        print(json.dumps(results))
        return
    for one in results:
        print(json.dumps(one))
    found, planted = sum(len(one["found"]) for one in results), sum(len(one["found"]) + len(one["not_found"]) for one in results)
    false, missing = (sum(len(one[key]) for one in results) for key in ("false_deviations", "missing"))
    print(f"{found} of {planted} found, {false} false deviations, {missing} missing")


if __name__ == "__main__":
    run_benchmark(main)
