"""GitHub: a repository, a commit, a tarball, and the awkward cases: renamed, gone, empty, blocked, rate-limited."""

from __future__ import annotations

from typing import Any

from tests.upstream.answer import Answer, Ask, json_answer, typed_answer
from tests.upstream.world import Repository, World

DOCS = "https://docs.github.com/rest"
LICENCES = {"MIT": "MIT License", "Apache-2.0": "Apache License 2.0", "BSD-3-Clause": 'BSD 3-Clause "New" or "Revised" License'}
LIMITS = {"X_RateLimit_Limit": "60", "X_RateLimit_Remaining": "57", "X_RateLimit_Reset": "4102444800", "X_RateLimit_Resource": "core"}
SPENT = LIMITS | {"X_RateLimit_Remaining": "0"}


def api(world: World, ask: Ask) -> Answer:
    """What api.github.com answers."""
    parts = ask.path.strip("/").split("/")
    if parts[0] == "repositories" and len(parts) >= 2 and parts[1].isdigit():
        return _repository(world.numbered(int(parts[1])), parts[2:], ask)
    if parts[0] != "repos" or len(parts) < 3:
        return _say(404, "Not Found")
    name = f"{parts[1]}/{parts[2]}"
    moved = world.renamed(name)
    return _moved(moved, parts[3:]) if moved else _repository(world.repository(name), parts[3:], ask)


def codeload(world: World, ask: Ask) -> Answer:
    """What codeload.github.com answers; a former name leads to the present one."""
    parts = ask.path.strip("/").split("/")
    if len(parts) < 4 or parts[2] not in {"tar.gz", "legacy.tar.gz"}:
        return _plain(404, "404: Not Found")
    name, ref = "/".join(parts[:2]), "/".join(parts[3:])
    moved = world.renamed(name)
    if moved:
        return Answer(301, headers=(("Location", f"https://codeload.github.com/{moved.full_name}/{parts[2]}/{ref}"),))
    repository = world.repository(name)
    if not repository or repository.state == "empty" or not _names_commit(repository, ref):
        return _plain(404, "404: Not Found")
    if repository.state == "dmca":
        return _plain(451, "Repository unavailable due to DMCA takedown.")
    disposition = f"attachment; filename={repository.name}-{ref.rsplit('/', 1)[-1]}.tar.gz"
    return typed_answer(world.tarball(repository, ref), "application/x-gzip", ETag=f'"{repository.sha}"', Content_Disposition=disposition)


def _plain(status: int, text: str) -> Answer:
    return typed_answer(text.encode(), "text/plain; charset=utf-8", status)


def _say(status: int, message: str, limits: dict[str, str] | None = None, **more: Any) -> Answer:
    return json_answer({"message": message, "documentation_url": DOCS, "status": str(status)} | more, status, **(limits or LIMITS))


def _moved(repository: Repository, rest: list[str]) -> Answer:
    where = "/".join([f"https://api.github.com/repositories/{repository.number}", *rest])
    body = {"message": "Moved Permanently", "url": where, "documentation_url": DOCS}
    return json_answer(body, 301, Location=where, **LIMITS)


def _repository(repository: Repository | None, rest: list[str], ask: Ask) -> Answer:
    if not repository:
        return _say(404, "Not Found")
    if repository.state == "rate_limited":
        return _say(403, "API rate limit exceeded for 127.0.0.1.", SPENT)
    if repository.state == "dmca":
        block = {"reason": "dmca", "created_at": "2025-02-03T09:00:00Z", "html_url": "https://github.com/github/dmca"}
        return _say(451, "Repository access blocked", block=block)
    if not rest:
        return json_answer(_described(repository), 200, ETag=f'W/"{repository.sha}"', **LIMITS)
    if rest[0] == "commits" and repository.state == "empty":
        return _say(409, "Git Repository is empty.")
    if rest == ["commits"]:
        here = ask.query.get("since", "") <= repository.date <= ask.query.get("until", "9")
        return json_answer([_told(repository)] if here and ask.query.get("page", "1") == "1" else [], 200, **LIMITS)
    if rest[0] == "commits":
        return _commit(repository, "/".join(rest[1:]))
    return _say(404, "Not Found")


def _commit(repository: Repository, ref: str) -> Answer:
    if not _names_commit(repository, ref):
        return _say(422, f"No commit found for SHA: {ref}")
    return json_answer(_told(repository), 200, ETag=f'"{repository.sha}"', **LIMITS)


def _told(repository: Repository) -> dict[str, Any]:
    who = {"name": "Maintainer", "email": "maintainer@example.org", "date": repository.date}
    commit = {"author": who, "committer": who, "message": "Release", "tree": {"sha": repository.sha[::-1]}}
    page = f"https://github.com/{repository.full_name}/commit/{repository.sha}"
    return {"sha": repository.sha, "commit": commit, "html_url": page, "parents": []}


def _names_commit(repository: Repository, ref: str) -> bool:
    short = ref.removeprefix("refs/heads/")
    return short in repository.past or short in {"HEAD", repository.default_branch} or (len(short) >= 7 and repository.sha.startswith(short.lower()))


def _described(repository: Repository) -> dict[str, Any]:
    owner, name = repository.full_name.split("/")
    spdx = repository.licence
    licence = {"key": spdx.lower(), "name": LICENCES.get(spdx, spdx), "spdx_id": spdx} if spdx else None
    return {
        "id": repository.number,
        "name": name,
        "full_name": repository.full_name,
        "private": False,
        "owner": {"login": owner, "id": repository.number // 7, "type": "Organization"},
        "html_url": f"https://github.com/{repository.full_name}",
        "description": repository.description or None,
        "fork": bool(repository.parent),
        "archived": False,
        "disabled": False,
        "created_at": repository.created,
        "updated_at": repository.date,
        "pushed_at": repository.date,
        "size": 0 if repository.state == "empty" else 64,
        "stargazers_count": repository.stars,
        "default_branch": repository.default_branch,
        "license": licence,
        "topics": [],
        "visibility": "public",
        **({"parent": {"full_name": repository.parent}, "source": {"full_name": repository.root or repository.parent}} if repository.parent else {}),
    }
