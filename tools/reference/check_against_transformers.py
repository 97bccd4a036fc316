#!/usr/bin/env python3
"""Runs one picture through vivace and through Hugging Face transformers and compares them.

    pip install torch transformers safetensors pillow
    tools/reference/check_against_transformers.py --vivace build/release/vivace \
        --model build/demo/ijepa-vits16 photo.jpg

Any I-JEPA folder will do, a published one too. Prints the largest differences of pixels, tokens and
pooled embedding, and fails when the pixels differ by more than 1e-6 or the tokens by more than 2e-4
of their standard deviation (the bound of the reference cases: float32 summed in another order stays
far below it, the smallest wrong formula known exceeds it).
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

import numpy
import torch
import transformers
from PIL import Image
from safetensors.numpy import load_file


def reference(folder: str, picture: str):
    """pixels [1, 3, H, W] and tokens [1, N, D] of the Pillow-based processor and IJepaModel."""
    processor_class = getattr(
        transformers, "ViTImageProcessorPil", transformers.ViTImageProcessor
    )
    processor = processor_class.from_pretrained(folder)
    model = transformers.IJepaModel.from_pretrained(folder, attn_implementation="eager")
    model.eval()
    image = Image.open(picture).convert("RGB")
    pixels = processor(image, return_tensors="pt")["pixel_values"]
    with torch.no_grad():
        tokens = model(pixels).last_hidden_state
    return pixels.numpy(), tokens.numpy()


def ours(vivace: str, folder: str, picture: str):
    with tempfile.TemporaryDirectory() as scratch:
        out = pathlib.Path(scratch) / "out.safetensors"
        subprocess.run(
            [vivace, "embed", "--model", folder, picture, "--emit", "pixels,tokens,pooled",
             "--quiet", "-o", str(out)],
            check=True,
        )
        return load_file(out)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--vivace", default="build/release/vivace")
    parser.add_argument("--model", required=True)
    parser.add_argument("picture")
    arguments = parser.parse_args()

    got = ours(arguments.vivace, arguments.model, arguments.picture)
    pixels, tokens = reference(arguments.model, arguments.picture)
    pixel_error = float(numpy.abs(got["pixels"] - pixels).max())
    token_error = float(numpy.abs(got["tokens"] - tokens).max())
    pooled_error = float(numpy.abs(got["pooled"] - tokens.mean(axis=1)).max())
    bound = 2e-4 * float(tokens.std())
    print(f"pixels {pixel_error:.2e} (bound 1e-06), tokens {token_error:.2e} (bound {bound:.2e}), "
          f"pooled {pooled_error:.2e}")
    return 0 if pixel_error <= 1e-6 and token_error <= bound and pooled_error <= bound else 1


if __name__ == "__main__":
    sys.exit(main())
