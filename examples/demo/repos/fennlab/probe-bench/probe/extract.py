"""Frozen features: one vector per image, average-pooled over patches."""

import argparse
from pathlib import Path

import numpy as np
import torch
from torch.utils.data import DataLoader
from torchvision import datasets, transforms


def eval_transform(size=224):
    return transforms.Compose([
        transforms.Resize(256, interpolation=transforms.InterpolationMode.BICUBIC),
        transforms.CenterCrop(size),
        transforms.ToTensor(),
        transforms.Normalize((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)),
    ])


@torch.no_grad()
def extract(encoder, loader, device):
    """(features (N, D) float32, labels (N,)) of a frozen encoder in eval mode."""
    encoder.eval().requires_grad_(False)
    features, labels = [], []
    for images, target in loader:
        tokens = encoder.forward_features(images.to(device))
        features.append(tokens.mean(dim=1).float().cpu().numpy())
        labels.append(target.numpy())
    return np.concatenate(features), np.concatenate(labels)


def load_encoder(path):
    from plainvit import plainvit_small

    state = torch.load(path, map_location="cpu")["model"]
    state = {k.removeprefix("encoder."): v for k, v in state.items() if k.startswith("encoder.")}
    encoder = plainvit_small(num_classes=0, drop_path_rate=0.0)
    missing = encoder.load_state_dict(state, strict=False)
    print("missing:", missing.missing_keys)
    return encoder


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=Path("features"))
    parser.add_argument("--batch-size", type=int, default=256)
    args = parser.parse_args()
    args.out.mkdir(exist_ok=True)
    for split in ("train", "val"):
        data = datasets.ImageFolder(args.data / split, eval_transform())
        x, y = extract(load_encoder(args.checkpoint).cuda(), DataLoader(data, args.batch_size, num_workers=8), "cuda")
        np.savez(args.out / f"{split}.npz", x=x, y=y)
