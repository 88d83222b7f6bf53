#!/usr/bin/env python3
"""What one switch of a recorded configuration space changes: the ratio of the times of every pair of configurations that differ in that switch alone.

Where the switch touches little of the work, the spread of the ratios says how well the recorded times repeat: clocks that change during a campaign
show here. SPACE: a file as in DATA/spaces (gzipped CSV with kernel_id, gpu, parameters, time_ms, status).

usage: switch.py SPACE.csv.gz SWITCH [NAME=VALUE...]     only configurations with these values
"""
import csv
import gzip
import math
import statistics
import sys


def main(path, switch, *only):
    with gzip.open(path, "rt", newline="") as file:
        rows = [r for r in csv.DictReader(file) if r["status"] == "ok"]
    if not rows or switch not in rows[0]:
        sys.exit(f"switch.py: {path} has no parameter {switch}")
    for condition in only:
        name, _, value = condition.partition("=")
        rows = [r for r in rows if r.get(name) == value]
    rest = [k for k in rows[0] if k not in (switch, "time_ms", "status")] if rows else []
    pairs = {}
    for r in rows:
        pairs.setdefault(tuple(r[k] for k in rest), []).append((r[switch], float(r["time_ms"])))
    logs = [math.log(b[1] / a[1]) for a, b in (sorted(p) for p in pairs.values() if len(p) == 2)]
    if not logs:
        sys.exit(f"switch.py: no pair of configurations differs in {switch} alone")
    size = sorted(abs(x) for x in logs)
    print(f"{rows[0]['gpu']}, {switch}: {len(logs)} pairs, median factor {math.exp(statistics.median(size)):.3f}, "
          f"nine in ten within {math.exp(size[int(0.9 * len(size))]):.3f}")
    for low, high in ((0, 0.6), (0.6, 0.8), (0.8, 1 / 1.1), (1 / 1.1, 1.1), (1.1, 1.25), (1.25, 1.67), (1.67, math.inf)):
        n = sum(low <= math.exp(x) < high for x in logs)
        print(f"  ratio {low:.2f} to {high:.2f}: {n} ({100 * n / len(logs):.0f} %)")


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
