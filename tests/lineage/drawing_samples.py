"""Lineages to draw: a small one with everything in it, a hostile one, and one of any size."""

from __future__ import annotations

import random

from lineage.graph.build import build
from lineage.records import CodeLink, Mention, Reference, Role, RoleVerdict, Tier, Work, WorkId

TITLE = "TinyMask: Masked Image Modelling for Encoders of Five Million Parameters"
TARGET = Work(WorkId("arxiv:9912.00001"), title=TITLE, authors=("Ilse Varga",), year=2025)
BASE, OLD, LOST = WorkId("arxiv:9911.00102"), WorkId("doi:10.5555/old"), WorkId("ref:0123456789abcdef")
REPO = WorkId("repo:github.com/northlake-vision/patchmask")
PATCHMASK = "PatchMask: Learning by Predicting What the Neighbours Hide"
COMMIT = "e9e926a668d85244c66a6d5c006efbd2b82e83e8"
WORKS = {
    BASE: Work(BASE, title=PATCHMASK, authors=("Rosa Lindqvist", "Paul Imani"), year=2024, license="CC-BY"),
    OLD: Work(OLD, title="Adaptive moments with decoupled decay", year=2020),
    REPO: Work(REPO, "code", "northlake-vision/patchmask", license="Apache-2.0", meta={"commit": COMMIT}),
}
FOLLOWS = "We follow PatchMask and hide rectangles of patches."
SETUP = RoleVerdict(Role.SETUP, 0.6, FOLLOWS, ("3 Method", "3.2 Masking"))
BUILDS = RoleVerdict(Role.BASE, 0.9, "Our work builds directly on PatchMask.", ("1 Introduction",))
REFERENCES = (
    Reference(
        TARGET.id,
        BASE,
        "lindqvist2024",
        mentions=(
            Mention("lindqvist2024", FOLLOWS, ("3 Method", "3.2 Masking"), 300, 350),
            Mention("lindqvist2024", "They report gains.", ("2 Related work",), 90, 110),
        ),
        roles=(SETUP, BUILDS),
        score=0.97,
        why=("built upon: “builds directly on”", "cited 8 times"),
        known_by=("bbl", "semantic_scholar"),
        influential=True,
        number=4,
    ),
    Reference(TARGET.id, OLD, roles=(RoleVerdict(Role.METHOD, 0.7, "The optimiser is AdamW."),), score=0.3, number=1),
    Reference(TARGET.id, LOST, raw="Marlow, E. Foundations. Harbour Press.", number=5),
    Reference(BASE, OLD, score=0.2, distance=2),
)
LINKS = (CodeLink(BASE, REPO, Tier.OFFICIAL, ("latex",), ("Code: https://github.com/northlake-vision/patchmask",)),)


def small():
    return build(TARGET, WORKS, REFERENCES, LINKS)


EVIL = "</script><script>alert(1)</script><!-- ]]> \"'&<img src=x onerror=alert(2)>"
EVIL += " \\N \u2028\u202eevil\u202c\x00\x1b[31m \ud800 @@SCRIPT@@ ${x} عنوان 标题"


def hostile():
    """Every text that comes from outside is an attack."""
    target = Work(TARGET.id, title=EVIL, authors=(EVIL, "A; B"), year=2025, venue=EVIL, license=EVIL)
    paper, repo = WorkId("doi:10.1/<\"'&>"), WorkId("repo:github.com/a/b")
    works = {
        paper: Work(paper, title=EVIL, authors=(EVIL,), year=2020, venue=EVIL, license=EVIL),
        repo: Work(repo, "code", EVIL, license=EVIL, meta={"commit": '"><script>', "archived": True}),
    }
    mention = Mention(EVIL, EVIL, (EVIL, EVIL), 1, 2)
    verdict = RoleVerdict(Role.BASE, 1, EVIL, (EVIL,), (EVIL,))
    reference = Reference(target.id, paper, EVIL, EVIL, (mention,), (verdict,), 0.9, (EVIL,), (EVIL,), (EVIL,))
    return build(target, works, (reference,), (CodeLink(paper, repo, Tier.OFFICIAL, (EVIL,), (EVIL,)),))


def large(count=300, shuffled=0):
    """`count` nodes over sixty years, some without a year or a role, every tenth a repository; `shuffled` changes the order of input only."""
    draw = random.Random(7)
    ids = [WorkId(f"ref:{k:016x}") for k in range(count - 1 - count // 10)]
    words = ["learning", "deep", "neural", "masked", "attention", "graph", "transformer", "retrieval", "vision", "policy", "sparse", "kernel"]
    works, references, links = {}, [], []
    for k, work in enumerate(ids):
        year = None if draw.random() < 0.03 else max(1958, 2025 - int(draw.expovariate(0.22)))
        works[work] = Work(work, title=" ".join(draw.choices(words, k=draw.randrange(2, 11))).capitalize(), year=year)
        role = draw.choices(list(Role), [1, 4, 3, 4, 3, 6, 30])[0]
        citing = TARGET.id if k < len(ids) * 0.6 else ids[draw.randrange(k)]
        verdicts = (RoleVerdict(role, 0.8, "It is cited here."),) if draw.random() < 0.95 else ()
        references.append(Reference(citing, work, roles=verdicts, score=draw.random() ** 3, number=k, distance=1 if citing == TARGET.id else 2))
    for k in range(count // 10):
        repo = WorkId(f"repo:github.com/owner{k}/project-{k}")
        works[repo] = Work(repo, "code", f"owner{k}/project-{k}")
        links.append(CodeLink(ids[draw.randrange(len(ids))], repo, Tier.OFFICIAL))
    for sequence in (references, links):
        random.Random(shuffled).shuffle(sequence)
    return build(TARGET, dict(sorted(works.items(), key=lambda _: draw.random())), references, links)
