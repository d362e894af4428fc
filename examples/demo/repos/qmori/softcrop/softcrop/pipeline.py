"""The augmentation pipelines of the paper."""

import random
from dataclasses import dataclass

import numpy as np
import torch

from .color import GentleBlur, GentleColor
from .crop import SoftCrop

try:
    import tomllib
except ModuleNotFoundError:  # Python < 3.11
    import tomli as tomllib

MEAN = (0.485, 0.456, 0.406)
STD = (0.229, 0.224, 0.225)


def to_tensor(image, mean=MEAN, std=STD):
    """uint8 HWC image -> normalised float CHW tensor."""
    array = np.asarray(image, dtype=np.float32) / 255.0
    array = (array - np.asarray(mean, dtype=np.float32)) / np.asarray(std, dtype=np.float32)
    return torch.from_numpy(array.transpose(2, 0, 1))


@dataclass
class PretrainTransform:
    """Augmentations applied during pre-training, in this order:

    soft crop to `size`, horizontal flip, gentle colour, rare blur, normalisation.
    There is no rotation, no solarisation and no grey-scale.
    """

    size: int = 224
    scale: tuple = (0.4, 1.0)
    temper: float = 2.0
    flip: float = 0.5
    color_strength: float = 0.2
    color_p: float = 0.5
    blur_p: float = 0.1

    def __post_init__(self):
        self.crop = SoftCrop(self.size, self.scale, temper=self.temper)
        self.color = GentleColor(self.color_strength, self.color_p)
        self.blur = GentleBlur(p=self.blur_p)

    @classmethod
    def from_toml(cls, path):
        with open(path, "rb") as file:
            options = tomllib.load(file)["augment"]
        options["scale"] = tuple(options["scale"])
        return cls(**options)

    def __call__(self, image):
        image = self.crop(image.convert("RGB"))
        if random.random() < self.flip:
            image = image.transpose(0)
        return to_tensor(self.blur(self.color(image)))


class EvalTransform:
    """Resize the short side to size / crop_share, centre crop, normalise."""

    def __init__(self, size=224, crop_share=0.875):
        self.size, self.short = size, int(round(size / crop_share))

    def __call__(self, image):
        image = image.convert("RGB")
        share = self.short / min(image.size)
        image = image.resize(tuple(int(round(side * share)) for side in image.size), resample=3)
        left, top = ((side - self.size) // 2 for side in image.size)
        return to_tensor(image.crop((left, top, left + self.size, top + self.size)))


pretrain_transform = PretrainTransform()
