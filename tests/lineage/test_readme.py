"""What a README says of papers: its own by title, introduction, first link and first request to be cited; everything else is a mention."""

from __future__ import annotations

import time

import pytest

from lineage.code_links.links import merge
from lineage.code_links.readme import beside, from_readme, introduction
from lineage.records import CodeLink, Tier, Work, WorkId

CODE = Work(WorkId("repo:github.com/ada/engine"), kind="code")
TIMM = Work(WorkId("ref:timm"), title="PyTorch Image Models")
SEGMENT = Work(WorkId("arxiv:2401.00002"), title="SegEngine: A Difference Engine for Dense Segmentation")
OTHER = Work(WorkId("arxiv:2401.00003"), title="Analytical Weaving of Algebraic Patterns")
SCIBERT = Work(WorkId("s2:abc"), title="SciBERT: A pretrained language model for scientific text")
URL = "https://arxiv.org/abs/2401.00002"


def tiers(text: str, *papers: Work) -> dict[str, str]:
    """Tier by paper, of all that the README names."""
    return {link.paper: link.tier.value for link in from_readme(CODE, text, papers or (SEGMENT, TIMM, OTHER))}


@pytest.mark.parametrize(
    "text",
    [
        "# SegEngine: A Difference Engine for Dense Segmentation\n\nAda Lovelace\n",
        "# A Difference Engine for Dense Segmentation (SegEngine)\n",
        "<h1 align=center> SegEngine: A Difference Engine <br> for Dense Segmentation </h1>\n",
        "SegEngine: A Difference Engine for Dense Segmentation\n====\n",
        f"# SegEngine\nThis is the official PyTorch implementation of [our work]({URL}).\n",
        "# Intro\nThis repo contains the code used in\n\n> [**SegEngine: A Difference Engine for Dense Segmentation**](x)\n",
        f"# SegEngine\n[[Paper]]({URL}) [Demo](x)\n\n## Cite\n@misc{{a, title={{{{SegEngine}}: A Difference Engine for Dense Segmentation}}}}\n",
        f"- news: see [a follow-up](https://arxiv.org/abs/2401.00003)\n\n# SegEngine\nCode for the paper {URL}.\n",
    ],
)
def test_a_repository_is_official_of_the_paper_that_it_introduces_itself_with(text: str) -> None:
    assert tiers(text, SEGMENT, OTHER)[SEGMENT.id] == "official"
    assert tiers(text, SEGMENT, OTHER).get(OTHER.id, "mentioned") == "mentioned"


def test_every_paper_that_is_listed_as_its_own_is() -> None:
    text = f"# Engines\nThis repository contains code for the following papers.\n\n- [SegEngine]({URL})\n- Analytical Weaving of Algebraic Patterns\n"
    assert tiers(text) == {SEGMENT.id: "official", OTHER.id: "official"}


@pytest.mark.parametrize(
    "text",
    [
        "It is built on [timm](https://github.com/huggingface/pytorch-image-models), PyTorch Image Models.",
        "This repository contains the code of it, based on PyTorch Image Models.",
        "- [PyTorch Image Models](https://github.com/huggingface/pytorch-image-models)",
        "| model | PyTorch Image Models |\n|---|---|",
        "## Acknowledgements\nThis is thanks to the code of PyTorch Image Models.",
    ],
)
def test_a_work_in_a_list_or_among_what_was_built_on_is_mentioned(text: str) -> None:
    official = f"# SegEngine\nOfficial code of [SegEngine: A Difference Engine for Dense Segmentation]({URL}).\n"
    assert tiers(f"{official}\n{text}\n") == {SEGMENT.id: "official", TIMM.id: "mentioned"}
    assert tiers(f"# SegEngine\n{text}\n") == {TIMM.id: "mentioned"}


def test_an_address_is_not_a_title() -> None:
    assert tiers("# SegEngine\nSee [timm](https://github.com/huggingface/pytorch-image-models).\n") == {}


def test_a_longer_title_that_ends_in_another_is_not_that_one() -> None:
    short = Work(WorkId("arxiv:1709.00001"), title="Learning with Opponent-Learning Awareness")
    assert tiers("# Proximal Learning with Opponent Learning Awareness (POLA)\n", short) == {short.id: "mentioned"}


def test_a_title_written_without_its_article_is_known_by_the_request_to_cite_it() -> None:
    badges = "[![PWC](https://img.example/x.svg)](https://example.org/sota)\n" * 40
    asks = "### Citing\n@inproceedings{b, title={SciBERT: Pretrained Language Model for Scientific Text},\n}\n"
    text = f"{badges}# SciBERT\nA BERT for science.\n\n{asks}"
    assert tiers(text, SCIBERT) == {SCIBERT.id: "author"}


