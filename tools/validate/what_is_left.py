#!/usr/bin/env python3
"""Where the error of the model `kernelcast` is: `fit_model rows ROWS FACTS | tools/validate/what_is_left.py [--learn]`

Prints gMAE (families, then pairs of kernel and GPU, as docs/reference/validate.md defines it) of all rows that count, without those
off by more than a factor of two, without the A100, without AMD's GPUs too, and as if each pair's median were known.
--learn (scikit-learn, from PyPI): what gradient boosting makes of a row's bounds, hit rates, occupancy and launch where it has
never seen the row's kernel: had the model overlooked something that kernels have in common, its error would become smaller.
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


def features(row, bounds):
    values = [float(row[b]) for b in bounds]
    most = max(values)
    threads = math.prod(int(n) for n in row["block"].split("x"))
    blocks = max(0.5, float(row["resident"]))
    rest = [math.log(float(row["predicted_us"]) / most), math.log2(blocks), math.log2(threads), math.log2(blocks * threads),
            math.log2(int(row["block"].split("x")[0])), float(row["hit1"]), float(row["hit2"]), math.log2(float(row["rounds"])),
            math.log2(1 + float(row["path"])), float(row["registers"]), float(float(row["barriers"]) > 0)]
    return [v / most for v in values] + rest


def learn(rows):
    import numpy
    from sklearn.ensemble import GradientBoostingRegressor

    header = list(rows[0])
    bounds = header[header.index("issue"):header.index("latency") + 1]
    x = numpy.array([features(row, bounds) for row in rows])
    y = numpy.clip([row["error"] for row in rows], -0.8, 0.8)  # a few rows are off by up to fifty times
    count = defaultdict(int)
    for row in rows:
        count[row["pair"]] += 1
    weight = numpy.array([1 / count[row["pair"]] for row in rows])
    for of in ("kernel", "family"):
        key = [row["kernel"] if of == "kernel" else row["kernel"].split("_")[0] for row in rows]
        left = numpy.array([row["error"] for row in rows])
        for k in sorted(set(key)):
            held = numpy.array([name == k for name in key])
            tree = GradientBoostingRegressor(n_estimators=150, max_depth=3, learning_rate=0.05, subsample=0.7,
                                             loss="absolute_error", random_state=0)
            tree.fit(x[~held], y[~held], sample_weight=weight[~held])
            left[held] -= tree.predict(x[held])
        show(f"learned without the {of}", rows, left)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--learn", action="store_true")
    args = parser.parse_args()
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
    if args.learn:
        learn(rows)


if __name__ == "__main__":
    main()
