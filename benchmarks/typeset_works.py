# ruff: noqa: RUF005, E501 - word lists read best as words
"""Works to typeset bibliographies of: drawn from gold reference lists where there are any, else made up.

Made-up works carry what breaks readers: accents, particles, organizations, twenty authors, questions, quotes,
years and abbreviations in titles, one author with several works of one year, works without year or author.
"""

from __future__ import annotations

import json
import random
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

GIVEN = (
    "Ada Alan Ágnes Björn Carlos Chloé Dilek Émile Erik Fatma François Grace Håkon Ines Jan João José Jürgen Karl-Heinz Kateřina Li Łukasz "
    "María Mei Miloš Noam Olga Paweł Pierre-Yves Qing Rosa Søren Sofía Thomas Ümit Vera Wei Xiaoming Yann Yoshua Zoë Zhen Michael David Sarah "
    "Jun Hao Kevin Anna Peter Priya Rahul Samuel Tim Yi"
).split()
FAMILY = (
    "Lovelace Turing Erdős Müller Schölkopf Hochreiter González Peña Ångström Özgür Şahin Novák Černý Dvořák Łukasiewicz Wójcik Nguyen Tran "
    "Chen Zhang Wang Li Liu Kim Park Sato Tanaka Ivanov Petrova Smith Johnson Williams Brown Jones Garcia Miller Davis Lopez Wilson Anderson "
    "Taylor O'Brien O'Connor MacKay McCallum Guðmundsson Sørensen Østergaard Ørsted Béguelin Lefèvre Bottou Hinton Bengio LeCun Gauß Weiß "
    "Smith-Miller Ben-David Al-Rfou"
).split()
FAMILY += [
    "van der Maaten",
    "de Freitas",
    "von Luxburg",
    "van den Oord",
    "de la Cruz",
    "Le Roux",
    "Di Caro",
    "García Márquez",
    "dos Santos",
    "ter Haar",
]
GROUPS = ["OpenAI", "The ATLAS Collaboration", "World Health Organization", "DeepSeek-AI", "NVIDIA Corporation", "Gemini Team"]
JOURNALS = (
    "Journal of Machine Learning Research|Nature|Science|Neural Computation|IEEE Transactions on Pattern Analysis and Machine Intelligence|"
    "Physical Review Letters|SIAM Journal on Scientific Computing|Transactions of the Association for Computational Linguistics|"
    "Communications of the ACM|Annals of Statistics|Journal of the American Statistical Association|PLoS ONE|Machine Learning|Bioinformatics"
).split("|")
MEETINGS = (
    "Advances in Neural Information Processing Systems|Proceedings of the 38th International Conference on Machine Learning|"
    "International Conference on Learning Representations|Proceedings of the IEEE Conference on Computer Vision and Pattern Recognition|"
    "Proceedings of the 2019 Conference of the North American Chapter of the Association for Computational Linguistics|Interspeech|"
    "European Conference on Computer Vision (ECCV)|Proc. 12th ACM Symposium on Theory of Computing|AAAI Conference on Artificial Intelligence"
).split("|")
PRESSES = [
    ("Springer", "Berlin"),
    ("MIT Press", "Cambridge, MA"),
    ("Cambridge University Press", "Cambridge, UK"),
    ("Wiley", "New York"),
    ("Elsevier", "Amsterdam"),
]
HEADS = (
    "Deep|Sparse|Robust|Bayesian|Self-supervised|Efficient|Scalable|Neural|Convex|Hierarchical|Multi-task|Adversarial|Causal|Quantum|Online|"
    "Low-rank|Attention-based|End-to-end|Probabilistic|Unsupervised|3D|Graph-structured|A general theory of|On the limits of|Towards|Learning"
).split("|")
CORES = (
    "representation learning|machine translation|image segmentation|speech recognition|matrix factorization|policy optimization|"
    "protein folding|question answering|time series forecasting|density estimation|kernel methods|language models|graph matching|"
    "variational inference|reinforcement learning|gradient descent|object detection|turbulence modelling|gene expression|anomaly detection"
).split("|")
TAILS = (
    " with missing data| under distribution shift| for low-resource languages| in the wild|: A survey|: The case of the U.S. census|"
    " and its applications|, revisited| via optimal transport| from 1990 to 2015|: Methods, theory, and practice| at scale|"
    ": What do we know?| on the WMT 2014 shared task| by “looking back”| using GPT-4 and BERT| with $\\alpha$-divergences|"
    " without the tears: An introduction for physicists|? An empirical study| – a review| [Extended version]| in O(n log n) time| (and why it matters)"
).split("|") + ["", "", "", "", "", ""]
GREEK = {"$\\alpha$": "α", "$\\beta$": "β", "$\\epsilon$": "ε"}


