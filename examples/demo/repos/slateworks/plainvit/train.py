"""Supervised training of a plain small vision transformer."""

import argparse
import json
from pathlib import Path

import torch
import yaml
from torch import nn
from torch.utils.data import DataLoader
from torchvision import datasets, transforms

import plainvit
from plainvit.optim import build_optimizer, scaled_lr


def get_args():
    parser = argparse.ArgumentParser("plainvit training")
    parser.add_argument("--config", type=Path, help="YAML file whose keys override the defaults")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--model", default="plainvit_small", choices=["plainvit_micro", "plainvit_small", "plainvit_base"])
    parser.add_argument("--epochs", type=int, default=300)
    parser.add_argument("--warmup-epochs", type=int, default=10)
    parser.add_argument("--batch-size", type=int, default=512)
    parser.add_argument("--base-lr", type=float, default=5e-4)
    parser.add_argument("--weight-decay", type=float, default=0.05)
    parser.add_argument("--label-smoothing", type=float, default=0.1)
    parser.add_argument("--drop-path", type=float, default=0.1)
    parser.add_argument("--clip-grad", type=float, default=1.0, help="max norm of the gradient, 0 for none")
    parser.add_argument("--seed", type=int, default=17)
    parser.add_argument("--output", type=Path, default=Path("runs/small"))
    args = parser.parse_args()
    if args.config:
        for key, value in yaml.safe_load(args.config.read_text()).items():
            setattr(args, key.replace("-", "_"), value)
    return args


def loaders(args):
    train = transforms.Compose([
        transforms.RandomResizedCrop(224, scale=(0.08, 1.0), interpolation=transforms.InterpolationMode.BICUBIC),
        transforms.RandomHorizontalFlip(),
        transforms.RandAugment(num_ops=2, magnitude=9),
        transforms.ToTensor(),
        transforms.Normalize((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)),
    ])
    dataset = datasets.ImageFolder(args.data / "train", train)
    return DataLoader(dataset, args.batch_size, shuffle=True, num_workers=8, drop_last=True, pin_memory=True)


def main():
    args = get_args()
    torch.manual_seed(args.seed)
    args.output.mkdir(parents=True, exist_ok=True)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = getattr(plainvit, args.model)(drop_path_rate=args.drop_path).to(device)
    optimizer = build_optimizer(model, scaled_lr(args.base_lr, args.batch_size), args.weight_decay)
    loss_fn = nn.CrossEntropyLoss(label_smoothing=args.label_smoothing)
    loader = loaders(args)
    steps = args.epochs * len(loader)
    warmup = args.warmup_epochs * len(loader)
    scheduler = torch.optim.lr_scheduler.SequentialLR(optimizer, [
        torch.optim.lr_scheduler.LinearLR(optimizer, 1e-3, total_iters=warmup),
        torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps - warmup),
    ], milestones=[warmup])
    for epoch in range(args.epochs):
        for images, labels in loader:
            loss = loss_fn(model(images.to(device)), labels.to(device))
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            if args.clip_grad:
                nn.utils.clip_grad_norm_(model.parameters(), args.clip_grad)
            optimizer.step()
            scheduler.step()
        with open(args.output / "log.jsonl", "a") as log:
            log.write(json.dumps({"epoch": epoch, "loss": loss.item(), "lr": scheduler.get_last_lr()[0]}) + "\n")
        torch.save(model.state_dict(), args.output / "last.pth")


if __name__ == "__main__":
    main()
