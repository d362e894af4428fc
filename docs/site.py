"""Hooks for mkdocs: what the pages need so that the site shows them as the repository does."""

from __future__ import annotations

import re

_OUT = re.compile(r"(!?)\[([^\]]+)\]\(\.\./([^)#\s]+)(?:#[^)]*)?\)")
_FENCE = re.compile(r"^(```+[^\s`]+)[ \t]+[^\n`]*$", re.MULTILINE)
_HEAD = "</head>"
_STYLES = '<style id="hljs-light"></style><style id="hljs-dark"></style>'


def on_page_markdown(markdown: str, **_: object) -> str:
    """Turn links into the source tree into file names, and leave of each fence's words the language.

    Python-Markdown takes a fence with further words (`sh setup`, which the executed documentation reads) for plain text.
    """
    text = _OUT.sub(lambda link: link[0] if link[1] else _named(link[2], link[3]), markdown)
    return _FENCE.sub(r"\1", text)


def on_page_content(html: str, **_: object) -> str:
    """Let the keyboard reach blocks of code, which may scroll."""
    return html.replace("<pre>", '<pre tabindex="0">')


def on_post_page(output: str, **_: object) -> str:
    """Add the two style sheets that the theme's switch for dark turns on and off; without highlighting it leaves them out and fails."""
    return output.replace(_HEAD, _STYLES + _HEAD, 1)


def _named(text: str, path: str) -> str:
    return f"`{path}`" if text.strip("`").endswith(path) or text.strip("`") == path.rpartition("/")[2] else f"{text} (`{path}`)"
