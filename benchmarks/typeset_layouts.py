# ruff: noqa: E501 - the table of layouts reads best with a layout a line
"""Classes and bibliography styles to typeset, and which half of them a reader may be written against.

`LAYOUTS` name what Debian's TeX Live has; `FORMATS` are printed by us, for venues whose styles are not to be had there
(the geometry of their pages and the order of their fields are imitated, nothing of theirs is used).
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from benchmarks.typeset_works import Made, tex

NATBIB = r"\usepackage[round]{natbib}"
NUMBERS = r"\usepackage[numbers,sort&compress]{natbib}"
FLUSH = r"\setlength{\bibhang}{0pt}"
TIGHT = r"\setlength{\bibsep}{0pt}"
LOOSE = r"\setlength{\bibsep}{6pt}"
TIMES = r"\usepackage{times}"
ARTICLE, TWO = r"\documentclass{article}", r"\documentclass[twocolumn,10pt]{article}"
PARAGRAPHS = r"""\makeatletter
\renewenvironment{thebibliography}[1]{\section*{References}\setlength{\parindent}{1.5em}\setcounter{enumiv}{0}%
\def\bibitem{\par\indent\stepcounter{enumiv}\arabic{enumiv}.\ \@bibmark}%
\def\@bibmark##1{\if@filesw\immediate\write\@auxout{\string\bibcite{##1}{\arabic{enumiv}}}\fi\ignorespaces}%
}{\par}
\makeatother"""
NAMED = r"\def\citename#1{#1}\def\citeauthoryear#1#2{#1, #2}\def\shortcite{\cite}"


@dataclass(frozen=True)
class Layout:
    """How a document is set: class, preamble, style, and its commands to cite; `format` where we print the entries."""

    name: str
    document_class: str
    preamble: str
    style: str
    paren: str = r"\cite{%s}"
    text: str = ""
    tool: str = "bibtex"
    format: str = ""


def natbib(name: str, document_class: str, style: str, *extra: str) -> Layout:
    """An author-year layout of natbib."""
    return Layout(name, document_class, "\n".join([NATBIB, *extra]), style, r"\citep{%s}", r"\citet{%s}")


def biblatex(
    name: str, document_class: str, style: str, *extra: str, options: str = "", author_year: bool = False, paren: str = r"\cite{%s}"
) -> Layout:
    """A layout of biblatex and biber."""
    load = rf"\usepackage{{csquotes}}\usepackage[english]{{babel}}\usepackage[style={style},backend=biber{options}]{{biblatex}}\addbibresource{{refs.bib}}"
    return Layout(
        name,
        document_class,
        "\n".join([load, *extra]),
        style,
        r"\parencite{%s}" if author_year else paren,
        r"\textcite{%s}" if author_year else "",
        "biber",
    )


def written(name: str, document_class: str, form: str, *extra: str, numeric: bool = False) -> Layout:
    """A layout whose entries we print."""
    if numeric:
        return Layout(name, document_class, "\n".join(extra), "", tool="", format=form)
    return Layout(name, document_class, "\n".join([NATBIB, *extra]), "", r"\citep{%s}", r"\citet{%s}", tool="", format=form)


NARROW = r"\usepackage[letterpaper,margin=1in,columnsep=0.25in]{geometry}"
LAYOUTS = [
    Layout("article-plain", ARTICLE, "", "plain"),
    Layout("article-abbrv-two", TWO, "", "abbrv"),
    Layout("article-alpha", ARTICLE, "", "alpha"),
    Layout("article-ieeetr-two", TWO, TIMES, "ieeetr"),
    Layout("article-siam", ARTICLE, "", "siam"),
    Layout("article-acm-two", TWO, "", "acm"),
    Layout("apalike-package", ARTICLE, r"\usepackage{apalike}", "apalike"),
    natbib("apalike-flush-two", TWO, "apalike", FLUSH),
    natbib("plainnat-hanging", ARTICLE, "plainnat"),
    natbib("plainnat-flush-two", TWO, "plainnat", TIMES, FLUSH, r"\setlength{\bibsep}{2pt}"),
    Layout("unsrtnat-numbers", ARTICLE, NUMBERS + r"\renewcommand{\bibfont}{\small}", "unsrtnat"),
    natbib("abbrvnat-flush-tight", ARTICLE, "abbrvnat", FLUSH, TIGHT),
    Layout("ieeetran-conference", r"\documentclass[conference]{IEEEtran}", "", "IEEEtran"),
    Layout("acmart-sigconf", r"\documentclass[sigconf,nonacm]{acmart}", "", "ACM-Reference-Format"),
    Layout("acmart-small-year", r"\documentclass[acmsmall,nonacm]{acmart}\citestyle{acmauthoryear}", "", "ACM-Reference-Format", r"\citep{%s}", r"\citet{%s}"),
    Layout("elsarticle-num-5p", r"\documentclass[5p]{elsarticle}", "", "elsarticle-num"),
    Layout("elsarticle-harv", r"\documentclass[3p,authoryear]{elsarticle}", "", "elsarticle-harv", r"\citep{%s}", r"\citet{%s}"),
    Layout("llncs", r"\documentclass{llncs}", "", "splncs04"),
    Layout("revtex-long", r"\documentclass[aps,prl,twocolumn,longbibliography]{revtex4-2}", "", "apsrev4-2"),
    Layout("amsart-plain", r"\documentclass{amsart}", "", "amsplain"),
    Layout("amsart-alpha", r"\documentclass{amsart}", "", "amsalpha"),
    Layout("nature-raised", ARTICLE, r"\usepackage[super,sort&compress]{natbib}", "naturemag"),
    Layout("apacite", ARTICLE, r"\usepackage{etoolbox}\AtEndPreamble{\usepackage{apacite}}", "apacite", r"\cite{%s}", r"\citeA{%s}"),
    natbib("chicago", ARTICLE, "chicago"),
    natbib("agsm-flush", ARTICLE, "agsm", FLUSH, LOOSE, r"\newcommand{\harvardand}{and}"),
    Layout("vancouver", ARTICLE, NUMBERS, "vancouver"),
    Layout("aaai-named", TWO, NAMED, "aaai-named"),
    biblatex("biblatex-numeric-two", TWO, "numeric", options=",backref=true"),
    biblatex("biblatex-authoryear", ARTICLE, "authoryear", author_year=True),
    biblatex("biblatex-apa", ARTICLE, "apa", author_year=True),
    biblatex("biblatex-alphabetic-two", TWO, "alphabetic", options=",backref=true"),
    biblatex("biblatex-ieee", ARTICLE, "ieee"),
    biblatex("biblatex-smallcaps", ARTICLE, "ext-authoryear", r"\renewcommand*{\mkbibnamefamily}[1]{\textsc{#1}}", author_year=True),
    biblatex("biblatex-nature-two", TWO, "nature", paren=r"\supercite{%s}"),
    biblatex("biblatex-chicago-flush", TWO, "chicago-authordate", r"\setlength{\bibhang}{0pt}", author_year=True),
    biblatex("biblatex-vancouver", ARTICLE, "vancouver"),
    written("icml-flush", r"\documentclass[twocolumn,10pt]{article}", "icml", NARROW, TIMES, FLUSH, TIGHT),
    written("iclr-flush", ARTICLE, "iclr", TIMES, FLUSH, LOOSE),
    written("acl-hanging", TWO, "acl", NARROW, TIMES, r"\renewcommand{\bibfont}{\small}"),
    written("aaai-flush", TWO, "aaai", NARROW, TIMES, FLUSH, r"\setlength{\bibsep}{1pt}"),
    written("cvpr-small", TWO, "cvpr", NARROW, TIMES, NUMBERS + r"\renewcommand{\bibfont}{\footnotesize}", numeric=True),
    written("springer-basic", ARTICLE, "springer"),
    written("physics-titles", ARTICLE, "physics", numeric=True),
    written("first-line-indent", ARTICLE, "medical", PARAGRAPHS, numeric=True),
]  # fmt: skip


def half(name: str) -> str:
    """`insight` or `keptout`: drawn by hash within the sorted names, before the reader was written, and never changed."""
    drawn = sorted((layout.name for layout in LAYOUTS), key=lambda name: hashlib.sha256(f"bibliography {name}".encode()).hexdigest())
    return "insight" if drawn.index(name) < len(drawn) // 2 else "keptout"


def _initials(given: str, mark: str = ".", between: str = " ") -> str:
    return between.join(word[0] + mark for word in given.replace("-", " ").split())


def _surname_first(made: Made, mark: str = ".", comma: str = ",") -> list[str]:
    return [f"{family}{comma} {_initials(given, mark, ' ' if mark else '')}".strip() if given else family for given, family in made.authors]


def _initial_first(made: Made) -> list[str]:
    return [f"{_initials(given)} {family}".strip() for given, family in made.authors]


def _full(made: Made) -> list[str]:
    return [f"{given} {family}".strip() for given, family in made.authors]


def _joined(names: Sequence[str], last: str, between: str = ", ", pair: str = "") -> str:
    if len(names) < 2:
        return "".join(names)
    return between.join(names[:-1]) + (pair or last if len(names) == 2 else last) + names[-1]


def _place(made: Made, lead: str = "In ") -> str:
    venue = made.venue or made.fields.get("publisher") or made.fields.get("school") or made.fields.get("institution") or ""
    return (lead if made.kind == "inproceedings" else "") + rf"\emph{{{tex(venue)}}}" if venue else ""


def _pages(made: Made) -> str:
    return made.fields.get("pages", "")


def _volume(made: Made) -> str:
    fields = made.fields
    number = f"({fields['number']})" if "number" in fields and "volume" in fields else ""
    return fields.get("volume", "") + number + (f":{_pages(made)}" if _pages(made) and "volume" in fields else "")


def _parts(*parts: str, by: str = ", ") -> str:
    return by.join(part for part in parts if part)


def _address(made: Made) -> str:
    return rf" URL \url{{{made.fields['url']}}}." if "url" in made.fields else ""


def _title(made: Made) -> str:
    return tex(made.title) + ("" if made.title.endswith("?") else ".")


FORMATS: dict[str, Callable[[Made, str], str]] = {
    "icml": lambda m, year: f"{tex(_joined(_surname_first(m), ', and ', pair=' and '))} {_title(m)} {_parts(_place(m), _volume(m), year)}.{_address(m)}",
    "iclr": lambda m, year: f"{tex(_joined(_full(m), ', and ', pair=' and '))}. {_title(m)} {_parts(_place(m), _volume(m), year)}.{_address(m)}",
    "acl": lambda m, year: f"{tex(_joined(_full(m), ', and ', pair=' and '))}. {year or 'n.d.'}. {_title(m)} {_parts(_place(m), _volume(m))}.",
    "aaai": lambda m, year: f"{tex(_joined(_surname_first(m), '; and ', '; '))} {year or 'n.d.'}. {_title(m)} {_parts(_place(m), _volume(m))}.",
    "cvpr": lambda m, year: f"{tex(_joined(_full(m), ', and ', pair=' and '))}. {_title(m)} {_parts(_place(m), _volume(m), year)}. {len(m.title) % 8 + 1}, 9",
    "springer": lambda m, year: f"{tex(_joined(_surname_first(m, '', ''), ', '))} ({year or 'n.d.'}) {_title(m)} {_parts(_place(m, 'In: '), _volume(m), by=' ')}",
    "physics": lambda m, year: (
        rf"{tex(_joined(_initial_first(m), ' and '))}, \emph{{{tex(m.title)}}}, "
        rf"{_parts(tex(m.venue), chr(92) + 'textbf{' + m.fields['volume'] + '}' if 'volume' in m.fields else '', f'({year})' if year else '', by=' ')} {_pages(m)}."
    ),
    "medical": lambda m, year: f"{tex(_joined(_surname_first(m, '', ''), ', '))}. {_title(m)} {tex(m.venue)}. {year};{_volume(m)}.",
}  # fmt: skip


def listing(layout: Layout, works: Sequence[Made]) -> str:
    """A `thebibliography` with entries that we print; sorted by author and year where they are cited so."""
    year_sorted = bool(layout.text)
    ordered = sorted(works, key=lambda m: (m.authors[0][1], m.year or 0, m.title)) if year_sorted else list(works)
    marks = _letters(ordered) if year_sorted else [str(made.year or "") for made in ordered]
    rows = [
        rf"\bibitem{_label(made, year) if year_sorted else ''}{{{made.key}}} {FORMATS[layout.format](made, year)}"
        for made, year in zip(ordered, marks, strict=True)
    ]
    return "\\begin{thebibliography}{99}\n" + "\n\n".join(rows) + "\n\\end{thebibliography}\n"


def _letters(works: Sequence[Made]) -> list[str]:
    """The printed years, with letters where citations would be alike."""
    alike = Counter((_short(made), made.year) for made in works)
    seen: Counter[tuple[str, int | None]] = Counter()
    years = []
    for made in works:
        mark = (_short(made), made.year)
        years.append(f"{made.year or ''}{chr(97 + seen[mark]) if alike[mark] > 1 and made.year else ''}")
        seen[mark] += 1
    return years


def _short(made: Made) -> str:
    families = [tex(family) for _, family in made.authors]
    return families[0] + (" et~al." if len(families) > 2 else rf" \& {families[1]}" if len(families) == 2 else "")


def _label(made: Made, year: str) -> str:
    return f"[{{{_short(made)}({year or 'n.d.'}){' and '.join(tex(family) for _, family in made.authors[:3])}}}]"
