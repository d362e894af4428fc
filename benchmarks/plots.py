"""Draw the committed results as pictures of docs/benchmarks.md.

    pip install -e '.[plots]'
    python -m benchmarks.plots [--results benchmarks/results.json] [--out docs/pictures]

The results are what `benchmarks.search_speed`, `benchmarks.limits` and `benchmarks.builds` write with --results; the same give the same bytes.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.parts import run_benchmark

HERE = Path(__file__).resolve().parent
_NAMES = {"lineage": "Lineage", "floor": "FTS5 + FAISS", "lancedb": "LanceDB"}
_COLORS = {"Lineage": "#0b5e9e", "FTS5 + FAISS": "#6b6b6b", "LanceDB": "#b8500c"}
_STYLE = {"svg.fonttype": "none", "svg.hashsalt": "lineage", "font.size": 11, "axes.spines.top": False, "axes.spines.right": False}


def search(axes: Any, rows: list[dict[str, Any]]) -> None:
    """Processor time of a question by the size of the lineage."""
    lines = {way: sorted((row["chunks"], row["cpu_p50"][1]) for row in rows if row["way"] == way) for way in {row["way"] for row in rows}}
    for rank, (way, points) in enumerate(sorted(lines.items(), key=lambda line: -line[1][-1][1])):
        name, (sizes, times) = _NAMES[way], zip(*points, strict=True)
        axes.loglog(sizes, times, marker="o", color=_COLORS[name])
        label = f"{name}, n^{np.polyfit(np.log(sizes), np.log(times), 1)[0]:.2f}"
        axes.annotate(label, (sizes[-1], times[-1]), (8, 4 - 8 * rank), textcoords="offset points", color=_COLORS[name])
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.yaxis.set_major_formatter("{x:g}")
    axes.minorticks_off()
    axes.set(xlabel="chunks", ylabel="ms of processor time, median")
    axes.set_title("Cost of a question", loc="left")


def embedding(axes: Any, rates: dict[str, list[float]]) -> None:
    """How fast models are embedded with beside what the processor multiplies."""
    shown = sorted(((rate, name) for name, (rate, _) in rates.items() if name != "its own products"))
    _bars(axes, [name for _, name in shown], [rate for rate, _ in shown], "{:.0f}")
    axes.set_title("Operations per second of one thread, in 10⁹", loc="left")


def builds(axes: Any, rows: list[dict[str, Any]]) -> None:
    """Wall and processor time of a build here and on clusters of local processes."""
    names = ["here" if not row["workers"] else f"{row['workers']} Dask worker" + "s" * (row["workers"] > 1) for row in rows]
    labels, values = zip(*((f"{name}, {what}", row[key]) for name, row in zip(names, rows, strict=True) for what, key in _TIMES), strict=True)
    _bars(axes, labels[::-1], values[::-1], "{:.0f} s")
    axes.set_title(f"A build of {rows[0]['chunks']:,} chunks on two shared cores", loc="left")


_TIMES = (("wall", "wall_least"), ("processor", "cpu_least"))


def _bars(axes: Any, names: Any, values: Any, form: str) -> None:
    colors = [_COLORS["Lineage"] if name == "Lineage" or name.endswith("processor") else _COLORS["FTS5 + FAISS"] for name in names]
    axes.bar_label(axes.barh(names, values, color=colors), [form.format(value) for value in values], padding=4)
    axes.spines["bottom"].set_visible(False)
    axes.tick_params(bottom=False, labelbottom=False, left=False)


PICTURES = {"search": (search, 3.6), "embedding": (embedding, 2.2), "workers": (builds, 3.2)}
"""What is drawn of the results of each name, and how many inches high."""


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=Path, default=HERE / "results.json")
    parser.add_argument("--out", type=Path, default=HERE.parent / "docs" / "pictures")
    given = parser.parse_args()
    import matplotlib.pyplot as plt

    results = json.loads(given.results.read_text("utf-8"))
    for name, (draw, height) in PICTURES.items():
        if name in results:
            with plt.rc_context(_STYLE):
                figure, axes = plt.subplots(figsize=(5, height))
                draw(axes, results[name])
                figure.savefig(given.out / f"cost-{name}.svg", bbox_inches="tight", metadata={"Date": None, "Creator": None})
                plt.close(figure)


if __name__ == "__main__":
    run_benchmark(main)
