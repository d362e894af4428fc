"""The sole reader of the environment and the config file.

Every setting is an environment variable `LINEAGE_<NAME>` and a key of the TOML file that `LINEAGE_CONFIG`
names (default: `lineage.toml` in the platform's config folder); flags of a command win over both.
"""

from __future__ import annotations

import os
import re
import tomllib
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

import platformdirs
from pydantic import AliasChoices, BaseModel, ConfigDict, Field, SecretStr, ValidationError, field_validator

from lineage.errors import SettingsError, check_home

if TYPE_CHECKING:
    from lineage.generation import Lineages

MIB = 1024 * 1024
_DATABASES = ("postgresql://", "postgres://")


def config_file() -> Path:
    """The TOML file that is read: the one that `LINEAGE_CONFIG` names, or the usual one if it exists."""
    return Path(os.environ.get("LINEAGE_CONFIG") or platformdirs.user_config_path("lineage") / "lineage.toml")


class Settings(BaseModel):
    """What a user may choose. Descriptions are the documentation: `docs/settings.md` is made from them."""

    model_config = ConfigDict(frozen=True, populate_by_name=True)

    home: Path = Field(default_factory=lambda: platformdirs.user_data_path("lineage"), description="Folder of the store: blobs, lineages, caches.")
    store: str = Field(
        "",
        description="Where lineages are kept: empty for the store's folder, `postgresql://…` for a database with pgvector (docs/scale.md).",
    )
    dask: str = Field(
        "", description="Where builds parse and embed: empty for this process, `tcp://…` for a Dask cluster, `local:2` for two processes."
    )
    mirror: str = Field("", description="Loopback or lab mirror: https://HOST/PATH is asked as MIRROR/HOST/PATH, without keys.")
    offline: bool = Field(False, description="Send nothing; use what the store holds.")
    embedder: str = Field(
        "packaged",
        description="`packaged`, `static` (vectors of words), `sentence-transformers:<hub name or folder>`, `openai:<model>` (any such API).",
    )
    reranker: str = Field(
        "",
        description="Reranks the first hits: `cross-encoder:<hub name or folder>` or a plugin; empty for none.",
    )
    openai_base_url: str = Field("", description="Endpoint for `openai:` embedders; empty for the public one.")
    openai_api_key: SecretStr = Field(
        SecretStr(""), validation_alias=AliasChoices("LINEAGE_OPENAI_API_KEY", "OPENAI_API_KEY", "openai_api_key"), description="Key for it."
    )
    s2_api_key: SecretStr = Field(
        SecretStr(""), validation_alias=AliasChoices("LINEAGE_S2_API_KEY", "S2_API_KEY", "s2_api_key"), description="Semantic Scholar key (optional)."
    )
    github_token: SecretStr = Field(
        SecretStr(""),
        validation_alias=AliasChoices("LINEAGE_GITHUB_TOKEN", "GITHUB_TOKEN", "github_token"),
        description="GitHub token (optional; 60 requests an hour without).",
    )
    contact: str = Field("", description="Mail address for the User-Agent, as the services request.")
    sources: str = Field("", description="Further sources of references to ask, comma-separated: `openalex`, `crossref`, or a plugin's.")
    llm_model: str = Field("", description="Chat model that reads what rules miss; empty for none.")
    llm_base_url: str = Field("", description="Its OpenAI-compatible endpoint, empty for the public one; or `prompts:FOLDER` (docs/recipes.md).")
    llm_api_key: SecretStr = Field(SecretStr(""), description="Key for it.")
    llm_budget: int = Field(500_000, ge=0, description="Tokens that one command may spend on it, checked before each call; 0 means no limit.")
    llm_price: str = Field(
        "",
        pattern=r"^(\d{1,6}(\.\d{1,6})?/\d{1,6}(\.\d{1,6})?)?$",
        description="Its price per million tokens in and out, such as `0.15/0.60`; for display only.",
    )
    tokenizer: str = Field(
        "packaged", description="Counts the tokens of context packs: `packaged`, `estimate` (3 bytes each), or the path of a `tokenizer.json`."
    )
    details: Path | None = Field(
        None,
        description="Your own file of details that a reproduction needs; extends the packaged list, rows of the same name replace.",
    )
    vocabulary: Path | None = Field(None, description="Your own file of prose words and their names in code; extends the packaged one.")
    ontology: Path | None = Field(
        None, description="Your own file of names and values of details (hyperparameters, choices); extends the packaged one."
    )
    shelf: str = Field("", description="Default place of `lineage push` and `lineage pull`: a folder, `s3://…`, `hf://…`.")
    signing_password: SecretStr = Field(SecretStr(""), description="Password of the minisign key for `--sign`.")
    token: SecretStr = Field(
        SecretStr(""), description="What clients of `lineage serve` must send as `Authorization: Bearer`; needed beyond loopback."
    )
    hosts: str = Field("", description="Further host names that `lineage serve` accepts in Host and Origin, comma-separated.")
    rate: int = Field(1200, ge=1, description="Requests per minute that `lineage serve` allows one client, after a burst of a sixth of that.")
    queue: int = Field(16, ge=1, le=10_000, description="Builds that may wait in the queue of REST and MCP.")
    threads: int = Field(0, ge=0, le=256, description="Threads for embedding; 0 means one per core.")
    papers: int = Field(20, ge=0, le=1000, description="Cited papers fetched by a build, best-ranked first.")
    repos: int = Field(12, ge=0, le=500, description="Repositories fetched by a build.")
    deadline: float = Field(60.0, gt=0, le=3600, description="Seconds that one request may take, without retries.")
    patience: float = Field(900.0, ge=0, le=86400, description="Seconds that a build waits for one host before giving it up.")
    negative_days: float = Field(
        7.0, ge=0, description="Days for which a refusal (not found, gone, too large) is remembered; then the service is asked again."
    )
    max_requests: int = Field(0, ge=0, description="Requests that one build may send, redirects and retries included; 0 means no limit.")
    max_megabytes: int = Field(
        0, ge=0, description="Megabytes after which a build requests nothing more; downloads in progress complete. 0 means no limit."
    )
    repo_seconds: float = Field(180.0, ge=0, description="Processor seconds for reading one repository; the rest gets ledger rows. 0: no limit.")
    repo_megabytes: float = Field(32.0, ge=0, description="Megabytes of text read of one repository. 0 means no limit.")
    repo_chunks: int = Field(25_000, ge=0, description="Chunks indexed of one repository. 0 means no limit.")
    build_seconds: float = Field(1800.0, ge=0, description="Processor seconds for reading all repositories of a build. 0 means no limit.")
    build_megabytes: float = Field(128.0, ge=0, description="Megabytes of text indexed by a build. 0 means no limit.")
    build_chunks: int = Field(150_000, ge=0, description="Chunks indexed by a build. 0 means no limit.")
    parser_megabytes: int = Field(1024, ge=256, description="Memory of the child process that parses a file.")
    max_json: int = Field(10 * MIB, description="Largest metadata answer, bytes.")
    max_eprint: int = Field(50 * MIB, description="Largest e-print, bytes.")
    max_pdf: int = Field(60 * MIB, description="Largest PDF, bytes.")
    max_tarball: int = Field(200 * MIB, description="Largest repository tarball, bytes.")

    @field_validator("home")
    @classmethod
    def _home_is_a_path(cls, value: Path) -> Path:
        try:
            return value.expanduser()  # a config file or a quoted variable says ~, and no shell has seen it
        except RuntimeError as error:
            raise ValueError(f"there is no user {value.parts[0]}") from error

    @field_validator("token")
    @classmethod
    def _blank_is_none(cls, value: SecretStr) -> SecretStr:
        return SecretStr(value.get_secret_value().strip())  # no header could hold the blanks around it

    @field_validator("dask")
    @classmethod
    def _dask_is_a_cluster(cls, value: str) -> str:
        if value and not re.fullmatch(r"local(:[1-9]\d{0,3})?|(tcp|tls)://.+", value):
            raise ValueError("a cluster is given as tcp://HOST:PORT, tls://HOST:PORT, local or local:N")
        return value

    @field_validator("mirror")
    @classmethod
    def _mirror_is_http(cls, value: str) -> str:
        if value and not value.startswith(("http://", "https://")):
            raise ValueError("a mirror must be an http:// or https:// address")
        return value.rstrip("/")

    @field_validator("store")
    @classmethod
    def _store_is_a_database(cls, value: str) -> str:
        if value and not value.startswith(_DATABASES):
            raise ValueError("a store must be a postgresql:// address; a folder is set as home")
        return value

    @property
    def lineages(self) -> Lineages:
        """Where lineages lie: the home folder, or the database that is set."""
        return lineages_at(self.store) if self.store else self.home


