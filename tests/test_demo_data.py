"""The demonstration is what its README says: whole, consistent, and silent where the target is meant to be silent."""

from __future__ import annotations

import json
import re
import runpy
from pathlib import Path

import pytest

from tests.upstream import World

DEMO = Path(__file__).resolve().parent.parent / "examples" / "demo"
REPOS = DEMO / "repos"
QUESTIONS = [json.loads(line) for line in (DEMO / "questions.jsonl").read_text("utf-8").splitlines()]
EXPECTED = {
    "initialization": ["trunc_normal_", "init_std", "zeros_", "LayerNorm", "(2.0 * depth) ** 0.5"],
    "schedule": ["warmup_epochs", "math.cos", "min_lr", "warmup_epochs: 40"],
    "augmentation": ["soft crop", "flip", "gentle colour", "blur", "color_strength = 0.2"],
    "betas": ["betas=(0.9, args.beta2)", "beta2: 0.95", "default=0.95"],
    "masking": ["min_patches", "aspect", "randperm"],
    "loss-target": ["target.mean", "target.var", "** 0.5"],
    "decoder-initialization": ["xavier_uniform_", "mask_token, std=0.02"],
    "drop-path": ["bernoulli_", "linspace(0, drop_path_rate, depth)"],
    "weight-decay": ["ndim <= 1", ".bias", '"weight_decay": 0.0'],
    "probe": ["BatchNorm1d", "std=0.01"],
    "probe-feature": ["tokens.mean(dim=1)", "mean_patch_tokens"],
    "positions": ["10000", "np.sin", "meshgrid"],
    "gradient-clipping": ["clip_grad_norm_"],
    "crop": ["betavariate"],
}


def lines_of(gold: dict[str, object]) -> str:
    lines = (REPOS / str(gold["repo"]) / str(gold["path"])).read_text("utf-8").splitlines()
    start, end = int(str(gold["start"])), int(str(gold["end"]))
    assert 1 <= start <= end <= len(lines)
    return "\n".join(lines[start - 1 : end])


def target_text() -> str:
    return "\n".join(path.read_text("utf-8") for path in sorted((DEMO / "papers/9912.00001").rglob("*.tex")))


def test_every_question_has_an_expectation():
    assert [question["id"] for question in QUESTIONS] == list(EXPECTED)


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question["id"])
def test_the_gold_lines_hold_the_answer(question):
    text = "\n".join(lines_of(gold) for gold in question["gold"])
    assert [words for words in EXPECTED[question["id"]] if words not in text] == []


def test_the_target_never_says_how_anything_is_initialised_nor_how_long_the_warm_up_is():
    text = target_text().lower()
    for word in ("initiali", "truncated", "xavier", "std", "cosine", "0.95", "beta_2", "jitter", "blur", "flip probability"):
        assert word not in text, word
    assert not re.search(r"warm-?up[^.]*\d", text)


def test_every_citation_of_the_target_is_in_its_bibliography():
    cited = {key for group in re.findall(r"\\cite[pt]\{([^}]+)\}", target_text()) for key in group.split(",")}
    listed = set(re.findall(r"\\bibitem\[[^]]*\]\{([^}]+)\}", (DEMO / "papers/9912.00001/main.bbl").read_text("utf-8")))
    assert cited == listed
    assert len(listed) == 8


def test_the_readme_names_the_lines_of_the_first_three_questions():
    readme = (DEMO / "README.md").read_text("utf-8")
    for question in QUESTIONS[:3]:
        assert question["query"] in readme
        assert question["gold"][0]["path"] in readme
        assert f"{question['gold'][0]['start']}-" in readme
        assert f"-{question['gold'][-1]['end']}" in readme


def test_the_vendored_copy_is_exact_and_the_adapted_one_is_not():
    layers = (REPOS / "slateworks/plainvit/plainvit/layers.py").read_bytes()
    assert (REPOS / "northlake-vision/patchmask/patchmask/vendor/layers.py").read_bytes() == layers
    adapted = (REPOS / "fennlab/probe-bench/probe/schedule.py").read_text("utf-8")
    assert "Adapted from northlake-vision/patchmask" in adapted
    assert "0.5 * (1.0 + math.cos(math.pi *" in adapted


def test_licences_are_as_the_facts_say():
    world = World.load(DEMO)
    heads = {"MIT": "MIT License", "Apache-2.0": "Apache License", "BSD-3-Clause": "BSD 3-Clause License"}
    for repository in world.repositories.values():
        licence = DEMO / repository.folder / "LICENSE"
        if repository.licence:
            assert heads[repository.licence] in licence.read_text("utf-8")[:200]
        else:
            assert not licence.exists()


def test_repositories_are_small_but_true_to_life():
    for repository in World.load(DEMO).repositories.values():
        files = [path for path in (DEMO / repository.folder).rglob("*") if path.is_file()]
        assert 6 <= len(files) <= 14


def test_python_files_and_notebooks_are_well_formed():
    for path in sorted(REPOS.rglob("*.py")):
        compile(path.read_text("utf-8"), str(path), "exec", dont_inherit=True)
    for path in sorted(REPOS.rglob("*.ipynb")):
        assert json.loads(path.read_text("utf-8"))["nbformat"] == 4


def test_former_names_and_code_links_are_where_the_readme_says():
    papers = DEMO / "papers"
    assert "github.com/aoki-lab/plain-vit-small" in (papers / "9910.00103/ms.tex").read_text("utf-8")
    assert "github.com/northlake-vision/patchmask" in (papers / "9911.00102/patchmask.tex").read_text("utf-8")
    assert "github.com/fennlab/probe-bench" in (REPOS / "northlake-vision/patchmask/README.md").read_text("utf-8")
    everything = "".join(p.read_text("utf-8") for p in [*papers.rglob("*.tex"), *papers.rglob("*.bbl"), *REPOS.rglob("*.md")])
    assert "github.com/qmori" not in everything


def read_pdf(path):
    pymupdf = pytest.importorskip("pymupdf")
    with pymupdf.open(path) as document:
        text = "".join(page.get_text() for page in document)
        return text, [link.get("nameddest") for page in document for link in page.get_links()]


def test_the_pdf_is_what_its_script_writes(tmp_path):
    text, links = read_pdf(DEMO / "papers/9909.00104.pdf")
    runpy.run_path(str(DEMO / "papers/make_pdf.py"))["main"](tmp_path / "again.pdf")
    assert read_pdf(tmp_path / "again.pdf") == (text, links)
    assert len(text.split()) > 700
    assert "2.1 The soft crop" in text
    assert links == ["cite.satoreyes2023plain", "cite.marlow2019foundations", "cite.fenn2022probebench"]


def test_the_demonstration_stays_under_400_kilobytes():
    assert sum(path.stat().st_size for path in DEMO.rglob("*") if path.is_file() and "__pycache__" not in path.parts) < 400_000
