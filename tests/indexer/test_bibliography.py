"""Bibliographies of every make become the same record: .bbl of the common styles, lists by hand, biblatex, .bib."""

from __future__ import annotations

import pytest

from indexer.parsers.latex.bibliography import biblatex_entries, is_biblatex
from indexer.parsers.latex.parser import parse
from lineage.records import BibEntry, Document, Status, WorkId


def paper(cited: str, bbl: str = "", body: str = "", **bibs: str) -> Document:
    source = rf"\documentclass{{article}}\begin{{document}}x \cite{{{cited}}}. {body}\bibliography{{{','.join(bibs) or 'refs'}}}\end{{document}}"
    members = {"main.tex": source.encode(), **{f"{name}.bib": text.encode() for name, text in bibs.items()}}
    return parse(members | ({"main.bbl": bbl.encode()} if bbl else {}), WorkId("arxiv:2501.00001"), "b")


def listed(*items: str) -> str:
    return r"\begin{thebibliography}{9}" + "\n".join(items) + r"\end{thebibliography}"


def only(item: str) -> BibEntry:
    return paper("k", listed(item)).bibliography[0]


def lost(document: Document) -> dict[str, Status]:
    return {subject: status for subject, status, _ in document.lost}


STYLES: dict[str, tuple[str, tuple[object, ...]]] = {
    "acl": (
        r"""\bibitem[{Beltagy et~al.(2019)Lo}]{k} Iz~Beltagy, Kyle Lo, and Arman Cohan. 2019.
\newblock \href {https://doi.org/10.18653/v1/D19-1371} {{S}ci{BERT}: A pretrained model}. \newblock In \emph{EMNLP}, pages 36--39.""",
        ("SciBERT: A pretrained model", ("Iz Beltagy", "Kyle Lo", "Arman Cohan"), 2019, "EMNLP", None, "10.18653/v1/D19-1371"),
    ),
    "ieee": (
        r"\bibitem{k} K.~He, X.~Zhang, and J.~Sun, ``Deep residual learning,'' \emph{arXiv preprint arXiv:1512.03385}, 2015.",
        ("Deep residual learning", ("K. He", "X. Zhang", "J. Sun"), 2015, "arXiv preprint arXiv:1512.03385", "1512.03385", None),
    ),
    "plain": (
        r"\bibitem{k} A.~Askell, Y.~Bai, et~al. \newblock A general assistant. \newblock {\em CoRR}, abs/2112.00861, 2021.",
        ("A general assistant", ("A. Askell", "Y. Bai"), 2021, "CoRR", "2112.00861", None),
    ),
    "icml": (
        r"\bibitem[Agarwal et~al.(2020)Agarwal and Sun]{k} Agarwal, A. and Sun, W. \newblock Policy cover. \newblock \emph{Proc. of NeurIPS}, 2020.",
        ("Policy cover", ("A. Agarwal", "W. Sun"), 2020, "Proc. of NeurIPS", None, None),
    ),
    "by hand": (
        r"\bibitem{k} Hochreiter, S. and Schmidhuber, J. (1997). Long short-term memory. {\it Neural Computation}, 9(8), 1735--1780.",
        ("Long short-term memory", ("S. Hochreiter", "J. Schmidhuber"), 1997, "Neural Computation", None, None),
    ),
    "springer": (
        r"\bibitem{k} Radford, A., Kim, J.W., et~al.: Learning visual models. In: ICML. pp. 87--98 (2021)",
        ("Learning visual models", ("A. Radford", "J.W. Kim"), 2021, "ICML", None, None),
    ),
    "siam": (
        r"\bibitem{k} {\sc N.~J. Higham}, {\em Accuracy and Stability}, SIAM, Philadelphia, 2002.",
        ("Accuracy and Stability", ("N. J. Higham",), 2002, "SIAM", None, None),
    ),
    "revtex": (
        r"""\bibitem [{\citenamefont {E}(1935)}]{k} \BibitemOpen \bibfield {author} {\bibinfo {author} {\bibfnamefont {A.}~\bibnamefont {Einstein}},
\bibinfo {author} {\bibfnamefont {N.}~\bibnamefont {Rosen}},\ }\bibfield {title} {\bibinfo {title} {Is it complete?},\ }%
\href {\doibase 10.1103/PhysRev.47.777} {\bibfield {journal} {\bibinfo {journal} {Phys. Rev.}\ }(\bibinfo {year} {1935})}\BibitemShut {NoStop}""",
        ("Is it complete?", ("A. Einstein", "N. Rosen"), 1935, "Phys. Rev", None, "10.1103/PhysRev.47.777"),
    ),
    "web page": (
        r"\bibitem{k} How does it work? \newblock \url{https://a.b/c_d}.",
        ("How does it work?", (), None, "", None, None),
    ),
}


