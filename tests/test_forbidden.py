"""What no module of ours may call, and what importing one may do: nothing."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
WAYS = ("l", "le", "lp", "lpe", "v", "ve", "vp", "vpe")
PACKAGES = ("lineage", "indexer", "retrieval", "api")
FORBIDDEN = {
    *("eval", "exec", "compile", "__import__", "os.system", "os.popen"),
    *("pickle", "marshal", "shelve", "dill", "joblib", "cloudpickle", "torch.load", "yaml.load", "yaml.unsafe_load", "tempfile.mktemp"),
}
UNSAFE = {
    *("extractall", "unpack_archive", "read_index", "write_index", "read_pickle", "full_load", "load_extension", "enable_load_extension"),
    *("_create_unverified_context", "create_subprocess_exec", "create_subprocess_shell", "posix_spawn"),
}
SPAWNING = {"subprocess", "multiprocessing", "pty", "os.fork", "os.forkpty", *(f"os.{way}{how}" for way in ("exec", "spawn") for how in WAYS)}
MAY_SPAWN = {"indexer/sandbox/pool.py", "indexer/sandbox/child.py", "api/cli/demo.py", "api/server/build_process.py"}
"""The sandbox, the demonstration's own upstream, and builds of a server."""


def _name(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return f"{_name(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def _uses(tree: ast.AST):
    """(line, name) of every call and import, with the values of arguments that switch a safeguard off."""
    imports = [alias for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    modules = {alias.asname: alias.name for alias in imports if alias.asname}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            first, dot, rest = _name(node.func).partition(".")
            name = modules.get(first, first) + dot + rest
            yield node.lineno, name
            if name.endswith("import_module") and node.args and isinstance(node.args[0], ast.Constant):
                yield node.lineno, str(node.args[0].value)
            for keyword in node.keywords:
                if keyword.arg in {"shell", "allow_pickle", "trust_remote_code"} and not (
                    isinstance(keyword.value, ast.Constant) and keyword.value.value is False
                ):
                    yield node.lineno, f"{keyword.arg}=True"
                if keyword.arg == "verify" and isinstance(keyword.value, ast.Constant) and keyword.value.value is False:
                    yield node.lineno, "verify=False"
        elif isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.lineno, node.module or ""
            yield from ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)


def found_in(source: str, path: str = "x.py") -> list[str]:
    """The forbidden uses of a module, one line each."""
    hits = []
    for line, name in _uses(ast.parse(source)):
        short = name.rpartition(".")[2]
        bad = (
            name in FORBIDDEN
            or name.split(".")[0] in {"pickle", "marshal", "shelve", "dill", "joblib", "cloudpickle"}
            or short in UNSAFE
            or name.endswith("=True")
            or name == "verify=False"
        )
        spawns = (name in SPAWNING or name.split(".")[0] in {"subprocess", "multiprocessing"}) and path not in MAY_SPAWN
        if bad or spawns:
            hits.append(f"{path}:{line} {name}")
    return sorted(set(hits))


@pytest.mark.parametrize(
    "source",
    [
        *("eval('1')", "import pickle", "from pickle import loads", "import os; os.system('x')", "tar.extractall('x')", "faiss.read_index('x')"),
        *("import subprocess", "np.load('x', allow_pickle=True)", "client(verify=False)", "run('x', shell=True)", "torch.load('x')"),
        *(
            "import os as o; o.system('x')",
            "import_module('pickle')",
            "os.execve('x')",
            "asyncio.create_subprocess_exec('x')",
            "shutil.unpack_archive('x')",
        ),
    ],
)
def test_the_walk_sees_what_is_forbidden(source):
    assert found_in(source)


@pytest.mark.parametrize("package", PACKAGES)
def test_no_module_calls_what_is_forbidden(package):
    paths = sorted((ROOT / package).rglob("*.py"))
    assert len(paths) > 20
    assert [hit for path in paths for hit in found_in(path.read_text(), path.relative_to(ROOT).as_posix())] == []


_WATCH = """
import importlib, os, pkgutil, socket, sys
touched = []
def audit(event, args):
    if event in ("socket.connect", "socket.bind", "socket.getaddrinfo", "subprocess.Popen", "os.system", "os.fork"):
        touched.append((event, str(args)[:100]))
    elif event == "open" and isinstance(args[2], int) and args[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
        if not str(args[0]).startswith("/dev/"):
            touched.append((event, str(args[0])))
    elif event in ("os.mkdir", "os.remove", "os.rename", "os.chmod"):
        touched.append((event, str(args)[:100]))
sys.addaudithook(audit)
for name in sys.argv[1:]:
    package = importlib.import_module(name)
    for module in pkgutil.walk_packages(package.__path__, name + "."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
print(touched)
"""


def test_importing_any_module_touches_no_file_and_no_network(tmp_path):
    env = {"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1", "HOME": str(tmp_path), "LINEAGE_HOME": str(tmp_path / "home")}
    done = subprocess.run([sys.executable, "-c", _WATCH, *PACKAGES], capture_output=True, text=True, timeout=120, env=env, cwd=tmp_path, check=False)
    assert (done.stdout.strip(), done.returncode) == ("[]", 0), done.stderr[-2000:]
    assert list(tmp_path.iterdir()) == []
