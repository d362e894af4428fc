# Adapted from northlake-vision/patchmask, patchmask/lr_sched.py:
# takes numbers instead of args, returns the rate without setting it, floor added.
import math


def learning_rate(epoch, lr, epochs, warmup_epochs=10, floor=0.0):
    """Linear warm-up, then half a cosine down to `floor`.

    `epoch` is fractional: epoch + iteration / iterations_per_epoch.
    """
    if epoch < warmup_epochs:
        return lr * epoch / warmup_epochs
    progress = (epoch - warmup_epochs) / (epochs - warmup_epochs)
    return floor + (lr - floor) * 0.5 * (1.0 + math.cos(math.pi * min(1.0, progress)))
