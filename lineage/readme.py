"""What a README says of other people's repositories: an address beside a paper's name links the two. Pure.

What it says of its own repository is `lineage.links.from_readme`.
"""

from __future__ import annotations

from collections.abc import Sequence

from lineage.ids import normal_title, same_repo
from lineage.links import README, addresses
from lineage.model import CodeLink, Tier, Work

_WORDS = 3


def beside(repo: Work, readme: str, papers: Sequence[Work]) -> tuple[CodeLink, ...]:
    """Repositories that the README of `repo` gives in one paragraph with the identifier or title of one of `papers`.

    A paragraph that names several papers links none: which address belongs to which cannot be told.
    """
    found: list[CodeLink] = []
    for paragraph in readme[:README].split("\n\n"):
        others = [other for other, _ in addresses(paragraph) if not same_repo(other, repo.id)]
        named = [paper for paper in papers if _names(paragraph, paper)] if others else []
        if len(named) == 1:
            words = " ".join(paragraph.split())[:240]
            evidence = f"readme of {repo.id.removeprefix('repo:')}: “{words}”"
            found += [CodeLink(named[0].id, other, Tier.MENTIONED, ("another readme",), (evidence,)) for other in others]
    return tuple(found)


def _names(paragraph: str, paper: Work) -> bool:
    bare = (work.partition(":")[2] for work in (paper.id, *paper.aliases) if work.startswith(("arxiv:", "doi:")))
    title = normal_title(paper.title)
    return any(len(name) >= 9 and name in paragraph for name in bare) or (len(title.split()) >= _WORDS and title in normal_title(paragraph))
