"""The container files say what they must; no builder runs here, so the image is put together by its own recipe without Docker."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parent.parent
RECIPE = (ROOT / "Dockerfile").read_text(encoding="utf-8") if (ROOT / "Dockerfile").exists() else ""
pytestmark = pytest.mark.skipif(not RECIPE, reason="the source tree is not here")


def test_the_image_is_not_run_by_root_and_is_asked_for_its_health():
    stage = RECIPE.rpartition("\nFROM ")[2]
    assert re.search(r"^USER (?!0$)\d+$", stage, re.MULTILINE)
    assert stage.index("USER ") < stage.index("ENTRYPOINT")
    assert "HEALTHCHECK" in stage
    assert "/healthz" in stage


def test_the_recipe_passes_hadolint():
    hadolint = shutil.which("hadolint") or shutil.which("hadolint", path=str(Path(sys.executable).parent))
    if not hadolint:
        pytest.skip("hadolint is not installed")
    done = subprocess.run([hadolint, str(ROOT / "Dockerfile")], capture_output=True, text=True, check=False)
    assert done.stdout + done.stderr == ""


def test_the_service_has_a_token_no_rights_and_writes_only_to_its_store():
    service = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]["lineage"]
    assert "?" in service["environment"]["LINEAGE_TOKEN"]
    assert service["read_only"]
    assert service["cap_drop"] == ["ALL"]
    assert all(port.startswith("127.0.0.1:") for port in service["ports"])
    assert service["volumes"] == ["store:/data"]


def test_two_servers_share_a_database_only_where_they_are_asked_for():
    services = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]
    assert [name for name, service in services.items() if "profiles" not in service] == ["lineage"]
    servers = [service for service in services.values() if "LINEAGE_STORE" in service.get("environment", {}) and "ports" in service]
    assert len(servers) == 2
    assert len({service["volumes"][0] for service in servers}) == 2
    assert all(service["read_only"] and service["cap_drop"] == ["ALL"] and "?" in service["environment"]["LINEAGE_TOKEN"] for service in servers)
    assert all(port.startswith("127.0.0.1:") for service in services.values() for port in service.get("ports", ()))


def test_what_the_recipe_copies_is_all_that_an_installation_needs(tmp_path):
    """A wheel is built from a folder that holds only what is copied and not ignored."""
    allowed = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    copied = [part for line in re.findall(r"^COPY (?!--from)(.+) \S+$", RECIPE, re.MULTILINE) for part in line.split()]
    assert set(copied) <= allowed
    for name in copied:
        source, place = ROOT / name, tmp_path / "src" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        _ = shutil.copytree(source, place, ignore=shutil.ignore_patterns("__pycache__")) if source.is_dir() else shutil.copy(source, place)
    pytest.importorskip("hatchling")
    build = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", str(tmp_path / "dist"), str(tmp_path / "src")]
    done = subprocess.run(build, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-1000:]
    assert len(list((tmp_path / "dist").glob("paper_lineage-*.whl"))) == 1


def test_the_development_container_is_json_with_an_image():
    assert json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text())["image"].count(":") == 1
