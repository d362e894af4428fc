"""Gentle augmentation for reconstruction pre-training."""

from .pipeline import PretrainTransform, pretrain_transform

__all__ = ["PretrainTransform", "pretrain_transform"]
