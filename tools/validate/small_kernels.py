#!/usr/bin/env python3
"""Copies of 1.5 MB to 4 GB, one after another in a CUDA or HIP graph, on six GPUs, as te42kyfo/gpu-benches publishes them, against the
default model: what the caches hold of the launch before, and what they copy.

    tools/validate/small_kernels.py FOLDER [--program build/bin/kernelcast] [--rows FOLDER]

FOLDER is a checkout of gpu-benches; the files gpu-small-kernels/*_graph.txt are read. Prints a table by GPU and by how full the last cache
is. A time is the published one without that of the smallest copy, with the model's time of an empty grid instead: the distance of two
launches in a graph is not the duration that a profiler sees. --rows keeps the rows, kernels and source for `fit_model`, which fitted
`l2_duplex`, `swept_share`, `swept_share_of_parts` and the power of capacity.cpp to them (validation/fit.md)."""

import argparse
import collections
import csv
import json
import math
import os
import subprocess
import sys
import tempfile

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
EMPTY_S = 2.545e-6  # Constants::launch_s
# file, device, bytes of the last cache, column of each block size
SETS = [
    ("a100_80_graph", "nvidia-a100-sxm4-80gb", 40 * 2**20, {1024: 8}),
    ("h200_graph", "nvidia-h200", 50 * 2**20, {256: 3, 1024: 5}),
    ("a40_graph", "nvidia-a40", 6 * 2**20, {256: 3, 1024: 5}),
    ("l40_graph", "nvidia-l40", 96 * 2**20, {256: 3, 1024: 5}),
    ("mi210_graph", "amd-instinct-mi210", 8 * 2**20, {256: 4, 1024: 6}),
    ("rx6900xt_graph", "amd-radeon-rx-6900-xt", 128 * 2**20, {256: 3, 1024: 5}),
]
SOURCE = """__global__ void copy(double* __restrict__ to, const double* __restrict__ from, int size) {
  const int i = threadIdx.x + blockIdx.x * blockDim.x;
  if (i < size) to[i] = from[i] * 0.25;
}
"""
ROW = ["kernel_id", "gpu", "grid_x", "grid_y", "grid_z", "block_x", "block_y", "block_z", "time_ms", "dyn_smem_bytes", "args", "buffers",
       "buffer_elem_bytes", "dataset", "problem", "cache_state"]


def rows(folder):
    for name, device, cache, columns in SETS:
        with open(os.path.join(folder, "gpu-small-kernels", name + ".txt"), encoding="utf-8") as file:
            lines = [line.split() for line in file if line.strip()]
        seconds = lambda line, column: int(line[0]) * 16 / float(line[2 + column]) * 1e-9
        for block, column in columns.items():
            for line in lines[::6]:
                size = int(line[0])
                if size * 16 < 1.5e6:
                    continue
                time = seconds(line, column) - seconds(lines[0], column) + EMPTY_S
                yield {"kernel_id": "copy_hip" if device.startswith("amd") else "copy_cuda", "gpu": device, "grid_x": size // block + 1,
                       "grid_y": 1, "grid_z": 1, "block_x": block, "block_y": 1, "block_z": 1, "time_ms": repr(time * 1e3),
                       "dyn_smem_bytes": 0, "args": f"size={size}", "buffers": f"to={size};from={size}", "buffer_elem_bytes": "to=8;from=8",
                       "dataset": "gpu-benches", "problem": f"{size * 16 / cache}", "cache_state": "warm"}


def write(folder, data):
    for ending in ("cu", "hip"):
        with open(os.path.join(folder, "copy." + ending), "w", encoding="utf-8") as file:
            file.write(SOURCE)
    with open(os.path.join(folder, "kernels.csv"), "w", encoding="utf-8", newline="") as file:
        out = csv.writer(file)
        out.writerow(["id", "language", "path", "entry", "cache_state"])
        out.writerows([["copy_cuda", "cuda", "copy.cu", "copy", "warm"], ["copy_hip", "hip", "copy.hip", "copy", "warm"]])
    with open(os.path.join(folder, "rows.csv"), "w", encoding="utf-8", newline="") as file:
        out = csv.DictWriter(file, ROW)
        out.writeheader()
        out.writerows(data)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--program", default=os.path.join(ROOT, "build", "bin", "kernelcast"))
    parser.add_argument("--rows")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.rows or temporary
        os.makedirs(folder, exist_ok=True)
        write(folder, rows(options.folder))
        result = os.path.join(temporary, "result.json")
        subprocess.run([os.path.abspath(options.program), "validate", "rows.csv", "--kernels", "kernels.csv", "--sources", ".", "--model",
                        "kernelcast", "--format", "json", "-o", result], check=True, cwd=folder)
        with open(result, encoding="utf-8") as file:
            found = json.load(file)["rows"]
    errors, inside = collections.defaultdict(list), []
    for row in found:
        model, full = row["models"]["kernelcast"], float(row["problem"])
        where = 0 if full < 0.75 else 1 if full < 2 else 2
        errors[row["gpu"], where].append(math.log(model["time_s"] / row["measured_s"]))
        inside.append(model["interval_s"][0] <= row["measured_s"] <= model["interval_s"][1])
    print("| GPU | below 0.75 of the last cache | 0.75 to 2 | above 2 |\n|---|---|---|---|")
    text = lambda e: f"{math.exp(sum(map(abs, e)) / len(e)):.2f} ({math.expm1(sum(e) / len(e)):+.0%}), {len(e)}" if e else ""
    for _, device, _, _ in SETS:
        print(f"| {device} | " + " | ".join(text(errors[device, k]) for k in range(3)) + " |")
    every = [sum(map(abs, e)) / len(e) for e in errors.values()]
    print(f"\nMean error (factor), its bias and the number of sizes and blocks; all of them alike {math.exp(sum(every) / len(every)):.3f}, "
          f"{sum(inside) / len(inside):.0%} inside the 90 % interval.")


if __name__ == "__main__":
    sys.exit(main())
