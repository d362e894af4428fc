"""One epoch of pre-training."""

import math
import sys

import torch

from .lr_sched import adjust_learning_rate


def train_one_epoch(model, loader, optimizer, scaler, epoch, args, log=print):
    model.train()
    optimizer.zero_grad(set_to_none=True)
    total = 0.0
    for step, (images, _) in enumerate(loader):
        # per iteration, not per epoch
        if step % args.accumulate == 0:
            lr = adjust_learning_rate(optimizer, step / len(loader) + epoch, args)
        images = images.to(args.device, non_blocking=True)
        with torch.autocast("cuda", dtype=torch.float16, enabled=args.amp):
            loss, _, _ = model(images)
        value = loss.item()
        if not math.isfinite(value):
            log(f"loss is {value}, stopping")
            sys.exit(1)
        scaler.scale(loss / args.accumulate).backward()
        if (step + 1) % args.accumulate == 0:
            if args.clip_grad is not None:
                scaler.unscale_(optimizer)
                torch.nn.utils.clip_grad_norm_(model.parameters(), args.clip_grad)
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad(set_to_none=True)
        total += value
        if step % 50 == 0:
            log(f"epoch {epoch} step {step}/{len(loader)} loss {value:.4f} lr {lr:.2e}")
    return total / len(loader)
