"""A lineage compared with its sources: what an altered mirror handed out is found."""

from __future__ import annotations

import shutil

import pytest

from lineage.records import Status
from tests.demo import NAME, TARGET, Demo
from tests.upstream import CORPUS
