"""Entries as the usual styles print them, and the fields that are read from them."""

from __future__ import annotations

import pytest

from indexer.parsers.pdf.entry import parse_entry
from indexer.parsers.pdf.fields import authors_of, is_names

STYLES = {
    "ACL": ("Jacob Devlin, Ming-Wei Chang, and Kenton Lee. 2019. BERT: Pre-training of deep transformers. In Proceedings of NAACL, pages 1-9.",
            "Jacob Devlin", 2019, "BERT: Pre-training of deep transformers", "Proceedings of NAACL"),
    "NeurIPS": ("[7] Tom B. Brown, Benjamin Mann, and Nick Ryder. Language models are few-shot learners, 2020.",
                "Tom B. Brown", 2020, "Language models are few-shot learners", ""),
    "ICML": ("Kingma, D. P. and Ba, J. Adam: A method for stochastic optimization. In International Conference on Learning Representations, 2015.",
             "D. P. Kingma", 2015, "Adam: A method for stochastic optimization", "International Conference on Learning Representations"),
    "IEEE": ("[3] K. He, X. Zhang, and J. Sun, “Deep residual learning for image recognition,” in Proc. CVPR, 2016, pp. 770-778.",
             "K. He", 2016, "Deep residual learning for image recognition", "Proc. CVPR"),
    "APA": ("Hinton, G. E., & Salakhutdinov, R. R. (2006). Reducing the dimensionality of data with neural networks. Science, 313(5786), 504-507.",
            "G. E. Hinton", 2006, "Reducing the dimensionality of data with neural networks", "Science"),
    "Springer": ("12. Ronneberger, O., Fischer, P., Brox, T.: U-Net: Convolutional networks for biomedical images. In: MICCAI, pp. 234-241 (2015)",
                 "O. Ronneberger", 2015, "U-Net: Convolutional networks for biomedical images", "MICCAI"),
    "Nature": ("5. LeCun, Y., Bengio, Y. & Hinton, G. Deep learning. Nature 521, 436-444 (2015).",
               "Y. LeCun", 2015, "Deep learning", "Nature"),
    "Vancouver": ("Bange EM, Han NA, Wileyto P. CD8 T cells contribute to survival. Nat Med. 2021;27:1280-9.",
                  "EM Bange", 2021, "CD8 T cells contribute to survival", "Nat Med"),
    "ACM": ("[4] Riaz Ahmad and Muhammad Afzal. 2018. CAD: an algorithm for citation-anchors detection. Scientometrics 117 (2018), 1405-1423.",
            "Riaz Ahmad", 2018, "CAD: an algorithm for citation-anchors detection", "Scientometrics"),
    "AAAI": ("Lin, Z.; and Wan, X. 2021. Pushing Paraphrase Away from Original Sentence. In Findings of ACL-IJCNLP.",
             "Z. Lin", 2021, "Pushing Paraphrase Away from Original Sentence", "Findings of ACL-IJCNLP"),
    "Elsevier": ("[9] D. Zymelka, K. Togashi, Printed strain sensors for health monitoring, Smart Materials and Structures 26 (10) (2017) 105040.",
                 "D. Zymelka", 2017, "Printed strain sensors for health monitoring", "Smart Materials and Structures"),
    "IEEE online": ("[5] A. Saparov and H. He, “Greedy language models: A formal analysis,” 2023. [Online]. Available: https://example.org/x",
                    "A. Saparov", 2023, "Greedy language models: A formal analysis", ""),
    "NEJM": ("4. Wilson S and Frey C. Convex density estimation. In: Proceedings of Learning. 1991:223-32.",
             "S Wilson", 1991, "Convex density estimation", "Proceedings of Learning"),
    "astronomy": ("Dos Santos, J., Nguyen, A., & Frey, M. 1974b, Neural Computation, 8, 766", "J. Dos Santos", 1974, "", "Neural Computation"),
    "Science": ("2. P. L. Ito, Z. Smith, Physica 43, 588-622 (2002).", "P. L. Ito", 2002, "", "Physica"),
    "preprint alone": ("Creswell, A., & Higgins, I. 2022, arXiv preprint arXiv:2205.09712.", "A. Creswell", 2022, "", "arXiv preprint"),
}  # fmt: skip


