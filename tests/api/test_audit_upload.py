"""An archive that is sent to be audited: read as a stream, bounded, and nothing of it becomes a path."""

from __future__ import annotations

import io
import stat
import tarfile
import zipfile

import pytest
from starlette.testclient import TestClient

from api.rest.app import application
from api.server.security import AccessPolicy, Guard
from indexer.archives.members import ArchiveLimits, upload_members
from indexer.parsers.select import by_name
from lineage import settings
from lineage.records import Status

CODE = b"lr = 0.1\nbatch_size = 8\n"
PATH = "/api/v1/audit"
BINARY = {"content-type": "application/octet-stream"}


def zipped(**files):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return out.getvalue()


def tarred(**files):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


@pytest.fixture(scope="module")
def client(built):
    with TestClient(application(settings.load(home=built.home), AccessPolicy(rate=1e6)), base_url="http://127.0.0.1") as made:
        yield made


@pytest.mark.parametrize(("pack", "kind"), [(zipped, "application/zip"), (tarred, "application/gzip")])
def test_an_archive_is_audited_as_a_folder_is(client, built, tmp_path, pack, kind):
    (tmp_path / "train.py").write_bytes(CODE)
    answer = client.post(PATH, params={"name": "/etc/passwd"}, content=pack(**{"train.py": CODE}), headers={"content-type": kind})
    assert answer.status_code == 200, answer.text
    folder = built.service.audit(tmp_path)
    assert answer.json()["path"] == "/etc/passwd"  # a name that nothing is opened by
    assert [(row["name"], row["verdict"], row["where"]) for row in answer.json()["findings"]] == [
        (finding.name, finding.verdict, finding.where) for finding in folder.findings
    ]


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"/etc/passwd", "no archive"),
        (zipped(**{"a.py": CODE})[:-30], "damaged"),
        (tarred(**{"a.py": CODE})[:40], "cannot be read"),
        (zipped(**{"weights.bin": b"\0" * 99}), "no file that can be read"),
        (zipped(), "no file that can be read"),
        (zipped(**{f"{n}.py": CODE for n in range(5_001)}), "more than 5,000 files"),
        (tarred(**{"weights.bin": b"\0" * 60_000_000}), "times its size"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_cannot_be_read_whole_is_refused(client, body, why):
    answer = client.post(PATH, content=body, headers=BINARY)
    assert answer.status_code == 422, answer.text
    assert why in answer.json()["detail"]


def test_an_upload_is_no_form_no_json_and_not_without_end(client):
    for kind in ("application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/plain", "application/json"):
        assert client.post(PATH, content=b"{}", headers={"content-type": kind}).status_code == 415
    assert client.post(PATH, content=b"x" * (16 * 1024 * 1024 + 1), headers=BINARY).status_code == 413
    assert client.post(PATH, params={"path": "/etc"}, content=b"x", headers=BINARY).status_code == 422
    assert client.post("/api/v1/search", content=b"x" * (1024 * 1024 + 1), headers={"content-type": "application/json"}).status_code == 413


def test_uploads_are_read_two_at_a_time():
    guard = Guard(None, AccessPolicy())
    guard._uploading = 2
    scope = {"type": "http", "path": PATH, "headers": [(b"host", b"127.0.0.1")], "client": ("1", 1)}
    assert guard._refused(scope).status == 503
    assert guard._refused({**scope, "path": "/api/v1/search"}) is None


def entries(data, **limits):
    return [(member.name, member.status, member.data) for member in upload_members(data, by_name, ArchiveLimits(**{**SMALL, **limits}))]


SMALL = {"packed": 10_000, "members": 3, "member": 500, "total": 900}


@pytest.mark.parametrize("name", ["../a.py", "/a.py", "a/.git/config.py", "C:a.py", "a\x1b.py"])
def test_a_name_that_would_leave_the_archive_is_data(name):
    ((_, status, data),) = entries(zipped(**{name: CODE}))
    assert (status, data) == (Status.UNSAFE_PATH, None)


def test_links_and_large_files_of_a_zip_are_not_read():
    link = zipfile.ZipInfo("link.py")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(link, "/etc/passwd")
        archive.writestr("large.py", b"#" * 501)
        archive.writestr("a.py", CODE)
    assert entries(out.getvalue()) == [("link.py", Status.POLICY_SKIPPED, None), ("large.py", Status.TOO_LARGE, None), ("a.py", Status.OK, CODE)]


def test_a_zip_has_no_more_files_and_bytes_than_it_may():
    assert entries(zipped(**{f"{n}.py": CODE for n in range(4)}))[-1][:2] == ("*", Status.TOO_MANY_FILES)
    assert entries(zipped(**{f"{n}.py": CODE for n in range(40)})) == [("*", Status.TOO_MANY_FILES, None)]
    assert entries(zipped(**{f"{n}.py": b"#" * 400 for n in range(3)}))[-1][:2] == ("2.py", Status.BOMB)
    assert entries(zipped(**{"a.py": CODE}), packed=10)[0][:2] == ("*", Status.TOO_LARGE)
