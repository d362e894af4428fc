"""Learning rate, set before every iteration."""

import math


def adjust_learning_rate(optimizer, epoch, args):
    """Linear warm-up, then half a cosine down to `min_lr`.

    `epoch` is fractional: epoch + iteration / iterations_per_epoch.
    """
    if epoch < args.warmup_epochs:
        lr = args.lr * epoch / args.warmup_epochs
    else:
        progress = (epoch - args.warmup_epochs) / (args.epochs - args.warmup_epochs)
        lr = args.min_lr + (args.lr - args.min_lr) * 0.5 * (1.0 + math.cos(math.pi * progress))
    for group in optimizer.param_groups:
        group["lr"] = lr * group.get("lr_scale", 1.0)
    return lr


def effective_lr(base_lr, batch_size, accumulate, world_size):
    """base_lr is for 256 images: lr = base_lr * effective batch / 256."""
    return base_lr * batch_size * accumulate * world_size / 256
