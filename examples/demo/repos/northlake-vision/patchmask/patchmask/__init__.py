from .model import PatchMask, patchmask_small

__all__ = ["PatchMask", "patchmask_small"]
