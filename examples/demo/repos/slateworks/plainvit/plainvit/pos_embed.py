"""Fixed two-dimensional sine-cosine position table."""

import numpy as np


def sincos_1d(dim, positions):
    """(L,) positions -> (L, dim): half sines, half cosines, wavelengths from 2 pi to 10000 * 2 pi."""
    assert dim % 2 == 0
    omega = 1.0 / 10000 ** (np.arange(dim // 2, dtype=np.float64) / (dim / 2.0))
    angles = np.einsum("l,d->ld", positions.reshape(-1), omega)
    return np.concatenate([np.sin(angles), np.cos(angles)], axis=1)


def sincos_2d(dim, grid):
    """Table of shape (grid * grid, dim): the first half of the channels encodes rows, the second columns."""
    rows, cols = np.meshgrid(np.arange(grid), np.arange(grid), indexing="ij")
    return np.concatenate([sincos_1d(dim // 2, rows), sincos_1d(dim // 2, cols)], axis=1)


def resize_table(table, old_grid, new_grid):
    """Bicubic interpolation of a learned or fixed table to another grid, for another resolution."""
    import torch
    import torch.nn.functional as F

    dim = table.shape[-1]
    image = torch.as_tensor(table).float().reshape(1, old_grid, old_grid, dim).permute(0, 3, 1, 2)
    image = F.interpolate(image, size=(new_grid, new_grid), mode="bicubic", align_corners=False)
    return image.permute(0, 2, 3, 1).reshape(new_grid * new_grid, dim)