def lineages_at(text: str) -> Lineages:
    """Where the lineages of a store lie that is given as a folder or an address."""
    if not text.startswith(_DATABASES):
        return Path(text).expanduser()
    from lineage.catalog.database import database

    return database(text)


def load(**flags: Any) -> Settings:
    """Settings of this process; `flags` are a command's own, None meaning not given. Raises `SettingsError`."""
    try:
        _check_file()
        loaded_settings = Settings(**_written() | _environment() | {name: value for name, value in flags.items() if value is not None})
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(str(part) for part in first["loc"])
        raise SettingsError(
            f"setting {name}: {first['msg'].removeprefix('Value error, ').replace('Input should be', 'must be')}",
            hint=f"it comes from an option, from LINEAGE_{name.upper()}, or from {config_file()}",
        ) from error
    except (OSError, ValueError) as error:
        raise SettingsError(f"the config file {config_file()} cannot be read: {error}") from error
    check_home(loaded_settings.home)
    return loaded_settings


def _written() -> dict[str, Any]:
    """What the config file says, by setting, or by key where there is no such setting; nothing where there is no file."""
    path = config_file()
    values = tomllib.loads(path.read_text("utf-8")) if path.is_file() else {}
    names = {
        str(alias).lower(): name for name, field in Settings.model_fields.items() for alias in getattr(field.validation_alias, "choices", [name])
    }
    return {names.get(key.lower(), key): value for key, value in values.items()}


