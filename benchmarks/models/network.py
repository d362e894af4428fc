"""The encoder of `encoder.py` in torch, to be trained: same weights, same names, same arithmetic."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from benchmarks.models.pack import Array, Pack

FROZEN = ("word_emb", "type_emb")
"""Not trained: the table of word vectors keeps the codes that it came in."""


class Encoder(nn.Module):
    """Token ids and mask (b, s) to unit vectors (b, hidden): RoBERTa with the first token pooled."""

    def __init__(self, pack: Pack) -> None:
        super().__init__()
        self.arch: dict[str, Any] = pack.arch
        names = [*pack.dense, *pack.grouped]
        self.words = nn.Parameter(torch.from_numpy(pack.weight("word_emb").copy()), requires_grad=False)
        self.kind = nn.Parameter(torch.from_numpy(pack.weight("type_emb")[0].copy()), requires_grad=False)
        self.parts = nn.ParameterDict({_key(name): nn.Parameter(torch.from_numpy(pack.weight(name).copy())) for name in names if name not in FROZEN})

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        places = self.parts["pos_emb"][self.arch["position_offset"] :][: ids.shape[1]]
        x = self._norm(functional.embedding(ids, self.words) + places + self.kind, "emb_ln")
        bias = (mask[:, None, None, :] - 1.0) * 10000.0
        for layer in range(self.arch["layers"]):
            x = self._layer(x, bias, f"l{layer}")
        return functional.normalize(x[:, 0].float(), dim=-1)

    def tuned(self) -> dict[str, Array]:
        """The trained weights by the pack's names, float32."""
        return {name.replace("/", "."): weight.detach().numpy().astype(np.float32) for name, weight in self.parts.items()}

    def _layer(self, x: Tensor, bias: Tensor, name: str) -> Tensor:
        x = self._norm(self._linear(self._attention(x, bias, name), f"{name}.ao") + x, f"{name}.aln")
        wide = functional.gelu(self._linear(x, f"{name}.f1"))
        return self._norm(self._linear(wide, f"{name}.f2") + x, f"{name}.fln")

    def _attention(self, x: Tensor, bias: Tensor, name: str) -> Tensor:
        batch, length, hidden = x.shape
        heads = self.arch["heads"]
        parts = self._linear(x, f"{name}.qkv").view(batch, length, 3, heads, hidden // heads).permute(2, 0, 3, 1, 4)
        query, key, value = (part.contiguous() for part in parts)
        scores = query @ key.transpose(-1, -2) * (hidden // heads) ** -0.5 + bias.to(query.dtype)
        with torch.autocast("cpu", enabled=False):  # a softmax in float32 would cost as much as the products
            weights = torch.softmax(scores, dim=-1)
        context = weights @ value
        return context.transpose(1, 2).reshape(batch, length, hidden)

    def _linear(self, x: Tensor, name: str) -> Tensor:
        return functional.linear(x, self.parts[_key(f"{name}.w")], self.parts[_key(f"{name}.b")])

    def _norm(self, x: Tensor, name: str) -> Tensor:
        scale, bias = self.parts[_key(f"{name}.w")], self.parts[_key(f"{name}.b")]
        return functional.layer_norm(x, (x.shape[-1],), scale, bias, self.arch["layer_norm_eps"])


def _key(name: str) -> str:
    return name.replace(".", "/")
