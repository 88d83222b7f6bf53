#!/usr/bin/env python3
"""Kernel Tuner's simulation mode on recorded spaces: its strategies against `ForecastFirst` at equal budgets.

    tools/validate/kernel_tuner_replay.py DATA SOURCES [--program PROGRAM] [--most N] [--repeats N] [--only PART] > table.md

DATA and SOURCES as for replay.py. A space is cut to a box: random values of random parameters are dropped (seed 1) until `--most`
configurations are left, so that each still has its neighbors, which local searches need. Failures are included; all strategies search the
same box. The figure is the mean over `--repeats` seeds of best found time / best of the box - 1, at most 1000 %. Forecasts are made once,
before the search; the order of ForecastFirst has no seed.
"""
import argparse
import contextlib
import io
import json
import os
import random
import sys
import tempfile

import kernel_tuner
from kernel_tuner.strategies.wrapper import OptAlgWrapper

from kernelcast.kernel_tuner import ForecastFirst
from recorded_spaces import FAILED, RAN, SPACES, Space

STRATEGIES = ("random_sample", "genetic_algorithm", "greedy_mls")
BUDGETS = (5, 10, 20, 40)


def box_of(space, most):
    """Rows of a box of at most so many configurations."""
    rng = random.Random(1)
    rows = [r for r in space.rows if r["status"] in (RAN, FAILED)]
    while len(rows) > most:
        values = {n: sorted({r[n] for r in rows}, key=int) for n in space.names}
        name = rng.choice([n for n in space.names if len(values[n]) > 1])
        dropped = rng.choice(values[name])
        left = [r for r in rows if r[name] != dropped]
        if len(left) >= most / 2:  # not most of them at once
            rows = left
    return rows


def cache_of(space, sample, path):
    """The sample as a cache file of Kernel Tuner's version 1."""
    entries = {}
    for row in sample:
        values = dict(zip(space.names, space.key(row)))
        time = float(row["time_ms"]) if row["status"] == RAN else FAILED
        entries[",".join(map(str, values.values()))] = {**values, "time": time, "compile_time": 0, "verification_time": 0, "benchmark_time": 0, "strategy_time": 0,
                                                        "framework_time": 0, "timestamp": "2000-01-01 00:00:00"}
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"device_name": space.gpu, "kernel_name": "kernel", "problem_size": [1, 1], "tune_params_keys": space.names,
                   "tune_params": {n: sorted({int(r[n]) for r in sample}) for n in space.names}, "objective": "time", "cache": entries}, file)


def searched(space, sample, path, strategy, budget, seed):
    """The best time in milliseconds."""
    known = {space.key(row) for row in sample}

    def in_sample(p):  # a plain function: Kernel Tuner reads the source of lambdas, and takes only some
        return tuple(int(p[n]) for n in space.names) in known

    random.seed(seed)
    with contextlib.redirect_stdout(io.StringIO()):
        results, _ = kernel_tuner.tune_kernel(
            "kernel", 'extern "C" __global__ void kernel() {}', (1, 1), [], {n: sorted({int(r[n]) for r in sample}) for n in space.names},
            restrictions=[in_sample], strategy=strategy, strategy_options={"max_fevals": budget},
            cache=path, simulation_mode=True, lang="CUDA", quiet=True, seed=seed)
    times = [r["time"] for r in results if isinstance(r["time"], (int, float))]
    return min(times) if times else float("inf")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data")
    parser.add_argument("sources")
    parser.add_argument("--program", default="build/bin/kernelcast")
    parser.add_argument("--most", type=int, default=200)
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    print("| space | configurations | budget | ForecastFirst | random | genetic | greedy |\n|---|---:|---:|---:|---:|---:|---:|")
    for name in (s for s in SPACES if args.only in s):
        space = Space(args.data, name)
        sample = box_of(space, args.most)
        forecasts = {key: (b["time_s"], b["limiter"]) for key, b in space.predicted(space.tune(args.program, args.sources, sample)).items()}
        best = min(float(r["time_ms"]) for r in sample if r["status"] == RAN)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "cache.json")
            for budget in BUDGETS:
                cells = []
                for strategy in (OptAlgWrapper(ForecastFirst(forecasts)), *STRATEGIES):
                    losses = []
                    for seed in range(args.repeats if isinstance(strategy, str) else 1):
                        cache_of(space, sample, path)
                        losses.append(min(searched(space, sample, path, strategy, budget, seed) / best - 1, 10))
                    cells.append(f"{100 * sum(losses) / len(losses):.1f} %")
                print(f"| {name} | {len(sample)} of {len(space.rows)} | {budget} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    sys.exit(main())
