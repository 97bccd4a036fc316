#!/usr/bin/env python3
"""Compares vivace's encoder forward with PyTorch's, in turns, on the same shapes and threads.

Both run a vision transformer encoder (layers and final norm, no patch embedding) with random
weights in float32. PyTorch runs transformers' IJepaModel, not compiled, with its default attention.
Rounds alternate, so that a neighbour's load falls on both; a round is the median of --inner passes.
Printed: the median over rounds of each, and the median of the rounds' ratios (below 1: vivace is
faster).

  cmake --preset release && cmake --build build/release --target vivace_bench_vit_forward
  python3 bench/compare_torch.py --bench build/release/bench/vivace_bench_vit_forward \
      --threads 1 2 [--width 384 --depth 12 --heads 6 --mlp 1536 --grid 14 --rounds 7 --inner 5]

Needs torch, transformers. Give it a quiet machine; quote ratios, not milliseconds.
"""

import argparse
import re
import statistics
import subprocess
import time


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bench", required=True, help="the vivace_bench_vit_forward binary")
    parser.add_argument("--width", type=int, default=384)
    parser.add_argument("--depth", type=int, default=12)
    parser.add_argument("--heads", type=int, default=6)
    parser.add_argument("--mlp", type=int, default=1536)
    parser.add_argument("--grid", type=int, default=14, help="tokens are GRID x GRID")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--inner", type=int, default=5, help="forward passes per round")
    parser.add_argument("--target", default="", help="instruction set for vivace, e.g. AVX2")
    return parser.parse_args()


def torch_encoder(args):
    """A function that runs the encoder once."""
    import torch
    from transformers import IJepaConfig, IJepaModel

    config = IJepaConfig(hidden_size=args.width, num_hidden_layers=args.depth,
                         num_attention_heads=args.heads, intermediate_size=args.mlp,
                         patch_size=16, image_size=16 * args.grid, layer_norm_eps=1e-6)
    model = IJepaModel(config).eval()
    hidden = torch.randn(1, args.grid**2, args.width)
    # transformers 5 keeps the layers on the model itself or on its encoder.
    encoder = getattr(model, "encoder", model)
    layers = getattr(encoder, "layers", None) or encoder.layer

    def forward():
        with torch.inference_mode():
            x = hidden
            for layer in layers:
                x = layer(x)
                x = x[0] if isinstance(x, tuple) else x
            return model.layernorm(x)

    return forward


def torch_ms(forward, inner):
    times = []
    for _ in range(inner):
        start = time.perf_counter()
        forward()
        times.append(1e3 * (time.perf_counter() - start))
    return statistics.median(times)


def vivace_ms(args, threads):
    command = [args.bench, args.width, args.depth, args.heads, args.mlp, args.grid**2, threads,
               args.inner] + ([args.target] if args.target else [])
    text = subprocess.run([str(part) for part in command], check=True, capture_output=True,
                          text=True).stdout
    return float(re.search(r"median_ms ([0-9.]+)", text).group(1))


def main():
    args = parse()
    import torch

    forward = torch_encoder(args)
    print(f"width {args.width} depth {args.depth} heads {args.heads} mlp {args.mlp} "
          f"tokens {args.grid**2}, torch {torch.__version__}")
    for threads in args.threads:
        torch.set_num_threads(threads)
        for _ in range(2):
            forward()
        ours, theirs = [], []
        for _ in range(args.rounds):
            theirs.append(torch_ms(forward, args.inner))
            ours.append(vivace_ms(args, threads))
        ratio = statistics.median(a / b for a, b in zip(ours, theirs))
        print(f"threads {threads}: vivace {statistics.median(ours):.1f} ms (min {min(ours):.1f}), "
              f"torch {statistics.median(theirs):.1f} ms (min {min(theirs):.1f}), "
              f"ratio {ratio:.2f}", flush=True)


if __name__ == "__main__":
    main()
