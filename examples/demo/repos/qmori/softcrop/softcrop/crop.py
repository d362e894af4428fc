"""The soft crop: a random resized crop that prefers large areas."""

import math
import random


def sample_area(scale, temper):
    """Share of the image area, Beta(temper, 1) stretched over `scale`: temper > 1 prefers large crops."""
    low, high = scale
    return low + (high - low) * random.betavariate(temper, 1.0)


def soft_crop_box(width, height, scale=(0.4, 1.0), ratio=(3 / 4, 4 / 3), temper=2.0, tries=10):
    """(left, top, width, height) of a crop; the whole image if nothing fits after `tries`."""
    log_ratio = (math.log(ratio[0]), math.log(ratio[1]))
    for _ in range(tries):
        area = width * height * sample_area(scale, temper)
        aspect = math.exp(random.uniform(*log_ratio))
        w = int(round(math.sqrt(area * aspect)))
        h = int(round(math.sqrt(area / aspect)))
        if 0 < w <= width and 0 < h <= height:
            return random.randint(0, width - w), random.randint(0, height - h), w, h
    return 0, 0, width, height


class SoftCrop:
    def __init__(self, size, scale=(0.4, 1.0), ratio=(3 / 4, 4 / 3), temper=2.0):
        self.size, self.scale, self.ratio, self.temper = size, scale, ratio, temper

    def __call__(self, image):
        left, top, w, h = soft_crop_box(*image.size, self.scale, self.ratio, self.temper)
        return image.resize((self.size, self.size), resample=3, box=(left, top, left + w, top + h))
