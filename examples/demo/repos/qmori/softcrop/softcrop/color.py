"""Mild colour changes; each is applied on its own coin."""

import random

from PIL import ImageEnhance, ImageFilter


class GentleColor:
    """Brightness, contrast and saturation within `strength` of 1, each with probability `p`."""

    def __init__(self, strength=0.2, p=0.5):
        self.strength, self.p = strength, p

    def _factor(self):
        return random.uniform(1 - self.strength, 1 + self.strength)

    def __call__(self, image):
        for enhancer in (ImageEnhance.Brightness, ImageEnhance.Contrast, ImageEnhance.Color):
            if random.random() < self.p:
                image = enhancer(image).enhance(self._factor())
        return image


class GentleBlur:
    """Gaussian blur with a small radius, with probability `p`."""

    def __init__(self, radius=(0.1, 0.8), p=0.1):
        self.radius, self.p = radius, p

    def __call__(self, image):
        if random.random() >= self.p:
            return image
        return image.filter(ImageFilter.GaussianBlur(random.uniform(*self.radius)))
