"""Masked autoencoder with neighbourhood masking."""

import torch
from plainvit.encoder import Block, PlainViT
from plainvit.pos_embed import sincos_2d
from torch import nn

from .masking import NeighbourhoodMask
from .vendor.layers import patchify


class PatchMask(nn.Module):
    """A plain encoder over the visible patches and a shallow decoder over all of them."""

    def __init__(self, encoder, decoder_dim=128, decoder_depth=2, decoder_heads=4, mask_ratio=0.75, norm_pix_loss=True):
        super().__init__()
        self.encoder = encoder
        self.norm_pix_loss = norm_pix_loss
        patch, width = 16, encoder.norm.normalized_shape[0]
        grid = encoder.patch_embed.grid
        self.patch_size = patch
        self.sampler = NeighbourhoodMask(grid, mask_ratio)
        self.decoder_embed = nn.Linear(width, decoder_dim)
        self.mask_token = nn.Parameter(torch.zeros(1, 1, decoder_dim))
        table = torch.from_numpy(sincos_2d(decoder_dim, grid)).float()
        self.register_buffer("decoder_pos_embed", table.unsqueeze(0), persistent=False)
        self.decoder_blocks = nn.ModuleList([Block(decoder_dim, decoder_heads) for _ in range(decoder_depth)])
        self.decoder_norm = nn.LayerNorm(decoder_dim)
        self.decoder_pred = nn.Linear(decoder_dim, patch**2 * 3)
        self.reset_decoder()

    def reset_decoder(self):
        """The encoder initialises itself; the decoder gets Xavier weights and a normal mask token."""
        nn.init.normal_(self.mask_token, std=0.02)
        for module in [self.decoder_embed, self.decoder_pred, *self.decoder_blocks.modules()]:
            if isinstance(module, nn.Linear):
                nn.init.xavier_uniform_(module.weight)
                nn.init.constant_(module.bias, 0)

    def sample_masks(self, n, device):
        return torch.stack([self.sampler() for _ in range(n)]).to(device)

    def forward_encoder(self, images, mask):
        x = self.encoder.patch_embed(images) + self.encoder.pos_embed
        x = x[~mask].reshape(len(images), -1, x.shape[-1])
        for block in self.encoder.blocks:
            x = block(x)
        return self.encoder.norm(x)

    def forward_decoder(self, latent, mask):
        n, length = mask.shape
        tokens = self.mask_token.expand(n, length, -1).clone()
        tokens[~mask] = self.decoder_embed(latent).flatten(0, 1)
        x = tokens + self.decoder_pos_embed
        for block in self.decoder_blocks:
            x = block(x)
        return self.decoder_pred(self.decoder_norm(x))

    def forward_loss(self, images, pred, mask):
        """Mean squared error on hidden patches only, against pixels normalised patch by patch."""
        target = patchify(images, self.patch_size)
        if self.norm_pix_loss:
            mean = target.mean(dim=-1, keepdim=True)
            var = target.var(dim=-1, keepdim=True)
            target = (target - mean) / (var + 1.0e-6) ** 0.5
        loss = (pred - target).pow(2).mean(dim=-1)
        return (loss * mask).sum() / mask.sum()

    def forward(self, images):
        mask = self.sample_masks(len(images), images.device)
        pred = self.forward_decoder(self.forward_encoder(images, mask), mask)
        return self.forward_loss(images, pred, mask), pred, mask


def patchmask_small(**kwargs):
    encoder = PlainViT(dim=192, depth=12, heads=3, num_classes=0, drop_path_rate=0.0)
    return PatchMask(encoder, **kwargs)
