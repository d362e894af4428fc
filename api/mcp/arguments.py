"""Arguments of each tool: closed models, validated before a tool runs.

They come from a model that may repeat what it read in somebody's paper, so every one is bounded, control characters
are refused, names fit a grammar, and a field that is not there is an error that lists those that are.
"""

from __future__ import annotations

import unicodedata
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from api.wire.encode import MAX_TOKENS, MIN_TOKENS
from lineage.errors import UsageError

MOST_BYTES = 4096
MOST_WAIT = 25
_HIDDEN = frozenset({"Cc", "Cs", "Co", "Cn"})


def _clean(text: str) -> str:
    """Return the text if it has no control characters and is within the byte limit."""
    if len(text.encode("utf-8", "surrogatepass")) > MOST_BYTES:
        raise ValueError(f"at most {MOST_BYTES:,} bytes are taken")
    for c in text:
        if unicodedata.category(c) in _HIDDEN and c not in "\t\n\r":
            raise ValueError(f"the control character U+{ord(c):04X} is not taken")
    return text


_CLEAN = AfterValidator(_clean)
LineageName = Annotated[
    str,
    Field(max_length=2048, description="Name or target; optional while there is one."),
    _CLEAN,
]
Limit = Annotated[int, Field(ge=1, le=20)]
Offset = Annotated[int, Field(ge=0, le=99)]
Wait = Annotated[int, Field(ge=0, le=MOST_WAIT, description="Seconds to stay for news of a build.")]


_FULL = 5
Cited = Annotated[str, Field(max_length=600), _CLEAN]
Question = Annotated[str, Field(min_length=1, max_length=MOST_BYTES), _CLEAN]


