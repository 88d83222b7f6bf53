#!/usr/bin/env python3
"""Widths of the 90 % interval by what bounds a launch, from measured rows.

    tools/validate/interval.py SET.json...

A SET is what `kernelcast validate --format json --model kernelcast` wrote. Every set weighs alike, within it every family of kernels (the
part of the id before the first "_"). The half width of a row is

    sqrt(base^2 + others^2),   base = sum over kinds of bounds of share * width(kind)

where `share` is the kind's part of the time (the launch's seconds; of the rest, seconds to the eighth power, so that bounds far below the
largest do not count) and `others` what widens the interval besides (unknown numbers of the device, data; as printed by this version).
Widths minimise the pinball loss at nine tenths over rows that count, with counts in closed form and without local memory. Then each family is left
out in turn and the width of the others is asked whether it holds its rows. The same for the width of counts that rest on defaults, added
in quadrature. Standard library only.
"""
import argparse
import json
import math
import sys
from collections import defaultdict

KINDS = {"dram_bandwidth": "stream", "l1": "cache", "l2": "cache", "l3": "cache", "latency": "path", "atomics": "path",
         "launch": "launch", "launch_overhead": "launch"}  # all others: pipes
NAMES = ["pipes", "stream", "cache", "path", "launch"]
POWER = 8
QUANTILE = 0.9
WIDEST = 0.9  # of what widens an interval besides and is no local memory


def kinds_of(bounds, total):
    launch = sum(s for b, s in bounds.items() if KINDS.get(b) == "launch" and s)
    rest = {b: s for b, s in bounds.items() if KINDS.get(b) != "launch" and s and b != "floor"}
    largest = max(rest.values(), default=1)
    powers = {b: (s / largest) ** POWER for b, s in rest.items()}
    together = sum(powers.values()) or 1
    launched = min(1, launch / total)
    share = dict.fromkeys(NAMES, 0.0)
    for b, p in powers.items():
        share[KINDS.get(b, "pipes")] += (1 - launched) * p / together
    share["launch"] = launched if rest else 1
    return [share[n] for n in NAMES]


def rows_of(path, number):
    with open(path) as file:
        value = json.load(file)
    for row in value["rows"]:
        model = row["models"].get("kernelcast") or {}
        if row["excluded"] or not model.get("time_s") or not row["measured_s"] or not model.get("bounds"):
            continue
        shares = kinds_of({b["name"]: b["time_s"] for b in model["bounds"]}, model["time_s"])
        base = sum(s * w for s, w in zip(shares, PRINTED))
        below, above = model["interval_s"]
        width = math.log(min(model["time_s"] / below, above / model["time_s"]))  # one side may reach farther: clock, spills, unreached code
        yield {"family": f"{number}:{row['kernel_id'].split('_')[0]}", "error": abs(math.log(model["time_s"] / row["measured_s"])),
               "shares": shares, "basis": row["counts_basis"],
               "others2": max(0.0, width * width - base * base), "set": number}


def weigh(rows):
    families = defaultdict(int)
    for r in rows:
        families[r["family"]] += 1
    per_set = defaultdict(set)
    for f in families:
        per_set[f.split(":")[0]].add(f)
    for r in rows:
        r["weight"] = 1 / families[r["family"]] / len(per_set[r["family"].split(":")[0]])


def half_width(row, widths):
    base = sum(s * w for s, w in zip(row["shares"], widths))
    return math.sqrt(base * base + row["others2"])


def loss(rows, widths):
    total = 0
    for r in rows:
        d = r["error"] - half_width(r, widths)
        total += r["weight"] * (QUANTILE * d if d > 0 else (QUANTILE - 1) * d)
    return total


def fit(rows, start):
    widths, best, step = list(start), loss(rows, start), 0.16
    while step > 0.008:
        better = False
        for i in range(len(widths)):
            for by in (step, -step):
                tried = [max(0.02, w + by) if j == i else w for j, w in enumerate(widths)]
                value = loss(rows, tried)
                if value < best - 1e-9:
                    widths, best, better = tried, value, True
        if not better:
            step /= 2
    return widths


def inside(rows, width_of):
    """Shares of rows and, every family alike, of families' rows inside, and the median width."""
    hit = [r["error"] <= width_of(r) for r in rows]
    weight = sum(r["weight"] for r in rows)
    widths = sorted(width_of(r) for r in rows)
    return (100 * sum(hit) / len(rows), 100 * sum(r["weight"] for r, h in zip(rows, hit) if h) / weight, math.exp(widths[len(widths) // 2]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("sets", nargs="+", metavar="SET.json")
    parser.add_argument("--printed", default="0.44,0.22,0.58,0.58,0.58",
                        help="widths of the version that wrote the sets: " + ", ".join(NAMES))
    parser.add_argument("--printed-defaults", type=float, default=1.12, help="likewise the width of counts that rest on defaults")
    args = parser.parse_args()
    global PRINTED
    PRINTED = [float(x) for x in args.printed.split(",")]
    if len(PRINTED) != len(NAMES):
        sys.exit("--printed takes a number each for " + ", ".join(NAMES))
    every = [r for i, path in enumerate(args.sets) for r in rows_of(path, i)]
    rows = [r for r in every if r["basis"] == "closed form" and r["others2"] < WIDEST ** 2]
    weigh(rows)
    widths = fit(rows, [0.5] * len(NAMES))
    print("widths:", ", ".join(f"{n} {w:.2f}" for n, w in zip(NAMES, widths)))
    outside = {}
    for family in sorted({r["family"] for r in rows}):
        outside[family] = fit([r for r in rows if r["family"] != family], widths)
    for n, i in zip(NAMES, range(len(NAMES))):
        print(f"  {n} with each family left out: {min(w[i] for w in outside.values()):.2f} to {max(w[i] for w in outside.values()):.2f}")
    for number, path in enumerate(args.sets):
        of_set = [r for r in rows if r["set"] == number]
        print(f"{path}: {len(of_set)} rows in closed form; inside with their family left out: %.1f %% of rows, %.1f %% with families alike; "
              "median factor %.2f" % inside(of_set, lambda r: half_width(r, outside[r["family"]])))
    defaults = [r for r in every if r["basis"] == "defaults"]
    if defaults:
        weigh(defaults)
        for r in defaults:
            r["others2"] = max(0.0, r["others2"] - args.printed_defaults ** 2)

        def needed(rows):
            sizes = sorted((max(0.0, r["error"] ** 2 - half_width(r, widths) ** 2), r["weight"]) for r in rows)
            total, seen = sum(w for _, w in sizes), 0
            for size, w in sizes:
                seen += w
                if seen >= QUANTILE * total:
                    return math.sqrt(size)
            return 0.0

        left_out = {f: needed([r for r in defaults if r["family"] != f]) for f in {r["family"] for r in defaults}}
        print(f"defaults: {len(defaults)} rows, width in quadrature {needed(defaults):.2f}, with each family left out "
              f"{min(left_out.values()):.2f} to {max(left_out.values()):.2f}")
        print("  inside with their family left out: %.1f %% of rows, %.1f %% with families alike; median factor %.2f" %
              inside(defaults, lambda r: math.hypot(half_width(r, widths), left_out[r["family"]])))


if __name__ == "__main__":
    main()
