"""Move modules and rename names all over the project, by a list that can be read.

    python tools/rename.py tools/renames.txt [--done]

A line `module OLD NEW` moves a module and rewrites every import and every mention of it (dotted name or path) in code, tests,
documents and `pyproject.toml`. A line `name OLD NEW` renames an identifier wherever it stands as a whole word in code.
Run it once for a list: a name may be old in one line and new in another (`lineage.records`), so a second run would move it on.
"""

from __future__ import annotations

import argparse
import ast
import re
import subprocess
from pathlib import Path

TEXT = {".py", ".md", ".toml", ".yml", ".yaml", ".json", ".txt", ".cfg", ".js", ".html", ""}


def tracked() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], capture_output=True, text=True, check=True)
    return [Path(line) for line in listed.stdout.splitlines() if Path(line).is_file()]


def read(path: Path) -> tuple[dict[str, str], dict[str, str]]:
    modules: dict[str, str] = {}
    names: dict[str, str] = {}
    for line in path.read_text("utf-8").splitlines():
        kind, *rest = line.split("#")[0].split() or [""]
        if kind:
            {"module": modules, "name": names}[kind][rest[0]] = rest[1]
    return modules, names


def place(module: str) -> Path:
    return Path(module.replace(".", "/") + ".py")


def move(modules: dict[str, str]) -> None:
    """Move files; two passes, since a new name may be another's old one."""
    todo = [(old, new) for old, new in modules.items() if place(old).is_file() and not (place(new).is_file() and new not in modules)]
    for old, _ in todo:
        subprocess.run(["git", "mv", "-f", place(old), f"{place(old)}.moving"], check=True)
    for old, new in todo:
        place(new).parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["git", "mv", "-f", f"{place(old)}.moving", place(new)], check=True)


class Imports:
    """The imports of one file with moved modules under their new names."""

    def __init__(self, source: str, modules: dict[str, str]) -> None:
        self.source, self.modules = source, modules
        self.tree = ast.parse(source)
        self.lines = source.splitlines(keepends=True)
        self.edits: list[tuple[int, int, int, int, str]] = []

    def rewritten(self) -> str:
        for node in ast.walk(self.tree):
            if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                self._from(node)
        for line, start, end_line, end, text in sorted(self.edits, reverse=True):
            first = self.lines[line - 1].encode()[:start].decode()
            last = self.lines[end_line - 1].encode()[end:].decode()
            self.lines[line - 1 : end_line] = [first + text + last]
        return "".join(self.lines)

    def _from(self, node: ast.ImportFrom) -> None:
        module = node.module or ""
        kept: list[str] = []
        statements: list[str] = []
        changed = module in self.modules
        for alias in node.names:
            full = f"{module}.{alias.name}"
            if full not in self.modules:
                kept.append(alias.name + (f" as {alias.asname}" if alias.asname else ""))
                continue
            changed = True
            package, _, name = self.modules[full].rpartition(".")
            if alias.asname or name == alias.name:
                told = alias.asname if alias.asname != name else None
            elif self._only_module(alias.name) and self._free(name):
                self._use(alias.name, name)
                told = None
            else:
                told = alias.name
            statements.append(f"from {package} import {name}" + (f" as {told}" if told else ""))
        if not changed:
            return
        indent = " " * node.col_offset
        if kept:
            statements.insert(0, f"from {self.modules.get(module, module)} import {', '.join(kept)}")
        self.edits.append((node.lineno, node.col_offset, node.end_lineno or 0, node.end_col_offset or 0, f"\n{indent}".join(statements)))

    def _stores(self) -> set[str]:
        stored = {node.id for node in ast.walk(self.tree) if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
        stored |= {node.arg for node in ast.walk(self.tree) if isinstance(node, ast.arg)}
        return stored | {node.name for node in ast.walk(self.tree) if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef))}

    def _only_module(self, name: str) -> bool:
        return name not in self._stores()

    def _free(self, name: str) -> bool:
        used = {node.id for node in ast.walk(self.tree) if isinstance(node, ast.Name)} | self._stores()
        imported = {a.asname or a.name for node in ast.walk(self.tree) if isinstance(node, (ast.ImportFrom, ast.Import)) for a in node.names}
        return name not in used | imported

    def _use(self, old: str, new: str) -> None:
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Name) and node.id == old:
                self.edits.append((node.lineno, node.col_offset, node.end_lineno or 0, node.end_col_offset or 0, new))


def mentions(text: str, modules: dict[str, str]) -> str:
    """Dotted names and paths of moved modules in running text, in one pass so that no new name is taken for an old one."""
    names = sorted(modules, key=len, reverse=True)
    dotted = re.compile(r"(?<![\w./-])(?:" + "|".join(re.escape(name) for name in names) + r")(?![\w])(?!\.(?:json|npz)\b)")
    paths = re.compile(r"(?<![\w.-])(?:" + "|".join(re.escape(str(place(name))) for name in names) + r")(?!\w)")
    text = dotted.sub(lambda found: modules[found[0]], text)
    return paths.sub(lambda found: str(place(modules[found[0][:-3].replace("/", ".")])), text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("list", type=Path)
    parser.add_argument("--done", action="store_true", help="files lie where they belong; rewrite what names them only")
    args = parser.parse_args()
    modules, names = read(args.list)
    if not args.done:
        move(modules)
    words = re.compile(r"(?<![\w])(?:" + "|".join(map(re.escape, names)) + r")(?![\w])") if names else None
    for path in tracked():
        if path.suffix not in TEXT or path.parts[0] == "tools" or path.stat().st_size > 600_000:
            continue
        try:
            before = path.read_text("utf-8")
        except UnicodeDecodeError:
            continue
        text = before
        if path.suffix == ".py" and modules and not path.is_relative_to("examples/demo/repos"):
            text = Imports(text, modules).rewritten()
        if modules and path.name != "CHANGELOG.md":
            text = outside_imports(text, modules) if path.suffix == ".py" else mentions(text, modules)
        if words and path.suffix == ".py":
            text = words.sub(lambda found: names[found[0]], text)
        if text != before:
            path.write_text(text, "utf-8")


def outside_imports(text: str, modules: dict[str, str]) -> str:
    """Mentions in comments, docstrings and strings; import statements are rewritten already."""
    return "".join(
        line if re.match(r"\s*(?:from [\w.]+ import|import )", line) else mentions(line, modules) for line in text.splitlines(keepends=True)
    )


if __name__ == "__main__":
    main()
