#!/usr/bin/env python3
"""Where the error of the model `kernelcast` is: `fit_model rows ROWS FACTS | tools/validate/what_is_left.py`

Prints gMAE (families, then pairs of kernel and GPU, as docs/reference/validate.md defines it) of all rows that count, without those
off by more than a factor of two, without the A100, without AMD's GPUs too, and as if each pair's median were known.
"""

import argparse
import csv
import math
import statistics
import sys
from collections import defaultdict

EXCLUDED = ("launch_overhead", "near_launch_floor", "replicate", "out_of_range_access")


def read(file):
    rows = []
    for row in csv.DictReader(file):
        if any(flag in row["flags"] for flag in EXCLUDED):
            continue
        row["error"] = math.log(float(row["measured_us"]) / float(row["predicted_us"]))
        row["pair"] = row["kernel"], row["gpu"]
        rows.append(row)
    return rows


def gmae(rows, errors):
    pairs = defaultdict(list)
    for row, error in zip(rows, errors):
        pairs[row["pair"]].append(abs(error))
    families = defaultdict(list)
    for (kernel, _), values in pairs.items():
        families[kernel.split("_")[0]].append(statistics.fmean(values))
    means = {family: statistics.fmean(values) for family, values in families.items()}
    return math.exp(statistics.fmean(means.values())), {family: math.exp(mean) for family, mean in means.items()}


def show(name, rows, errors):
    score, families = gmae(rows, errors)
    print(f"{name:34s} {len(rows):5d} rows  gMAE {score:.3f}  " + " ".join(f"{k} {v:.3f}" for k, v in sorted(families.items())))


def centred(rows):
    of_pair = defaultdict(list)
    for row in rows:
        of_pair[row["pair"]].append(row["error"])
    return [row["error"] - statistics.median(of_pair[row["pair"]]) for row in rows]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.parse_args()
    rows = read(sys.stdin)
    if not rows:
        sys.exit("what_is_left.py: no rows on standard input; it reads what `fit_model rows` prints")
    error = lambda some: [row["error"] for row in some]
    show("all", rows, error(rows))
    near = [row for row in rows if abs(row["error"]) <= math.log(2)]
    show("within a factor of two", near, error(near))
    without = [row for row in rows if "a100" not in row["gpu"]]
    show("without the A100", without, error(without))
    nvidia = [row for row in without if row["gpu"].startswith("nvidia")]
    show("without the A100 and AMD", nvidia, error(nvidia))
    show("each pair's median known", rows, centred(rows))


if __name__ == "__main__":
    main()
