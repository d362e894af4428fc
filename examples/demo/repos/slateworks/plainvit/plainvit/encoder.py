"""The plain small vision transformer.

Pre-norm blocks, fixed sine-cosine positions, global average pooling. Nothing else.
"""

import torch
from torch import nn
from torch.nn.init import trunc_normal_

from .layers import DropPath, Mlp, PatchEmbed
from .pos_embed import sincos_2d


class Attention(nn.Module):
    def __init__(self, dim, heads=3, qkv_bias=True, attn_drop=0.0, proj_drop=0.0):
        super().__init__()
        assert dim % heads == 0, "width must be a multiple of the number of heads"
        self.heads = heads
        self.scale = (dim // heads) ** -0.5
        self.qkv = nn.Linear(dim, dim * 3, bias=qkv_bias)
        self.attn_drop = nn.Dropout(attn_drop)
        self.proj = nn.Linear(dim, dim)
        self.proj_drop = nn.Dropout(proj_drop)

    def forward(self, x):
        n, length, dim = x.shape
        qkv = self.qkv(x).reshape(n, length, 3, self.heads, dim // self.heads).permute(2, 0, 3, 1, 4)
        q, k, v = qkv.unbind(0)
        attn = (q * self.scale) @ k.transpose(-2, -1)
        attn = self.attn_drop(attn.softmax(dim=-1))
        x = (attn @ v).transpose(1, 2).reshape(n, length, dim)
        return self.proj_drop(self.proj(x))


class Block(nn.Module):
    def __init__(self, dim, heads, mlp_ratio=4.0, drop=0.0, drop_path=0.0):
        super().__init__()
        self.norm1 = nn.LayerNorm(dim, eps=1e-6)
        self.attn = Attention(dim, heads, proj_drop=drop)
        self.drop_path = DropPath(drop_path)
        self.norm2 = nn.LayerNorm(dim, eps=1e-6)
        self.mlp = Mlp(dim, mlp_ratio, drop)

    def forward(self, x):
        x = x + self.drop_path(self.attn(self.norm1(x)))
        return x + self.drop_path(self.mlp(self.norm2(x)))


class PlainViT(nn.Module):
    """Encoder (and classifier, if `num_classes` > 0)."""

    def __init__(self, img_size=224, patch_size=16, dim=192, depth=12, heads=3, mlp_ratio=4.0,
                 num_classes=200, drop=0.0, drop_path_rate=0.1, init_std=0.02):
        super().__init__()
        self.init_std = init_std
        self.patch_embed = PatchEmbed(img_size, patch_size, 3, dim)
        self.register_buffer("pos_embed", self._positions(dim), persistent=False)
        rates = torch.linspace(0, drop_path_rate, depth).tolist()  # drop path grows linearly with depth
        self.blocks = nn.ModuleList([Block(dim, heads, mlp_ratio, drop, rate) for rate in rates])
        self.norm = nn.LayerNorm(dim, eps=1e-6)
        self.head = nn.Linear(dim, num_classes) if num_classes > 0 else nn.Identity()
        self.apply(self._init_weights)
        self._rescale_residuals(depth)

    def _positions(self, dim):
        table = sincos_2d(dim, self.patch_embed.grid)
        return torch.from_numpy(table).float().unsqueeze(0)

    def _init_weights(self, m):
        """Truncated normal for every linear layer, zero biases, unit LayerNorm."""
        if isinstance(m, nn.Linear):
            trunc_normal_(m.weight, std=self.init_std, a=-2 * self.init_std, b=2 * self.init_std)
            if m.bias is not None:
                nn.init.zeros_(m.bias)
        elif isinstance(m, nn.LayerNorm):
            nn.init.ones_(m.weight)
            nn.init.zeros_(m.bias)
        elif isinstance(m, nn.Conv2d):
            # the patch projection is a linear layer in disguise: treat it as one
            fan_in = m.in_channels * m.kernel_size[0] * m.kernel_size[1]
            trunc_normal_(m.weight, std=fan_in**-0.5)
            nn.init.zeros_(m.bias)

    def _rescale_residuals(self, depth):
        """Divide the last layer of each branch by sqrt(2 * depth), so that the residual stream keeps its variance."""
        for block in self.blocks:
            block.attn.proj.weight.data.div_((2.0 * depth) ** 0.5)
            block.mlp.fc2.weight.data.div_((2.0 * depth) ** 0.5)

    def no_weight_decay(self):
        return {"pos_embed"}

    def forward_features(self, x):
        x = self.patch_embed(x) + self.pos_embed
        for block in self.blocks:
            x = block(x)
        return self.norm(x)

    def forward(self, x):
        return self.head(self.forward_features(x).mean(dim=1))


def plainvit_micro(**kwargs):
    return PlainViT(dim=128, depth=12, heads=2, **kwargs)


def plainvit_small(**kwargs):
    return PlainViT(dim=192, depth=12, heads=3, **kwargs)


def plainvit_base(**kwargs):
    return PlainViT(dim=384, depth=12, heads=6, **kwargs)