@dataclass(frozen=True)
class Made:
    """A work with what a bibliography can print of it. Authors are (given, family); a group has an empty given name."""

    key: str
    kind: str
    title: str
    authors: tuple[tuple[str, str], ...]
    year: int | None
    venue: str
    fields: dict[str, str] = field(default_factory=dict)


def pool(folder: Path | None, half: int) -> list[Made]:
    """Works of every second gold list under `folder`, those of the other half never among them."""
    lists = sorted((folder / "references" / "gold").glob("*.refs.jsonl")) if folder else []
    rows = [json.loads(line) for path in lists[half::2] for line in path.read_text().splitlines()]
    works = {made.key: made for row in rows if (made := _of_gold(row))}
    return list({simple(made.title): made for made in works.values()}.values())


def _of_gold(row: dict[str, object]) -> Made | None:
    title, authors = str(row["title"] or row.get("title_bbl") or ""), row["authors"]
    if len(title) < 9 or not isinstance(authors, list) or not authors or re.search(r"[\\<>{}$]|http", title + "".join(authors)):
        return None
    if not is_typesettable(title + "".join(authors)):
        return None
    kind = {"inproceedings": "inproceedings", "misc": "misc", "book": "book"}.get(str(row["type"]), "article")
    names = tuple(_person(str(name)) for name in authors if re.search(r"[^\W\d_]{2}", str(name)) and str(name) != "others")
    fields = {name: str(row[name]) for name in ("doi", "url", "arxiv") if row[name]}
    year = row["year"] if isinstance(row["year"], int) else None
    key = re.sub(r"[^A-Za-z0-9:]", "", str(row["key"])) or "k"
    return Made(key, kind, title, names, year, _plain(str(row["venue"] or "")), fields) if names else None


def _plain(venue: str) -> str:
    return venue if is_typesettable(venue) and not re.search(r"[\\<>{}$]", venue) else ""


def _person(name: str) -> tuple[str, str]:
    if ", " in name:
        family, _, given = name.partition(", ")
        return given, family
    words = name.split()
    cut = next((n for n, word in enumerate(words) if n and word.islower()), len(words) - 1)
    return " ".join(words[:cut]), " ".join(words[cut:])


def simple(title: str) -> str:
    """Letters and digits alone."""
    return re.sub(r"[\W_]+", "", title.casefold())


def draw(works: Sequence[Made], count: int, dice: random.Random) -> list[Made]:
    """A reference list: about half from `works`, the rest made up; titles and keys differ."""
    old = dice.sample(works, min(len(works), int(count * dice.uniform(0.4, 0.7))))
    chosen = {simple(made.title): _filled(made, dice) for made in old}
    fresh = invented(dice)
    while len(chosen) < count:
        made = next(fresh)
        chosen.setdefault(simple(made.title), made)
    keyed = {made.key: made for made in chosen.values()}
    return dice.sample(list(keyed.values()), len(keyed))


def invented(dice: random.Random) -> Iterator[Made]:
    """Made-up works without end."""
    last: Made | None = None
    number = 0
    while True:
        number += 1
        head, core, tail = dice.choice(HEADS), dice.choice(CORES), dice.choice(TAILS)
        authors = _authors(dice)
        year: int | None = dice.randint(1958, 2025)
        if last and dice.random() < 0.15:
            authors, year = last.authors, last.year if dice.random() < 0.5 else year
        kind = dice.choices(["article", "inproceedings", "book", "techreport", "phdthesis", "misc"], [40, 35, 8, 5, 4, 8])[0]
        year = None if kind == "misc" and dice.random() < 0.25 else year
        authors = authors[:1] if kind == "phdthesis" else authors
        last = Made(f"k{number}:{dice.randrange(10**6)}", kind, f"{head} {core}{tail}", authors, year, "")
        yield _filled(last, dice)


def _authors(dice: random.Random) -> tuple[tuple[str, str], ...]:
    if dice.random() < 0.05:
        return (("", dice.choice(GROUPS)),)
    count = dice.choices([1, 2, 3, 4, 6, 9, 22], [18, 28, 22, 14, 10, 5, 3])[0]
    people = [(_given(dice), dice.choice(FAMILY)) for _ in range(count)]
    return tuple(dict.fromkeys(people))


def _given(dice: random.Random) -> str:
    name = dice.choice(GIVEN)
    middle = dice.random()
    return f"{name} {dice.choice('ABCDEFGHJKLMPRSTVW')}." if middle < 0.25 else f"{name[0]}. {dice.choice('ABDEJKLMR')}." if middle < 0.32 else name


