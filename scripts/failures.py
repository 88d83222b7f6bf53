#!/usr/bin/env python3
"""Holds kernelcast's refusals against recorded launches: how many of those that failed for lack of resources are refused,
how many that did not compile, how many of those that ran, and how often launches failed that were given a probability.

    scripts/failures.py DATA SOURCES [--program PROGRAM] [--sample N] [--seed N] [--only PART] [--jobs N] [--ptxas FILE] [--nvrtc LIBRARY] > table.md

DATA and SOURCES as for scripts/replay.py. Of each space up to N failures are drawn, up to N launches that ran with blocks
for which the largest number of registers does not fit, and up to N / 4 of the other launches that ran, where registers can
be no reason; rates are weighted by the sizes of these groups.

--ptxas FILE has kernelcast take registers from NVIDIA's assembler. --nvrtc LIBRARY (libnvrtc.so of a CUDA toolkit) also compiles each configuration drawn of failures and large blocks by NVIDIA's
own compiler, without a GPU, and says which do not fit with the registers that it took: what could be known before a launch.
A configuration takes 1 to 15 seconds of processor time.
"""

import argparse
import collections
import json
import math
import os
import random
import struct
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))
import nvrtc
from recorded_spaces import FAILED, RAN, SPACES, Space

# A block of more threads does not fit with the 255 registers that a thread may have: 65,536 / 256, on every NVIDIA GPU of
# the recorded spaces.
THREADS_OF_MOST_REGISTERS = 256
BINS = (0, 0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 1.01)