@pytest.mark.parametrize(
    "text",
    [
        "This is a PyTorch re-implementation of [SegEngine]({}).",
        "Implementation of [SegEngine]({}) in PyTorch. It was inspired by the official TensorFlow version [here](https://github.com/c/d).",
        "This project is a PyTorch implementation of [SegEngine]({}), based on the authors' implementation [here](https://github.com/c/d).",
    ],
)
def test_a_repository_that_points_to_the_authors_code_is_a_reimplementation(text: str) -> None:
    assert tiers(f"# segengine-pytorch\n{text.format(URL)}\n") == {SEGMENT.id: "reimplementation"}


def test_an_implementation_that_asks_to_be_cited_for_another_work_is_nobodys_own() -> None:
    text = f"# zoo\nImplementation of [SegEngine]({URL}).\n\n## Citation\n@article{{a, title={{Analytical Weaving of Algebraic Patterns}},\n}}\n"
    assert tiers(text) == {SEGMENT.id: "mentioned", OTHER.id: "author"}


def test_what_a_readme_says_of_its_repository_outweighs_the_text_of_papers_that_cite_it() -> None:
    readme = from_readme(CODE, "# SciBERT: A pretrained language model for scientific text\n", [SCIBERT])
    hearsay = CodeLink(OTHER.id, CODE.id, Tier.AUTHOR, ("text of arxiv:9",), ("“we use [weaving]”",))
    own = CodeLink(SEGMENT.id, CODE.id, Tier.OFFICIAL, ("latex",), ("latex: “our code”",))
    found = {link.paper: link.tier for link in merge([*readme, hearsay, own])}
    assert found == {SCIBERT.id: Tier.OFFICIAL, OTHER.id: Tier.MENTIONED, SEGMENT.id: Tier.OFFICIAL}
    assert merge([hearsay])[0].tier is Tier.AUTHOR


def test_the_introduction_ends_where_a_section_begins() -> None:
    found = introduction(f"# Engine\nIt differs.\n\n## Overview\nMore.\n\n## Installation\nThis is code for {URL}.\n")
    assert (found.title, found.lines, found.first_paper) == ("Engine", ("It differs.", "Overview", "More."), "")


def test_a_paragraph_with_one_paper_and_another_address_links_the_two() -> None:
    (link,) = beside(CODE, f"Baselines\n\nSegEngine ({URL}): https://github.com/c/d\n", [SEGMENT, OTHER])
    assert (link.paper, link.repo, link.tier) == (SEGMENT.id, "repo:github.com/c/d", Tier.MENTIONED)


@pytest.mark.parametrize("piece", ["![](", "[a](", "<img alt=", "<!--", "a\n---\n", "official ", "@a{title={", "this is code for papers:\n\n- "])
def test_a_hostile_readme_is_read_soon(piece: str) -> None:
    papers = [Work(WorkId(f"arxiv:2401.{n:05}"), title=f"A Title of Some Length, Part {n}") for n in range(50)]
    started = time.thread_time()
    from_readme(CODE, piece * (400_000 // len(piece)), papers)
    assert time.thread_time() - started < 10


def test_a_title_of_two_telling_words_is_enough_where_it_is_long() -> None:
    convnext, networks = Work(WorkId("s2:c"), title="A ConvNet for the 2020s"), Work(WorkId("s2:n"), title="Neural networks")
    readme = "# [A ConvNet for the 2020s](https://example.org/pdf)\n\nOfficial PyTorch implementation of ConvNeXt. Neural networks are fun.\n"
    assert tiers(readme, convnext, networks) == {convnext.id: "official"}


def test_a_repository_called_as_the_paper_is_that_speaks_of_the_same_is_its_authors() -> None:
    eraser = Work(WorkId("s2:e"), title="ERASER: A Benchmark to Evaluate Rationalized NLP Models")
    repo = Work(WorkId("repo:github.com/jayded/eraserbenchmark"), kind="code")
    links = from_readme(repo, "# eraserbenchmark\n\nA benchmark for understanding and evaluating rationales\n", [eraser, OTHER])
    assert [(link.paper, link.tier) for link in links] == [(eraser.id, Tier.AUTHOR)]
    assert from_readme(repo, "# eraserbenchmark\n\nA blackboard for schools.\n", [eraser]) == ()
