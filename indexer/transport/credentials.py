"""Who we say we are, and which key is shown to which host: a key to its own host and to no other, never to a mirror."""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError, version

from pydantic import SecretStr

from lineage.errors import SettingsError
from lineage.settings import Settings


def credentials(settings: Settings) -> dict[str, dict[str, str]]:
    """What each host may be shown, and no other host."""
    s2, github = _key(settings.s2_api_key, "s2_api_key"), _key(settings.github_token, "github_token")
    keys = {}
    if s2:
        keys["api.semanticscholar.org"] = {"x-api-key": s2}
    if github:
        keys["api.github.com"] = {"Authorization": f"Bearer {github}"}
    return keys


def _key(secret: SecretStr, name: str) -> str:
    value = secret.get_secret_value().strip()
    if not re.fullmatch(r"[\x21-\x7e]*", value):
        raise SettingsError(f"setting {name} has characters that a key cannot have")
    return value


def user_agent(contact: str) -> str:
    """Our name and release, and the mail address that the services ask for, if one is set."""
    try:
        release = version("paper-lineage")
    except PackageNotFoundError:
        release = "0"
    safe = re.sub(r"[^A-Za-z0-9@._+-]", "", contact)[:100]
    return f"paper-lineage/{release}" + (f" (mailto:{safe})" if safe else "")
