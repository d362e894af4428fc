"""Roles of citations: fit what ships, and measure it where it has never looked.

    python -m benchmarks.roles --data DIR          measure on MultiCite (train and dev) and ACL-ARC, both as tests only
    python -m benchmarks.roles --data DIR --fit    fit on our own labels and write lineage/data/roles.json
    python -m benchmarks.roles --data DIR --errors N   print N contexts of our own labels that cross-validation gets wrong

Baselines in the same run: the majority class, the key words of the six role names, and TF-IDF with a linear
model, once fitted on the same labels as ours (the fair one) and once inside the test set (five folds by paper;
it has seen the annotators' own decisions, so it bounds rather than competes).
"""

from __future__ import annotations

import argparse
import collections
import json
import time
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import cast

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.model_selection import GroupKFold

from benchmarks import role_data
from benchmarks.parts import part, run_benchmark
from benchmarks.role_data import ACL_FOLDED, FOLDED, Labelled
from lineage.records import Mention, Role
from lineage.references.citation_cues import cues, mark
from lineage.references.roles import RoleModel, judge, read_model

ROLES = [role.value for role in Role]
OUT = Path(__file__).parent.parent / "lineage/data/roles.json"
STRENGTH = 0.1
SEEN = 3
SMALLEST = 0.015
# Not fitted: the contexts we may learn from do not say where they stand. Half a unit of log-odds: a nudge, never a verdict.
SECTIONS = {
    "related work": {"background": 0.6, "method": -0.4, "data": -0.4, "setup": -0.4, "metric": -0.4},
    "introduction": {"background": 0.4, "setup": -0.3, "metric": -0.3},
    "data": {"data": 0.5},
    "experiments": {"background": -0.5, "setup": 0.3, "data": 0.3, "metric": 0.3, "baseline": 0.3},
    "method": {"background": -0.3, "method": 0.4, "base": 0.2},
    "discussion": {"background": 0.2},
}
KEYWORDS = {
    "base": ("extend", "build on", "built on", "based on", "builds on", "inspired"),
    "uses": ("we use", "using", "we follow", "following", "we adopt", "dataset", "corpus"),
    "data": ("dataset", "corpus", "data from", "treebank"),
    "baseline": ("compar", "baseline", "outperform", "unlike", "in contrast", "similar to"),
}
EVEN = 0.5  # classes are balanced in the fit, so an even chance is the cut; nothing is tuned
UNIT = 100  # weights are stored in hundredths of log-odds
Array = NDArray[np.float64]


def seen(row: Labelled) -> dict[str, str]:
    return cues(mark(row.text))


def matrix(rows: Sequence[dict[str, str]], columns: dict[str, int]) -> csr_matrix:
    where = [(i, columns[name]) for i, row in enumerate(rows) for name in row if name in columns]
    i, j = (np.array(x, dtype=np.int32) for x in zip(*where, strict=True))
    return csr_matrix((np.ones(len(where)), (i, j)), shape=(len(rows), len(columns)))


def truth(rows: Sequence[Labelled], names: Sequence[str]) -> Array:
    return np.array([[float(name in row.roles) for name in names] for row in rows])


def columns_of(rows: Sequence[dict[str, str]]) -> dict[str, int]:
    counted = collections.Counter(name for row in rows for name in row)
    return {name: n for n, name in enumerate(sorted(name for name, times in counted.items() if times >= SEEN))}


def linear(x: csr_matrix, y: Array) -> LogisticRegression:
    x.indices, x.indptr = x.indices.astype(np.int32), x.indptr.astype(np.int32)
    return LogisticRegression(C=STRENGTH, solver="liblinear", class_weight="balanced", random_state=0).fit(x, y)


def pruned(model: LogisticRegression) -> LogisticRegression:
    """The model without weights too small to matter: what ships is what is measured."""
    model.coef_[np.abs(model.coef_) < SMALLEST] = 0.0
    return model


def out_of_fold(rows: Sequence[Labelled], found: Sequence[dict[str, str]], folds: int = 5) -> Array:
    """Probabilities (rows, roles), each from a model that has not seen the row's paper."""
    y, p = truth(rows, ROLES), np.zeros((len(rows), len(ROLES)))
    for train, test in GroupKFold(folds).split(found, groups=[row.paper for row in rows]):
        columns = columns_of([found[i] for i in train])
        x, z = (matrix([found[i] for i in part], columns) for part in (train, test))
        for j in range(len(ROLES)):
            p[test, j] = pruned(linear(x, y[train, j])).predict_proba(z)[:, 1]
    return p


