"""What formulas state: losses with their weights (a sum of named losses), and the Greek letter that stands for one setting of a paper. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping

from indexer.extraction.collector import Sink
from indexer.extraction.quantity import NUMBER
from indexer.extraction.sentences import TokenizedSentence
from lineage.hyperparameters.ontology import Ontology
from lineage.hyperparameters.terms import fold
from lineage.records import FactKind

_LETTER = r"(?:\{?\\(?:mathcal|mathscr|mathbb|mathbf|boldsymbol|bm)\s?\{?\s?L\s?\}{0,2}|\\ell|(?<![A-Za-z\\])L)"


_STYLE = r"(?:\\(?:text|textrm|textit|mathrm|mathit|mathsf|operatorname|rm)\s?\{?\s?)?"


_OPEN, _CLOSE = r"\{{0,3}", r"\}{0,3}"


_NAME = r"\s?_\s?" + _OPEN + r"\s?" + _STYLE + r"(?P<%s>[A-Za-z][\w-]{0,20})\s?" + _CLOSE


_ARGUMENTS = r"(?:\s?\([^()=+\n]{0,60}\))?"


_SUM = re.compile(rf"{_LETTER}(?:{_NAME % 'whole'})?{_ARGUMENTS}\s?&?=\s?")


_TIMES = r"(?:\\cdot|\\times|[*·×])?"


_SYMBOL = rf"(?!\\math|\\bf|\\bm|\\bold|\\ell)\\?[A-Za-zα-ω]{{1,10}}(?:_{_OPEN}{_STYLE}\w{{1,12}}{_CLOSE})?(?=[\s\\{{*·])"


_WEIGHT = rf"(?P<number>{NUMBER})?\s?{_TIMES}\s?(?P<symbol>{_SYMBOL})?"


_PART = re.compile(rf"\s?{_WEIGHT}\s?{_TIMES}\s?{_LETTER}{_NAME % 'name'}{_ARGUMENTS}")


_PLUS = re.compile(r"\s{0,3}(?:\\\\|&)?\s{0,3}\+\s{0,3}(?:\\\\|&)?")


_ENDS = re.compile(r"\s{0,3}(?:\Z|[$.,;)&}]|\\\\|\\(?:label|tag|end|quad|qquad)\b)")


_ROLE = re.compile(
    rf"\b(?P<role>[A-Za-z][a-z-]{{2,24}})\s(?:loss|losses|Loss|Losses)\s?[(,]?\s?\$(?P<named>{_LETTER}{_NAME % 'first'}"
    rf"(?:\s?\$?\s?(?:,|and)\s?\$?{_LETTER}{_NAME % 'next'}){{0,3}})\s?\$"
)


_NAMED = re.compile(_LETTER + _NAME % "name")


_MOST = 12


_LONGEST = 4_000
Letters = Mapping[str, str]
_OFTEN = 10
"""How often a paper says what it is about."""
_NAMES = {"β": "beta"}
_VALUE = re.compile(
    rf"(?:(?<=[\s$(,])|\A)\\?(?P<letter>[A-Za-z]{{2,7}}|[α-ω])\$?\s?=\s?\$?(?P<number>{NUMBER})\$?(?=[\s,;:)]|\.(?!\d)|\Z)(?!\s?[-+*/^\\])",
    re.IGNORECASE,
)
_DONE = re.compile(r"\b(?:we|results?|experiments?|train\w{0,4}|runs?|set|used?|using)\b", re.IGNORECASE)
_ASSUMED = re.compile(
    r"\b(?:simplicity|generality|limit|equivalent|recover\w{0,3}|reduces? to|proof|lemma|theorem|suppose|assum\w{1,4})\b", re.IGNORECASE
)
_WHOSE = re.compile(
    r"\b(?P<one>[A-Z][\w.+-]{1,20})\s(?:results?|experiments?|models?|runs?)\swith\s\$?\Z|"
    r"\bon\s(?P<other>[A-Z][\w.+-]{1,20}(?:\s[\w.+-]{1,8})?)\s(?:with|using|for)\s\$?\Z"
)
"""What the value is for: "SDXL results with", "experiments on SD 1.5 with"."""


def read_losses(text: str, line: int, sink: Sink, kind: FactKind = "prose") -> None:
    """Put the sums of losses and the losses of roles of a sentence or a formula into `sink`; its first line has the number `line`."""
    text = text[:_LONGEST]
    if "L" not in text and "\\ell" not in text:
        return
    for match in _SUM.finditer(text):
        if len(parts := _parts(text, match.end())) > 1:
            sink.state(
                line + text.count("\n", 0, match.start()), "loss", " + ".join(parts), match[0] + text[match.end() :], written="L",
                kind=kind, scope=match["whole"] or "", literal=False,
            )  # fmt: skip
    for match in _ROLE.finditer(text):
        _role(match, line + text.count("\n", 0, match.start()), sink, kind)


def _parts(text: str, at: int) -> list[str]:
    """The parts of the sum that begins at a place, each with its weight; none for what goes on as something else."""
    loss_terms: list[str] = []
    while len(loss_terms) < _MOST and (part := _PART.match(text, at)):
        weight = "·".join(re.sub(r"[{}\\\\]", "", factor) for factor in (part["number"], part["symbol"]) if factor)
        loss_terms.append(f"{weight}·{part['name']}" if weight else part["name"])
        at = part.end()
        if not (plus := _PLUS.match(text, at)):
            return loss_terms if _ENDS.match(text, at) else []
        at = plus.end()
    return []


def _role(match: re.Match[str], line: int, sink: Sink, kind: FactKind) -> None:
    """The losses of one role; a word that is itself the name of a loss gives no role."""
    term = sink.ontology.terms["loss"]
    if any(fold(match["role"]) in fold(spelling) for spellings in term.values.values() for spelling in spellings):
        return
    for role_match in _NAMED.finditer(match["named"]):
        value = sink.ontology.normalise("loss", role_match["name"])
        if value and value.literal and sink.ontology.knows("loss", value.value):
            sink.state(line, "loss", value.value, match[0], written=match["role"] + " loss", kind=kind, scope=match["role"].lower())


def meant(text: str, ontology: Ontology) -> Letters:
    """The letters that are details of their own in a paper, by how often it speaks of what they belong to."""
    bindings = {}
    for term in ontology.terms.values():
        for letter, words in term.letters.items():
            if sum(text.count(word) for word in words) >= _OFTEN:
                bindings[letter] = bindings[_NAMES.get(letter, letter)] = term.name
    return bindings


def read_letters(sentence: TokenizedSentence, letters: Letters, sink: Sink) -> None:
    """Put the values that a sentence gives such letters into `sink`."""
    if not letters or not _DONE.search(sentence.text) or _ASSUMED.search(sentence.text):
        return
    for match in _VALUE.finditer(sentence.text):
        name = letters.get(match["letter"].lower())
        value = sink.ontology.normalise(name, match["number"]) if name else None
        if name and value and value.literal and sentence.free(*match.span()):
            whose = _WHOSE.search(sentence.text, max(0, match.start() - 60), match.start())
            scope = (whose["one"] or whose["other"]) if whose else ""
            quoted_words = " ".join(sentence.text[max(0, match.start() - 60) : match.end() + 20].split())
            sink.state(sentence.row(match.start()), name, value.value, quoted_words, written=match["letter"], kind="prose", scope=scope)
            sentence.taken.append(match.span())
