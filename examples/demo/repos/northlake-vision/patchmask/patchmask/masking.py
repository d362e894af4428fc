"""Which patches to hide."""

import math
import random

import torch


def random_masking(x, mask_ratio):
    """Keep a random subset of the tokens of each sample, by sorting noise.

    x: (N, L, D). Returns the kept tokens (N, K, D), the mask (N, L) with 1 for hidden, and the order to restore.
    """
    n, length, dim = x.shape
    keep = int(length * (1 - mask_ratio))
    noise = torch.rand(n, length, device=x.device)
    shuffle = noise.argsort(dim=1)
    restore = shuffle.argsort(dim=1)
    kept = torch.gather(x, 1, shuffle[:, :keep, None].expand(-1, -1, dim))
    mask = torch.ones(n, length, device=x.device)
    mask[:, :keep] = 0
    return kept, torch.gather(mask, 1, restore), restore


class NeighbourhoodMask:
    """Hide rectangles of patches until the asked-for share of the grid is hidden.

    Rectangles have between `min_patches` and half of what is still to be hidden, and an aspect ratio drawn
    log-uniformly from `aspect`; so whole neighbourhoods vanish and interpolation does not help.
    """

    def __init__(self, grid, ratio=0.75, min_patches=4, aspect=(0.3, 1 / 0.3)):
        self.grid, self.min_patches = grid, min_patches
        self.total = int(round(grid * grid * ratio))
        self.log_aspect = (math.log(aspect[0]), math.log(aspect[1]))

    def _rectangle(self, most):
        area = random.uniform(self.min_patches, max(self.min_patches, most))
        aspect = math.exp(random.uniform(*self.log_aspect))
        height = min(self.grid, max(1, round(math.sqrt(area * aspect))))
        width = min(self.grid, max(1, round(math.sqrt(area / aspect))))
        return random.randint(0, self.grid - height), random.randint(0, self.grid - width), height, width

    def __call__(self):
        mask = torch.zeros(self.grid, self.grid, dtype=torch.bool)
        while int(mask.sum()) < self.total:
            left = self.total - int(mask.sum())
            top, start, height, width = self._rectangle(left / 2)
            mask[top:top + height, start:start + width] = True
        return self._trim(mask.flatten())

    def _trim(self, mask):
        """Uncover a random few, so that every sample hides the same number."""
        hidden = mask.nonzero().flatten()
        extra = hidden[torch.randperm(len(hidden))[: len(hidden) - self.total]]
        mask[extra] = False
        return mask
