"""Techniques that the paper says it uses and that its own code has no trace of, by one table of kinds. Pure.

"We apply top-p sampling" while the sampling code has no nucleus, "cross-attention" in a model that concatenates, a loss called MSE in
a program that takes L1: each kind has its techniques, the words by which prose names one and the signs that code has of it. A
claim counts where the authors say what they did; a technique is missing only where the code that it belongs to is there, is the
authors' own, and leaves its loop to no framework.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from lineage.records import Chunk
from retrieval.decisions.target_text import DONE, TargetSentence


@dataclass(frozen=True)
class Technique:
    """One way to do a thing: how prose says that it is used, and the signs of it in code."""

    name: str
    prose: re.Pattern[str]
    code: re.Pattern[str]


@dataclass(frozen=True)
class Kind:
    """Techniques of which a program takes one; `stage` is the code that they stand in."""

    name: str
    stage: str
    techniques: tuple[Technique, ...]


_ROWS: tuple[tuple[str, str, tuple[tuple[str, str, str], ...]], ...] = (
    ("truncated sampling", "sampling", (
        ("top-p sampling", r"\b(?:top-?\s?\$?p\$?|nucleus) sampling", r"top_?p\b|nucleus|cumsum|cumulative_prob"),
        ("a threshold on each probability", r"\bmin-?\s?\$?p\$? sampling", r"min_?p\b|probs?\s*<\s*\w*(?:thres|eps|min)"),
        ("beam search", r"\bbeam search", r"beam"),
    )),
    ("conditioning", "model", (
        ("cross-attention", r"\b(?:by|via|through|with|using) cross-?\s?attention", r"cross_?att|CrossAtt|encoder_hidden_states|kv_?proj|to_kv|context_dim|attn2"),
        ("FiLM", r"\bFiLM\b", r"\bfilm\b|gamma.*beta"),
        ("adaptive layer norm", r"\bAda(?:ptive )?-?(?:LN|layer ?norm)", r"ada_?ln|adaln|modulate|AdaptiveLayerNorm|adaln_zero"),
    )),
    ("reconstruction loss", "training", (
        ("mean squared error", r"\bL_\{?\\?(?:mathrm|text|rm)?\s?\{?MSE\}?|\bMSE\b(?: loss)?|mean[- ]squared[- ]error", r"mse|l2_loss|MSELoss|squared_error|\.pow\(2\)|\*\*\s?2|square\("),
        ("mean absolute error", r"\bL1 loss|\$\\?ell_1\$ loss|mean absolute error|\bMAE loss", r"l1_loss|L1Loss|\"l1\"|'l1'|absolute_error|\.abs\("),
        ("Huber loss", r"\b(?:smooth[- ]L1|Huber) loss", r"huber|smooth_l1|SmoothL1"),
    )),
    ("example selection", "data", (
        ("TF-IDF similarity", r"\bTF-?IDF similarity", r"tf_?idf"),
        ("BM25", r"\bBM25\b", r"bm25"),
    )),
    ("gradient clipping", "training", (
        ("gradient clipping", r"\bgradient(?:s|[- ]norm)?(?: (?:is|are|was|were))? (?:clipping|clipped)|\bclip(?:ped|ping)? (?:the )?gradients?", r"clip_?grad|grad_?clip|clip_by|max_grad_norm|clip_norm|grad_norm"),
    )),
    ("weight averaging", "training", (
        ("an exponential moving average of the weights", r"\b(?:EMA|exponential moving average)\b[^.]{0,60}\b(?:weights|parameters|model)|\b(?:weights|parameters|model)\b[^.]{0,60}\b(?:EMA|exponential moving average)\b", r"ema|moving_average|AveragedModel|swa|polyak|lerp_|momentum_teacher"),
    )),
    ("learning-rate schedule", "training", (
        ("a cosine schedule", r"\bcosine (?:learning[- ]rate |lr )?(?:annealing|decay|schedul\w*)", r"cos(?:ine)?\b|cosine|CosineAnnealing|math\.cos|np\.cos"),
        ("a linear decay", r"\blinear(?:ly)? (?:learning[- ]rate )?(?:decay\w*|schedule)", r"linear_schedule|LinearLR|polynomial|linear|1 ?- ?\w+ ?/ ?\w+|anneal"),
        ("reduction on a plateau", r"\breduc\w+ (?:the learning rate )?on (?:a )?plateau", r"plateau"),
    )),
    ("warmup", "training", (("a warmup of the learning rate", r"\b(?:linear |learning[- ]rate )?warm-?\s?up\b", r"warm_?up|warm"),)),
    ("label smoothing", "training", (("label smoothing", r"\blabel smoothing", r"smooth"),)),
    ("early stopping", "training", (("early stopping", r"\bearly[- ]stopping", r"early|patience|best_(?:val|loss|acc|dev|f1|score|metric)|best\w* *="),)),
    ("batch mixing", "training", (("mixup", r"\bmixup\b", r"mixup|mix_up"), ("CutMix", r"\bcutmix\b", r"cutmix|cut_mix"))),
    ("initialization", "model", (
        ("Xavier initialization", r"\b(?:Xavier|Glorot)(?: \w+)? initiali[sz]", r"xavier|glorot"),
        ("Kaiming initialization", r"\b(?:Kaiming|He)(?: \w+)? initiali[sz]", r"kaiming|he_normal|he_uniform"),
        ("orthogonal initialization", r"\borthogonal(?:ly)? initiali[sz]", r"orthogonal"),
    )),
    ("position encoding", "model", (
        ("rotary embeddings", r"\b(?:rotary|RoPE)\b[^.]{0,30}\b(?:embedding|encoding|position)", r"rotary|rope\b|freqs_cis|RoPE|rot_emb"),
    )),
    ("normalization", "model", (
        ("spectral normalization", r"\bspectral normali[sz]ation", r"spectral_?norm"),
        ("RMSNorm", r"\bRMSNorm\b", r"rms_?norm|rsqrt"),
        ("weight normalization", r"\bweight normali[sz]ation", r"weight_?norm"),
    )),
    ("gating", "model", (("gated transformer layers", r"\bGTrXL\b", r"gated ?= ?True|GRUGate|gru_gat|gating"),)),
    ("gradient penalty", "training", (("a gradient penalty", r"\bgradient penalty", r"gradient_penalty|grad_pen|\bgp\b|autograd\.grad"),)),
    ("relaxed sampling", "model", (("Gumbel-softmax", r"\bGumbel[- ]softmax", r"gumbel"),)),
    ("evaluation code", "evaluation", (
        ("the evaluation suite of ADM", r"\b(?:evaluation suite|evaluator|evaluation (?:code|script)s?)\b[^.]{0,50}(?:\bADM\b|guided[- ]diffusion|\[[^\]]*(?:dhariwal|adm|diffusion_?beat)[^\]]*\])", r"guided[-_]diffusion|evaluator\.py|VIRTUAL_imagenet"),
    )),
)  # fmt: skip
_ELSEWHERE: Mapping[str, re.Pattern[str]] = {
    "evaluation code": re.compile(r"torch_fidelity|cleanfid|clean_fid|pytorch_fid|torchmetrics\.image\.fid")
}
"""What stands in for the techniques of a kind where code has none of them."""
_STAGES = {
    "training": re.compile(r"\.backward\(|value_and_grad|GradientTape"),
    "sampling": re.compile(r"def \w*(?:sampl|generat|decod)\w*\(|multinomial\("),
    "model": re.compile(r"nn\.Module\b|keras\.Model|eqx\.Module|flax"),
    "data": re.compile(r"Dataset\b|DataLoader"),
    "evaluation": re.compile(r"fid", re.IGNORECASE),
}
_FRAMEWORK = re.compile(r"\bTrainer\(|LightningModule|deepspeed|fairseq|mmcv|mmengine|composer|SFTTrainer|\bFabric\(|from_pretrained\([^)]{0,80}gpt", re.IGNORECASE)
_DOES = re.compile(
    r"\b(?:we|is|are|was|were|our)\b[^.;]{0,120}?\b(?:use[ds]?|using|appl(?:y|ied)|employ(?:ed|s)?|adopt(?:ed)?|train(?:ed)?|inject(?:ed)?|"
    r"initiali[sz]ed?|choose|set|sampled?|perform(?:ed)?|combine[sd]?|minimi[sz]e[sd]?|defined|tested|report)\b|\bwith (?:a|an)\b",
    re.IGNORECASE,
)
_OTHERS = re.compile(
    r"\b(?:unlike|instead of|rather than|in contrast|compar(?:e|ed|ison)|baselines?|prior|previous\w*|existing|can be|could|may|might|would|"
    r"without|no|not|n['’]t|remov\w+|ablat\w+|related|alternative\w*|such as|e\.g\.|first introduced|proposed by)\b",
    re.IGNORECASE,
)
_COMMENT = re.compile(r"(?m)^\s*#.*$")


@dataclass(frozen=True)
class Missing:
    """A technique that a sentence claims, and a place of the code where it should be."""

    kind: Kind
    technique: Technique
    said: TargetSentence
    chunk: Chunk
    line: int
    instead: str


@cache
def kinds() -> tuple[Kind, ...]:
    """The table."""
    return tuple(
        Kind(name, stage, tuple(Technique(one, re.compile(prose, re.IGNORECASE), re.compile(code, re.IGNORECASE)) for one, prose, code in rows))
        for name, stage, rows in _ROWS
    )


def missing(sentences: Iterable[TargetSentence], code: Sequence[Chunk]) -> Iterator[Missing]:
    """The claimed techniques that own code has no sign of, once each."""
    programs = [chunk for chunk in code if chunk.kind in {"code", "config"}]
    text = "\n".join(chunk.text for chunk in code)
    hidden = _FRAMEWORK.search(text) is not None
    claims = [sentence for sentence in sentences if _is_claim(sentence)]
    for kind in kinds():
        if not _STAGES[kind.stage].search(text) or (hidden and kind.stage == "training"):
            continue
        for technique in kind.techniques:
            said = next((one for one in claims if technique.prose.search(one.text)), None)
            if said is None or technique.code.search(text):
                continue
            if place := _place(kind, technique, programs):
                yield Missing(kind, technique, said, *place)


def _is_claim(sentence: TargetSentence) -> bool:
    """Whether a sentence tells what the authors did."""
    if sentence.table or sentence.quoted or sentence.weight < DONE:
        return False
    return _DOES.search(sentence.text) is not None and _OTHERS.search(sentence.text) is None


def _place(kind: Kind, technique: Technique, programs: Sequence[Chunk]) -> tuple[Chunk, int, str] | None:
    """Where another technique of the kind stands, else where the stage is."""
    for other in kind.techniques:
        if other is not technique and (hit := _first(other.code, programs)):
            return (*hit, other.name)
    if kind.name in _ELSEWHERE and (hit := _first(_ELSEWHERE[kind.name], programs)):
        return (*hit, hit[0].text.split("\n")[hit[1] - hit[0].start_line].strip()[:60])
    hit = _first(_STAGES[kind.stage], programs) if kind.name not in _ELSEWHERE else None
    return (*hit, "") if hit else None


def _first(pattern: re.Pattern[str], chunks: Sequence[Chunk]) -> tuple[Chunk, int] | None:
    """The first line with a sign, comments aside."""
    for chunk in chunks:
        if match := pattern.search(_COMMENT.sub("", chunk.text)):
            line = next((n for n, row in enumerate(chunk.text.split("\n")) if match[0].split("\n")[0] in row), 0)
            return chunk, chunk.start_line + line
    return None
