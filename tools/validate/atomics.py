#!/usr/bin/env python3
"""Cycles between two updates of one word of global memory, from public micro-benchmarks (validation/atomics.csv), with each GPU left out.
Writes validation/atomics.md.

    tools/validate/atomics.py [--programs FILE] [--print]

--programs: output of `tools/validate/programs.py --json FILE`, whose kernels that update memory stand on the page, too. No figure of
theirs is in the cycles; what was taken from them is said there.
"""

import argparse
import collections
import csv
import json
import math
import os
import sys
import textwrap

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
DATA, PAGE = (os.path.join(ROOT, "validation", "atomics" + end) for end in (".csv", ".md"))
KERNELS = ("atomicPerf", "rfs_sumArray", "atomicReduction", "histogram")


def geometric(values):
    values = list(values)
    return math.exp(sum(map(math.log, values)) / len(values))


def read():
    with open(DATA, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for r in rows:
        beyond = 1.15 if "1.15" in r["clock"] else 1
        r["cycles"] = float(r["clock_hz"]) * beyond * float(r["seconds"]) / float(r["updates"])
    return rows


def by(rows, key):
    groups = collections.defaultdict(list)
    for r in rows:
        groups[key(r)].append(r)
    return groups


def of_gpus(rows):
    return {gpu: geometric(r["cycles"] for r in g) for gpu, g in by(rows, lambda r: r["gpu"]).items()}


def of_generations(rows):
    return {name: geometric(of_gpus(g).values()) for name, g in by(rows, lambda r: r["generation"]).items()}


def left_out(values):
    """Per name the mean of the others, and its error."""
    return {name: (geometric(v for n, v in values.items() if n != name), value) for name, value in values.items()}


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|---" + "|---:" * (len(head) - 1) + "|"]
    return "\n".join(lines + ["| " + " | ".join(r) + " |" for r in rows]) + "\n"


def measured(rows, first):
    return table([first, "GPU", "bytes", "updates", "ms", "clock, GHz", "cycles"],
                 [[r["source"], r["gpu"], r["width"], f"{int(r['updates']):,}", f"{1e3 * float(r['seconds']):.3f}",
                   f"{float(r['clock_hz']) / 1e9:.3f}" + (" x 1.15" if "1.15" in r["clock"] else ""), f"{r['cycles']:.2f}"]
                  for r in rows])


def omitted(values, first):
    return table([first, "cycles", "mean of the others", "error, %"],
                 [[name, f"{own:.2f}", f"{rest:.2f}", f"{100 * (rest / own - 1):+.0f}"] for name, (rest, own) in left_out(values).items()])


def of_programs(path):
    with open(path, encoding="utf-8") as file:
        value = json.load(file)
    rows = by([v for v in value["rows"] if v["kernel_id"].startswith(KERNELS) and v["models"]["kernelcast"].get("time_s")],
              lambda v: v["kernel_id"])
    return [[name, f"{1e6 * geometric(v['measured_s'] for v in g):.1f}",
             f"{1e6 * geometric(v['models']['kernelcast']['time_s'] for v in g):.1f}",
             f"{geometric(v['models']['kernelcast']['time_s'] / v['measured_s'] for v in g):.2f}",
             g[0]["models"]["kernelcast"]["limiter"]] for name, g in sorted(rows.items())]


def page(programs):
    rows = read()
    integers = [r for r in rows if r["kind"] == "integer"]
    reals = [r for r in rows if r["kind"] == "real"]
    fill = lambda text: textwrap.fill(text, 120) + "\n"
    parts = [
        "# Atomics on one word of global memory",
        "",
        fill("Made by `tools/validate/atomics.py`. All lanes of all warps update one word; the time over the number of updates, in cycles "
             "of the clock that the model takes (the rated boost clock, times 1.15 on cards that exceed their rating)."),
        "## Integers",
        "",
        fill("R100001/Programming-Massively-Parallel-Processors, nvbench, `histogram_bench`: all keys are 0 and no compiler knows it. The "
             f"mean of the GPUs, {geometric(of_gpus(integers).values()):.2f}, is the constant `update_cycles`."),
        measured(integers, "source"),
        omitted(of_gpus(integers), "GPU left out"),
        "## Floating-point numbers",
        "",
        fill("ptheywood/atomicAddBench, `readme.md`, Linux. The generation's mean is `latency.atomic_real_cycles` of its device files; "
             f"generations that were not measured get the mean of the generations, {geometric(of_generations(reals).values()):.2f}. 32 and "
             "64 bits take the same time."),
        measured(reals, "source"),
        omitted(of_generations(reals), "generation left out"),
    ]
    if programs:
        parts += [
            "## Kernels of public programs",
            "",
            fill("RTX 3080 at its base clock ([programs](programs.md)). Their times are in no figure above: Ampere GA10x was not measured "
                 "for floating point, so it gets the mean of the others. Two things were read off `atomicPerf`, from its kernels on 32 and on "
                 "256 doubles in global memory: that 512 bytes meet in one place of the L2 (2 KB before; with `atomicPerf` left out it would "
                 "still be 2 KB, and its kernel on 256 doubles 4.1 times too slow), and that a place adds one floating-point number per cycle. "
                 "That warps of a block that retry in shared memory need half as many attempts as there are warps follows from fairness and has no "
                 "constant, but was settled on with the two contended shared kernels in view: those are no check of it."),
            table(["kernel", "measured, us", "forecast, us", "forecast over measured", "binding bound"], of_programs(programs)),
        ]
    return "\n".join(parts)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs")
    parser.add_argument("--print", action="store_true", dest="show")
    options = parser.parse_args()
    text = page(options.programs)
    if options.show:
        print(text, end="")
        return
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(text)


if __name__ == "__main__":
    sys.exit(main())
