"""Packs and answers as JSON: what is sent to a reader, with the evidence of every part."""

from __future__ import annotations

import re
from textwrap import dedent
from typing import TYPE_CHECKING, Any

from api.wire.hits import TRUST, hit_to_json
from lineage.text.hidden_text import visible

if TYPE_CHECKING:
    from lineage.records import Hit
    from lineage.results import Pack, PackItem, Sentence, WrittenAnswer


def pack_to_json(made: Pack) -> dict[str, Any]:
    """A context pack: `text` is what is sent, `used` its tokens by `tokenizer`; the items say what rests on what."""
    return {
        "lineage": made.lineage,
        "generation": made.generation,
        "task": made.task,
        "stage": made.stage,
        "allowed": made.allowed,
        "used": made.used,
        "tokenizer": made.tokenizer,
        "text": made.text,
        "items": [_item(item, made.text) for item in made.items],
        "left_out": [visible(title)[0] for title in made.left_out],
        "notes": [visible(note)[0] for note in made.notes],
        "trust": TRUST,
    }


def _item(item: PackItem, text: str) -> dict[str, Any]:
    """An item without its text, which stands in the pack's at the characters `span`; `tokens` are its own."""
    start = text.find(item.text)
    data = {"kind": item.kind, "title": visible(item.title)[0], "tokens": item.tokens, "span": [start, start + len(item.text)]}
    return {**data, "evidence": [_place(hit) for hit in item.evidence]}


def _place(hit: Hit) -> dict[str, Any]:
    """A hit without its text and scores: where it stands and whose it is."""
    data = hit_to_json(hit)
    return {key: data[key] for key in ("chunk", "kind", "citation", "source", "focus", "lineage", "license", "from_target", "trust", "flags")}


def written_to_json(answer: WrittenAnswer) -> dict[str, Any]:
    """An answer sentence by sentence, each with the hits that it rests on; what was removed, and the nearest misses."""
    return {
        "lineage": answer.lineage,
        "generation": answer.generation,
        "question": answer.question,
        "by": answer.by,
        "supported": bool(answer.sentences),
        "sentences": [_sentence(sentence) for sentence in answer.sentences],
        "removed": [{"text": visible(text)[0], "why": visible(why)[0]} for text, why in answer.removed],
        "nearest": [hit_to_json(hit) for hit in answer.nearest],
        "notes": [visible(note)[0] for note in answer.notes],
        "trust": TRUST,
    }


def _sentence(sentence: Sentence) -> dict[str, Any]:
    text = visible(sentence.text)[0]
    return {"text": text, "markdown": as_markdown(text), "evidence": [hit_to_json(hit) for hit in sentence.evidence]}


def as_markdown(text: str) -> str:
    """A sentence as Markdown: lines of code, which stand indented under their name, in a fence that none of them closes."""
    name, parted, code = text.partition(":\n    ")
    if not parted or not name.startswith("`"):
        return text
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", code)), default=0))
    return f"{name}:\n\n{fence}\n{dedent(f'    {code}')}\n{fence}"
