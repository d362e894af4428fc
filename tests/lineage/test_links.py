"""Whose repository it is: addresses, phrases, READMEs, and what several witnesses make together."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lineage.code_links.links import addresses, from_abstract, from_text, given_in, merge, namesakes, repo_of, trimmed
from lineage.code_links.readme import from_readme
from lineage.ids import repo_id
from lineage.records import BibEntry, CodeLink, Document, Mention, Tier, Work, WorkId

PAPER = Work(WorkId("arxiv:2401.00001"), title="TENT: Fully Test-Time Adaptation by Entropy Minimization")
REPO = WorkId("repo:github.com/ada/engine")
URL = "https://github.com/ada/engine"


@pytest.mark.parametrize(
    "written",
    [
        "https://github.com/ada/engine.",
        "https://github.com/ada/engine),",
        "(https://github.com/ada/engine)".strip("("),
        "http://www.github.com/ada/engine/tree/main/src",
        "https://github.com/ada/engine/blob/main/train.py#L10",
        "https://github.com/ada/engine.git",
        "git@github.com:ada/engine.git",
        "https://github.com/ada/engine.git@v1.2",
        "github.com/ada/engine?tab=readme-ov-file",
        "https://github.com/ada/engine}",
        "https://github.com/ada/engine”.",
    ],
)
def test_an_address_is_read_as_it_stands_in_text(written: str) -> None:
    assert repo_of(written) == REPO


def test_tex_escapes_and_broken_lines_are_undone() -> None:
    assert repo_of(r"https://github.com/ada/engine\_notes") == WorkId("repo:github.com/ada/engine_notes")
    assert repo_of("https://github.com/ada/engine-\nnotes") == WorkId("repo:github.com/ada/engine-notes")


@pytest.mark.parametrize(
    "written",
    [
        "and/or", "his/her results", "https://ada.github.io/engine", "https://gist.github.com/ada/0123456789abcdef", "https://github.com/ada",
        "https://doi.org/10.5281/zenodo.3876047", "https://github.com/topics/nlp", "https://github.com.evil.org/ada/engine", "", "https://",
        "https://user@github.com/ada/engine", "https://github.com:8080/ada/engine", "https://github.com/anonymous/submission",
        "https://github.com/username/repo", "https://huggingface.co/ada/engine", "https://github.com/ada/..", "ada/engine",
    ],
)  # fmt: skip
def test_what_names_no_repository_gives_none(written: str) -> None:
    assert repo_of(written) is None


def test_a_page_on_another_host_of_a_forge_is_no_repository() -> None:
    text = f"See https://help.github.com/en/github/writing, https://gist.github.com/ada/0123 and {URL}, or www.github.com/ada/two."
    assert [work for work, _ in addresses(text)] == [REPO, "repo:github.com/ada/two"]


def test_identifiers_of_repositories_take_the_spellings_of_forges() -> None:
    assert repo_id("git+https://github.com/ada/engine.git") == REPO
    assert repo_id("ssh://git@github.com/ada/engine") is None
    assert repo_id("https://gitlab.com/ada/engine/-/tree/main") == WorkId("repo:gitlab.com/ada/engine")


OWN = [
    f"Our code is available at {URL}.",
    f"Code is available at {URL}.",
    f"The code is publicly available at {URL}.",
    f"We release our code at {URL}",
    f"All code and data are released at {URL}.",
    f"We make our implementation publicly available: {URL}",
    f"Source code: {URL}",
    f"Code: {URL}",
    f"The source code of TENT can be found in {URL}.",
    f"We will open-source the code at {URL}.",
    f"The code used in this paper is at {URL}.",
    f"Our implementation can be found here: {URL}.",
    f"The code to reproduce our experiments is available at {URL}.",
    f"Data and code are available at {URL}.",
    f"The code we used to train and evaluate our models is available at {URL}.",
    f"Our source code and pretrained models are available on GitHub ({URL}).",
    f"We have open-sourced our toolkit at {URL}.",
    f"We publicly release the dataset and models at {URL}.",
    f"The implementation is available at {URL} under the MIT licence.",
    f"Code and models will be made available at {URL}.",
    f"We provide the code for all experiments at {URL}.",
    f"An implementation of our method is available at {URL}.",
    f"To facilitate future research, we release all code and checkpoints at {URL}.",
    f"We introduce and release Widget, a data set of widgets. — 3{URL}",
    f"We release our judgments and our software. — 1 {URL}",
    f"In this work, we propose Widget, a scheme. — The source code of Widget can be found in {URL}",
]
NOT_OWN = [
    f"We use the implementation of [smith] at {URL}.",
    f"We use the official implementation at {URL}.",
    f"For all baselines we follow the code of the authors at {URL}.",
    f"Our code is based on the repository at {URL}.",
    f"Our implementation builds upon the original code available at {URL}.",
    f"We adopt the open-source implementation from the PILOT toolbox [smith], available at {URL}.",
    f"As for StateMask, we use their released open-sourced code from {URL}.",
    f"For details, we refer the reader to the SciBERT code, which we use for all experiments. — {URL}",
    f"The code of StateMask is available at {URL}.",
    f"Mistral 7B is available for unrestricted use, while its model architecture and setup are open source: {URL}.",
    f"We used the scripts provided by the organisers at {URL}.",
    f"The models were trained with fairseq. — {URL}",
    f"Hyperparameters are taken from {URL}.",
    f"We evaluate with the standard script. — 4{URL}",
    f"We fine-tune using the library of [smith]. — {URL}",
    f"Following prior work, we run {URL} with default settings.",
    f"Their code is available at {URL}.",
    f"The data set is available at {URL} [smith].",
    f"We implemented our model with the toolkit at {URL}.",
    f"The tokenizer is from {URL}",
    f"We used the FairSeq framework for our experiments. — {URL}",
]
KEYS = (BibEntry("smith", "Smith. 2019. A paper.", title="A paper"),)


def tier_of(around: str) -> Tier:
    return from_text(PAPER, [(URL, around)], bibliography=KEYS).own[0].tier


@pytest.mark.parametrize("around", OWN)
def test_words_of_releasing_make_a_repository_official(around: str) -> None:
    assert tier_of(around) is Tier.OFFICIAL


@pytest.mark.parametrize("around", NOT_OWN)
def test_words_of_using_do_not(around: str) -> None:
    assert tier_of(around) is Tier.MENTIONED


def test_an_unofficial_implementation_is_a_reimplementation_of_the_cited_work() -> None:
    found = from_text(PAPER, [(URL, f"We use an unofficial implementation of [smith] at {URL}.")], bibliography=KEYS)
    assert found.own[0].tier is Tier.MENTIONED
    assert found.references[0].tier is Tier.REIMPLEMENTATION


def test_a_repository_named_like_the_paper_is_at_least_the_authors() -> None:
    links = from_text(PAPER, [("https://github.com/DequanWang/tent", "Entropy goes down. — 1 https://github.com/DequanWang/tent")]).own
    assert links == (
        CodeLink(
            PAPER.id,
            WorkId("repo:github.com/DequanWang/tent"),
            Tier.AUTHOR,
            ("text",),
            ("text: “Entropy goes down. — 1 https://github.com/DequanWang/tent”",),
        ),
    )


def test_only_the_sentence_with_the_address_speaks() -> None:
    around = f"Our code is available at https://github.com/ada/own. For BERT we use {URL}. We thank everybody."
    found = from_text(PAPER, [(URL, around), ("https://github.com/ada/own", around)]).own
    assert [(link.repo, link.tier) for link in found] == [("repo:github.com/ada/own", Tier.OFFICIAL), (REPO, Tier.MENTIONED)]


def test_an_address_beside_a_citation_is_that_works() -> None:
    found = from_text(PAPER, [(URL, f"We use the official implementation of [smith] at {URL}. [nearest citation: jones]")], bibliography=KEYS)
    assert [(link.key, link.repo, link.tier) for link in found.references] == [("smith", REPO, Tier.AUTHOR)]
    assert found.own[0].tier is Tier.MENTIONED


def test_a_mention_read_from_a_pdf_ties_the_address_to_its_entry() -> None:
    sentence = f"We use the released code of Smith (2019) at {URL}."
    found = from_text(PAPER, [(URL, sentence)], mentions=[Mention("ref-7", sentence)])
    assert [(link.key, link.tier) for link in found.references] == [("ref-7", Tier.AUTHOR)]


def test_an_entry_that_gives_an_address_links_its_own_work() -> None:
    entry = BibEntry("gpt4all", "Anand. GPT4All: a chatbot. https://github.com/nomic-ai/gpt4all, 2023.", title="GPT4All: a chatbot")
    found = from_text(PAPER, [], bibliography=[entry]).references
    assert [(link.key, link.repo, link.tier) for link in found] == [("gpt4all", "repo:github.com/nomic-ai/gpt4all", Tier.OFFICIAL)]


def test_deposits_are_no_repositories() -> None:
    found = from_text(PAPER, [("https://doi.org/10.5281/zenodo.3876047", "Our code is archived at https://doi.org/10.5281/zenodo.3876047.")])
    assert found.own == ()


def test_an_address_is_trimmed_of_the_sentence_around_it() -> None:
    assert trimmed("https://a.org/x).") == "https://a.org/x"
    assert trimmed("https://en.wikipedia.org/wiki/A_(b)") == "https://en.wikipedia.org/wiki/A_(b)"
    assert trimmed("(https://en.wikipedia.org/wiki/A_(b))).") == "(https://en.wikipedia.org/wiki/A_(b))"
    assert trimmed("https://a.org/x”,") == "https://a.org/x"
    assert repo_of("https://github.com/a/b`.") == "repo:github.com/a/b"


def test_a_hostile_address_is_read_soon() -> None:
    assert repo_of("https://github.com/a/b" + ")" * 400_000) == "repo:github.com/a/b"
    assert trimmed("https://a.org/x" + ").," * 200_000) == "https://a.org/x"


def test_the_abstract_and_the_comment_speak_too() -> None:
    paper = Work(
        PAPER.id,
        title=PAPER.title,
        abstract=f"We do a thing. Code is available at {URL}.",
        meta={"comment": "12 pages; https://github.com/ada/other"},
    )
    assert [(link.repo, link.tier, link.said_by) for link in from_abstract(paper)] == [
        (REPO, Tier.OFFICIAL, ("abstract",)),
        ("repo:github.com/ada/other", Tier.AUTHOR, ("comment",)),
    ]


CODE = Work(REPO, kind="code")
ARXIV = "https://arxiv.org/abs/2401.00001"


def readme_tier(text: str, *others: Work) -> Tier | None:
    links = [link for link in from_readme(CODE, text, [PAPER, *others]) if link.paper == PAPER.id]
    return links[0].tier if links else None


def test_a_readme_that_opens_with_the_paper_is_official() -> None:
    assert readme_tier(f"# TENT\n\nOfficial code for the paper [TENT]({ARXIV}).\n") is Tier.OFFICIAL
    assert readme_tier("# TENT: Fully Test-Time Adaptation by Entropy Minimization\nThis is the code for the paper.\n") is Tier.OFFICIAL


def test_a_readme_that_only_asks_to_be_cited_with_it_is_the_authors() -> None:
    text = "# Tools\n" + "word " * 600 + "\n## Citation\n@article{w, title={{TENT}: Fully Test-Time Adaptation by Entropy Minimization}}\n"
    assert readme_tier(text) is Tier.AUTHOR


def test_a_readme_that_says_unofficial_is_a_reimplementation() -> None:
    assert readme_tier(f"# tent-pytorch\nUnofficial PyTorch implementation of {ARXIV}\n") is Tier.REIMPLEMENTATION


def test_a_readme_that_names_it_among_others_mentions_it() -> None:
    text = "# Zoo\nOfficial code of [Zoo](https://arxiv.org/abs/2301.99999).\n" + "word " * 600 + f"\nWe compare with {ARXIV}.\n"
    assert readme_tier(text) is Tier.MENTIONED


def test_a_paper_that_a_readme_takes_as_its_example_does_not_own_the_repository() -> None:
    example = "Run it on an example paper ([TENT: Fully Test-Time Adaptation by Entropy Minimization](https://arxiv.org/abs/2006.10726))."
    text = f"# Paper2Tool\nRead the paper: https://arxiv.org/abs/2504.99999\nThis is the official code of the paper.\n{example}\n"
    links = from_readme(CODE, text, [Work(WorkId("s2:x"), title="TENT: Fully Test-Time Adaptation by Entropy Minimization")])
    assert [link.tier for link in links] == [Tier.MENTIONED]


def test_a_readme_that_does_not_name_it_says_nothing() -> None:
    assert readme_tier("# Engine\nA difference engine. See arXiv:2401.000019 and 12401.00001.") is None


def link(tier: Tier, by: str, repo: WorkId = REPO) -> CodeLink:
    return CodeLink(PAPER.id, repo, tier, (by,), (f"{by}: said so",))


def test_paper_and_repository_that_name_each_other_are_official_together() -> None:
    merged = merge([link(Tier.MENTIONED, "pdf"), link(Tier.AUTHOR, "readme", WorkId("repo:github.com/Ada/Engine"))])
    assert len(merged) == 1
    assert merged[0].tier is Tier.OFFICIAL
    assert merged[0].said_by == ("pdf", "readme")
    assert merged[0].evidence[-1] == "the paper and the repository name each other"


def test_two_passing_mentions_stay_mentions() -> None:
    assert merge([link(Tier.MENTIONED, "pdf"), link(Tier.MENTIONED, "readme")])[0].tier is Tier.MENTIONED


def test_a_repository_that_calls_itself_a_reimplementation_is_one_unless_the_paper_owns_it() -> None:
    assert merge([link(Tier.AUTHOR, "huggingface"), link(Tier.REIMPLEMENTATION, "readme")])[0].tier is Tier.REIMPLEMENTATION
    assert merge([link(Tier.OFFICIAL, "latex"), link(Tier.REIMPLEMENTATION, "readme")])[0].tier is Tier.OFFICIAL


def test_authors_who_rewrote_their_code_keep_it_where_the_hub_names_it() -> None:
    rewrite = f"# tent-pytorch\nThis is a PyTorch re-implementation of the paper [Tent]({ARXIV}).\n"
    readme = list(from_readme(Work(REPO, "code"), rewrite, [PAPER]))
    assert readme[0].tier is Tier.REIMPLEMENTATION
    assert merge([link(Tier.AUTHOR, "huggingface"), *readme])[0].tier is Tier.AUTHOR
    assert merge(readme)[0].tier is Tier.REIMPLEMENTATION
    unofficial = list(from_readme(Work(REPO, "code"), rewrite.replace("This is a", "Unofficial"), [PAPER]))
    assert merge([link(Tier.AUTHOR, "huggingface"), *unofficial])[0].tier is Tier.REIMPLEMENTATION


def test_links_come_best_first_and_keep_every_word() -> None:
    other = WorkId("repo:github.com/ada/other")
    merged = merge([link(Tier.MENTIONED, "latex", other), link(Tier.AUTHOR, "huggingface"), link(Tier.OFFICIAL, "latex")])
    assert [(found.repo, found.tier) for found in merged] == [(REPO, Tier.OFFICIAL), (other, Tier.MENTIONED)]
    assert merged[0].evidence == ("huggingface: said so", "latex: said so")
    assert merge([]) == ()


def test_hostile_words_end_soon() -> None:
    for around in ("our code " * 20_000, "we release " * 20_000, "[a; " * 20_000, "the " * 50_000 + "code is", "." * 50_000):
        assert from_text(PAPER, [(URL, around + URL)]).own[0].repo == REPO
    assert from_readme(CODE, "@a{" * 100_000 + "#" * 100_000, [PAPER]) == ()


def test_joining_again_changes_nothing_and_makes_no_witness_say_more() -> None:
    once = merge([link(Tier.MENTIONED, "latex"), link(Tier.AUTHOR, "huggingface"), link(Tier.MENTIONED, "readme")])
    assert once[0].tier is Tier.AUTHOR
    assert merge(once) == once
    assert merge([*once, link(Tier.MENTIONED, "readme", WorkId("repo:github.com/ada/other"))])[0] == once[0]


def test_what_a_repository_says_of_itself_holds_when_links_are_joined_in_rounds() -> None:
    apart = merge([link(Tier.OFFICIAL, "another witness"), link(Tier.REIMPLEMENTATION, "readme")])
    assert merge(apart)[0].tier is Tier.REIMPLEMENTATION
    assert merge([*merge([link(Tier.MENTIONED, "latex")]), link(Tier.OFFICIAL, "readme")])[0].tier is Tier.OFFICIAL


@pytest.mark.parametrize("by", sorted(("latex", "pdf", "abstract", "comment", "text")))
def test_any_text_of_the_paper_is_its_word(by: str) -> None:
    assert merge([link(Tier.OFFICIAL, by), link(Tier.REIMPLEMENTATION, "readme")])[0].tier is Tier.OFFICIAL
    assert merge([link(Tier.MENTIONED, by), link(Tier.AUTHOR, "readme")])[0].tier is Tier.OFFICIAL


def test_of_links_of_one_tier_the_one_with_more_witnesses_comes_first() -> None:
    b, c = WorkId("repo:github.com/ada/b"), WorkId("repo:github.com/ada/c")
    found = merge([link(Tier.AUTHOR, "x", b), link(Tier.AUTHOR, "x", c), link(Tier.AUTHOR, "y", c), link(Tier.AUTHOR, "x", REPO)])
    assert [one.repo for one in found] == [c, b, REPO]


@pytest.mark.parametrize(
    ("text", "tier"),
    [
        (f"Tools for {URL}", Tier.AUTHOR),
        (f"See {URL} for " + "more words of the abstract " * 3, Tier.AUTHOR),
        (f"We use the library at {URL} and then do " + "other things " * 9, Tier.MENTIONED),
        ("We use the library at https://github.com/ada/engine.", Tier.AUTHOR),
        ("We build on the code of others at https://github.com/ada/tent and more " + "word " * 20, Tier.OFFICIAL),
        ("No address at all", None),
    ],
)
def test_an_address_at_the_end_of_an_abstract_or_named_like_the_paper_is_the_authors(text: str, tier: Tier | None) -> None:
    found = from_abstract(Work(PAPER.id, title=PAPER.title, abstract=text))
    assert [one.tier for one in found] == ([tier] if tier else [])


def test_an_entry_that_is_the_repository_is_official_and_one_that_gives_it_the_authors() -> None:
    entries = [
        BibEntry("a", "GitHub - ada/engine", title="GitHub repository", url=URL),
        BibEntry("b", "An Engine. 2019.", title="The ENGINE of differences", note=f"\\url{{{URL}}}"),
        BibEntry("c", f"A note. 2020. {URL}.", title="A note on numbers"),
        BibEntry("d", "No address.", title="None"),
    ]
    found = from_text(PAPER, [], bibliography=entries).references
    assert [(one.key, one.tier) for one in found] == [("a", Tier.OFFICIAL), ("b", Tier.OFFICIAL), ("c", Tier.AUTHOR)]
    assert found[2].evidence == f"the entry gives it: “A note. 2020. {URL}.”"


def test_a_repository_is_that_of_a_cited_work_by_its_name_or_by_standing_alone_beside_it() -> None:
    entries = (*KEYS, BibEntry("lovelace", "", title="The Engine of Differences"))

    def of(around: str) -> list[tuple[str, Tier]]:
        return [(one.key, one.tier) for one in from_text(PAPER, [(URL, around)], bibliography=entries).references]

    assert of(f"We use {URL} [smith; lovelace].") == [("lovelace", Tier.MENTIONED)]
    assert of(f"We use {URL} [smith].") == [("smith", Tier.MENTIONED)]
    assert of(f"We use their official code of [smith] at {URL}.") == [("smith", Tier.AUTHOR)]
    assert of(f"We compare with [lovelace] and [smith]. — 3 {URL}") == [("lovelace", Tier.MENTIONED)]
    assert of(f"We use {URL} and https://github.com/bob/other [smith].") == []
    assert of(f"We release our code at {URL} [smith].") == []
    assert of(f"We use {URL} [nobody].") == []


def test_the_nearest_citation_that_a_reader_noted_is_no_part_of_the_words() -> None:
    (found,) = from_text(PAPER, [(URL, f"Code at {URL}. [nearest citation: smith]")], bibliography=KEYS).own
    assert found.evidence == (f"text: “Code at {URL}.”",)


BENCHMARK = WorkId("repo:github.com/lab/benchmark")


@pytest.mark.parametrize(
    ("witness", "own", "tier"),
    [
        ("huggingface", ("pdf", "huggingface", "readme"), Tier.MENTIONED),
        ("readme", ("pdf", "readme"), Tier.MENTIONED),
        ("text of arxiv:1", ("pdf", "readme"), Tier.OFFICIAL),
        ("huggingface", ("pdf",), Tier.OFFICIAL),
    ],
)
def test_a_sentence_alone_takes_no_repository_from_the_work_that_others_give_it_to(witness: str, own: tuple[str, ...], tier: Tier) -> None:
    """“The source code can be found at …” may speak of a cited benchmark."""
    said = link(Tier.OFFICIAL, "pdf", BENCHMARK)
    theirs = replace(link(Tier.AUTHOR, witness, BENCHMARK), paper=WorkId("arxiv:2105.00001"))
    merged = merge([said, theirs, *(link(Tier.OFFICIAL, by) for by in own)])
    assert next(one.tier for one in merged if one.paper == said.paper and one.repo == BENCHMARK) is tier
    assert next(one.tier for one in merged if one.paper == said.paper and one.repo != BENCHMARK) is Tier.OFFICIAL
    assert merge(merged) == merged


def test_a_work_without_code_gets_the_repository_of_its_name_that_most_others_give_the_address_of() -> None:
    flax, coded, book = (
        Work(WorkId(f"ref:{n}"), title=title) for n, title in enumerate(("Flax: A library", "Engine: A machine", "Machine Learning: A book"))
    )
    given = {
        "a/one": [WorkId("repo:github.com/google/flax"), BENCHMARK, WorkId("repo:github.com/eve/machine-learning")],
        "arxiv:1": [WorkId("repo:github.com/google/flax"), WorkId("repo:github.com/eve/flax"), WorkId("repo:github.com/eve/engine")],
    }
    known = CodeLink(coded.id, BENCHMARK, Tier.AUTHOR)
    (found,) = namesakes(given, [flax, coded, book], [known])
    assert (found.paper, found.repo, found.tier) == (flax.id, "repo:github.com/google/flax", Tier.AUTHOR)
    assert found.evidence == ("a/one gives the address of a repository that is called as the work is",)
    theirs = CodeLink(coded.id, found.repo, Tier.OFFICIAL, ("readme",))
    assert [one.tier for one in merge([found, theirs]) if one.paper == flax.id] == [Tier.MENTIONED]
    again = Work(WorkId("ref:9"), title="FLAX")
    assert list(namesakes(given, [flax, again], [])) == []


def test_an_address_is_given_in_a_papers_text_or_in_an_entry_of_its_bibliography() -> None:
    entry = BibEntry("flax", "Flax. URL http://github.com/google/flax.", title="Flax")
    paper = Document(WorkId("arxiv:1"), "", "", (), "latex@1", "paper", links=((URL, "We use it."),), bibliography=(entry,))
    assert given_in(paper) == {WorkId("repo:github.com/google/flax"), repo_of(URL)}