def fit(rows: Sequence[Labelled], command: str) -> dict[str, object]:
    found = [seen(row) for row in rows]
    y, columns = truth(rows, ROLES), columns_of(found)
    x = matrix(found, columns)
    roles, weights = {}, np.zeros((len(columns), len(ROLES)), dtype=int)
    for j, role in enumerate(ROLES):
        model = pruned(linear(x, y[:, j]))
        weights[:, j] = np.rint(model.coef_[0] * UNIT)
        roles[role] = {"bias": round(float(model.intercept_[0]), 3), "threshold": EVEN}
    said = {name: weights[n].tolist() for name, n in columns.items() if weights[n].any()}
    counted = collections.Counter(name for row in rows for name in row.roles)
    provenance = {
        "command": command,
        "date": date.today().isoformat(),
        "fitted_on": f"{len(rows)} contexts labelled for this project: {dict(sorted(collections.Counter(r.source for r in rows).items()))}, "
        f"roles {dict(sorted(counted.items()))}; pst_extended is Apache-2.0, e-prints as their papers",
        "never_seen": "MultiCite and ACL-ARC, which only test",
        "model": f"one L2 logistic regression per role, C={STRENGTH}, balanced classes, cues seen in {SEEN} contexts at least",
        "labels_sha": role_data.digest(role_data.LABELS.read_text()),
    }
    return {
        "provenance": provenance,
        "sections": {"note": "set by hand, not fitted", "weights": SECTIONS},
        "roles": roles,
        "unit": UNIT,
        "cues": said,
    }


def dumped(model: dict[str, object]) -> str:
    """One cue a line, so that a change of the weights can be read as a diff."""
    head = {name: part for name, part in model.items() if name != "cues"}
    cues_ = cast(dict[str, list[int]], model["cues"])
    lines = ",\n".join(f"{json.dumps(name, ensure_ascii=False)}: {json.dumps(w, separators=(',', ':'))}" for name, w in cues_.items())
    return json.dumps(head, indent=1, ensure_ascii=False)[:-2] + ',\n "cues": {\n' + lines + "\n}}\n"


# Measuring


def decide(p: Array, cuts: Array) -> Array:
    """At least one role for every row."""
    said = (p >= cuts).astype(float)
    none = said.sum(axis=1) == 0
    said[none, (p - cuts)[none].argmax(axis=1)] = 1
    return said


def probabilities(model: RoleModel, rows: Sequence[Labelled]) -> Array:
    return np.array([[v.score for v in judge(Mention("", row.text), model)] for row in rows])


def folded(said: Array, table: dict[str, str], names: Sequence[str]) -> Array:
    return np.stack([said[:, [j for j, role in enumerate(ROLES) if table[role] == name]].max(axis=1) for name in names], axis=1)


def one_of(p: Array, cuts: Array, table: dict[str, str], names: Sequence[str]) -> Array:
    """The single folded class whose best role is furthest over its cut (ACL-ARC has one label a citation)."""
    margin = p - cuts
    best = np.stack([margin[:, [j for j, role in enumerate(ROLES) if table[role] == name]].max(axis=1) for name in names], axis=1)
    return np.eye(len(names))[best.argmax(axis=1)]


def by_keyword(rows: Sequence[Labelled], names: Sequence[str]) -> Array:
    said = np.array([[float(any(k in row.text.lower() for k in KEYWORDS.get(name, ()))) for name in names] for row in rows])
    said[said.sum(axis=1) == 0, names.index("background")] = 1
    return said


def tfidf(train: Sequence[Labelled], y: Array, test: Sequence[Labelled], single: bool) -> Array:
    words = TfidfVectorizer(ngram_range=(1, 2), min_df=2, sublinear_tf=True)
    x, z = words.fit_transform([r.text for r in train]), words.transform([r.text for r in test])
    p = np.stack([linear(x, y[:, j]).predict_proba(z)[:, 1] for j in range(y.shape[1])], axis=1)
    return np.eye(p.shape[1])[p.argmax(axis=1)] if single else decide(p, np.full(p.shape[1], EVEN))


