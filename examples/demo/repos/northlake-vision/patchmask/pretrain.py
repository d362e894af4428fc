"""Self-supervised pre-training with PatchMask."""

import argparse
from pathlib import Path

import torch
import yaml
from plainvit.optim import split_parameters
from torch.utils.data import DataLoader
from torchvision import datasets, transforms

from patchmask import patchmask_small
from patchmask.engine import train_one_epoch
from patchmask.lr_sched import effective_lr


def get_args_parser():
    parser = argparse.ArgumentParser("PatchMask pre-training", add_help=True)
    parser.add_argument("--config", type=Path, default=None)
    parser.add_argument("--data", type=Path, default=Path("/data/smallscenes"))
    parser.add_argument("--batch_size", default=256, type=int, help="per GPU")
    parser.add_argument("--accumulate", default=1, type=int)
    parser.add_argument("--epochs", default=400, type=int)
    parser.add_argument("--mask_ratio", default=0.75, type=float)
    parser.add_argument("--norm_pix_loss", action="store_true")
    # optimizer
    parser.add_argument("--base_lr", default=1.5e-4, type=float, help="for 256 images")
    parser.add_argument("--min_lr", default=0.0, type=float, help="where the cosine ends")
    parser.add_argument("--warmup_epochs", default=40, type=int)
    parser.add_argument("--weight_decay", default=0.05, type=float)
    parser.add_argument("--beta2", default=0.95, type=float)
    parser.add_argument("--clip_grad", default=None, type=float)
    parser.add_argument("--seed", default=0, type=int)
    parser.add_argument("--amp", action="store_true")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--output", type=Path, default=Path("runs/pretrain"))
    return parser


def build_transform():
    """Crop and flip, nothing else: reconstruction does not need more."""
    return transforms.Compose([
        transforms.RandomResizedCrop(224, scale=(0.2, 1.0), interpolation=3),
        transforms.RandomHorizontalFlip(),
        transforms.ToTensor(),
        transforms.Normalize(mean=[0.485, 0.456, 0.406], std=[0.229, 0.224, 0.225]),
    ])


def build_optimizer(model, args):
    """AdamW; the second beta is 0.95, which matters for long masked pre-training."""
    groups = split_parameters(model, args.weight_decay)
    return torch.optim.AdamW(groups, lr=args.lr, betas=(0.9, args.beta2))


def main(args):
    if args.config:
        vars(args).update(yaml.safe_load(args.config.read_text()))
    torch.manual_seed(args.seed)
    args.lr = effective_lr(args.base_lr, args.batch_size, args.accumulate, torch.cuda.device_count())
    dataset = datasets.ImageFolder(args.data / "train", build_transform())
    loader = DataLoader(dataset, args.batch_size, shuffle=True, num_workers=10, pin_memory=True, drop_last=True)
    model = patchmask_small(mask_ratio=args.mask_ratio, norm_pix_loss=args.norm_pix_loss).to(args.device)
    optimizer = build_optimizer(model, args)
    scaler = torch.cuda.amp.GradScaler(enabled=args.amp)
    args.output.mkdir(parents=True, exist_ok=True)
    for epoch in range(args.epochs):
        train_one_epoch(model, loader, optimizer, scaler, epoch, args)
        if epoch % 20 == 0 or epoch + 1 == args.epochs:
            torch.save({"model": model.state_dict(), "epoch": epoch}, args.output / f"checkpoint-{epoch}.pth")


if __name__ == "__main__":
    main(get_args_parser().parse_args())
