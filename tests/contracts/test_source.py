"""Every optional source of references keeps its contract, over answers in the form that the service documents."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping

import pytest

from indexer.sources.crossref import Crossref
from indexer.sources.openalex import OpenAlex
from lineage.ports import ReferenceSource
from lineage.records import Work
from lineage.testing import SourceContract
from tests.fakes.http import Reply, Scripted, transport

WORK = Work("arxiv:2504.17192", aliases=("doi:10.1/x",))
DEPOSITED = {"message": {"DOI": "10.1/x", "reference-count": 2, "reference": [{"DOI": "10.1000/abc"}, {"unstructured": "Two"}]}}
ROW = {"id": "https://openalex.org/W1", "display_name": "One"}
LISTED = {"referenced_works": [ROW["id"]], "referenced_works_count": 1, "results": [ROW]}


class _OverHTTP(SourceContract):
    source: Callable[..., ReferenceSource]

    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path_factory) -> Iterator[None]:
        self.folders = tmp_path_factory
        self.open: list = []
        yield
        for context in reversed(self.open):
            context.__exit__(None, None, None)

    def make(self, answer: bytes) -> ReferenceSource:
        server = Scripted({"": Reply(200, answer)})
        asks = transport(self.folders.mktemp("home"), server.__enter__().url)
        self.open += [server, asks]
        return type(self).source(asks.__enter__())


class TestCrossref(_OverHTTP):
    source = Crossref

    def recordings(self) -> Mapping[str, tuple[Work, bytes, int]]:
        return {"deposited": (WORK, json.dumps(DEPOSITED).encode(), 2)}


class TestOpenAlex(_OverHTTP):
    source = OpenAlex

    def recordings(self) -> Mapping[str, tuple[Work, bytes, int]]:
        return {"listed": (WORK, json.dumps(LISTED).encode(), 1)}
