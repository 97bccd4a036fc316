#!/usr/bin/env python3
"""Writes tests/model/data/interpolation_golden.json: position tables resampled by torch itself.

Run with torch and numpy (any recent version; the figures are float32 on the CPU):

    python tools/reference/make_interpolation_golden.py

Each case holds a table [in_h, in_w, D] of small numbers with exact decimals and what
torch.nn.functional.interpolate(mode="bicubic", align_corners=False) makes of it.
"""

import json
import pathlib

import numpy as np
import torch

CASES = [
    # in (height, width), out (height, width), D
    ((4, 4), (4, 4), 3),
    ((4, 4), (6, 8), 3),
    ((4, 4), (2, 3), 3),
    ((4, 4), (4, 7), 1),
    ((5, 5), (9, 1), 2),
    ((14, 14), (10, 20), 1),
    ((1, 1), (3, 2), 2),
    ((2, 2), (5, 5), 1),
]


def numbers(array: np.ndarray) -> list[float]:
    # Nine digits tell float32 values apart.
    return [float(f"{value:.9g}") for value in array.ravel()]


def main() -> None:
    generator = np.random.default_rng(20260101)
    cases = []
    for (in_h, in_w), (out_h, out_w), width in CASES:
        table = generator.integers(-4096, 4097, (in_h, in_w, width)) / 1024
        channels_first = torch.tensor(table, dtype=torch.float32).permute(2, 0, 1)[None]
        resampled = torch.nn.functional.interpolate(
            channels_first, size=(out_h, out_w), mode="bicubic", align_corners=False
        )
        cases.append(
            {
                "in": [in_h, in_w],
                "out": [out_h, out_w],
                "width": width,
                "table": numbers(table),
                "resampled": numbers(resampled[0].permute(1, 2, 0).numpy()),
            }
        )
    root = pathlib.Path(__file__).resolve().parents[2]
    path = root / "tests" / "model" / "data" / "interpolation_golden.json"
    lines = ",\n".join("  " + json.dumps(case) for case in cases)
    path.write_text('{"torch": "%s", "cases": [\n%s\n]}\n' % (torch.__version__.split("+")[0], lines))


if __name__ == "__main__":
    main()
