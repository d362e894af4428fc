"""Linear probe on extracted features: batch normalisation without affine, one linear layer, LARS."""

import argparse
import json
from pathlib import Path

import numpy as np
import torch
from torch import nn

from lars import LARS
from schedule import learning_rate


class Probe(nn.Sequential):
    """BatchNorm without affine parameters, then a linear layer started at N(0, 0.01)."""

    def __init__(self, dim, classes):
        super().__init__(nn.BatchNorm1d(dim, affine=False, eps=1e-6), nn.Linear(dim, classes))
        nn.init.normal_(self[1].weight, std=0.01)
        nn.init.zeros_(self[1].bias)


def accuracy(probe, x, y):
    """Top-1 in per cent."""
    probe.eval()
    with torch.no_grad():
        hits = (probe(x).argmax(dim=1) == y).float().mean()
    probe.train()
    return 100.0 * hits.item()


def run(train, val, settings, seed):
    torch.manual_seed(seed)
    (x, y), n = train, len(train[0])
    probe = Probe(x.shape[1], int(y.max()) + 1)
    optimizer = LARS(probe.parameters(), lr=0.0, weight_decay=settings["weight_decay"])
    lr = settings["base_lr"] * settings["batch_size"] / 256
    steps = n // settings["batch_size"]
    for epoch in range(settings["epochs"]):
        order = torch.randperm(n)
        for step in range(steps):
            for group in optimizer.param_groups:
                group["lr"] = learning_rate(epoch + step / steps, lr, settings["epochs"], settings["warmup_epochs"])
            rows = order[step * settings["batch_size"]:(step + 1) * settings["batch_size"]]
            loss = nn.functional.cross_entropy(probe(x[rows]), y[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return accuracy(probe, *val)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("features", type=Path)
    parser.add_argument("--config", type=Path, default=Path("configs/linear.json"))
    parser.add_argument("--seeds", type=int, default=5)
    args = parser.parse_args()
    settings = json.loads(args.config.read_text())
    sets = []
    for split in ("train", "val"):
        data = np.load(args.features / f"{split}.npz")
        sets.append((torch.from_numpy(data["x"]), torch.from_numpy(data["y"])))
    scores = [run(*sets, settings, seed) for seed in range(args.seeds)]
    print(json.dumps({"top1_mean": float(np.mean(scores)), "top1_std": float(np.std(scores)), "seeds": args.seeds}))


if __name__ == "__main__":
    main()
