"""The packages that the moves make, each with what it is for; packages left without modules go."""

from __future__ import annotations

import subprocess
from pathlib import Path

PACKAGES = {
    "lineage/text": "Text: tokens, titles, sentences, phrases, hidden characters, and fences around third-party text.",
    "lineage/hyperparameters": "Hyper-parameters: one vocabulary of names, synonyms, value types and equivalence, and the checklist of what a paper should state.",
    "lineage/graph": "The lineage as a networkx graph, its exports and its layout.",
    "lineage/references": "References: bibliographies of several sources merged, the roles of each reference, the ancestors, and their rank. Pure.",
    "indexer/references": "References on the write side: what every source lists, titles looked up, roles refined by a language model.",
    "lineage/code_links": "Which repository belongs to which paper, and what must stay out. Pure.",
    "indexer/code_links": "The repositories of a lineage: collected, excluded, and checked.",
    "lineage/code_reuse": "Copies and near-copies of code between repositories. Pure.",
    "indexer/extraction": "Settings and statements out of code, configuration, commands, tables and prose. Nothing from a repository is ever run.",
    "indexer/sandbox": "Parsers in a killable child process: limits, guards, and the frames that the two processes exchange.",
    "indexer/archives": "Archives read as bounded streams of members. Nothing is extracted to disk.",
    "indexer/store": "What is kept on disk: blobs, cached results, generations, and the checks that verify them.",
    "indexer/parsers/pdf": "PDF to `Document`: glyphs, rows, blocks, sections, bibliography and citations.",
    "indexer/parsers/latex": "LaTeX to `Document`: a linear, non-recursive reader that never runs TeX.",
    "indexer/parsers/html": "HTML papers (LaTeXML's output) to `Document`.",
    "indexer/parsers/code": "Source code to `Document`: functions, classes and statements with their names and lines, in any language.",
    "retrieval/search": "Search: from a question to ranked, cited hits.",
    "retrieval/decisions": "The index of extracted settings: who holds which value, in which experiment, and what the lineage agrees on.",
    "retrieval/contradictions": "Where sources disagree about one setting: paper, code, tables, and the code it follows.",
    "retrieval/context": "Context packs for a code generator: evidence chosen for a task within a token budget.",
    "retrieval/answers": "Answers whose every sentence is tied to evidence.",
    "retrieval/audit": "A generated repository compared with the paper and its lineage.",
    "retrieval/evaluation": "Ranking quality: recall, MRR and nDCG over questions with known answers.",
    "api/cli": "The command line: commands, progress, exit codes, and results as text for people.",
    "api/cli/commands": "The commands of `lineage`; each calls one operation of `api.operations`.",
    "api/mcp": "The Model Context Protocol server: six tools over stdio and streamable HTTP.",
    "api/server": "`lineage serve`: the listening process, its guards, its jobs and its metrics.",
    "api/wire": "Results as JSON: one shape for the command line, REST and MCP.",
}


def main() -> None:
    for folder, text in PACKAGES.items():
        path = Path(folder) / "__init__.py"
        if not path.exists():
            path.write_text(f'"""{text}"""\n', "utf-8")
    for path in [*Path().glob("[lira]*/**/__init__.py")]:
        if path.parts[0] in {"lineage", "indexer", "retrieval", "api"} and len(path.parts) > 2 and not list(path.parent.glob("*/__init__.py")):
            if {p.name for p in path.parent.iterdir()} <= {"__init__.py", "__pycache__"}:
                subprocess.run(["git", "rm", "-qf", "--ignore-unmatch", path], check=True)


if __name__ == "__main__":
    main()
