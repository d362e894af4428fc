"""No telemetry: asking a lineage connects to nothing and looks up no name."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.fakes import small_lineage

ROOT = Path(__file__).resolve().parent.parent
WATCH = """
import sys
def audit(event, args):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto"):
        raise SystemExit(f"{event} {args}")
sys.addaudithook(audit)
from api.local import Lineage
with Lineage(sys.argv[1]) as lineage:
    assert lineage.search("entropy").hits
    lineage.gaps(), lineage.details(), lineage.show("small"), lineage.graph("small"), lineage.context("the loss", tokens=2000)
print("asked")
"""


def test_asking_a_lineage_connects_to_nothing(tmp_path):
    small_lineage.build(tmp_path)
    done = subprocess.run([sys.executable, "-c", WATCH, str(tmp_path)], cwd=ROOT, capture_output=True, text=True, timeout=100)
    assert done.stdout.strip() == "asked", done.stdout + done.stderr[-2000:]


def test_libraries_that_could_report_usage_are_told_not_to():
    program = "import lineage, os; print(os.environ['ORT_DISABLE_TELEMETRY'])"
    assert subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip() == "1"
