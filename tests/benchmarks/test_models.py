"""What the embedders are trained on: which packages count, which pairs their code gives, how a question is put."""

from __future__ import annotations

import zipfile
from pathlib import Path
from random import Random

import pytest

from benchmarks.models import phrasing
from benchmarks.models.corpus import package, packages, permissive, read
from benchmarks.models.pairs import Pair, evaluated, file_pairs, first_paragraph, package_pairs, shingles

CODE = '''"""Training."""

import argparse


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument(
        "--lr",
        default=1e-3,
        help="peak learning rate after the warm-up",
    )
    return parser


class Net:
    """A small network of two layers."""

    def init_weights(self):
        """Initialize all linear layers with a truncated normal.

        Args:
            none
        """
        for layer in self.layers:
            # biases start at zero, weights are drawn
            layer.bias.zero_()
            trunc_normal_(layer.weight, std=0.02)
        self.embedding.weight.normal_(std=0.01)
        self.head.weight.zero_()
        self.head.bias.zero_()
'''


def wheel(folder: Path, name: str, *metadata: str, licence: str = "", files: dict[str, str] | None = None) -> Path:
    path = folder / f"{name}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"{name}-1.0.dist-info/METADATA", "\n".join([f"Name: {name}", "Version: 1.0", *metadata, "", "# Title\n\nReadme."]))
        if licence:
            archive.writestr(f"{name}-1.0.dist-info/licenses/LICENSE", licence)
        for member, text in (files or {}).items():
            archive.writestr(member, text)
    return path


@pytest.mark.parametrize(
    ("said", "licence"),
    [
        ("MIT", "MIT"),
        ("Apache-2.0 OR BSD-3-Clause", "Apache-2.0 OR BSD-3-Clause"),
        ("Apache-2.0 AND GPL-3.0-only", ""),
        ("Apache Software License", "Apache-2.0"),
        ("BSD License; GNU General Public License v3 (GPLv3)", ""),
        ("Other/Proprietary License", ""),
        ("GNU Affero General Public License v3", ""),
        ("", ""),
    ],
)
def test_only_a_licence_that_is_said_to_be_permissive_counts(said: str, licence: str):
    assert permissive(said) == licence


def test_a_licence_is_read_from_the_metadata_and_else_from_the_licence_file(tmp_path: Path):
    assert package(wheel(tmp_path, "one", "Classifier: License :: OSI Approved :: MIT License")).licence == "MIT"
    assert package(wheel(tmp_path, "two", licence="BSD 3-Clause License\n\nCopyright")).licence == "BSD-3-Clause"
    assert package(wheel(tmp_path, "three", "Classifier: License :: Free for non-commercial use", "License: MIT")).licence == ""


def test_packages_that_the_evaluation_asks_about_are_left_out(tmp_path: Path):
    wheel(tmp_path, "timm", "License: MIT")
    wheel(tmp_path, "other", "License: MIT")
    assert [each.name for each in packages(tmp_path)] == ["other"]


def test_copied_code_and_tests_are_not_read_and_the_description_is(tmp_path: Path):
    files = {"one/a.py": "A = 1", "one/_vendor/b.py": "B = 1", "one/tests/c.py": "C = 1", "one/test_d.py": "D = 1", "one/e.c": "int e;"}
    found = package(wheel(tmp_path, "one", "License: MIT", files=files))
    assert list(read(found)) == [("one/a.py", "A = 1"), ("README.md", "# Title\n\nReadme.")]


def test_every_kind_of_pair_comes_out_of_code_without_the_words_that_became_the_question():
    made = {(pair.kind, pair.query): pair.passage for pair in file_pairs("pkg/train.py", CODE, "pkg", Random(3))}
    help_ = made["help", "peak learning rate after the warm-up"]
    assert help_.startswith("pkg/train.py · parse\ndef parse():")
    assert '"--lr"' in help_
    assert "warm-up" not in help_
    comment = made["comment", "biases start at zero, weights are drawn"]
    assert "layer.bias.zero_()" in comment
    assert "biases start" not in comment
    assert ("doc", "Initialize all linear layers with a truncated normal.") in made
    asked = next(passage for (kind, _), passage in made.items() if kind == "ask" and passage.startswith("pkg/train.py · Net"))
    assert "trunc_normal_" in asked


def test_passages_that_the_evaluation_holds_are_left_out(tmp_path: Path):
    apart = tmp_path / "apart"
    apart.mkdir()
    (apart / "held.py").write_text(CODE.replace("    ", "\t"))
    found = package(wheel(tmp_path, "pkg", "License: MIT", files={"pkg/train.py": CODE}))
    assert any("head.bias" in pair.passage for pair in package_pairs(found, frozenset()))
    assert not any("head.bias" in pair.passage for pair in package_pairs(found, evaluated([apart])))


def test_pairs_are_the_same_every_time(tmp_path: Path):
    found = package(wheel(tmp_path, "pkg", "License: MIT", files={"pkg/train.py": CODE}))
    first: list[Pair] = package_pairs(found, frozenset())
    assert package_pairs(found, frozenset()) == first


def test_six_lines_that_say_something_make_a_shingle():
    assert len(list(shingles("\n".join(f"line {n} = {n}" for n in range(7))))) == 2
    assert list(shingles("}\n" * 20)) == []


def test_the_first_paragraph_ends_where_the_arguments_begin_and_loses_its_markup():
    assert first_paragraph("Apply :class:`torch.nn.Linear`\n  twice.\n    Args:\n        x: input") == "Apply torch.nn.Linear twice."


def test_a_description_becomes_a_question():
    asked = {phrasing.question("Computes the focal loss.", "FocalLoss", Random(seed)) for seed in range(40)}
    assert "how is the focal loss computed?" in asked
    assert "where does the code compute the focal loss?" in asked
    assert "how does the focal loss compute the focal loss?" in asked


def test_a_description_becomes_something_the_paper_is_silent_about():
    said = {phrasing.gap("Initialize the weights of all layers.", Random(seed)) for seed in range(40)}
    assert "There is no mention of how the weights of all layers are initialised." in said
    assert "The paper does not say that the code will initialize the weights of all layers." in said


def test_identifiers_are_taken_apart_or_dropped():
    said = {phrasing.plain("Calls init_weights on the MyEncoder.", Random(seed)) for seed in range(20)}
    assert said == {"Calls init weights on the my encoder.", "Calls on the ."}


def test_what_a_name_says_it_is_for_is_asked():
    assert phrasing.aspect("_init_weights", "VisionTransformer", Random(0)).endswith(("?", "initialization"))
    assert phrasing.aspect("frobnicate", "Thing", Random(0)) == ""
