"""Optimizer: AdamW over two parameter groups, with and without weight decay."""

from torch.optim import AdamW


def split_parameters(model, weight_decay):
    """Biases, LayerNorm gains and everything one-dimensional are not decayed."""
    skip = model.no_weight_decay() if hasattr(model, "no_weight_decay") else set()
    decay, no_decay = [], []
    for name, parameter in model.named_parameters():
        if not parameter.requires_grad:
            continue
        plain = parameter.ndim <= 1 or name.endswith(".bias") or name in skip
        (no_decay if plain else decay).append(parameter)
    return [
        {"params": decay, "weight_decay": weight_decay},
        {"params": no_decay, "weight_decay": 0.0},
    ]


def build_optimizer(model, lr=1e-3, weight_decay=0.05, betas=(0.9, 0.999), eps=1e-8):
    return AdamW(split_parameters(model, weight_decay), lr=lr, betas=betas, eps=eps)


def scaled_lr(base_lr, batch_size):
    """Linear scaling rule: the base learning rate is for a batch of 256."""
    return base_lr * batch_size / 256
