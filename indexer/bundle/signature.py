"""Signatures of bundles in the form of minisign: `NAME.lineage.minisig` beside the bundle, which the `minisign` program verifies too."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from indexer.store.atomic_files import write_whole
from lineage.errors import BadBundle, UsageError

if TYPE_CHECKING:
    from minisign import PublicKey

_MOST = 8192
"""Bytes that a key or a signature may have."""


def signature_path(bundle: Path) -> Path:
    """Where the signature of a bundle lies."""
    return bundle.with_name(bundle.name + ".minisig")


def sign(bundle: Path, key: Path, password: str) -> str:
    """Sign a bundle with a minisign secret key, decrypted with `password` if it is encrypted; gives the key's id.

    Raises `UsageError` for a file that is no such key or another password.
    """
    from minisign import Error, PublicKey, SecretKey

    try:
        with SecretKey.from_bytes(_small(key)) as secret:
            if secret.is_encrypted():
                secret.decrypt(password)
            signature = secret.sign_file(bundle, prehash=True)
            signer = key_id(PublicKey.from_secret_key(secret))
    except (Error, ValueError, OSError) as error:
        hint = "`minisign -G` makes a key; LINEAGE_SIGNING_PASSWORD is its password"
        raise UsageError(f"{key.name} cannot sign: {error}", hint=hint) from error
    write_whole(signature_path(bundle), bytes(signature) + b"\n")
    return signer


def verified_signer(bundle: Path, key: str) -> str:
    """The id of a public key (its text, or its file) after verifying that it signed a bundle.

    Raises `UsageError` if it is no public key and `BadBundle` if the signature is missing, damaged, or of another key or file.
    """
    from minisign import Error, Signature

    public = _public(key)
    path = signature_path(bundle)
    if not path.is_file():
        raise BadBundle(f"{bundle.name} is not signed: there is no {path.name} beside it", hint="get the signature too, or import without --signer")
    try:
        public.verify_file(bundle, Signature.from_bytes(_small(path)))
    except (Error, ValueError, OSError) as error:
        raise BadBundle(f"{bundle.name} is not signed by key {key_id(public)}: {error}", hint="do not trust this file") from error
    return key_id(public)


def key_id(public: PublicKey) -> str:
    """A key's id as minisign prints it: 16 hexadecimal digits."""
    from base64 import b64decode

    return b64decode(public.to_base64())[2:10][::-1].hex().upper()


def _public(key: str) -> PublicKey:
    from minisign import Error, PublicKey

    try:
        file = Path(key)
        return PublicKey.from_bytes(_small(file)) if file.suffix == ".pub" or file.is_file() else PublicKey.from_base64(key)
    except (Error, ValueError, OSError) as error:
        raise UsageError(f"{key[:80]!r} is no minisign public key: {error}", hint="give the .pub file, or its second line") from error


def _small(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(_MOST)
