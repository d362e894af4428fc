"""Real data beside the checkout, where there is some: tests that need it skip elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
EVAL = ROOT.parent / "shared" / "eval"
needs_eval = pytest.mark.skipif(not EVAL.is_dir(), reason="the evaluation data is not beside this checkout")