def _filled(made: Made, dice: random.Random) -> Made:
    """The work with a venue and the volume, pages, publisher, DOI or address that its kind may carry."""
    fields = dict(made.fields)
    first = dice.randint(1, 900)
    arxiv = fields.get("arxiv")
    venue = made.venue
    if made.kind == "article":
        venue = f"arXiv preprint arXiv:{arxiv}" if arxiv and dice.random() < 0.7 else venue or dice.choice(JOURNALS)
        if "arXiv" not in venue:
            fields |= {"volume": str(dice.randint(1, 99)), "pages": f"{first}--{first + dice.randint(4, 40)}"}
            fields |= {"number": str(dice.randint(1, 12))} if dice.random() < 0.5 else {}
    elif made.kind == "inproceedings":
        venue = venue or dice.choice(MEETINGS)
        fields |= {"pages": f"{first}--{first + 9}"} if dice.random() < 0.6 else {}
        fields |= {"address": "Vienna, Austria", "publisher": "ACM"} if dice.random() < 0.15 else {}
        fields |= {"editor": "Jan Peters and Ulrike von Luxburg"} if dice.random() < 0.08 else {}
        fields |= {"series": "Lecture Notes in Computer Science", "volume": str(first)} if dice.random() < 0.08 else {}
    elif made.kind == "book":
        fields["publisher"], fields["address"] = dice.choice(PRESSES)
        fields |= {"edition": "Second"} if dice.random() < 0.3 else {}
    elif made.kind == "techreport":
        fields |= {"institution": "University of Edinburgh", "number": f"TR-{first}"}
    elif made.kind == "phdthesis":
        fields |= {"school": "University of Toronto"}
    else:
        fields |= {"url": f"https://github.com/example/project{first}"} if dice.random() < 0.6 else {"howpublished": "Blog post"}
    if dice.random() < 0.12:
        fields |= {"doi": f"10.{dice.randint(1000, 9999)}/{dice.choice(['s', 'tpami.', '3292500.', 'j.neunet.'])}{dice.randint(1000, 999999)}"}
    return replace(made, venue=venue, fields=fields)


ACCENTS = {
    0x300: "`",
    0x301: "'",
    0x302: "^",
    0x303: "~",
    0x304: "=",
    0x306: "u",
    0x307: ".",
    0x308: '"',
    0x30A: "r",
    0x30B: "H",
    0x30C: "v",
    0x327: "c",
    0x328: "k",
}
LETTERS = {
    "ß": r"{\ss}",
    "ø": r"{\o}",
    "Ø": r"{\O}",
    "ł": r"{\l}",
    "Ł": r"{\L}",
    "ı": r"{\i}",
    "æ": r"{\ae}",
    "Æ": r"{\AE}",
    "ð": r"{\dh}",
    "þ": r"{\th}",
    "œ": r"{\oe}",
}
SIGNS = {"“": "``", "”": "''", "‘": "`", "’": "'", "–": "--", "—": "---", "&": r"\&", "%": r"\%", "#": r"\#", "_": r"\_"}


def is_typesettable(text: str) -> bool:
    """Whether `tex` has a form for every character."""
    return all(c.isascii() or c in LETTERS or c in SIGNS or _accented(c) for c in text)


def _accented(c: str) -> str:
    parts = unicodedata.normalize("NFD", c)
    if len(parts) != 2 or ord(parts[1]) not in ACCENTS or not parts[0].isascii():
        return ""
    base = {"i": r"\i", "j": r"\j"}.get(parts[0], parts[0]) if parts[1] not in "\u0327\u0328" else parts[0]
    return "{\\" + ACCENTS[ord(parts[1])] + "{" + base + "}}"


def tex(text: str, accents: bool = True) -> str:
    """Text as LaTeX, with accents as commands or as they are; formulas of the made-up titles stay."""
    letters = LETTERS if accents else {}
    return "".join(c if c.isascii() and c not in SIGNS else letters.get(c) or SIGNS.get(c) or (_accented(c) if accents else c) for c in text)


def plain(title: str) -> str:
    """The title as it is read on the page."""
    for formula, letter in GREEK.items():
        title = title.replace(formula, letter)
    return title


def bib(works: Sequence[Made], accents: bool = True) -> str:
    """A BibTeX file: BibTeX itself needs accents as commands, biber reads letters."""
    return "\n".join(_record(made, accents) for made in works)


def _record(made: Made, accents: bool) -> str:
    venue = {"article": "journal", "inproceedings": "booktitle"}.get(made.kind, "note")
    fields = {"title": made.title, "year": str(made.year or ""), venue: made.venue, **made.fields}
    printed = {name: value if name in {"url", "doi"} else tex(value, accents) for name, value in fields.items() if value and name != "arxiv"}
    printed["author"] = " and ".join(f"{tex(family, accents)}, {tex(given, accents)}" if given else f"{{{family}}}" for given, family in made.authors)
    return f"@{made.kind}{{{made.key},\n" + "".join(f"  {name} = {{{value}}},\n" for name, value in printed.items()) + "}\n"
