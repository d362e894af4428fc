"""Rename classes and functions where they are defined and wherever they are imported.

    python tools/rename_symbols.py tools/symbols.txt

A line is `module:Old New`. Uses are found in the syntax tree: the definition, `from module import Old`, and `name.Old` where `name` is
the imported module. Other names that are spelled alike stay as they are.
"""

from __future__ import annotations

import argparse
import ast
import re
import subprocess
from collections import defaultdict
from pathlib import Path


def uses(path: Path, tree: ast.Module, wanted: dict[str, dict[str, str]]) -> list[tuple[int, int, str, str]]:
    module = ".".join(path.with_suffix("").parts).removesuffix(".__init__")
    local: dict[str, str] = dict(wanted.get(module, {}))
    modules: dict[str, str] = {}
    edits: list[tuple[int, int, str, str]] = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.ImportFrom) or not node.module:
            continue
        for alias in node.names:
            if new := wanted.get(node.module, {}).get(alias.name):
                edits.append((alias.lineno, alias.col_offset, alias.name, new))
                if not alias.asname:
                    local[alias.name] = new
            if f"{node.module}.{alias.name}" in wanted:
                modules[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in local:
            edits.append((node.lineno, node.col_offset, node.id, local[node.id]))
        elif isinstance(node, (ast.ClassDef, ast.FunctionDef)) and node.name in wanted.get(module, {}) and node in tree.body:
            word = "class " if isinstance(node, ast.ClassDef) else "def "
            edits.append((node.lineno, node.col_offset + len(word), node.name, local[node.name]))
        elif (
            isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id in modules
            and (new := wanted[modules[node.value.id]].get(node.attr))
        ):
            edits.append((node.end_lineno or 0, (node.end_col_offset or 0) - len(node.attr), node.attr, new))
    return edits


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("list", type=Path)
    wanted: dict[str, dict[str, str]] = defaultdict(dict)
    for line in parser.parse_args().list.read_text("utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            old, new = line.split()
            wanted[old.partition(":")[0]][old.partition(":")[2]] = new
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.py"], capture_output=True, text=True, check=True)
    for path in sorted(
        {Path(line) for line in listed.stdout.splitlines() if Path(line).is_file() and not line.startswith(("tools/", "examples/demo/repos"))}
    ):
        source = path.read_text("utf-8")
        edits = sorted(set(uses(path, ast.parse(source), wanted)), reverse=True)
        if not edits:
            continue
        lines = [line.encode() for line in source.splitlines(keepends=True)]
        for line, column, old, new in edits:
            text = lines[line - 1]
            if text[column : column + len(old)] != old.encode():
                raise SystemExit(f"{path}:{line}: {old} is not at column {column}")
            lines[line - 1] = text[:column] + new.encode() + text[column + len(old) :]
        text = b"".join(lines).decode()
        for _, _, old, new in edits:
            text = re.sub(rf"`{re.escape(old)}`", f"`{new}`", text)
        path.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
