"""How a question about code may be put, given how its author described it: the same thing in other words.

A docstring describes ("Computes the focal loss."), a reader asks ("how is the focal loss computed?"), names the thing
without the author's identifiers, or states that a paper is silent about it. All forms are templates, so that the pairs
are a function of the packages and a seed.
"""

from __future__ import annotations

import re
from random import Random

_PARTICIPLES = {
    "add": "added", "apply": "applied", "average": "averaged", "build": "built", "calculate": "calculated", "check": "checked", "clip": "clipped",
    "combine": "combined", "compute": "computed", "convert": "converted", "create": "created", "crop": "cropped", "decode": "decoded",
    "encode": "encoded", "estimate": "estimated", "evaluate": "evaluated", "extract": "extracted", "filter": "filtered", "fit": "fitted",
    "generate": "generated", "get": "obtained", "initialize": "initialised", "initialise": "initialised", "load": "loaded", "make": "made",
    "mask": "masked", "merge": "merged", "normalize": "normalised", "pad": "padded", "parse": "parsed", "perform": "performed",
    "plot": "plotted", "predict": "predicted", "prepare": "prepared", "process": "processed", "project": "projected", "read": "read",
    "remove": "removed", "reset": "reset", "resize": "resized", "return": "returned", "sample": "sampled", "save": "saved", "scale": "scaled",
    "select": "selected", "set": "set", "shuffle": "shuffled", "sort": "sorted", "split": "split", "tokenize": "tokenised", "train": "trained",
    "transform": "transformed", "update": "updated", "validate": "validated", "wrap": "wrapped", "write": "written",
}  # fmt: skip
_REGULAR = """
    adjust append assert attach broadcast cache call change clean clear collect compare compile concatenate configure construct copy count
    define delete determine download enable ensure execute expand export flatten format freeze gather handle implement import insert
    instantiate interpolate join launch list map match measure modify move multiply optimize override permute print produce propagate
    provide prune quantize raise randomize reconstruct record reduce register render replace report represent reshape resolve restore
    retrieve rotate round search simulate solve stack start store subtract test track translate truncate tune unpack use verify visualize
"""
_PARTICIPLES |= {verb: verb + ("d" if verb.endswith("e") else "ed") for verb in _REGULAR.split()}
_PARTICIPLES |= {"choose": "chosen", "draw": "drawn", "find": "found", "give": "given", "map": "mapped"}
_PARTICIPLES |= {"run": "run", "send": "sent", "show": "shown"}
_IDENTIFIER = re.compile(r"[A-Za-z]\w*(?:\.\w+)+|\w*[a-z0-9]_\w+|_\w+|[A-Z]?[a-z0-9]+[A-Z]\w*")
_NOUN = re.compile(r"(?:An?|The)\s|[A-Z][a-z]+ (?:[a-z]+ )?(?:of|for|function|class|layer|module|loss|block|model)\b")
_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
_ASPECTS: tuple[tuple[str, ...], ...] = (
    (
        r"init_?weights|reset_parameters|initiali[sz]e_(?:weights|parameters)",
        "how are the weights of {c} initialised?",
        "which initialisation do the parameters of {c} get?",
        "weight initialization",
    ),
    (
        r"optimi[sz]er",
        "which optimizer is used, and with what settings?",
        "how is the optimizer of {c} set up?",
        "optimizer and its hyper-parameters",
    ),
    (
        r"schedul|lr_lambda|learning_rate|warmup",
        "which learning rate schedule is used?",
        "how does the learning rate change during training?",
        "learning rate warm-up and decay",
    ),
    (
        r"mask",
        "how is the {n} built?",
        "which positions are masked out in {c}?",
        "how is {n} computed for attention?",
    ),
    (
        r"loss|criterion",
        "how is the {n} computed?",
        "what objective is optimised in {c}?",
        "definition of the {n}",
    ),
    (
        r"collate|__getitem__|data_?loader|load_data",
        "how are training examples loaded and batched?",
        "how does {c} prepare one example?",
        "how are the items of {c} read?",
    ),
    (
        r"train(?:ing)?_(?:step|epoch|one_epoch|loop)|^fit$",
        "what happens in one training step of {c}?",
        "how is the model trained?",
        "training loop of {c}",
    ),
    (
        r"valid|eval|metric|accuracy|score",
        "how is {c} evaluated?",
        "how is the {n} calculated?",
        "which metric is reported, and how is it computed?",
    ),
    (
        r"augment|random_|crop|flip|jitter|mixup|cutmix",
        "how is the data augmented?",
        "what does the {n} augmentation do?",
        "random transformation of the inputs in {c}",
    ),
    (
        r"token|encode",
        "how is the text tokenised before it enters the model?",
        "how does {c} turn its input into {n}?",
    ),
    (
        r"sample|generate|decode|search",
        "how are outputs sampled at inference?",
        "how does {c} decode?",
        "decoding procedure of {c}",
    ),
    (
        r"position|pos_(?:emb|enc)|rotary|sinusoid|embed",
        "how are positions encoded in {c}?",
        "how is the {n} of {c} computed?",
    ),
    (
        r"norm",
        "which normalisation does {c} apply, and where?",
        "how is {n} carried out?",
    ),
    (
        r"seed|determin",
        "how is randomness seeded?",
        "are runs made reproducible?",
    ),
    (
        r"distribut|parallel|device",
        "how is training spread over several devices?",
        "on which device does {c} run?",
    ),
    (
        r"attention|attend",
        "how does {c} compute attention?",
        "attention of {c}",
    ),
    (
        r"^forward$|^call$|^__call__$",
        "what does {c} compute from its input?",
        "forward pass of {c}",
        "how does {c} work?",
    ),
    (
        r"^__init__$",
        "what is {c} made of?",
        "architecture of {c}",
        "which layers does {c} have?",
    ),
)
"""What the name of a function says it is for, and how one would ask for it."""
_SILENT = (
    "The paper does not mention how {0}.",
    "There is no mention of how {0}.",
    "It is not specified how {0}; the code does it explicitly.",
    "The description leaves out how {0}.",
    "The text differs from the code in how {0}.",
)
_SILENT_ON = (
    "The paper does not say that the code will {0}.",
    "Not described in the paper: {0}.",
    "The implementation also has to {0}, which the text omits.",
)
_NOUN_FORMS = ("where is {0} implemented?", "{0}", "how does the code implement {0}?", "which part of the code is the {0}?")
_NOUN_GAPS = (_SILENT_ON[1], "The paper gives no details of {0}.", "Details of {0} are missing.")


