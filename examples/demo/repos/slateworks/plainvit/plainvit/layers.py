"""Layers that the encoder is made of."""

import torch
from torch import nn


def drop_path(x, drop_prob=0.0, training=False):
    """Stochastic depth: drop a whole residual branch for some of the samples.

    The branch is scaled by 1 / keep so that its expectation does not change.
    """
    if drop_prob == 0.0 or not training:
        return x
    keep = 1.0 - drop_prob
    shape = (x.shape[0],) + (1,) * (x.ndim - 1)
    mask = x.new_empty(shape).bernoulli_(keep)
    return x * mask / keep


class DropPath(nn.Module):
    def __init__(self, drop_prob=0.0):
        super().__init__()
        self.drop_prob = drop_prob

    def forward(self, x):
        return drop_path(x, self.drop_prob, self.training)

    def extra_repr(self):
        return f"drop_prob={self.drop_prob:.3f}"


class Mlp(nn.Module):
    """Two linear layers with GELU between them; the hidden width is `ratio` times the input width."""

    def __init__(self, dim, ratio=4.0, drop=0.0):
        super().__init__()
        hidden = int(dim * ratio)
        self.fc1 = nn.Linear(dim, hidden)
        self.act = nn.GELU()
        self.fc2 = nn.Linear(hidden, dim)
        self.drop = nn.Dropout(drop)

    def forward(self, x):
        return self.drop(self.fc2(self.drop(self.act(self.fc1(x)))))


class PatchEmbed(nn.Module):
    """Image to a sequence of patch tokens, by a convolution whose stride is its kernel."""

    def __init__(self, img_size=224, patch_size=16, in_chans=3, dim=192):
        super().__init__()
        self.grid = img_size // patch_size
        self.num_patches = self.grid**2
        self.proj = nn.Conv2d(in_chans, dim, kernel_size=patch_size, stride=patch_size)

    def forward(self, x):
        return self.proj(x).flatten(2).transpose(1, 2)


def patchify(images, patch_size):
    """(N, 3, H, W) -> (N, L, patch_size**2 * 3)"""
    n, c, h, w = images.shape
    gh, gw = h // patch_size, w // patch_size
    x = images.reshape(n, c, gh, patch_size, gw, patch_size)
    return torch.einsum("nchpwq->nhwpqc", x).reshape(n, gh * gw, patch_size**2 * c)
