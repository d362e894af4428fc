"""A lineage of one target, one cited paper and its repository, small enough to know by heart."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from indexer.extraction.extract import extract
from indexer.repo_profile import profiles
from indexer.store.generations import Store
from lineage.generation import Generation, Manifest
from lineage.hyperparameters.ontology import ontology
from lineage.ports import Embedder
from lineage.records import (
    Chunk,
    CodeLink,
    Document,
    Fact,
    LedgerRow,
    Mention,
    Reference,
    Role,
    RoleVerdict,
    Setting,
    Status,
    Tier,
    Work,
    WorkId,
    built_here,
)

TARGET = WorkId("arxiv:2401.00001")
CITED = WorkId("arxiv:2006.10726")
REPO = WorkId("repo:github.com/DequanWang/tent")
FORK = WorkId("repo:github.com/someone/fork")
OWN = WorkId("repo:github.com/target/own")
COMMIT = "e9e926a668d85244c66a6d5c006efbd2b82e83e8"

INIT = """def _init_weights(module):
    if isinstance(module, nn.Linear):
        trunc_normal_(module.weight, std=0.02)
        nn.init.zeros_(module.bias)"""
ADAPT = "def forward_and_adapt(x, model, optimizer):\n    loss = softmax_entropy(model(x)).mean(0)\n    loss.backward()\n    optimizer.step()"
CONFIG = "optimizer:\n  name: adam\n  lr: 1e-3\n  betas: [0.9, 0.999]"
PROSE = "We minimise the entropy of predictions at test time and update only the affine parameters of normalisation layers."
STATED = "All encoders are initialised from a truncated normal distribution with standard deviation 0.02."
README = "Tent equips a model to adapt itself to new and different data during testing."


def works() -> list[Work]:
    return [
        Work(TARGET, title="The Target", abstract="A target."),
        Work(CITED, title="Tent: Fully Test-Time Adaptation by Entropy Minimization", year=2020, aliases=(WorkId("s2:abc"),), meta={"version": "v3"}),
        Work(REPO, "code", "tent", license="MIT", meta={"commit": COMMIT}),
        Work(FORK, "code", "fork", meta={"commit": "f" * 40}),
        Work(OWN, "code", "own", meta={"commit": "a" * 40}),
    ]


def reference(score: float = 0.9) -> Reference:
    mention = Mention("wang21", "We build on Tent.", ("4 Method",), 10, 27, said_by="latex")
    verdict = RoleVerdict(Role.BASELINE, 0.8, "We build on Tent.", ("4 Method",), ("build on",))
    return Reference(TARGET, CITED, "wang21", "Wang et al. Tent.", (mention,), (verdict,), score, ("cited in method",), ("bbl",), number=7)


def links() -> list[CodeLink]:
    return [
        CodeLink(CITED, REPO, Tier.OFFICIAL, ("abstract",), ("Code is at github.com/DequanWang/tent",)),
        CodeLink(CITED, FORK, Tier.REIMPLEMENTATION, ("readme",), ()),
        CodeLink(TARGET, OWN, Tier.OFFICIAL, ("latex",), ()),
    ]


def chunk(work: WorkId, path: str, text: str, kind: str = "code", first: int = 1, symbol: str = "", section: tuple[str, ...] = ()) -> Chunk:
    last = first + text.count("\n")
    role = "function" if symbol else "text"
    name = f"c_{work[-4:]}_{path}_{first}"
    return Chunk(name, work, path, kind, role, text, f"{path} {symbol}", 0, len(text), first, last, symbol=symbol, section=section)  # type: ignore[arg-type]


def chunks() -> list[Chunk]:
    return [
        chunk(REPO, "tent.py", INIT, first=9, symbol="_init_weights"),
        chunk(REPO, "tent.py", ADAPT, first=40, symbol="Tent.forward_and_adapt"),
        chunk(REPO, "conf.yaml", CONFIG, kind="config"),
        chunk(REPO, "README.md", README, kind="docs"),
        chunk(FORK, "lib/tent.py", INIT.replace("    ", "  "), first=3, symbol="_init_weights"),
        chunk(CITED, "main.tex", PROSE, kind="paper", first=120, section=("4 Experiments", "4.1 Setup")),
        chunk(TARGET, "main.tex", STATED, kind="paper", first=88, section=("3 Model",)),
        chunk(OWN, "model.py", "def forward(self, x):\n    return self.head(x)", symbol="Model.forward"),
    ]


def ledger() -> list[LedgerRow]:
    return [
        LedgerRow("reference", TARGET, CITED, "text", Status.OK),
        LedgerRow("member", REPO, "tent.py", "parse", Status.OK),
        LedgerRow("member", REPO, "weights.pt", "archive", Status.POLICY_SKIPPED, "model weights"),
        LedgerRow("member", REPO, "old.py", "parse", Status.OK_REPAIRED, "not valid Python 3"),
        LedgerRow("member", REPO, "broken.py", "parse", Status.PARSE_ERROR, "no text"),
    ]


def build(
    home: Path,
    embedder: Embedder | None = None,
    pieces: Sequence[Chunk] | None = None,
    name: str = "small",
    facts: Sequence[Fact] | None = None,
    reports: Callable[[Generation], Mapping[str, bytes]] | None = None,
    documents: Sequence[str] = (),
    more: Sequence[Setting] = (),
) -> Manifest:
    """A committed generation of it under `home`; `documents` are further files whose whole text is there, `more` settings."""
    found = list(chunks() if pieces is None else pieces)
    with Store(home).writing(name) as writing, writing.draft() as draft:
        with draft.catalog() as catalog:
            catalog.add_works(works())
            catalog.add_references([reference()])
            catalog.add_links(links())
            catalog.add_document(Document(REPO, "tent.py", f"import torch\n{INIT}\n{ADAPT}\n", (), "code@1", "code", "python", "b" * 64))
            for one in (one for one in found if one.path == "conf.yaml"):
                catalog.add_document(Document(REPO, one.path, one.text, (), "config@1", "config", "yaml", "c" * 64))
            for path in documents:
                work, *form = (REPO, "code@1", "code", "python") if path.endswith(".py") else (TARGET, "latex@1", "paper", "latex")
                text = "\n".join(one.text for one in found if one.work == work and one.path == path)
                catalog.add_document(Document(work, path, text, (), *form, "d" * 64))
            catalog.add_chunks(found)
            catalog.add_facts([Fact("lr", "1e-3", "", REPO, found[0].id, "config", 3)] if facts is None else facts)
            files = {(one.work, one.path): Document(one.work, one.path, one.text, (), "code@1", one.kind) for one in found}
            code = {key: file for key, file in files.items() if file.kind != "paper"}
            own = {key: [one for one in found if (one.work, one.path) == key] for key in code}
            settings = [setting for key, file in code.items() for setting in extract(file, own[key], ontology()).settings]
            catalog.add_settings([*settings, *more])
            catalog.add_files(profiles(files.values(), works(), links()))
            catalog.add_ledger(ledger())
            catalog.expect("reference", 1)
            catalog.expect("member", 4)
            catalog.set_meta("target", TARGET)
            catalog.finish()
        if embedder:
            draft.vectors(embedder.passages([f"{one.header}\n{one.text}" for one in found]), embedder.id)
        return draft.commit(target=TARGET, fingerprint="f", made_by="test", provenance=built_here(mirrored=False, asked=True), reports=reports)