def groups(space, sample, seed):
    """Name, configurations drawn, configurations in all."""
    generator = random.Random(seed)
    large = lambda r: space.threads(r) > THREADS_OF_MOST_REGISTERS
    for name, rows, most in (
            ("failed", [r for r in space.rows if r["status"] == FAILED], sample),
            ("ran, large blocks", [r for r in space.rows if r["status"] == RAN and large(r)], sample),
            ("ran, others", [r for r in space.rows if r["status"] == RAN and not large(r)], sample // 4),
            ("did not compile", [r for r in space.rows if r["status"] not in (FAILED, RAN)], sample)):
        generator.shuffle(rows)
        yield name, rows[:most], len(rows)


def registers_by(compiler, path, kernel, target, flags):
    """Registers a thread of the code that NVIDIA's compiler makes, or its messages."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    try:
        return registers_in(compiler.cubin(text, path, [f"--gpu-architecture={target}", *flags]), kernel)
    except nvrtc.Failed as messages:
        return str(messages)


def registers_in(cubin, kernel):
    """Of an ELF file of NVIDIA's: the highest byte of sh_info of the section that holds the kernel's code."""
    start, = struct.unpack_from("<Q", cubin, 0x28)
    size, count, names = struct.unpack_from("<HHH", cubin, 0x3A)
    text, = struct.unpack_from("<Q", cubin, start + names * size + 0x18)
    for section in range(start, start + count * size, size):
        at = text + struct.unpack_from("<I", cubin, section)[0]
        name = cubin[at:cubin.index(b"\0", at)].decode()
        if name.startswith(".text.") and kernel in name:
            return struct.unpack_from("<I", cubin, section + 0x2C)[0] >> 24
    raise RuntimeError(f"no code of {kernel}")


def fits(limits, registers, threads):
    """Whether a block has its registers, allocated by warps, each in one of the unit's partitions (src/model/occupancy.cpp)."""
    unit, granularity = limits["register_allocation_unit"], limits["warp_allocation_granularity"]
    of_warp = math.ceil(registers * 32 / unit) * unit
    return limits["registers_per_unit"] // of_warp // granularity * granularity >= math.ceil(threads / 32)


def by_compiler(args, space, drawn, predicted):
    """Rows of a table: of each class of block sizes, what is refused by either and what is not."""
    device = json.loads(subprocess.run([args.program, "devices", space.gpu, "--format", "json"], capture_output=True,
                                       text=True, check=True).stdout)["devices"][0]
    limits = {f["key"]: f["value"] for f in device["fields"] if f["section"] == "limits"}
    compiler = nvrtc.Nvrtc(args.nvrtc)
    kernel = space.kernel
    wrapper = os.path.join(space.data, kernel["wrapper"])
    table = collections.defaultdict(collections.Counter)
    for name, rows, _ in drawn:
        if name not in ("failed", "ran, large blocks"):
            continue
        for r in rows:
            defines = {**space.values(r), **dict(d.split("=") for d in kernel["fixed_defines"].split(";") if d)}
            flags = [f"-I{args.sources}", *(f"-D{k}={v}" for k, v in defines.items())]
            registers = registers_by(compiler, wrapper, kernel["entry"], device["codegen_target"], flags)
            threads = space.threads(r)
            row = table[next(most for most in (384, 512, 768, 1024) if threads <= most)]
            failed = "failed" if r["status"] == FAILED else "ran"
            answer = predicted.get(space.key(r))
            row[failed] += 1
            row[failed, "ours"] += answer is None or answer["probability_cannot_run"] > args.risk
            row[failed, "theirs"] += isinstance(registers, str) or not fits(limits, registers, threads)
            print(space.name, space.key(r), failed, threads, registers, answer and answer["probability_cannot_run"],
                  file=sys.stderr, flush=True)
    return table


def measure(args, name):
    space = Space(args.data, name)
    drawn = list(groups(space, args.sample, args.seed))
    flags = ["--risk", "1"] + (["--jobs", str(args.jobs)] if args.jobs else []) + (["--ptxas", args.ptxas] if args.ptxas else [])
    answer = space.tune(args.program, args.sources, [r for _, rows, _ in drawn for r in rows], *flags)
    predicted = space.predicted(answer)
    compiled = [space.key(r) not in predicted for name, rows, _ in drawn if name == "did not compile" for r in rows]
    classes = by_compiler(args, space, drawn, predicted) if args.nvrtc else {}
    points = []  # probability (1: refused for a reason that is no matter of chance), failed, weight
    for name, rows, size in drawn:
        if name == "did not compile":
            continue
        for r in rows:
            b = predicted.get(space.key(r))
            points.append((1.0 if b is None else b["probability_cannot_run"], r["status"] == FAILED, size / len(rows)))
    return points, compiled, classes, answer["devices"][0]["infeasible"]


def share(points, failed, risk):
    """Of the launches that failed (ran): refused, all, and the share that the weights say."""
    of = [(p, w) for p, f, w in points if f == failed]
    refused = [(p, w) for p, w in of if p > risk]
    if not of:
        return "none recorded"
    return f"{len(refused)} of {len(of)} ({100 * sum(w for _, w in refused) / sum(w for _, w in of):.1f} %)"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data")
    parser.add_argument("sources")
    parser.add_argument("--program", default="build/bin/kernelcast")
    parser.add_argument("--sample", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--risk", type=float, default=0.5)
    parser.add_argument("--jobs", type=int, default=0)
    parser.add_argument("--ptxas", default="")
    parser.add_argument("--nvrtc", default="")
    args = parser.parse_args()
    everything = []
    everything_compiled = collections.defaultdict(collections.Counter)
    print(f"| space | failed, refused at risk {args.risk} | did not compile, refused | ran, refused at risk {args.risk} |")
    print("|---|---:|---:|---:|")
    for name in SPACES:
        if args.only not in name:
            continue
        try:
            points, compiled, classes, reasons = measure(args, name)
        except RuntimeError as error:
            print(error, file=sys.stderr)
            continue
        print(f"{name}: {reasons}", file=sys.stderr)
        did_not = f"{sum(compiled)} of {len(compiled)}" if compiled else "none recorded"
        print(f"| {name} | {share(points, True, args.risk)} | {did_not} | {share(points, False, args.risk)} |", flush=True)
        everything += points
        for most, row in classes.items():
            everything_compiled[most].update(row)
    if not everything:
        return
    if everything_compiled:
        print("\n| threads of a block | failed | refused by kernelcast | by NVIDIA's compiler | ran | refused by kernelcast | by NVIDIA's compiler |")
        print("|---|---:|---:|---:|---:|---:|---:|")
        for most, row in sorted(everything_compiled.items()):
            columns = [row[kind] for k in ("failed", "ran") for kind in (k, (k, "ours"), (k, "theirs"))]
            print(f"| up to {most} | " + " | ".join(map(str, columns)) + " |")
    print("\n| probability said | configurations drawn | failed, weighted share |")
    print("|---|---:|---:|")
    for low, high in zip(BINS, BINS[1:]):
        inside = [(f, w) for p, f, w in everything if low <= p < high]
        if inside:
            failed = 100 * sum(w for f, w in inside if f) / sum(w for _, w in inside)
            print(f"| {low} to {min(high, 1)} | {len(inside)} | {failed:.1f} % |")
    total = sum(w for _, _, w in everything)
    print(f"\nMean squared error of the probability: {sum(w * (p - f) ** 2 for p, f, w in everything) / total:.4f}; "
          f"of the constant {sum(w for _, f, w in everything if f) / total:.4f}: "
          f"{(lambda m: m * (1 - m))(sum(w for _, f, w in everything if f) / total):.4f}")


if __name__ == "__main__":
    main()
