#!/usr/bin/env python3
"""Replays tuning spaces that others measured: what would have been lost by taking kernelcast's first choice?

    tools/validate/replay.py DATA SOURCES [--program PROGRAM] [--sample N] [--seed N] [--only PART] [--jobs N] > table.md

DATA holds kernels.csv, rows.csv, spaces/*.csv.gz and spaces/*.t1.json as docs/reference/validate.md describes them. A space is
replayed on a random sample of its configurations (all with --sample 0) and up to half as many of the recorded failures; the
best measured time is that of the sample. Loss: time of the choice over the best, minus 1. Random search at the same
budget is the exact expectation over draws without replacement. One choice is a coarse figure: "halves" is the mean loss of
the first choice (and of the best of five) over 400 random halves of the sample, each as a space of its own. "As many
random tries" is the smallest number of tries with which random search loses no more than that over the same halves.
"""

import argparse
import json
import random
import sys
import time

from recorded_spaces import FAILED, RAN, SPACES, Space


def expected_loss(times, budget):
    """Of the best of `budget` random draws without replacement."""
    times = sorted(times)
    n, total, left = len(times), 0.0, 1.0
    for i, t in enumerate(times):  # the probability that the i-th best is the best of the draws
        p = left * budget / (n - i) if n - i > 0 else 0
        p = min(p, left)
        total += p * (t / times[0] - 1)
        left -= p
    return total


def halves_of(configurations, draws=400, seed=5):
    generator = random.Random(seed)
    return [generator.sample(configurations, max(1, len(configurations) // 2)) for _ in range(draws)]


def over_halves(halves):
    """Mean loss of the first choice and of the best of five; configurations are (forecast or None, measured)."""
    first, five = 0.0, 0.0
    for half in halves:
        best = min(measured for _, measured in half)
        order = [measured for forecast, measured in sorted((c for c in half if c[0] is not None))]
        if not order:  # everything was refused: as if the slowest were taken
            order = [max(measured for _, measured in half)]
        first += order[0] / best - 1
        five += min(order[:5]) / best - 1
    return first / len(halves), five / len(halves)


def tries_of_random_search(halves, loss):
    """Smallest number of random tries whose mean loss over the halves is at most `loss`."""
    times = [[measured for _, measured in half] for half in halves]
    for budget in range(1, len(times[0])):
        if sum(expected_loss(t, budget) for t in times) / len(times) <= loss:
            return budget
    return len(times[0])  # all of them


def ranks(values):
    order = sorted(range(len(values)), key=lambda i: values[i])
    out, i = [0.0] * len(values), 0
    while i < len(order):
        j = i
        while j + 1 < len(order) and values[order[j + 1]] == values[order[i]]:
            j += 1
        for k in range(i, j + 1):
            out[order[k]] = (i + j) / 2
        i = j + 1
    return out


def spearman(a, b):
    ra, rb = ranks(a), ranks(b)
    mean = (len(a) - 1) / 2
    top = sum((x - mean) * (y - mean) for x, y in zip(ra, rb))
    va, vb = sum((x - mean) ** 2 for x in ra), sum((y - mean) ** 2 for y in rb)
    return top / (va * vb) ** 0.5 if va and vb else 0.0


def chosen(rows, sample, seed):
    """Configurations that ran, and beside them at most half as many that failed when they were launched."""
    generator = random.Random(seed)
    good = [r for r in rows if r["status"] == RAN]
    failed = [r for r in rows if r["status"] == FAILED]
    if sample:
        generator.shuffle(good)
        generator.shuffle(failed)
        failed = failed[:sample // 2]
        good = good[:sample]
    return good + failed


def replay(args, name, out):
    space = Space(args.data, name)
    sample = chosen(space.rows, args.sample, args.seed)
    flags = ["--jobs", str(args.jobs)] if args.jobs else []
    if args.model:
        flags += ["--model", args.model]
    start = time.time()
    try:
        answer = space.tune(args.program, args.sources, sample, *flags)
    except RuntimeError as error:
        print(error, file=sys.stderr)
        return
    predicted = space.predicted(answer)
    points, known, recalled, failed, refused_good = [], [], 0, 0, 0
    for r in sample:
        b = predicted.get(space.key(r))
        if r["status"] == RAN:
            known.append((b["time_s"] if b else None, float(r["time_ms"]) * 1e-3))
        if r["status"] != RAN:
            failed += 1
            recalled += b is None
        elif b is None:
            refused_good += 1
        else:
            points.append((b["time_s"], float(r["time_ms"]) * 1e-3))
    good = [float(r["time_ms"]) * 1e-3 for r in sample if r["status"] == RAN]
    best = min(good)
    order = sorted(points)
    halves = halves_of(known)
    first_loss, five_loss = over_halves(halves)
    row = {
        "space": name, "all": len(space.rows), "n": len(sample), "first": order[0][1] / best - 1,
        "five": min(m for _, m in order[:5]) / best - 1, "halves": first_loss, "halves5": five_loss,
        "half": len(halves[0]), "tries": tries_of_random_search(halves, first_loss),
        "tries5": tries_of_random_search(halves, five_loss),
        "random1": expected_loss(good, 1), "random5": expected_loss(good, 5),
        "spearman": spearman([p for p, _ in points], [m for _, m in points]), "ratio": order[0][0] / order[0][1],
        "failed": failed, "recalled": recalled, "good": len(good), "refused_good": refused_good,
        "seconds": time.time() - start, "compiled": answer["analyses"]["compiled"],
        "reasons": answer["devices"][0]["infeasible"],
    }
    out.append(row)
    print(json.dumps(row), file=sys.stderr, flush=True)


def percent(x):
    return f"{100 * x:.1f} %"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data")
    parser.add_argument("sources")
    parser.add_argument("--program", default="build/bin/kernelcast")
    parser.add_argument("--sample", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=0)
    parser.add_argument("--model", default="")
    args = parser.parse_args()
    out = []
    for name in SPACES:
        if args.only in name:
            replay(args, name, out)
    print("| space | configurations | first choice | best of five | halves, first | halves, five | random, 1 try | random, 5 tries | as many random tries as the first | as the five | Spearman | failures refused | good ones refused |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
    for r in out:
        failures = f"{r['recalled']} of {r['failed']}" if r["failed"] else "none recorded"
        print(f"| {r['space']} | {r['n']} of {r['all']} | {percent(r['first'])} | {percent(r['five'])} | "
              f"{percent(r['halves'])} | {percent(r['halves5'])} | {percent(r['random1'])} | "
              f"{percent(r['random5'])} | {r['tries']} of {r['half']} | {r['tries5']} of {r['half']} | {r['spearman']:.2f} | {failures} | {r['refused_good']} of {r['good']} |")


if __name__ == "__main__":
    main()
