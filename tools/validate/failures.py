#!/usr/bin/env python3
"""Compares kernelcast's refusals with recorded launches. Counts the refused launches among those that failed for lack of
resources, those that did not compile and those that ran, and the failures among launches that were given a probability.

    tools/validate/failures.py DATA SOURCES [--program PROGRAM] [--sample N] [--seed N] [--only PART] [--jobs N] [--ptxas FILE] [--nvrtc LIBRARY] > table.md

DATA and SOURCES as for tools/validate/replay.py. Of each space up to N failures are drawn, up to N launches that ran with blocks
for which the largest number of registers does not fit, and up to N / 4 of the other launches that ran, where registers can
be no reason; rates are weighted by the sizes of these groups.

--ptxas FILE and --nvrtc LIBRARY have kernelcast take registers from NVIDIA's assembler, or from its run-time compiler
(CUDA C++ alone: spaces of OpenCL C are left out), without a GPU. A configuration takes 1 to 15 seconds of processor time.
"""

import argparse
import json
import os
import random
import sys

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


def measure(args, name):
    space = Space(args.data, name)
    drawn = list(groups(space, args.sample, args.seed))
    flags = ["--risk", "1"]
    for flag, value in (("--jobs", args.jobs), ("--ptxas", args.ptxas), ("--nvrtc", args.nvrtc)):
        flags += [flag, str(value)] if value else []
    answer = space.tune(args.program, args.sources, [r for _, rows, _ in drawn for r in rows], *flags)
    predicted = space.predicted(answer)
    compiled = [space.key(r) not in predicted for name, rows, _ in drawn if name == "did not compile" for r in rows]
    points = []  # probability (1: refused for a reason that is no matter of chance), failed, weight
    for name, rows, size in drawn:
        if name == "did not compile":
            continue
        for r in rows:
            b = predicted.get(space.key(r))
            points.append((1.0 if b is None else b["probability_cannot_run"], r["status"] == FAILED, size / len(rows)))
    return points, compiled, answer["devices"][0]["infeasible"]


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
    print(f"| space | failed, refused at risk {args.risk} | did not compile, refused | ran, refused at risk {args.risk} |")
    print("|---|---:|---:|---:|")
    for name in SPACES:
        if args.only not in name:
            continue
        try:
            points, compiled, reasons = measure(args, name)
        except RuntimeError as error:
            print(error, file=sys.stderr)
            continue
        print(f"{name}: {reasons}", file=sys.stderr)
        did_not = f"{sum(compiled)} of {len(compiled)}" if compiled else "none recorded"
        print(f"| {name} | {share(points, True, args.risk)} | {did_not} | {share(points, False, args.risk)} |", flush=True)
        everything += points
    if not everything:
        return
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
