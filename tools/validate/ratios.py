#!/usr/bin/env python3
"""Errors of forecast ratios of two launches, by how much the shares change that bounds have of their sum.

    tools/validate/ratios.py PROGRAMS.json MODERN.json OLDER.json

The files are outputs of `kernelcast validate --format json`. Pairs are those of one kernel on one GPU, in the modern rows also those of
kernels of one family on one GPU and problem, of public programs those of one program; at most 400 of a group, drawn at random. Rows that a
flag leaves out, that use local memory, and pairs of equal forecasts do not count. Prints for each kind of pair the sizes of ln(measured ratio /
forecast ratio) that half and nine in ten of the pairs keep to, and the share inside the interval of `check`."""

import collections
import itertools
import json
import math
import random
import sys

LIMITS = [0, 0.01, 0.03, 0.06, 0.12, 0.25, 0.5, 2]
MOST = 400  # pairs of a group


def rows_of(path, group):
    groups = collections.defaultdict(list)
    with open(path, encoding="utf-8") as file:
        rows = json.load(file)["rows"]
    for row in rows:
        model = row["models"].get("kernelcast") or {}
        used = row["resources"]
        if row["excluded"] or not model.get("time_s") or used["stack_bytes"] + used["spill_bytes"] > 0:
            continue
        bounds = {b["name"]: b["time_s"] for b in model["bounds"] if b["name"] != "floor"}
        whole = sum(bounds.values()) or 1
        groups[group(row)].append((row["measured_s"], model["time_s"], {name: t / whole for name, t in bounds.items()}))
    return groups


def interval(change):
    """src/model/ratio_error.cpp: a Cauchy distribution's nine in ten."""
    return (0.03 + 0.07 * min(1, change / 0.12)) * math.tan(0.45 * math.pi)


def table(groups):
    errors = collections.defaultdict(list)
    for rows in groups.values():
        pairs = list(itertools.combinations(rows, 2))
        for a, b in random.sample(pairs, min(MOST, len(pairs))):
            if a[1] == b[1]:
                continue
            change = max(abs(a[2].get(n, 0) - b[2].get(n, 0)) for n in {*a[2], *b[2]})
            error = abs(math.log(a[0] / b[0]) - math.log(a[1] / b[1]))
            errors[max(l for l in LIMITS if change >= l)].append((error, error <= interval(change)))
    for least, of in sorted(errors.items()):
        sizes = sorted(e for e, _ in of)
        yield (f"| {least} | {len(of)} | {sizes[len(of) // 2]:.3f} | {sizes[int(0.9 * len(of))]:.3f} | "
               f"{100 * sum(inside for _, inside in of) / len(of):.0f} % |")


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    random.seed(1)
    programs, modern, older = sys.argv[1:]
    family = lambda r: r["kernel_id"].split("_")[0]
    for title, path, group in [
        ("One kernel, until 2017", older, lambda r: (r["kernel_id"], r["gpu"])),
        ("One kernel, tensor-core era", modern, lambda r: (r["kernel_id"], r["gpu"])),
        ("Versions, tensor-core era", modern, lambda r: (family(r), r["gpu"], r["problem"])),
        ("Kernels of a public program", programs, lambda r: (family(r), r["gpu"])),
    ]:
        print(f"{title}\n\n| change, at least | pairs | half within | nine in ten within | inside the interval |\n|---|---|---|---|---|")
        print("\n".join(table(rows_of(path, group))) + "\n")


if __name__ == "__main__":
    sys.exit(main())