class Arguments(BaseModel):
    """Base of all arguments: unknown fields are rejected and values are not converted."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class SearchArguments(Arguments):
    """Arguments of `lineage_search`."""

    query: Annotated[str, Field(min_length=1, max_length=MOST_BYTES, description="A question, then identifiers."), _CLEAN] = ""
    queries: Annotated[tuple[Question, ...], Field(max_length=8, strict=False, description="Instead: up to 8 questions or patterns.")] = ()
    lineage: LineageName = ""
    mode: Annotated[Literal["hybrid", "exact", "regex"], Field(description="`exact`, `regex`: every line that matches, definitions first.")] = (
        "hybrid"
    )
    kind: Annotated[Literal["", "paper", "code", "config", "docs"], Field(description="Only this kind.")] = ""
    work: Annotated[str, Field(max_length=300, description="Only this paper or repository: id, NAME, title."), _CLEAN] = ""
    no_target_code: Annotated[bool, Field(description="Leave the target's own code out.")] = False
    detail: Annotated[Literal["concise", "full"], Field(description="full: whole chunks.")] = "concise"
    context: Annotated[int, Field(ge=0, le=40, description="Lines around each match of `exact`, `regex`.")] = 0
    max_tokens: Annotated[int, Field(ge=MIN_TOKENS, le=20000, description="A question or pattern (of several 300).")] = MAX_TOKENS
    limit: Annotated[Limit, Field(description="Hits a question (full: 5).")] = 20
    offset: Offset = 0

    @model_validator(mode="after")
    def _asks(self) -> Self:
        if bool(self.query) == bool(self.queries):
            raise ValueError("either `query` or `queries` is needed")
        if self.queries and self.detail == "full":
            raise ValueError("`queries` go with detail=concise; ask one `query`")
        return self

    @property
    def questions(self) -> tuple[str, ...]:
        """The questions, each once."""
        return tuple(dict.fromkeys(self.queries)) or (self.query,)

    @property
    def hits(self) -> int:
        """How many hits a question gets: whole chunks are long, so fewer of them unless a number is given."""
        return _FULL if self.detail == "full" and "limit" not in self.model_fields_set else self.limit

    @property
    def budget(self) -> int | None:
        """Tokens a question, if that was said."""
        return self.max_tokens if "max_tokens" in self.model_fields_set else None


class ContextArguments(Arguments):
    """Arguments of `lineage_context`."""

    task: Annotated[str, Field(min_length=1, max_length=MOST_BYTES, description="What is to be written or decided."), _CLEAN]
    lineage: LineageName = ""
    tokens: Annotated[int, Field(ge=200, le=32000, description="Token budget of the text.")] = 6000
    stage: Annotated[Literal["", "planning", "analysis", "coding"], Field(description="Fits the pack to this stage.")] = ""
    no_target_code: Annotated[bool, Field(description="Leave the target's own code out.")] = False


class GapsArguments(Arguments):
    """Arguments of `lineage_gaps`."""

    lineage: LineageName = ""
    name: Annotated[str, Field(max_length=200, description="One detail, e.g. `learning rate`: who holds which value of it."), _CLEAN] = ""
    value: Annotated[str, Field(max_length=2000, description="Decides `name`; the lines at `because` must state it."), _CLEAN] = ""
    because: Annotated[str, Field(max_length=600, description="A citation."), _CLEAN] = ""
    note: Annotated[str, Field(max_length=2000), _CLEAN] = ""
    state: Annotated[Literal["", "unspecified", "partially_specified", "specified"], Field(description="Only these; empty: all.")] = ""
    no_target_code: Annotated[bool, Field(description="Leave the target's own code out.")] = False
    limit: Limit = 8
    offset: Annotated[int, Field(ge=0, le=999)] = 0

    @model_validator(mode="after")
    def _decides(self) -> Self:
        if (self.value or self.because or self.note) and not (self.name and self.value and self.because):
            raise ValueError("a decision needs `name`, `value` and `because`")
        return self


class ReadArguments(Arguments):
    """Arguments of `lineage_read`."""

    citations: Annotated[tuple[Cited, ...], Field(max_length=12, strict=False, description="As printed, or NAME/PATH:3-40.")] = ()
    citation: Annotated[Cited, Field(description="Just one.")] = ""
    lines: Annotated[str, Field(pattern=r"^([0-9]{1,7}(-[0-9]{1,7})?)?$", description="With `citation`: other lines, 40-90."), _CLEAN] = ""
    callers: Annotated[bool, Field(description="Who names the definition.")] = False
    lineage: LineageName = ""
    no_target_code: bool = False
    chunk: Annotated[str, Field(pattern=r"^(c_[A-Za-z0-9_.-]{1,80})?$", description="Instead: `chunk` of a hit, widened."), _CLEAN] = ""
    before: Annotated[int, Field(ge=0, le=200, description="Lines above.")] = 20
    after: Annotated[int, Field(ge=0, le=200, description="Lines below.")] = 20


class BuildArguments(Arguments):
    """Arguments of `lineage_build`."""

    target: Annotated[str, Field(min_length=1, max_length=2048, description="arXiv id or URL, DOI, or a title in quotes."), _CLEAN]
    name: Annotated[str, Field(pattern=r"^([A-Za-z0-9][A-Za-z0-9._-]{0,79})?$", description="Name for the lineage."), _CLEAN] = ""
    papers: Annotated[int, Field(ge=0, le=200, description="Cited papers to read.")] = 20
    repos: Annotated[int, Field(ge=0, le=100, description="Repositories to read.")] = 12
    no_target_code: Annotated[bool, Field(description="Keep the target's own code out for good.")] = False
    wait: Wait = 0


class StatusArguments(Arguments):
    """Arguments of `lineage_status`."""

    job: Annotated[str, Field(pattern=r"^([A-Za-z0-9][A-Za-z0-9_-]{0,63})?$", description="`job` of a build."), _CLEAN] = ""
    lineage: Annotated[LineageName, Field(description="Its completeness; with neither: all lineages and jobs.")] = ""
    wait: Wait = 0


def schema(kind: type[Arguments]) -> dict[str, Any]:
    """JSON Schema of a tool's arguments: closed, without pydantic's titles, empty defaults and bounds of texts."""
    made = kind.model_json_schema()
    return {
        "type": "object",
        "properties": {name: _plain(property_schema) for name, property_schema in made["properties"].items()},
        "required": made.get("required", []),
        "additionalProperties": False,
    }


_UNSAID = {"title", "minLength", "maxLength", "pattern"}
"""What a schema leaves out: an argument that is too long or of another form is refused with the reason."""


def _plain(property_schema: dict[str, Any]) -> dict[str, Any]:
    kept = {key: value for key, value in property_schema.items() if key not in _UNSAID and (key, value) not in _DEFAULTS}
    return kept | {"items": _plain(kept["items"])} if "items" in kept else kept


_DEFAULTS: tuple[tuple[str, Any], ...] = (("default", ""), ("default", False), ("default", []), ("default", ()))


def parse(kind: type[Arguments], given: dict[str, Any] | None) -> Arguments:
    """Validate the arguments. Raises `UsageError` with the problem and the accepted fields.

    Null stands for an optional argument that is left out: clients with strict schemas send all of them.
    """
    optional = {name for name, field in kind.model_fields.items() if not field.is_required()}
    try:
        return kind.model_validate({name: value for name, value in (given or {}).items() if value is not None or name not in optional})
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part)[:60] for part in first["loc"]) or "arguments"
        raise UsageError(f"{where}: {_said(first)}", hint="taken are: " + ", ".join(_line(*item) for item in kind.model_fields.items())) from None


def _said(first: Any) -> str:
    return "there is no such argument" if first["type"] == "extra_forbidden" else str(first["msg"]).removeprefix("Value error, ")


def _line(name: str, field: Any) -> str:
    return name if field.is_required() else f"{name} (optional)"
