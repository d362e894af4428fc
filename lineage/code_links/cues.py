"""Cues around a repository's URL: whose code it is.

The question is always the same: does a paper speak of its own code, or of somebody else's that it used? Each cue is
a phrase that decides one way; all patterns are bounded, so that a page of hostile prose costs no more than its length.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

_THING = (
    r"(?:source[- ]?codes?|codes?|code ?bases?|implementations?|repositor(?:y|ies)|repo|software|toolkit|toolbox|library|package|scripts?|"
    r"data ?sets?|data|models?|checkpoints?|weights|benchmarks?|materials?|resources|artifacts?|demo|instructions|simulator|framework)"
)
_GIVEN = r"(?:available|released|found|accessed|accessible|open[- ]?sourced?|downloaded|published|provided|hosted|obtained|public|shared|uploaded)"
_CODE = r"(?:source[- ]?codes?|codes?|code ?bases?|implementations?|repositor(?:y|ies)|repo|software)"
_RELEASE = r"(?:release|released|open[- ]?source|open[- ]?sourced|publish|provide|share|make|made|host|offer|contribute|publici[sz]e|distribute)"
OURS = re.compile(
    rf"\bour\s(?:[\w/-]+\s){{0,5}}?{_THING}\b(?:[^.]{{0,120}}?\b{_GIVEN}\b|\s*:|\s*\Z)|\bour\s(?:[\w/-]+\s){{0,3}}?{_CODE}\s(?:\w+\s){{0,3}}?(?:at|here|\()|"
    r"\b(?:we|authors)\s(?:(?:\w+ly|also|will|have|hereby|further)\s){0,3}(?:(?:introduce|present|develop|build|create|construct)(?:ed)?\s(?:and\s))?"
    rf"{_RELEASE}\b[^.]{{0,160}}?\b(?:{_THING}|it|them|all|everything)\b|"
    r"\bwe\s(?:(?:\w+ly|also|have)\s){0,2}(?:created?|developed?|set up|maintain|host|provide)\b[^.]{0,60}?"
    r"\b(?:repository|repo|website|package|library|toolkit)\b|"
    rf"\b(?P<purpose>{_THING} (?:for|of|to reproduce|accompanying|used in|associated with) (?:this|our|the present) "
    r"(?:paper|work|study|article|experiments?|method|project|results?|manuscript))\b",
    re.IGNORECASE,
)
PASSIVE = re.compile(
    r"(?:\A|[.;:,(]\s*|\b(?:the|all|full|and|complete|corresponding|supplementary|pretrained|relevant)\s)(?:[\w-]+\s){0,3}?"
    rf"{_THING}\b(?P<of>[^.]{{0,110}}?)"
    rf"\b(?:is|are|will be|can be|has been|have been|may be|was|were)\s(?:\w+\s){{0,4}}?(?:{_GIVEN}|at|here)\b|"
    rf"\A\W*(?:{_THING}|github|project(?: (?:page|website))?|website|code (?:and|&) (?:data|models?)|(?:data|models?) (?:and|&) code)\s*"
    rf"(?:[:—–-]|\((?=http)|available (?:at|on|from)|at\b|is at\b)",
    re.IGNORECASE,
)
OTHERS = re.compile(
    r"\b(?:use[sd]?|using|adopt(?:s|ed|ing)?|employ(?:s|ed|ing)?|follow(?:s|ed|ing)?|rel(?:y|ies|ied)|leverag(?:e|es|ed|ing)|utili[sz](?:e|es|ed|ing)|"
    r"borrow(?:s|ed)?|adapt(?:s|ed|ing)?|modif(?:y|ies|ied)|built (?:up)?on|builds? (?:up)?on|based (?:up)?on|implemented (?:in|with|using|via)|"
    r"on top of|downloaded|obtained|taken|refer|thank|via|powered by|fork(?:ed)? (?:of|from))\b",
    re.IGNORECASE,
)
THEIRS = re.compile(
    r"\b(?:their|its|whose|his|her)\b|"
    r"\b(?:official|original|public(?:ly available)?|open[- ]?source[d]?|existing|available|third[- ]party|released) "
    r"(?:\w+ )?(?:code|implementation|repository|codebase|release|version)s?\b|"
    r"\b(?:provided|released|developed|written|maintained|implemented|given) by\b|"
    r"\bthe authors of\b|\bof the (?:original|authors)\b",
    re.IGNORECASE,
)
REMADE = re.compile(
    r"\b(?:un-?official(?:ly)?|re-?implement(?:s|ed|ing|ation|ations)?|replication|reproduction|reproduces|third[- ]party|community) (?:\w+ ){0,4}?"
    r"(?:implementation|code|version|repo(?:sitory)?|of|for|by)\b|\b(?:un-?official|re-?implementation)\b|\bnot (?:the |an )?official\b",
    re.IGNORECASE,
)
_WORK = r"(?:papers?|work|article|manuscript|preprint)"
OFFICIAL = re.compile(
    r"\bofficial(?:ly)?\b|\boriginal (?:\w+ )?(?:code|implementation)|\breference implementation\b|\bthe (?:[\w./-]+ ){0,2}?implementation\b|"
    rf"\b(?:our|my) (?:\w+[ -]){{0,4}}?{_WORK}\b|\b(?:models?|weights|checkpoints) (?:\w+ )?(?:for|of|from) (?:the|our|this) (?:\w+ )?{_WORK}\b|"
    r"\b(?:codes?(?: release)?|code ?base|repo(?:sitory)?|data|materials|experiments|harness) (?:\w+ ){0,2}?"
    r"(?:for|of|from|used in|accompanying|behind|to reproduce)\b|"
    r"\b(?:repo(?:sitory)?|project|package|code) (?:hosts|accompanies|provides|contains|includes) (?!an? )",
    re.IGNORECASE,
)
"""Words by which a repository introduces itself as a paper's own code, rather than as an implementation by anybody."""
INTRODUCES = re.compile(
    r"\bofficial(?:ly)?\b[^.]{0,80}?\b(?:codes?|code ?base|implementation|repo(?:sitory)?|version|release|project)\b|\bthis is\b|"
    r"\b(?:this|the|our|here) (?:\w+ )?(?:repo(?:sitory)?|project|code ?base|package|code|folder|library|script|dataset|benchmark)s?\b[^.]{0,40}?"
    r"\b(?:is|are|contains?|provides?|hosts?|includes?|holds|implements?|accompan(?:y|ies)|releases?|offers?)\b|"
    r"\b(?:codes?|implementation|code ?base|code release|models?|data(?:set)?|scripts?|harness) (?:\w+ ){0,3}?"
    r"(?:for|of|from|to reproduce|accompanying|behind|used in|in)\b|"
    rf"\b(?:our|my) (?:\w+[ -]){{0,4}}?{_WORK}\b",
    re.IGNORECASE,
)
"""What a README says of its own repository before it names the paper."""
UNOFFICIAL = re.compile(
    r"\b(?:un-?official(?:ly)?|re-?implement(?:s|ed|ing|ation)|third[- ]party (?:code|implementation)|not (?:the |an )?official|"
    r"(?:pytorch|tensorflow|keras|jax|flax) port|reproduction of (?:the )?paper)\b",
    re.IGNORECASE,
)
"""What a README says of itself if somebody else wrote the paper's code."""
REWRITTEN = re.compile(r"\bre-?implement(?:s|ed|ing|ation)\b", re.IGNORECASE)
"""The one of these words that authors use as well, of their own code in another framework."""
BORROWS = re.compile(
    r"\b(?:(?:based|built|builds?|relies|depends) (?:up)?on|on top of|adapted from|modified from|modification (?:of|on)|borrow\w*|"
    r"fork(?:ed)? (?:of|from)|inspired by|thanks?|using|uses|used by|with support for|supports?|according to|"
    r"(?<!the )following(?! (?:\w+ )?(?:papers?|works?|articles?|projects?|publications?))|compar(?:e|es|ed|ing|able)|baselines?|example|similar to|"
    r"such as|including|like|see also|instead of|extend(?:s|ed|ing)?|wrapper|tasks?|unlike|cite[sd]?)\b",
    re.IGNORECASE,
)
"""Words after which the next name is another's work."""
SEVERAL = re.compile(r"\b(?:papers|projects|works|articles|publications|follow-ups?)\b", re.IGNORECASE)
THEIRS_ELSEWHERE = re.compile(
    r"\b(?:official|original|authors?['’]?s?) (?:[\w./+-]+ ){0,3}?(?:implementation|code|version|repo(?:sitory)?)\b[^.\n]{0,60}?"
    r"(?:\[(?:here|this|link)\b[^\]]{0,30}\]\(|\b(?:found|available|hosted) (?:at|in|here|on)\b)[^\n]{0,10}",
    re.IGNORECASE,
)
"""Where a repository points to the code that the paper's authors wrote."""
_NAMED = re.compile(r"\b(?:of|for)\s+(?:the\s+)?(?P<name>[^\W\d_a-z][\w+-]*)")
_PROPOSED = re.compile(
    r"\b(?:we|paper)\s(?:\w+ly\s|also\s)?(?:propose|introduce|present|describe|develop|name|call|release|create|build)s?\b[^.;]{0,120}", re.IGNORECASE
)


