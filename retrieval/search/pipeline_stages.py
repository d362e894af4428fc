"""Which stage of a reproduction a question is about, and which a file belongs to: training, sampling, evaluation (pure).

A question about training shares its words with scripts that sample and evaluate the same model; the file says which it is.
"""

from __future__ import annotations

import re
from functools import lru_cache

_ASKED = {
    "train": r"train\w*|optimi[sz]\w*|gradient\w*|learning rate|weight decay|epochs?|batch|loss\w*|warm\w*|augment\w*|dropout",
    "sample": r"sampl\w+|generat\w+|guidance|decod\w+|inference",
    "evaluate": r"evaluat\w*|fid|metric\w*|score\w*|accuracy|benchmark\w*|test\w*",
}
_FILES = {"train": r"train|optim|engine|loss|lr_|sched", "sample": r"sampl|generat|infer|demo|cache", "evaluate": r"eval|metric|test|fid"}
_STAGES = {stage: re.compile(rf"\b(?:{words})\b", re.IGNORECASE) for stage, words in _ASKED.items()}
_PATHS = {stage: re.compile(names, re.IGNORECASE) for stage, names in _FILES.items()}


def stages_asked(question: str) -> frozenset[str]:
    """The stages that a question speaks of."""
    return frozenset(stage for stage, words in _STAGES.items() if words.search(question))


@lru_cache(1 << 16)
def stages_of(path: str, symbol: str) -> frozenset[str]:
    """The stages that the names of a file and of a unit in it speak of."""
    return frozenset(stage for stage, names in _PATHS.items() if names.search(f"{path} {symbol}"))
