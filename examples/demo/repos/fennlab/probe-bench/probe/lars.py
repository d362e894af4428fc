"""LARS, for large-batch linear probing."""

import torch


class LARS(torch.optim.Optimizer):
    """Layer-wise adaptive rate scaling; no rate scaling and no decay for one-dimensional parameters."""

    def __init__(self, params, lr=0.1, weight_decay=0.0, momentum=0.9, trust_coefficient=0.001):
        super().__init__(params, dict(lr=lr, weight_decay=weight_decay, momentum=momentum, trust_coefficient=trust_coefficient))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                update = p.grad
                if p.ndim > 1:
                    update = update.add(p, alpha=group["weight_decay"])
                    norm, grad_norm = p.norm(), update.norm()
                    trust = torch.where((norm > 0) & (grad_norm > 0), group["trust_coefficient"] * norm / grad_norm, torch.ones_like(norm))
                    update = update.mul(trust)
                state = self.state[p]
                buffer = state.setdefault("mu", torch.zeros_like(p))
                buffer.mul_(group["momentum"]).add_(update)
                p.add_(buffer, alpha=-group["lr"])