def tfidf_inside(rows: Sequence[Labelled], y: Array, single: bool) -> Array:
    said = np.zeros_like(y)
    for train, test in GroupKFold(5).split(rows, groups=[r.paper for r in rows]):
        said[test] = tfidf([rows[i] for i in train], y[train], [rows[i] for i in test], single)
    return said


def report(title: str, y: Array, answers: dict[str, Array], names: Sequence[str]) -> None:
    print(f"\n{title}: {len(y)} contexts, {dict(zip(names, y.sum(axis=0).astype(int).tolist(), strict=True))}")
    print(f"{'':28s} macro-F1  " + "  ".join(f"{name:>10s}" for name in names))
    for name, said in answers.items():
        each = f1_score(y, said, average=None, zero_division=0)
        print(f"{name:28s} {each.mean():8.3f}  " + "  ".join(f"{value:10.3f}" for value in each))


def confusion(y: Array, said: Array, names: Sequence[str]) -> None:
    """Rows: the annotators' role; columns: ours; a context with several counts once per pair."""
    print("confusion (rows: annotators, columns: ours)\n" + " " * 12 + "".join(f"{name:>12s}" for name in names))
    for i, name in enumerate(names):
        print(f"{name:12s}" + "".join(f"{int(said[y[:, i] == 1][:, j].sum()):12d}" for j in range(len(names))))


def measure(title: str, rows: Sequence[Labelled], mine: Sequence[Labelled], model: RoleModel, table: dict[str, str], single: bool) -> None:
    names = list(dict.fromkeys(table.values()))
    y, cuts = truth(rows, names), np.array([model.threshold[Role(r)] for r in ROLES])
    start = time.perf_counter()
    p = probabilities(model, rows)
    took = (time.perf_counter() - start) / len(rows) * 1e3
    ours = one_of(p, cuts, table, names) if single else folded(decide(p, cuts), table, names)
    taught = folded(truth(mine, ROLES), table, names)
    most = np.eye(len(names))[np.full(len(rows), int(y.sum(axis=0).argmax()))]
    answers = {
        "majority": most,
        "key words": by_keyword(rows, names),
        "TF-IDF, our labels": tfidf(mine, taught, rows, single),
        "ours": ours,
        "TF-IDF inside (5 folds)": tfidf_inside(rows, y, single),
    }
    report(title, y, answers, names)
    confusion(y, ours, names)
    print(f"{took:.2f} ms a context")


def errors(rows: Sequence[Labelled], many: int) -> None:
    found = [seen(row) for row in rows]
    p = out_of_fold(rows, found)
    said = decide(p, np.full(len(ROLES), EVEN))
    wrong = [i for i in range(len(rows)) if {ROLES[j] for j in np.flatnonzero(said[i])} != set(rows[i].roles)]
    for i in np.random.default_rng(0).permutation(wrong)[:many]:
        print(f"{sorted(rows[i].roles)} <- {[(ROLES[j], round(p[i, j], 2)) for j in np.argsort(-p[i])[:3]]}\n   {rows[i].text}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--errors", type=int, default=0)
    options = parser.parse_args()
    rows = role_data.ours(options.data)
    if options.errors:
        errors(rows, options.errors)
        return
    if options.fit:
        OUT.write_text(dumped(fit(rows, "python -m benchmarks.roles --data DIR --fit")))
        print(f"wrote {OUT.name}: {OUT.stat().st_size // 1024} KiB")
    p, y = out_of_fold(rows, [seen(row) for row in rows]), truth(rows, ROLES)
    report("our labels, out of fold (by paper)", y, {"ours": decide(p, np.full(len(ROLES), EVEN))}, ROLES)
    if options.fit:
        return
    model = read_model(json.loads(OUT.read_text()))
    if multicite := part("MultiCite", role_data.multicite, options.data):
        measure("MultiCite (train and dev), folded", multicite, rows, model, FOLDED, single=False)
    if acl_arc := part("ACL-ARC", role_data.acl_arc, options.data):
        measure("ACL-ARC function, folded", acl_arc, rows, model, ACL_FOLDED, single=True)


if __name__ == "__main__":
    run_benchmark(main)
