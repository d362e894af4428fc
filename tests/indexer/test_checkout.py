"""Remote and commit of a checkout, read as text that somebody else wrote."""

from __future__ import annotations

import pytest

from indexer.sources import local
from indexer.sources.local import origin
from lineage.code_links.exclusion import Exclusion

SHA = "0123456789abcdef0123456789abcdef01234567"
CONFIG = (
    '[core]\n\tbare = false\n[remote "upstream"]\n\turl = https://github.com/else/rcg\n[remote "origin"]\n\turl = %s\n[branch "main"]\n\turl = x\n'
)


def checkout(folder, head="ref: refs/heads/main\n", config=CONFIG % "git@github.com:LTH14/rcg.git", **files):
    (folder / ".git/refs/heads").mkdir(parents=True)
    for name, text in {"HEAD": head, "config": config, "refs/heads/main": SHA + "\n", **files}.items():
        (folder / ".git" / name).write_text(text)
    return folder


def test_a_checkout_says_its_origin_and_commit(tmp_path):
    assert origin(checkout(tmp_path)) == {"remote": "github.com/LTH14/rcg", "commit": SHA}


def test_a_detached_head_and_a_packed_branch_have_their_commit(tmp_path):
    assert origin(checkout(tmp_path / "a", head=SHA))["commit"] == SHA
    packed = checkout(tmp_path / "b", **{"packed-refs": f"# pack-refs\n{'f' * 40} refs/heads/other\n{SHA} refs/heads/main\n"})
    (packed / ".git/refs/heads/main").unlink()
    assert origin(packed)["commit"] == SHA


def test_credentials_are_never_kept_and_other_places_are_not_named(tmp_path):
    found = origin(checkout(tmp_path / "a", config=CONFIG % "https://user:secret@github.com/LTH14/rcg.git"))
    assert "secret" not in str(found)
    alone = '[remote "origin"]\nurl = %s\n'
    for n, url in enumerate(("/home/ada/rcg", "ssh://intranet/rcg", "https://evil.example/a/b", "x" * 10_000)):
        assert "remote" not in origin(checkout(tmp_path / str(n), config=alone % url))


@pytest.mark.parametrize(
    "head", ["ref: ../../secret", "ref: refs/heads/../../../secret", "ref: /etc/passwd", "junk", "", "ref: refs/heads/none", "a" * 39]
)
def test_a_head_that_names_no_commit_of_the_checkout_has_none(tmp_path, head):
    (tmp_path / "secret").write_text(SHA)
    assert "commit" not in origin(checkout(tmp_path / "repo", head=head))


def test_links_are_not_followed_and_what_is_large_is_not_read(tmp_path):
    folder = checkout(tmp_path / "a")
    outside = tmp_path / "outside"
    outside.write_text(SHA)
    (folder / ".git/HEAD").unlink()
    (folder / ".git/HEAD").symlink_to(outside)
    (folder / ".git/config").write_text("#" * 2_000_000 + CONFIG)
    assert origin(folder) == {}
    (tmp_path / "b").mkdir()
    (tmp_path / "b/.git").symlink_to(checkout(tmp_path / "c") / ".git")
    (tmp_path / "d").mkdir()
    (tmp_path / "d/.git").write_text(f"gitdir: {tmp_path}/c/.git")
    assert origin(tmp_path / "b") == origin(tmp_path / "d") == origin(tmp_path / "nothing") == {}


def test_a_folder_keeps_its_identifier_and_is_known_by_its_remote(tmp_path):
    (tmp_path / "rcg").mkdir()
    (tmp_path / "rcg/a.py").write_text("x = 1\n")
    plain = local.code(tmp_path / "rcg").work
    work = local.code(checkout(tmp_path / "rcg")).work
    (tmp_path / "rcg/.git/refs/heads/main").write_text("f" * 40)
    assert local.code(tmp_path / "rcg").work.id == work.id
    assert work.title == "rcg"
    assert work.meta == {"file": "rcg", "remote": "github.com/LTH14/rcg", "commit": SHA}
    assert Exclusion.of(["github.com/LTH14/rcg"]).reason_for_work(work)
    assert not Exclusion.of(["github.com/LTH14/rcg"]).reason_for_work(plain)