class Whose(StrEnum):
    """Whose code the words say it is."""

    OWN = "own"
    OTHERS = "others"
    REMADE = "remade"
    UNSAID = "unsaid"


@dataclass(frozen=True)
class Verdict:
    """Whose code it is, and the phrase that says so."""

    whose: Whose
    cue: str = ""


def bare(text: str) -> str:
    """Letters and digits alone, in small letters: how names are compared."""
    return re.sub(r"[^a-z0-9]", "", text.lower())


def own_names(title: str) -> frozenset[str]:
    """What a paper calls its own work: the part of the title before a colon, and names set like acronyms in it."""
    head, colon, _ = title.partition(":")
    names = {bare(head)} if colon and len(head.split()) <= 4 else set()
    if colon:
        names |= {bare(word) for word in head.split() if sum(c.isupper() for c in word) >= 2 or any(c.isdigit() for c in word)}
    return frozenset(name for name in names if len(name) >= 3)


def repo_names(title: str) -> frozenset[str]:
    """What a repository of the work may be called and nothing else: its title, or the one word before a colon."""
    head, colon, _ = title.partition(":")
    names = {bare(title), *([bare(head)] if colon and len(head.split()) == 1 else ())}
    return frozenset(name for name in names if len(name) >= 3)


def verdict(sentence: str, names: Iterable[str], cited: bool = False, host: str = "") -> Verdict:
    """Judge one sentence about an address. `names` are the paper's own, `cited` says that the sentence cites another
    work, `host` is the sentence that a footnote hangs on.
    """
    if match := REMADE.search(sentence):
        return Verdict(Whose.REMADE, match[0])
    ours = OURS.search(sentence)
    if ours and not _is_about_theirs(sentence, ours):
        return Verdict(Whose.OWN, ours[0])
    passive = PASSIVE.search(sentence)
    if passive and not cited and not THEIRS.search(sentence) and not OTHERS.search(sentence):
        return _passive(passive, sentence, frozenset(names), host)
    for pattern in (THEIRS, OTHERS):
        if match := pattern.search(sentence):
            return Verdict(Whose.OTHERS, match[0])
    return Verdict(Whose.OTHERS, passive[0]) if passive and cited else Verdict(Whose.UNSAID)


def _is_about_theirs(sentence: str, ours: re.Match[str]) -> bool:
    """Whether "our implementation" is only what the other's code is the basis of, or another's is used "for our experiments"."""
    if ours["purpose"] and OTHERS.search(sentence[: ours.start()]):
        return True
    before_address = sentence[ours.start() : ours.end() + 80]
    return bool(re.search(r"\b(?:(?:based|builds?|built) (?:up)?on|(?:adapted|modified) from|borrow|follows?|using|uses)\b", before_address))


def _passive(match: re.Match[str], sentence: str, names: frozenset[str], host: str) -> Verdict:
    """ "Code is available at": the paper's own, unless it is the code of something that is not."""
    named = _NAMED.search(match["of"] or "")
    if named and bare(named["name"]) not in names and not _is_proposed(named["name"], host or sentence):
        return Verdict(Whose.OTHERS, f"{match[0]} (of {named['name']})")
    return Verdict(Whose.OWN, match[0])


def _is_proposed(name: str, sentence: str) -> bool:
    return any(bare(name) in bare(phrase[0]) for phrase in _PROPOSED.finditer(sentence))
