"""Audits of official repositories: deviations that are planted, and alarms that are false.

    python -m benchmarks.audit --home HOME --pair LINEAGE=FOLDER [--pair ...] [--json]

HOME is a store with lineages whose targets have a text; FOLDER is the official repository of the target as files. Two parts
for each pair:

* `untouched`: the repository as it is. It is what the authors ran, so every `different` or `absent` on a value that the
  target itself states is an alarm: either the audit is wrong, or the paper contradicts its code (read them, they are listed).
* `planted`: for every value found present, a copy of the repository in which that value is changed wherever it stands, one
  value a copy; the audit must then say `different` (numbers tripled, choices replaced).
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from api.bootstrap import Parts
from api.service import Service
from benchmarks.parts import run_benchmark
from lineage import settings
from lineage.insight import Audit, AuditFinding

_NUMBER = re.compile(r"(?<![\w.])\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])")
_OTHER = {"adam": "rmsprop", "adamw": "adagrad", "sgd": "rmsprop", "relu": "tanh", "gelu": "relu", "cosine": "linear", "linear": "cosine"}
_CHOICE = re.compile(r'.*"kind": "(\w+)".*')
PLANTED = 12


def values(made: Audit) -> list[AuditFinding]:
    """Findings on values that the target states itself."""
    return [one for one in made.findings if one.name != "component" and one.why.startswith("the target states it")]


def changed(text: str, value: str) -> str:
    """A text with a value changed wherever it stands: equal numbers tripled, else a choice replaced."""
    try:
        wanted = float(value)
    except ValueError:
        other = _OTHER.get(value.lower())
        return re.sub(re.escape(value), other, text, flags=re.IGNORECASE) if other else text
    return _NUMBER.sub(lambda m: f"{3 * wanted + 1:g}" if abs(float(m[0].replace("_", "")) - wanted) <= 1e-9 * abs(wanted) else m[0], text)


def planted(folder: Path, finding: AuditFinding, into: Path) -> bool:
    """A copy of the repository in which the value that a finding found stands nowhere any more."""
    shutil.copytree(folder, into, dirs_exist_ok=True, ignore=shutil.ignore_patterns(".git"))
    value, hit = _CHOICE.sub(r"\1", finding.found).split(" ")[0], False
    for path in sorted(p for p in into.rglob("*") if p.is_file() and p.suffix in {".py", ".json", ".yaml", ".yml", ".sh", ".toml", ".md"}):
        before = path.read_text(encoding="utf-8", errors="surrogateescape")
        after = changed(before, value)
        if after != before:
            hit = True
            path.write_text(after, encoding="utf-8", errors="surrogateescape")
    return hit


def measure(service: Service, lineage: str, folder: Path) -> dict[str, Any]:
    made = service.audit(folder, lineage=lineage, no_target_code=True)
    stated = values(made)
    alarms = [one for one in stated if one.verdict != "present"]
    caught = list(_caught(service, lineage, folder, [one for one in stated if one.verdict == "present"][:PLANTED]))
    components = [one for one in made.findings if one.name == "component"]
    return {
        "stated": len(stated),
        "present": len(stated) - len(alarms),
        "different": sum(one.verdict == "different" for one in alarms),
        "components": len(components),
        "components_present": sum(one.verdict == "present" for one in components),
        "planted": len(caught),
        "found": sum(caught),
        "alarms": [f"{one.title}: expected {one.expected}, {one.verdict} {one.found} {one.where}".strip() for one in alarms],
    }


def _caught(service: Service, lineage: str, folder: Path, present: list[AuditFinding]) -> Iterator[bool]:
    for finding in present:
        with tempfile.TemporaryDirectory() as scratch:
            if planted(folder, finding, Path(scratch) / folder.name):
                after = service.audit(Path(scratch) / folder.name, lineage=lineage, no_target_code=True)
                yield any(one.name == finding.name and one.verdict == "different" for one in after.findings)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--pair", action="append", required=True, help="LINEAGE=FOLDER")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    service = Service(Parts(settings.load(home=options.home)))
    said = {}
    for pair in options.pair:
        lineage, _, folder = pair.partition("=")
        said[lineage] = measure(service, lineage, Path(folder))
        if not options.json:
            print(lineage, json.dumps({key: value for key, value in said[lineage].items() if key != "alarms"}))
            print("\n".join(f"  {alarm}" for alarm in said[lineage]["alarms"]), flush=True)
    if options.json:
        print(json.dumps(said))


if __name__ == "__main__":
    run_benchmark(main)
