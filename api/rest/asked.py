"""What a request may say: closed models with bounds, and the examples that the OpenAPI document shows."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from indexer.plan import BuildRequest
from lineage.errors import BadIdentifier

NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,79}$"
NAMED = r"^([A-Za-z0-9][A-Za-z0-9._-]{0,79})?$"
CHUNK = r"^c_[0-9a-f]{8,64}$"
Line = Annotated[str, Field(min_length=1, max_length=2048)]


class Closed(BaseModel):
    """A request that holds nothing but what it may hold."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Nothing(Closed):
    """No parameters."""


Lineage = Annotated[
    str, Field(pattern=NAMED, description="Name of the lineage; may be left out while there is only one.", examples=["arxiv-2504.17192"])
]


class Search(Closed):
    """A question to a lineage."""

    text: Annotated[str, Field(min_length=1, max_length=4096, description="The question, as you would ask a colleague.")]
    lineage: Lineage = ""
    k: Annotated[int, Field(ge=1, le=100, description="How many hits.")] = 10
    kind: Annotated[Literal["", "paper", "code", "config", "docs"], Field(description="Only hits of this kind.")] = ""
    no_target_code: Annotated[bool, Field(description="Leave the target's own code out.")] = False

    model_config = ConfigDict(json_schema_extra={"examples": [{"text": "how is the encoder initialized?", "k": 5, "kind": "code"}]})


class Around(Closed):
    """How much of the document to show around a chunk."""

    lineage: Lineage = ""
    before: Annotated[int, Field(ge=0, le=400, description="Lines before it.")] = 20
    after: Annotated[int, Field(ge=0, le=400, description="Lines after it.")] = 20


class Drawing(Closed):
    """The form that a graph is wanted in."""

    form: Annotated[Literal["json", "graphml", "dot", "svg", "html"], Field(description="How the graph is written.")] = "json"


class Build(Closed):
    """A lineage to be built."""

    target: Annotated[str, Field(min_length=1, max_length=2048, description="arXiv id or URL, DOI, Semantic Scholar id, or a title in quotes.")]
    name: Annotated[str, Field(pattern=NAMED, description="Name of the lineage; by default it is made from the target.")] = ""
    depth: Annotated[int, Field(ge=1, le=3, description="How many generations of references to follow.")] = 1
    papers: Annotated[int | None, Field(ge=0, le=1000, description="Cited papers to fetch, best-ranked first; else as the server is set.")] = None
    repos: Annotated[int | None, Field(ge=0, le=500, description="Repositories to fetch; else as the server is set.")] = None
    add: Annotated[tuple[Line, ...], Field(max_length=50, description="Further papers or repositories, by identifier or URL.")] = ()
    no_target_code: Annotated[bool, Field(description="Keep the target's own code out of store and answers.")] = False
    blacklist: Annotated[tuple[Line, ...], Field(max_length=200, description="URL fragments that are neither fetched nor returned.")] = ()
    code_as_of: Annotated[Literal["head", "paper"], Field(description="Commit of each repository: head, or the first after its paper.")] = "head"

    model_config = ConfigDict(json_schema_extra={"examples": [{"target": "arxiv:2504.17192", "papers": 20, "repos": 12}]})

    def request(self, papers: int, repos: int) -> BuildRequest:
        """The build that is meant; raises `BadIdentifier` for a path, which only the command line may name."""
        from indexer.target import is_path

        for text in (self.target, *self.add):
            if is_path(text):
                raise BadIdentifier(f"{text!r} is a path of this machine; over HTTP a paper or repository is named by identifier or URL")
        return BuildRequest(
            **{**dict(self), "papers": papers if self.papers is None else self.papers, "repos": repos if self.repos is None else self.repos}
        )
