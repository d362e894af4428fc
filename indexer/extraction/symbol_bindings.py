"""Greek letters that stand for one setting in a paper that is about it: where DPO is the subject, `β = 2000` is its β (pure).

Which letter is whose, and the words that such a paper must often say, the ontology knows. Only a bare letter with a number
in a sentence on what was done counts: a letter with an index is another, and one inside a formula is worked with. All patterns
are bounded.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from indexer.extraction.collector import Sink
from indexer.extraction.quantity import NUMBER
from indexer.extraction.sentences import TokenizedSentence
from lineage.hyperparameters.ontology import Ontology

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


def meant(text: str, ontology: Ontology) -> Letters:
    """The letters that are details of their own in a paper, by how often it speaks of what they belong to."""
    bindings = {}
    for term in ontology.terms.values():
        for letter, words in term.letters.items():
            if sum(text.count(word) for word in words) >= _OFTEN:
                bindings[letter] = bindings[_NAMES.get(letter, letter)] = term.name
    return bindings


def read(sentence: TokenizedSentence, letters: Letters, sink: Sink) -> None:
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
