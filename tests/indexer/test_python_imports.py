"""Which files a program loads when it starts."""

from __future__ import annotations

import pytest

from indexer.repo_profile import imported, reached


def loaded(files: dict[str, str], start: str = "train.py") -> set[str]:
    return set(reached(files, files.__getitem__, [start])) - {start}


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("import net", {"net.py"}),
        ("import os, net as n  # the model", {"net.py"}),
        ("from net import Model", {"net.py"}),
        ("from . import net", {"net.py"}),
        ("from models import small", {"models/__init__.py", "models/small.py"}),
        ("from models import (\n    small,\n    large,\n)", {"models/__init__.py", "models/small.py"}),
        ("from models.small import Net", {"models/__init__.py", "models/small.py"}),
        ("from inner import part", {"src/inner/__init__.py"}),
        ("import torch", set()),
        ("from ...far import x", set()),
    ],
)
def test_an_import_loads_modules_and_the_packages_on_the_way(line, found):
    files = {"train.py": line, "net.py": "", "models/__init__.py": "", "models/small.py": "", "src/inner/__init__.py": ""}
    assert loaded(files) == found


def test_imports_are_followed_from_file_to_file_and_circles_end():
    assert loaded({"train.py": "import a", "a.py": "from b import c", "b.py": "import a"}) == {"a.py", "b.py"}


def test_the_nearest_file_of_a_name_is_meant():
    assert loaded({"x/train.py": "import utils", "x/utils.py": "", "utils.py": ""}, "x/train.py") == {"x/utils.py"}


def test_what_only_a_function_imports_is_not_loaded():
    assert loaded({"train.py": "def main():\n    import net\n", "net.py": ""}) == set()


def test_what_is_imported_in_a_try_or_an_if_of_the_module_is():
    assert imported("try:\n    import net\nexcept ImportError:\n    from other import net\n") == {(0, "net"), (0, "other"), (0, "other.net")}


def test_only_python_files_are_read():
    assert reached(["a.txt"], {"a.txt": "import b"}.__getitem__, ["a.txt"]) == frozenset()