def _environment() -> dict[str, str]:
    """What the environment says, by setting; an empty variable says nothing. There is no `.env` of whatever folder one stands in."""
    variables_set = {name.upper(): value for name, value in os.environ.items() if value}
    return {name: variables_set[variable] for name in Settings.model_fields for variable in reversed(variables(name)) if variable in variables_set}


def _check_file() -> None:
    """Raise `SettingsError` for a file that `LINEAGE_CONFIG` names and that is not there, and for keys that are no settings."""
    path = config_file()
    if os.environ.get("LINEAGE_CONFIG") and not path.is_file() and str(path) != os.devnull:
        raise SettingsError(f"LINEAGE_CONFIG names {path}, and there is no such file", hint="name the file that is meant, or unset LINEAGE_CONFIG")
    for name in _written():
        if name not in Settings.model_fields:
            near = get_close_matches(name.lower().removeprefix("lineage_"), Settings.model_fields, n=1)
            hint = f"is {near[0]} meant?" if near else "`lineage doctor` lists the settings"
            raise SettingsError(f"{path} has {name}, and there is no such setting", hint=hint)


def origins(made: Settings) -> dict[str, str]:
    """Of every setting that was set: by which variable, by which file, or that it was a flag of the command."""
    unflagged, written = load(), _written()
    environment_names = {name.upper() for name, value in os.environ.items() if value}
    origin_by_name: dict[str, str] = {}
    for name in Settings.model_fields:
        variable = next((variable_name for variable_name in variables(name) if variable_name in environment_names), "")
        if getattr(made, name) != getattr(unflagged, name):
            origin_by_name[name] = "a flag"
        elif variable or name in written:
            origin_by_name[name] = variable or str(config_file())
    return origin_by_name


def variables(name: str) -> tuple[str, ...]:
    """The environment variables that may set it, the first of them that is there counting."""
    choices = getattr(Settings.model_fields[name].validation_alias, "choices", ())
    return tuple(str(choice) for choice in choices if str(choice).isupper()) or (f"LINEAGE_{name.upper()}",)


@dataclass(frozen=True)
class Profile:
    """What a build fetches: `papers` and `repos` (None: as the settings say), `depth` generations of references."""

    said: str
    papers: int | None = None
    repos: int | None = None
    depth: int = 1

    def words(self, papers: int, repos: int) -> str:
        """What it fetches, where the settings say `papers` and `repos`, and what for."""
        papers, repos = papers if self.papers is None else self.papers, repos if self.repos is None else self.repos
        return f"{papers} papers, {repos} repositories, depth {self.depth}: {self.said}"


PROFILES = {
    "fast": Profile("a first look in a few minutes", 8, 5),
    "default": Profile("what most questions need"),
    "deep": Profile("also what the best ancestors inherit from", 60, 30, 2),
}
"""The profiles by name; single flags of a build win over its profile."""
