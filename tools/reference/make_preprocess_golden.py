#!/usr/bin/env python3
"""Writes tests/media/data/preprocess_golden.json: what transformers' Pillow-based processors make of
small computed pictures under many configurations.

    python3 tools/reference/make_preprocess_golden.py > tests/media/data/preprocess_golden.json

Needs transformers, numpy and Pillow (made with 5.24.0, 2.4.6 and 13.0.0). The picture of a case is
level(row, column, channel) = (7 row + 13 column + 29 channel + 5 ((row * column) mod 31)) mod 256.
Pillow 13 runs the vertical pass first for some shapes; a case of such a shape is refused here, so that
the file does not depend on Pillow's version.
"""
import json
import math
import sys

import numpy as np
from transformers.models.clip.image_processing_pil_clip import CLIPImageProcessorPil
from transformers.models.vit.image_processing_pil_vit import ViTImageProcessorPil

CLASSES = {"ViTImageProcessor": ViTImageProcessorPil, "CLIPImageProcessor": CLIPImageProcessorPil}
EVEN = {"image_mean": [0.5, 0.5, 0.5], "image_std": [0.5, 0.5, 0.5]}

# (height, width), configuration as in a preprocessor_config.json
CASES = [
    ((30, 40), {"image_processor_type": "ViTImageProcessor"}),
    ((30, 40), {"image_processor_type": "ViTImageProcessor", "size": 32}),
    ((30, 40), {"image_processor_type": "ViTImageProcessor", "size": {"height": 20, "width": 30},
                "resample": 3}),
    ((30, 40), {"image_processor_type": "ViTImageProcessor", "do_resize": False}),
    ((30, 40), {"image_processor_type": "ViTImageProcessor", "size": {"height": 16, "width": 16},
                "do_rescale": False}),
    ((30, 40), {"image_processor_type": "ViTImageProcessor", "size": {"height": 16, "width": 16},
                "do_normalize": False}),
    ((30, 40), {"image_processor_type": "ViTImageProcessor", "size": {"height": 16, "width": 16},
                "rescale_factor": 0.01, "image_mean": [0.1, 0.2, 0.3], "image_std": [0.4, 0.5, 0.6]}),
    ((30, 40), {"image_processor_type": "CLIPImageProcessor"}),
    ((40, 30), {"image_processor_type": "CLIPImageProcessor", "size": 45, "crop_size": 40}),
    ((33, 50), {"image_processor_type": "CLIPImageProcessor", "size": {"shortest_edge": 24},
                "crop_size": {"height": 24, "width": 24}}),
    ((50, 33), {"image_processor_type": "CLIPImageProcessor", "size": {"shortest_edge": 37},
                "crop_size": {"height": 31, "width": 28}, "resample": 2}),
    ((29, 53), {"image_processor_type": "CLIPImageProcessor", "size": {"shortest_edge": 23},
                "do_center_crop": False}),
    # Crops larger than the picture, in one direction, the other, both; odd differences.
    ((30, 40), {"image_processor_type": "CLIPImageProcessor", "size": {"shortest_edge": 20},
                "crop_size": {"height": 27, "width": 17}, **EVEN}),
    ((41, 30), {"image_processor_type": "CLIPImageProcessor", "size": {"shortest_edge": 21},
                "crop_size": {"height": 18, "width": 30}}),
    ((30, 40), {"image_processor_type": "CLIPImageProcessor", "size": {"shortest_edge": 20},
                "crop_size": {"height": 33, "width": 40}}),
    ((30, 40), {"image_processor_type": "CLIPImageProcessor", "do_resize": False,
                "crop_size": {"height": 35, "width": 21}}),
    ((1, 1), {"image_processor_type": "CLIPImageProcessor", "size": {"shortest_edge": 5},
              "crop_size": {"height": 4, "width": 4}}),
    ((1, 90), {"image_processor_type": "CLIPImageProcessor", "size": {"shortest_edge": 7},
               "crop_size": {"height": 7, "width": 9}}),
]


def picture(height, width):
    row, column, channel = np.meshgrid(np.arange(height), np.arange(width), np.arange(3),
                                       indexing="ij")
    return ((7 * row + 13 * column + 29 * channel + 5 * ((row * column) % 31)) % 256).astype(np.uint8)


def refuse_version_dependent(size, config, processor):
    if not processor.do_resize:
        return
    height, width = size
    wanted = dict(processor.size)
    if wanted.get("shortest_edge"):
        edge = wanted["shortest_edge"]
        short, long = min(size), max(size)
        new_long = int(edge * long / short)
        out = (new_long, edge) if width <= height else (edge, new_long)
    else:
        out = (wanted["height"], wanted["width"])
    if height - out[0] > max(0, 2 * (width - out[1])):
        sys.exit(f"{size} {config}: Pillow 13 would run the vertical pass first")


def main():
    from PIL import Image

    cases = []
    for (height, width), config in CASES:
        arguments = {k: v for k, v in config.items() if k != "image_processor_type"}
        processor = CLASSES[config["image_processor_type"]](**arguments)
        refuse_version_dependent((height, width), config, processor)
        pixels = processor(Image.fromarray(picture(height, width)), return_tensors="np")
        values = np.asarray(pixels["pixel_values"][0], dtype=np.float32)
        step = max(1, math.isqrt(values.shape[1] * values.shape[2] // 20))
        if step % 2 == 0:
            step += 1
        cases.append({
            "input": [height, width],
            "config": config,
            "shape": list(values.shape),
            "mean": float(values.astype(np.float64).mean()),
            "step": step,
            "values": [float(v) for v in values[:, ::step, ::step].ravel()],
        })
    lines = ",\n  ".join(json.dumps(case) for case in cases)
    print('{"cases": [\n  ' + lines + "\n]}")


if __name__ == "__main__":
    main()
