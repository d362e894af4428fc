"""How pages become the site: links that lead out of the documentation, into the source tree, become names of files."""

from __future__ import annotations

import re

_OUT = re.compile(r"(!?)\[([^\]]+)\]\(\.\./([^)#\s]+)(?:#[^)]*)?\)")


def on_page_markdown(markdown: str, **_: object) -> str:
    """mkdocs' hook: a page before it is rendered."""
    return _OUT.sub(lambda found: found[0] if found[1] else _named(found[2], found[3]), markdown)


def _named(text: str, path: str) -> str:
    return f"`{path}`" if text.strip("`").endswith(path) or text.strip("`") == path.rpartition("/")[2] else f"{text} (`{path}`)"
