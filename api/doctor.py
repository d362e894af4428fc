"""`lineage doctor`: which configuration is in use and why. Sends nothing."""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from lineage import generation as layout
from lineage import registry
from lineage.errors import LineageError
from lineage.settings import PROFILES, Settings, config_file, origins, variables
from lineage.tables import is_altered

_PACKAGES = (
    *("paper-lineage", "semanticscholar", "arxiv", "pymupdf", "faiss-cpu"),
    *("onnxruntime", "tokenizers", "sentence-transformers", "torch", "openai", "mcp", "fastapi"),
)
_KEYS = {
    "s2_api_key": ("Semantic Scholar: 1 request/s", "Semantic Scholar: 1 request/3 s, from the pool that all share"),
    "github_token": ("GitHub: 5,000 requests/h", "GitHub: 60 requests/h"),
    "openai_api_key": ("`openai:` embedders", "only `openai:` embedders need it"),
    "llm_api_key": ("the chat model", "only a chat model needs it"),
    "token": ("clients of `lineage serve` must send it", "`lineage serve` listens on this machine only"),
}
_USED_FOR = {
    "api.semanticscholar.org": "titles, references, citing sentences",
    "export.arxiv.org": "e-prints, PDFs, records",
    "arxiv.org": "HTML where there is no e-print",
    "api.github.com": "which commit a repository is at, forks, licenses",
    "codeload.github.com": "repositories, as tarballs",
    "huggingface.co": "code links of papers; models only if one of the hub is configured",
    "api.openalex.org": "an additional source of references",
    "api.crossref.org": "an additional source of references",
}
_OPTIONAL = {"api.openalex.org": "openalex", "api.crossref.org": "crossref"}
"""Hosts that are asked only if their source is among the settings' `sources`."""
_MOST_FILES = 200_000
"""Files that are counted for the size of the store; a larger one is told as "more than"."""


def _data_files() -> list[Path]:
    """The packaged tables that answers depend on; an altered one shows another hash than the release's."""
    root = Path(layout.__file__).parent.parent
    return sorted(path for folder in ("lineage/data", "retrieval/data") for path in (root / folder).glob("*.json"))


def altered() -> tuple[Path, ...]:
    """Packaged tables that differ from what the installation recorded."""
    return tuple(filter(is_altered, _data_files()))


def _data() -> dict[str, str]:
    notes = dict.fromkeys(altered(), ", altered since it was installed")
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest()[:16] + notes.get(path, "") for path in _data_files()}


def examine(settings: Settings) -> dict[str, dict[str, Any]]:
    """Sections of (name, finding): store, embedder, chat model, keys, hosts, profiles, settings, hashes of the packaged data, versions."""
    by = origins(settings)
    return {
        "store": _store(settings, by),
        "embedder": _embedder(settings),
        "chat model": _chat(settings),
        "keys": {name: _key(settings, name, by) for name in _KEYS},
        "hosts": _hosts(settings),
        "profiles": {name: profile.words(settings.papers, settings.repos) for name, profile in PROFILES.items()},
        "settings": {name: _shown(value) for name, value in settings.model_dump().items()} | {"config file": _config()} | _address(settings),
        "set by": {**by} or {"nothing": "every setting has its default"},
        "data": _data(),
        "versions": {"python": platform.python_version(), "platform": platform.platform()} | {name: _version(name) for name in _PACKAGES},
    }


def _store(settings: Settings, by: Mapping[str, str]) -> dict[str, Any]:
    home = settings.home
    there = next(path for path in (home, *home.absolute().parents) if path.exists())
    free = shutil.disk_usage(there).free
    lineages = layout.names(settings.lineages)
    writable = os.access(there, os.W_OK)
    return {
        "home": home,
        "because": f"set by {by['home']}" if "home" in by else "default data folder of the platform",
        "writable": writable,
        "free": f"{free / 1e9:.1f} GB",
        "used": _used(home),
        "lineages": ", ".join(lineages) or "none",
        **({"lineages lie in": at} if (at := _address(settings).get("store")) else {}),
    }


def _used(home: Path) -> str:
    """Disk usage of the store, by folder."""
    sizes: dict[str, int] = {}
    files = 0
    for folder, _, names in os.walk(home):
        part = Path(folder).relative_to(home).parts[:1]
        for name in names:
            files += 1
            sizes[part[0] if part else "other"] = sizes.get(part[0] if part else "other", 0) + _size(Path(folder, name))
        if files > _MOST_FILES:
            return f"more than {sum(sizes.values()) / 1e9:.1f} GB in more than {_MOST_FILES:,} files"
    parts = ", ".join(f"{name} {size / 1e6:.1f}" for name, size in sorted(sizes.items(), key=lambda item: -item[1]))
    return f"{sum(sizes.values()) / 1e6:.1f} MB" + (f" ({parts})" if parts else "")


def _size(path: Path) -> int:
    try:
        return path.lstat().st_size
    except OSError:
        return 0  # swept meanwhile


def _embedder(settings: Settings) -> dict[str, Any]:
    name, _, model = settings.embedder.partition(":")
    known = ", ".join(registry.names("embedders"))
    try:
        made = registry.load("embedders", name)(model, settings, None)
    except LineageError as error:
        return {"chosen": settings.embedder, "usable": f"no: {error}", "hint": error.hint, "known": known}
    return {"chosen": settings.embedder, "id": made.id, "dimensions": made.dim, "usable": "yes", "known": known}


def _chat(settings: Settings) -> dict[str, Any]:
    if not settings.llm_model:
        return {"chosen": "none", "so": "roles come from rules and answers are extracted; no text is sent to a model"}
    return {"chosen": settings.llm_model, "endpoint": settings.llm_base_url or "the public one of OpenAI"}


def _key(settings: Settings, name: str, by: Mapping[str, str]) -> str:
    with_it, without = _KEYS[name]
    if getattr(settings, name).get_secret_value():
        return f"set ({by.get(name, 'a flag')}): {with_it}"
    return f"not set ({' or '.join(variables(name))}): {without}"


def _hosts(settings: Settings) -> dict[str, str]:
    """Every host that may be contacted, its purpose and rate; hosts disabled by settings are marked."""
    from indexer.transport.upstreams import UPSTREAMS

    mode = "offline: nothing is sent" if settings.offline else f"all asked through {settings.mirror}" if settings.mirror else "asked directly"
    keyed = {"api.semanticscholar.org": settings.s2_api_key.get_secret_value()}
    rows = {"mode": mode}
    for host, upstream in UPSTREAMS.items():
        seconds = upstream.keyed if upstream.keyed and keyed.get(host) else upstream.interval
        wanted = _OPTIONAL.get(host, "") in ("", *map(str.strip, settings.sources.split(",")))
        rows[host] = f"{_USED_FOR.get(host, '')}; one request every {seconds:g} s" if wanted else f"not asked (setting sources={_OPTIONAL[host]})"
    return rows


def _address(settings: Settings) -> dict[str, str]:
    """Where lineages lie, without the password."""
    return {"store": str(settings.lineages)} if settings.store else {}


def _shown(value: Any) -> Any:
    secret = getattr(value, "get_secret_value", None)
    return ("set" if secret() else "not set") if secret else value


def _config() -> str:
    path = config_file()
    return f"{path} ({'read' if path.exists() else 'not there'})"


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