@pytest.mark.parametrize("style", sorted(STYLES))
def test_fields_are_read_from_printed_entries_of_each_style(style: str):
    item, expected = STYLES[style]
    entry = only(item)
    assert (entry.title, entry.authors, entry.year, entry.venue, entry.arxiv, entry.doi) == expected
    assert entry.fields_by == "bbl"


def test_the_year_of_an_arxiv_number_or_page_range_is_no_year_of_publication():
    entry = only(r"\bibitem{k} I. Beltagy and A. Cohan. \newblock Longformer. \newblock \emph{ArXiv}, abs/2004.05150, pages 2013--2067, 2020.")
    assert (entry.year, entry.arxiv) == (2020, "2004.05150")


def test_two_hundred_authors_are_kept():
    names = ", ".join(f"A. Name{chr(65 + n // 26)}{chr(97 + n % 26)}" for n in range(200))
    assert len(only(rf"\bibitem{{k}} {names}, and Z. Last. \newblock Big science. \newblock 2020.").authors) == 201


def test_a_list_written_in_the_text_is_read_and_is_no_text():
    document = paper("k", body=listed(r"\bibitem{k} J. Smith. A study of things. In \emph{Proc. of ICML}, 2019."))
    assert (document.bibliography[0].title, document.bibliography[0].fields_by) == ("A study of things", "thebibliography")
    assert "Smith" not in document.text


BIBLATEX = r"""
\refsection{0}\datalist[entry]{nty/global//global/global}
    \entry{brown}{inproceedings}{}
      \name{author}{2}{}{%
        {{hash=aa}{family={Brown}, familyi={B\bibinitperiod}, given={Tom\bibnamedelima B.}, giveni={T\bibinitperiod}}}%
        {{hash=bb}{family={Horst}, given={Ann}, prefix={van\bibnamedelima der}}}%
      }
      \field{booktitle}{Advances in {N}eur{IPS}}
      \field{title}{Few-Shot Learners}
      \field{year}{2020}
      \field{eprint}{2005.14165}
      \field{eprinttype}{arxiv}
      \verb{doi}
      \verb 10.1000/xyz_1
      \endverb
    \endentry
\enddatalist\endrefsection
"""


def test_biblatex_lists_are_read():
    entry = paper("brown", BIBLATEX).bibliography[0]
    assert entry.authors == ("Tom B. Brown", "Ann van der Horst")
    assert (entry.title, entry.year, entry.venue, entry.arxiv, entry.doi) == (
        "Few-Shot Learners",
        2020,
        "Advances in NeurIPS",
        "2005.14165",
        "10.1000/xyz_1",
    )


BIB = r"""
@string{nips = "Advances in NIPS"} @string(both = nips # { 30})
@InProceedings{a, author = {Vaswani, Ashish and {Google Brain} and others}, title = "Attention {Is} All {Y}ou Need", booktitle = both, year = 2017,
   month = jun, url={https://arxiv.org/abs/1706.03762}}
@article{b, title={\"Ubung {\ss} $\alpha$}, author={M{\"u}ller, J{\"o}rg and Sa\v{s}a \'Siljak}, year={2001a}, doi={https://doi.org/10.1000/ABC.1}}
@inproceedings{c, crossref={Proc}, title={Child}}
@proceedings{proc, title={Proceedings of X}, year=1999, crossref={c}}
@misc{d, title={\href{http://x.y/z}{Linked Title}}, howpublished={\url{https://github.com/a/b\_c}}, author="Doe, Jr., John"}
@misc{e, note={nothing more}}
@misc{a, title={again}}
@misc{broken, title={never closed
@misc{fine, title={Fine}}
"""


