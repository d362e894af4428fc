"""What a sentence says is not done: "No weight decay is applied", "we do not use dropout", "we train with Adam without warm-up" (pure).

A technique that is left out has a value: 0, false, or whatever the ontology calls it. Only a plain statement of what was done
counts: a sentence that compares, supposes, reports what came of it, or speaks of some parameters only states nothing. All
patterns are bounded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from indexer.extraction.collector import Sink
from indexer.extraction.sentences import Phrase, TokenizedSentence

_DONE = r"(?:used|applied|employed|performed|adopted|utili[sz]ed|added|included|enabled)"
_DO = r"(?:use|apply|employ|perform|adopt|utili[sz]e|add|include|enable)"
_KIND = r"(?:(?:any|additional|further|explicit|extra|the|an?)\s+){0,2}"
_DENIES = re.compile(r"\b(?:no|not|never|neither|without|disabled|off|zero)\b|n['’]t\b", re.IGNORECASE)
_NO = re.compile(rf"\b(?:no|neither)\s+{_KIND}\Z", re.IGNORECASE)
_WITHOUT = re.compile(rf"\bwithout\s+(?:using\s+|the\s+use\s+of\s+)?{_KIND}\Z", re.IGNORECASE)
_WE_DO_NOT = re.compile(rf"\bwe\s+(?:\w+\s+){{0,2}}(?:do|did)(?:\s+not|n['’]t)\s+(?:\w+ly\s+)?{_DO}\s+{_KIND}\Z", re.IGNORECASE)
_IS = re.compile(rf"\s+(?:is|are|was|were)\s+(?:\w+ly\s+)?{_DONE}\b", re.IGNORECASE)
_IS_NOT = re.compile(
    rf"\s+(?:is|are|was|were)\s+(?:(?:not|never)\s+(?:\w+ly\s+)?{_DONE}|disabled|turned\s+off|switched\s+off|set\s+to\s+zero)\b", re.IGNORECASE
)
_DOING = re.compile(
    r"\b[Ww]e\s+(?:\w+\s+){0,2}(?:use|train|employ|apply|adopt|optimi[sz]e|fine-?tune|pre-?train|set|run)(?:d|ed)?\b|"
    r"\b(?:[Aa]ll|[Oo]ur|[Tt]he|[Ee]ach|[Ee]very)\s+(?:[a-z-]+\s+){1,3}(?:is|are|was|were)\s+(?:[a-z]+\s+){0,2}(?:pre-?|fine-?)?(?:trained|tuned|optimi[sz]ed)\b"
)
"""What says that the authors do something; a model that goes by its own name ("GPT-3 was trained ...") is somebody's."""
_OF_WHICH = re.compile(r"\b(?:which|that|who|whose)\b", re.IGNORECASE)
_SUPPOSED = re.compile(
    r"\b(?:ablat\w*|compar\w*|when|if|unless|whether|even|although|though|while|whereas|instead|rather|unlike|need\w*|necess\w*|requir\w*|sensitiv\w*|"
    r"drops?|dropped|degrad\w*|wors\w*|better|improv\w*|outperform\w*|fail\w*|diverg\w*|collaps\w*|unstable|instabilit\w*|versus|vs|variants?|versions?|"
    r"baselines?|effects?|impact|can|could|may|might|would|should|able|possible|previous\w*|prior|existing|they|their|except|"
    r"excluding|other than|besides|apart|"
    r"inference|test|tests|testing|evaluat\w*|validation|deterministic\w*|sampling|only|also|both|either|longer|yet|further|surprising\w*|interesting\w*|note|find|found|observe\w*|show\w*|see|achiev\w*|match\w*|perform(?:s|ance))\b",
    re.IGNORECASE,
)
"""Words of sentences that compare, suppose, or tell what came of leaving something out."""
_OTHERS = re.compile(r"ablat|related work|background|preliminar|analys|discussion|limitation|future", re.IGNORECASE)
_ENDS = re.compile(
    r"\s*(?:\[[^\[\]\n]{1,60}\]\s*)?(?:\Z|[.;:,)]|\b(?:and|or|nor|but)\b|(?:during|in|for)\s+(?:the\s+)?(?P<scope>(?:pre-?|fine-?)(?:training|tuning))\b|"
    r"(?:during|in|for)\s+(?:training|all|any|our|\$?\d)|at\s+all\b|throughout\b)",
    re.IGNORECASE,
)
"""What may follow: the end of the clause, a stage, a length; "to biases" and "in the decoder" make it a part of the model's."""
_EITHER = re.compile(r",?\s+(?:or|nor)\s+(?:any\s+)?|,?\s+and\s+no\s+|,\s+no\s+|\s?/\s?", re.IGNORECASE)


def denies(text: str) -> bool:
    """Whether a text may say that something is not used."""
    return _DENIES.search(text) is not None


def read(sentence: TokenizedSentence, techniques: Sequence[tuple[Phrase, int, int]], sink: Sink) -> None:
    """Put the techniques that a sentence says are not used into `sink`; `techniques` are their names in it."""
    if not techniques or _SUPPOSED.search(sentence.text) or _OTHERS.search(sentence.around):
        return
    for run in _runs(sentence.text, techniques):
        end = _denied(sentence.text, run[0][1], run[-1][2])
        ends = _ENDS.match(sentence.text, end) if end else None
        for phrase, start, _ in run if ends else ():
            quoted_words = " ".join(sentence.text[max(0, run[0][1] - 60) : end + 20].split())
            scope = (ends["scope"] or "") if ends else ""
            sink.state(sentence.row(start), phrase.term.name, phrase.choice, quoted_words, written=" ".join(phrase.words), kind="prose", scope=scope)


def _runs(text: str, techniques: Sequence[tuple[Phrase, int, int]]) -> Iterator[list[tuple[Phrase, int, int]]]:
    """Names that only "or", "nor" or another "no" stands between."""
    run: list[tuple[Phrase, int, int]] = []
    for phrase_place in techniques:
        if run and not _EITHER.fullmatch(text, run[-1][2], phrase_place[1]):
            yield run
            run = []
        run.append(phrase_place)
    yield run


def _denied(text: str, start: int, end: int) -> int:
    """Where the statement ends that names from `start` to `end` are not used; 0 for none."""
    before = text[max(0, start - 60) : start]
    if denied := _IS_NOT.match(text, end):
        return denied.end()
    no = _NO.search(before)
    if no and (done := _IS.match(text, end)):
        return done.end()
    if not no and not _WITHOUT.search(before):
        return end if _WE_DO_NOT.search(before) else 0
    doing = _DOING.search(text, max(0, start - 300), start)
    return end if doing and not _OF_WHICH.search(text, doing.end(), start) else 0