def words(identifier: str) -> str:
    """`_initWeights2` -> `init weights 2`."""
    return " ".join(part.lower() for part in _PART.findall(identifier))


def plain(text: str, rng: Random) -> str:
    """The text with its identifiers taken apart into words, or (one time in three) left out."""
    drop = rng.random() < 0.34
    return " ".join(_IDENTIFIER.sub(lambda found: "" if drop else words(found[0]), text).split())


def question(text: str, owner: str, rng: Random) -> str:
    """A description of what code does, asked for."""
    verb, rest = _verb(text)
    if not verb:
        body = _lower(text)
        return body if not _NOUN.match(text) else rng.choice(_NOUN_FORMS).format(body)
    forms = [f"where does the code {verb} {rest}?", f"how does it {verb} {rest}?", f"how to {verb} {rest}", f"how do they {verb} {rest}?"]
    if owner:
        forms.append(f"how does the {words(owner)} {verb} {rest}?")
    if len(rest.split()) <= 9:
        forms += [_passive(verb, rest)] * 3
    return rng.choice(forms)


def gap(text: str, rng: Random) -> str:
    """The same as something a paper is silent about."""
    verb, rest = _verb(text)
    if not verb:
        return rng.choice(_NOUN_GAPS).format(_lower(text))
    if rng.random() < 0.5 and len(rest.split()) <= 12:
        return rng.choice(_SILENT).format(f"{rest} {_be(rest)} {_PARTICIPLES[verb]}")
    return rng.choice(_SILENT_ON).format(f"{verb} {rest}")


def aspect(name: str, owner: str, rng: Random) -> str:
    """A question by what a function's name says it is for; empty where the name says nothing known."""
    found = next((forms for pattern, *forms in _ASPECTS if re.search(pattern, name)), [])
    if not found:
        return ""
    about = words(owner) if owner else "the model"
    return rng.choice(found).format(c=f"the {about}" if owner else about, n=words(name))


def _passive(verb: str, rest: str) -> str:
    return f"how {_be(rest)} {rest} {_PARTICIPLES[verb]}?"


def _be(rest: str) -> str:
    noun = re.split(r"\s(?:of|for|from|in|with|to|by|using)\s", rest)[0].split()
    return "are" if noun and re.search(r"[^s]s$", noun[-1]) else "is"


def _verb(text: str) -> tuple[str, str]:
    """The leading verb in its base form, if it is a known one, and what follows in the first sentence."""
    sentence = re.split(r"(?<=[a-z)])\.(?:\s|$)", text)[0].strip().rstrip(".")
    first, _, rest = sentence.partition(" ")
    low = first.lower()
    base = next((form for form in (low, low[:-1], low[:-2], low[:-3] + "y") if form in _PARTICIPLES), "")
    return (base, rest.strip()) if base and rest.strip() else ("", "")


def _lower(text: str) -> str:
    text = text.rstrip(".")
    return text[:1].lower() + text[1:] if re.match(r"[A-Z](?:[a-z]| [a-z])", text) else text