def test_bib_entries_are_read_with_strings_crossref_accents_and_links():
    a, b, c, d, e = paper("a,b,c,d,e", refs=BIB).bibliography
    assert (a.title, a.authors, a.venue, a.arxiv) == (
        "Attention Is All You Need",
        ("Ashish Vaswani", "Google Brain"),
        "Advances in NIPS 30",
        "1706.03762",
    )
    assert (b.title, b.authors, b.year, b.doi) == ("Übung ß α", ("Jörg Müller", "Saša Śiljak"), 2001, "10.1000/ABC.1")
    assert (c.title, c.venue, c.year) == ("Child", "Proceedings of X", 1999)
    assert (d.title, d.authors, d.url) == ("Linked Title", ("John Doe Jr.",), "https://github.com/a/b_c")
    assert (e.title, e.note) == ("", "no title could be read")


def test_nothing_about_a_bib_file_is_dropped_in_silence():
    document = paper("a,missing", refs=BIB)
    assert lost(document) == {
        "refs.bib: broken": Status.PARTIAL,
        "refs.bib: repeated keys": Status.OK_REPAIRED,
        "citation missing": Status.UNRESOLVED,
        "refs.bib: unused entries": Status.POLICY_SKIPPED,
    }


def test_a_bib_only_enriches_what_the_bbl_printed_and_says_with_what():
    bbl = listed(r"\bibitem{b} J. M{\"u}ller and S. Siljak. \newblock {\"U}bung {\ss} $\alpha$. \newblock 2003.")
    document = paper("b,d", bbl, refs=BIB)
    first, second = document.bibliography
    assert (first.year, first.doi, first.fields_by) == (2003, "10.1000/ABC.1", "bbl")
    assert first.note == "authors, doi from the .bib"
    assert (second.key, second.note) == ("d", "cited, but not in the printed list")


def test_nocite_star_takes_every_entry_and_uncited_ones_say_so():
    document = paper("a", body=r"\nocite{*}", refs=BIB)
    assert [entry.key for entry in document.bibliography] == ["a", "b", "c", "proc", "d", "e", "broken", "fine"]
    assert document.bibliography[1].note == "not cited in the text"


def test_duplicate_keys_in_a_printed_list_stay_apart_when_they_are_different_works():
    document = paper("k", listed(r"\bibitem{k} A. One. \newblock First. \newblock 2001.", r"\bibitem{k} B. Two. \newblock Second. \newblock 2002."))
    assert [entry.key for entry in document.bibliography] == ["k", "k#2"]
    assert lost(document)["repeated bibliography keys"] is Status.OK_REPAIRED


def test_a_missing_bibliography_file_is_named():
    assert lost(paper("k"))["refs.bib"] is Status.NOT_FOUND


def test_a_second_list_gives_what_the_first_lacks_and_is_named_otherwise():
    first, second = listed(r"\bibitem{a} A. One. \newblock First. \newblock 2001."), listed(r"\bibitem{b} B. Two. \newblock Second. \newblock 2002.")
    source = rb"\documentclass{article}\begin{document}x \cite{a,b}\end{document}"
    members = {"main.tex": source, "main.bbl": first.encode(), "supp.bbl": second.encode(), "old.bbl": listed(r"\bibitem{z} Z").encode()}
    document = parse(members, WorkId("arxiv:2501.00001"), "b")
    assert [entry.key for entry in document.bibliography] == ["a", "b"]
    assert lost(document) == {"old.bbl": Status.POLICY_SKIPPED}


def test_a_hostile_biblatex_list_is_read_soon():
    text = "\n" * 200_000 + "  \\entry{a}{book}{}\n\\field{title}{On Nets}\n\\endentry\n"
    assert is_biblatex(text)
    assert [entry.title for entry in biblatex_entries(text)] == ["On Nets"]
    assert not is_biblatex(" " * 200_000)
