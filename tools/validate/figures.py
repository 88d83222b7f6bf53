#!/usr/bin/env python3
"""The figures of every measured set in one table, from outputs of `kernelcast validate --format json` and the pages of the others.

    tools/validate/figures.py PROGRAMS.json MODERN.json OLDER.json [--counters CSV --kernels CSV]

PROGRAMS.json, MODERN.json and OLDER.json are what programs.py, modern.py and validate.py keep with --json; the kernels of
validation/published.md count as that page has them. --counters and --kernels are as programs.py takes them, for FLOPs. A cell names what
it holds: of the older rows those that count, of the modern ones families alike, warm rows included and without them."""

import argparse
import collections
import json
import math
import os
import re
import sys

import modern
import programs

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def half_width(estimates):
    return math.exp(programs.at([math.log(high / low) / 2 for low, high in estimates], 0.5))


def of_programs(value, counters, kernels):
    rows = [programs.Row(v) for v in value["rows"] if v["models"].get("kernelcast", {}).get("time_s")]
    named = lambda score: f"{score[2]}; {score[3]} %; {score[4]} %; {score[5]} %; {score[7]}"
    yield "programs", "launches with a forecast", f"{len(rows)} of {len(value['rows'])}"
    what = "gMAE; median error; within 2x; inside the interval; its half width"
    yield "", f"{what}: all", named(programs.score(rows))
    for basis in programs.CLASSES:
        yield "", f"the same: {basis}", named(programs.score([r for r in rows if r.basis == basis]))
    known = [r for r in rows if r.basis != "defaults" and r.measured >= 20e-6]
    yield "", "gMAE, no defaults, at least 20 us", programs.score(known)[2]
    if counters:
        for line in programs.flops(value, counters, kernels).splitlines()[2:]:
            basis, number, _, near, _ = [cell.strip() for cell in line.strip("|").split("|")]
            yield "", f"FLOPs within 5 %: {basis}", f"{near} % of {number}"


def of_modern(value):
    families, cold, every, inside, widths = collections.defaultdict(list), collections.defaultdict(list), [], [], []
    failed = 0
    for row in value["rows"]:
        estimate = row["models"]["kernelcast"]
        if modern.LEFT_OUT & set(row["flags"]) or row["status"] != "ok":
            continue
        if not estimate.get("time_s"):
            failed += 1
            continue
        error = math.log(estimate["time_s"] / row["measured_s"])
        families[row["kernel_id"].split("_")[0]].append(error)
        if "l2_resident" not in row["flags"]:
            cold[row["kernel_id"].split("_")[0]].append(error)
        every.append(abs(math.expm1(error)))
        low, high = estimate["interval_s"]
        inside.append(low <= row["measured_s"] <= high)
        widths.append((low, high))
    mean = lambda of: math.exp(sum(math.log(modern.factor(e)) for e in of.values()) / len(of))
    yield "tensor-core era", "rows with a forecast", f"{len(every)} of {len(every) + failed}"
    yield "", "gMAE of families; without warm rows", f"{mean(families):.2f}; {mean(cold):.2f}"
    yield "", "median error; inside; half width", (f"{100 * modern.median(every):.0f} %; {100 * programs.mean(inside):.1f} %; "
                                                   f"{half_width(widths):.2f}")


def of_older(value):
    m = value["models"]["kernelcast"]
    widths = [row["models"]["kernelcast"]["interval_s"] for row in value["rows"]
              if not row["excluded"] and row["models"].get("kernelcast", {}).get("time_s")]
    yield "older rows", "gMAE; median error; Spearman", f"{m['gmae']:.2f}; {100 * m['median_ape']:.1f} %; {m['spearman_median']:.2f}"
    yield "", "inside; half width", f"{100 * m['interval_coverage']:.1f} %; {half_width(widths):.2f}"
    yield "", "median top-1 regret; signs of ratios right", f"{100 * m['top1_regret_median']:.1f} %; {100 * m['ratio_sign_accuracy']:.1f} %"


def of_published():
    with open(os.path.join(ROOT, "validation", "published.md"), encoding="utf-8") as file:
        found = re.findall(r"### (.*)\n(?:.*\n)*?.*a factor of ([\d.]+),", file.read())
    for k, (name, factor) in enumerate(found):
        yield "" if k else "published times", name, factor


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("programs", "modern", "older"):
        parser.add_argument(name)
    parser.add_argument("--counters")
    parser.add_argument("--kernels")
    options = parser.parse_args()
    if bool(options.counters) != bool(options.kernels):
        parser.error("--counters and --kernels go together")
    print("| set | measure | value |\n|---|---|---|")
    for lines in (of_programs(load(options.programs), options.counters, options.kernels), of_modern(load(options.modern)),
                  of_older(load(options.older)), of_published()):
        for line in lines:
            print("| " + " | ".join(line) + " |")


if __name__ == "__main__":
    sys.exit(main())