@pytest.mark.parametrize("style", STYLES)
def test_fields_are_read_from_each_style(style: str) -> None:
    raw, author, year, title, venue = STYLES[style]
    entry = parse_entry(raw, "k")
    assert (entry.authors[0], entry.year, entry.title) == (author, year, title)
    assert entry.venue.startswith(venue)


def test_identifiers_are_found_and_bare() -> None:
    raw = "A. Church. Title of it all. arXiv preprint arXiv:2205.09712v2, 2022. doi: 10.1109/TIT.1967.1053964. URL https://example.org/x."
    entry = parse_entry(raw, "k")
    assert (entry.arxiv, entry.doi, entry.url) == ("2205.09712", "10.1109/TIT.1967.1053964", "https://example.org/x")
    assert parse_entry("Nobody. A thing. CoRR, abs/1703.03906, 2017.", "k").arxiv == "1703.03906"
    assert parse_entry("B. Kolb, arXiv:hep-ph/9507385, 1995.", "k").arxiv == "hep-ph/9507385"
    own = parse_entry("A. B. Thing one. https://doi.org/10.48550/arXiv.2301.00001, 2023.", "k")
    assert (own.arxiv, own.doi) == ("2301.00001", None)  # arXiv's own DOI says nothing more
    assert parse_entry("A. B. Thing one. doi:10.48550/ARXIV.abcdef, 2023.", "k").arxiv is None
    assert parse_entry("A. B. Phys. Rev. D 71, 083512 [astro-ph/0412269]", "k").arxiv == "astro-ph/0412269"


def test_an_identifier_broken_by_a_line_end_is_joined() -> None:
    assert parse_entry("C. D. Some title here. 2022. URL https://arxiv.org/abs/2210. 11610.", "k").arxiv == "2210.11610"


def test_a_question_in_a_title_does_not_end_it() -> None:
    entry = parse_entry("Mor Geva and Dan Roth. Did aristotle use a laptop? a question answering benchmark, 2021.", "k")
    assert entry.title == "Did aristotle use a laptop? a question answering benchmark"


def test_a_physics_entry_without_title_has_none() -> None:
    entry = parse_entry("[2] C.-Y. Lu and J. W. Pan, Phys. Rev. D 70, 123512 (2004).", "k")
    assert (entry.title, entry.authors, entry.year) == ("", ("C.-Y. Lu", "J. W. Pan"), 2004)


def test_organisations_and_particles_are_names() -> None:
    assert is_names("National Institutes of Health")
    assert is_names("Laurens van der Maaten and Geoffrey E. Hinton")
    assert is_names("Chunyang Jiang, Chi min Chan, Wei Xue, and Yike Guo")
    assert not is_names("Fei Tony Liu and Zhi-Hua Zhou. Isolation forest. In")
    assert not is_names("Deep learning with small data")


def test_authors_come_given_name_first() -> None:
    assert authors_of("Vaswani, A., Shazeer, N., and Parmar, N.") == ["A. Vaswani", "N. Shazeer", "N. Parmar"]
    assert authors_of("Liu, J.; Shen, D.; and Chen, W.") == ["J. Liu", "D. Shen", "W. Chen"]
    assert authors_of("Yoon Kim, Carl Denton, Alexander M. Rush et al.") == ["Yoon Kim", "Carl Denton", "Alexander M. Rush"]
    assert authors_of("K. Akkaya, M. Younis") == ["K. Akkaya", "M. Younis"]


def test_a_hostile_entry_ends_soon() -> None:
    for raw in ("A, B. " * 20_000, "“" * 50_000, "(" * 50_000, "a. " * 30_000, "Aa-" * 30_000, ", volume 1" * 5_000, ";" * 50_000, "arxiv," * 10_000):
        assert parse_entry(raw, "k").key == "k"


@pytest.mark.parametrize(
    ("text", "people"),
    [
        ("A. One, B. Two, and C. Three.", ("A. One", "B. Two", "C. Three")),
        ("One, A., Two, B. B., & Three, C.", ("A. One", "B. B. Two", "C. Three")),
        ("A. One et al.", ("A. One",)),
        ("A. One; B. Two", ("A. One", "B. Two")),
        ("A. One, Jr., B. Two", ("A. One Jr", "B. Two")),
        ("A. One (Ed.)", ("A. One",)),
        ("", ()),
    ],
)
def test_a_printed_list_of_people(text: str, people: tuple[str, ...]) -> None:
    assert tuple(authors_of(text)) == people
