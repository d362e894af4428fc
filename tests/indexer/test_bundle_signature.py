"""Signed bundles: a signature is made, verified, shown, and refused when it is missing, damaged, or of another key or file."""

from __future__ import annotations

from pathlib import Path

import pytest
from minisign import KeyPair, SecretKey

from indexer.bundle.signature import key_id, signature_path
from lineage import settings
from lineage.errors import BadBundle, UsageError
from tests.demo import NAME, Demo


@pytest.fixture
def key(tmp_path) -> tuple[Path, Path]:
    """A key pair in files, as `minisign -G -W` writes it."""
    pair = KeyPair.generate()
    secret, public = tmp_path / "me.key", tmp_path / "me.pub"
    secret.write_bytes(bytes(pair.secret_key))
    public.write_bytes(bytes(pair.public_key))
    return secret, public


@pytest.fixture
def signed(built, key, tmp_path) -> Path:
    made = built.service.export(NAME, tmp_path / "demo.lineage", sign=key[0])
    assert len(made.signer) == 16
    return Path(made.path)


def test_a_signed_bundle_says_who_signed_it_wherever_it_is_shown(signed, key, tmp_path):
    here = Demo(tmp_path / "there", "http://127.0.0.1:9", packaged=True, offline=True)
    made = here.service.import_(signed, signer=str(key[1]))
    signer = made.provenance.signer
    assert signer == key_id(SecretKey.from_file(key[0]).get_public_key())
    assert f"signed by key {signer}" in made.provenance.words
    (listed,) = here.service.lineages()
    assert listed.provenance.signer == signer
    assert here.service.query("how is the encoder initialized?").provenance.signer == signer


def test_the_text_of_a_key_serves_as_well_as_its_file(signed, key, tmp_path):
    text = key[1].read_text().splitlines()[-1]
    assert Demo(tmp_path / "there", "http://127.0.0.1:9", packaged=True, offline=True).service.import_(signed, signer=text).provenance.signer


def test_a_signature_that_nobody_asked_for_is_mentioned_and_not_shown(signed, tmp_path):
    made = Demo(tmp_path / "there", "http://127.0.0.1:9", packaged=True, offline=True).service.import_(signed)
    assert made.provenance.signer is None
    assert any("no key was given" in note for note in made.notes)


def unsigned(path: Path) -> None:
    signature_path(path).unlink()


def changed(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"x")


def damaged(path: Path) -> None:
    signature_path(path).write_bytes(b"\xff" * 100_000)


@pytest.mark.parametrize(
    ("alter", "words"), [(unsigned, "is not signed: there is no"), (changed, "verification failed"), (damaged, "is not signed by key")]
)
def test_what_the_key_did_not_sign_is_refused_and_changes_nothing(signed, key, tmp_path, alter, words):
    alter(signed)
    here = Demo(tmp_path / "there", "http://127.0.0.1:9", packaged=True, offline=True)
    with pytest.raises(BadBundle, match=words):
        here.service.import_(signed, signer=str(key[1]))
    assert here.service.lineages() == ()


def test_another_key_is_refused(signed, tmp_path):
    other = KeyPair.generate().public_key.to_base64().decode()
    with pytest.raises(BadBundle, match="incompatible key"):
        Demo(tmp_path / "there", "http://127.0.0.1:9", packaged=True, offline=True).service.import_(signed, signer=other)


@pytest.mark.parametrize("text", ["", "x" * 99, "RWQ"])
def test_what_is_no_key_says_so(built, signed, tmp_path, text):
    file = tmp_path / "no.key"
    file.write_text(text)
    with pytest.raises(UsageError, match="cannot sign"):
        built.service.export(NAME, tmp_path / "again.lineage", sign=file)
    with pytest.raises(UsageError, match="no minisign public key"):
        Demo(tmp_path / "there", "http://127.0.0.1:9", packaged=True, offline=True).service.import_(signed, signer=text or "?")


def test_a_password_comes_from_the_settings(built, key, tmp_path):
    secret = SecretKey.from_file(key[0])
    secret.encrypt("correct horse")
    key[0].write_bytes(bytes(secret))
    with pytest.raises(UsageError, match="cannot sign"):
        built.service.export(NAME, tmp_path / "a.lineage", sign=key[0])
    assert settings.load(signing_password="correct horse").signing_password.get_secret_value() == "correct horse"
