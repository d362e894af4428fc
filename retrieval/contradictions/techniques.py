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

    @property
    def cited(self) -> bool:
        """Whether it is named by what is cited."""
        return r"\[[^" in self.prose.pattern


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
        ("a linear decay", r"(?<!-)\blinear(?:ly)? learning[- ]rate (?:decay|schedul)\w*|\blearning rates?\b[^.;]{0,60}\blinear(?:ly)? (?:decay|anneal)", r"linear_schedule|LinearLR|polynomial|linear|1 ?- ?\w+ ?/ ?\w+|anneal"),
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
    ("recurrent unit", "model", (
        ("an LSTM", r"\b(?:Bi-?)?LSTMs?\b", r"lstm"),
        ("a GRU", r"\bGRUs?\b|gated recurrent unit", r"gru"),
    )),
    ("activation", "model", (
        ("GELU", r"\bGELU\b", r"gelu"),
        ("SiLU", r"\b(?:SiLU|Swish)\b", r"silu|swish|sigmoid"),
        ("SwiGLU", r"\bSwiGLU\b", r"swiglu|silu|swish"),
        ("Leaky ReLU", r"\bLeaky[- ]?ReLU\b", r"leaky"),
        ("ELU", r"\bELU\b", r"\belu\b"),
    )),
    ("cropping", "data", (
        ("random crops", r"\brandom(?:ly)?[- ](?:resized[- ])?crop", r"random_?(?:resized_?)?crop|RandomCrop|RandomResizedCrop|randint|rand_crop|create_transform"),
    )),
    ("flipping", "data", (
        ("horizontal flips", r"\brandom(?:ly)? (?:horizontal(?:ly)? )?flip", r"flip|create_transform|\[\.\.\., ?::-1\]|hflip"),
    )),
    ("color augmentation", "data", (("color jitter", r"\bcolou?r[- ]jitter", r"jitter|brightness|create_transform"),)),
    ("feature scaling", "data", (
        ("standardization", r"\b(?:standardi[sz]ed|z-?score|zero mean and unit variance)\b", r"StandardScaler|standardi|\bmean\b|std\b|normali[sz]e"),
        ("min-max scaling", r"\bmin-?max (?:normali|scal)", r"MinMax|\.min\("),
        ("quantile transformation", r"\bquantile ?transform", r"quantile"),
    )),
    ("dropout", "model", (("dropout", r"\bdropout (?:rate|probability|of|is|with)\b", r"dropout|drop_?rate|\bp_?drop|dropout_p"),)),
    ("stochastic depth", "model", (("stochastic depth", r"\b(?:stochastic depth|drop[- ]?path)\b", r"drop_?path|stochastic_?depth|StochDepth"),)),
    ("cross-validation", "evaluation of folds", (("cross-validation", r"\b\d+-fold cross-?validation", r"k_?fold|n_?folds?|cross_?val|folds?\b|StratifiedKFold"),)),
    ("prediction target", "diffusion", (
        ("the noise", r"\\\|[^|]{0,120}-\s*\{?\s*\\?(?:bm|boldsymbol|mathbf)?\s?\{?\\?(?:epsilon|varepsilon|ϵ|ε)\b[^|]{0,20}\\\|",
         r"target\s*=\s*(?:\w+\.)?(?:noise|eps)\b|noise_pred|eps_pred|pred_noise|EPSILON\b|epsilon|predicted_noise|pred - noise|- noise\)|mse_loss\(\w+, ?noise"),
        ("the clean data", r"(?!)", r"target\s*=\s*(?:y|x|x_?0|x_start)\b|START_X"),
        ("the velocity", r"(?!)", r"velocity|v_prediction|\but\b"),
    )),
    ("gating", "model", (
        ("gated transformer layers", r"\bGTrXL\b", r"gated ?= ?True|GRUGate|gru_gat|gating"),
        ("layers without gates", r"(?!)", r"gated ?= ?False"),
    )),
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
_OPTIONS: Mapping[str, re.Pattern[str]] = {
    "reconstruction loss": re.compile(r"(?m)\b(?:recon\w*|pixel|image)_loss(?:_type)?['\"]?\s*[:=]\s*['\"]?(?P<value>[a-z]\w*)"),
    "learning-rate schedule": re.compile(r"(?m)\b(?:lr_?|learning_rate_)sched\w*['\"]?\s*[:= ]\s*['\"]?(?P<value>[a-z]\w*)"),
}
"""By which option a configuration or command takes one technique of a kind."""
_STAGES = {
    "training": re.compile(r"\.backward\(|value_and_grad|GradientTape"),
    "sampling": re.compile(r"def \w*(?:sampl|generat|decod)\w*\(|multinomial\("),
    "model": re.compile(r"nn\.Module\b|keras\.Model|eqx\.Module|flax"),
    "data": re.compile(r"Dataset\b|DataLoader"),
    "evaluation of folds": re.compile(r"accuracy|f1_score|auroc", re.IGNORECASE),
    "diffusion": re.compile(r"sigma|alphas_cumprod|diffusion"),
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
_COMMENT = re.compile(r"(?m)#(?![\d{]).*$")
_ASIDE = re.compile(r"(?:\A|/)(?:examples?|tests?|demos?|toy|tutorials?|third_party|vendor)/", re.IGNORECASE)
"""Folders whose programs are none of the paper's experiments."""
_KEYS = re.compile(r"\[[^\[\]]{1,200}\]")
LEAST = 3
"""Files of programs, from which on a technique that none has is missing rather than left out of what was published."""
_FORMULA = re.compile(r"\$\$")


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
    text = _COMMENT.sub("", "\n".join(chunk.text for chunk in code))
    own = "\n".join(chunk.text for chunk in programs if not _ASIDE.search(chunk.path))
    hidden = _FRAMEWORK.search(text) is not None
    claims = [sentence for sentence in sentences if _is_claim(sentence)]
    if len({chunk.path for chunk in programs}) < LEAST:
        return
    for kind in kinds():
        yield from _taken(kind, claims, code)
        if not _STAGES[kind.stage].search(own) or (hidden and kind.stage == "training"):
            continue
        for technique in kind.techniques:
            said = _claimed(technique, claims)
            if said is None or technique.code.search(text):
                continue
            if place := _place(kind, technique, programs):
                yield Missing(kind, technique, said, *place)


def _claimed(technique: Technique, claims: Iterable[TargetSentence]) -> TargetSentence | None:
    """The first claim of a technique; a key of a citation is none."""
    return next((one for one in claims if technique.prose.search(one.text) and (technique.cited or technique.prose.search(_KEYS.sub(" ", one.text)))), None)


def _taken(kind: Kind, claims: Sequence[TargetSentence], code: Sequence[Chunk]) -> Iterator[Missing]:
    """A technique that is claimed alone of its kind, where every configuration that chooses takes another."""
    option = _OPTIONS.get(kind.name)
    said = [(technique, one) for technique in kind.techniques if (one := _claimed(technique, claims))]
    if not option or len(said) != 1:
        return
    technique, sentence = said[0]
    taken = [(chunk, match) for chunk in code if chunk.kind in {"config", "docs"} or chunk.language == "bash" for match in option.finditer(chunk.text)]
    others = [other for _, match in taken for other in kind.techniques if other.code.search(f'"{match["value"]}"')]
    if taken and len(others) == len(taken) and all(other is not technique for other in others):
        chunk, match = taken[0]
        yield Missing(kind, technique, sentence, chunk, chunk.start_line + chunk.text.count("\n", 0, match.start()), others[0].name)


def _is_claim(sentence: TargetSentence) -> bool:
    """Whether a sentence tells what the authors did."""
    if sentence.table or sentence.quoted or sentence.weight < DONE:
        return False
    if sentence.chunk.role == "equation" or _FORMULA.search(sentence.text):
        return True
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
