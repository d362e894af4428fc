from .encoder import PlainViT, plainvit_base, plainvit_micro, plainvit_small

__all__ = ["PlainViT", "plainvit_base", "plainvit_micro", "plainvit_small"]
__version__ = "0.3.1"
