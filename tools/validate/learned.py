#!/usr/bin/env python3
"""Would a learned correction of the forecasts hold where it was not learned?

    tools/validate/learned.py PROGRAMS.json MODERN.json OLDER.json [--program PROGRAM] [--devices-dir DIR]

The three files are outputs of `kernelcast validate --format json`. Gradient boosting (scikit-learn, from PyPI) learns
ln(measured / forecast) of every row from its bounds relative to the forecast, its counts per warp instruction and byte, its launch,
its registers and its GPU's numbers. Then every program (older rows: kernel; tensor-core rows: family) is left out in turn, and every
GPU. It takes ten minutes. Sets weigh alike, programs within a set, pairs of kernel and GPU within a program. Printed: gMAE of each set over programs, by the
forecast and by the corrected forecast, in sample and left out.

Variants: `bounds` sees only bounds and launch; `all` sees everything; `monotone` is `all` with a correction that may not fall where a bound grows
relative to the forecast.
"""

import argparse
import collections
import json
import math
import subprocess
import sys

NUMBERS = ["units", "fp32_lanes_per_unit", "boost_clock_hz", "dram_bandwidth_bytes_per_s", "l2_bytes", "shared_bytes_per_unit",
           "l2_bandwidth_bytes_per_s", "dram_latency_cycles", "warp_size", "year", "max_warps_per_unit"]


def log(value):
    return math.log(max(value, 1e-12))


def program_of(number, kernel):
    return f"{number}:" + kernel.replace("-", "_").split("_")[0]


def numbers_of(program, device, cache):
    if device not in cache:
        run = subprocess.run([program, "devices", device, "--format", "json"], capture_output=True, text=True, check=False)
        fields = json.loads(run.stdout)["devices"][0]["fields"] if run.returncode == 0 else []
        values = {f["key"]: f["value"] for f in fields if isinstance(f.get("value"), (int, float))}
        cache[device] = {n: log(values[n]) if n in values else math.nan for n in NUMBERS}
    return cache[device]


def features(row, model, device):
    """By name, so that the columns are those that any row has: a bound or a class of instructions is in no list here."""
    time = model["time_s"]
    counts, launch = row["counts"], row["launch"]
    mix, warps = counts["warp_instructions"], max(1, counts["warps"])
    every = max(1, sum(mix.values()))
    traffic = sum(m["bytes"] for m in counts["memory"] if m["space"] == "global")
    footprint, resources = counts["footprint_bytes"], row["resources"]
    threads = math.prod(launch["block"])
    return {
        "bounds": {b["name"]: b["time_s"] / time for b in model["bounds"] if b["time_s"]},
        "launch": {"time": log(time), "blocks": log(counts["blocks"]), "threads": log(threads), "x": log(launch["block"][0]),
                   "instructions": log(every / warps)},
        "mix": {name: n / every for name, n in mix.items()},
        "rest": {"traffic": log(traffic), "footprint": log(footprint), "reuse": log(traffic / max(1, footprint)),
                 "barriers": log(counts["barriers"] / warps), "registers": resources["registers_per_thread"],
                 "shared": log(1 + resources["shared_bytes_per_block"]), "spills": log(1 + resources["spill_bytes"]),
                 "warm": row["cache_state"] == "warm", "defaults": row["counts_basis"] == "defaults",
                 "executed": row["counts_basis"] == "executed"},
        "device": device,
    }


def table(rows, parts):
    """Columns of the named parts, and how many of them are bounds (they come first)."""
    names = [(p, n) for p in parts for n in sorted({n for r in rows for n in r["features"][p]})]
    return [[float(r["features"][p].get(n, 0)) for p, n in names] for r in rows], sum(p == "bounds" for p, _ in names)


def read(paths, program, directory):
    rows, cache = [], {}
    for number, path in enumerate(paths):
        with open(path, encoding="utf-8") as file:
            value = json.load(file)
        for row in value["rows"]:
            model = row["models"].get("kernelcast") or {}
            if row["excluded"] or row["status"] != "ok" or not model.get("time_s"):
                continue
            name = f"{directory}/{row['gpu']}" if row["gpu"].endswith(".toml") else row["gpu"]
            rows.append({"set": number, "program": program_of(number, row["kernel_id"]), "gpu": row["device"],
                         "pair": (row["kernel_id"], row["gpu"]), "error": math.log(row["measured_s"] / model["time_s"]),
                         "features": features(row, model, numbers_of(program, name, cache))})
    return rows


def weights(rows):
    pairs, programs, sets = collections.Counter(), collections.defaultdict(set), collections.defaultdict(set)
    for r in rows:
        pairs[r["pair"]] += 1
        programs[r["program"]].add(r["pair"])
        sets[r["set"]].add(r["program"])
    return [1 / pairs[r["pair"]] / len(programs[r["program"]]) / len(sets[r["set"]]) for r in rows]


def gmae(rows, left, weight):
    sums, total = collections.defaultdict(float), collections.defaultdict(float)
    for r, e, w in zip(rows, left, weight):
        sums[r["set"]] += w * abs(e)
        total[r["set"]] += w
    by_set = [math.exp(sums[s] / total[s]) for s in sorted(sums)]
    return by_set, math.exp(sum(math.log(g) for g in by_set) / len(by_set))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs=3)
    parser.add_argument("--program", default="build/bin/kernelcast")
    parser.add_argument("--devices-dir", default=".", help="folder of device files that rows name (*.toml)")
    args = parser.parse_args()
    import numpy
    from sklearn.ensemble import HistGradientBoostingRegressor

    rows = read(args.sets, args.program, args.devices_dir)
    weight = numpy.array(weights(rows))
    y = numpy.array([r["error"] for r in rows])
    groups = {"program": [r["program"] for r in rows], "GPU": [r["gpu"] for r in rows]}
    print(f"{len(rows)} rows, {len(set(groups['program']))} programs, {len(set(groups['GPU']))} GPUs\n")
    print("| correction | left out | programs | tensor-core era | older | mean of sets | gain |\n|---|---|---:|---:|---:|---:|---:|")

    def show(name, out, left):
        by_set, mean = gmae(rows, left, weight)
        if name == "none":
            show.base = mean
        gain = 100 * (1 - math.log(mean) / math.log(show.base))
        print(f"| {name} | {out} | " + " | ".join(f"{g:.3f}" for g in by_set) + f" | {mean:.3f} | {gain:.0f} % |", flush=True)

    show("none", "", y)
    everything = ["bounds", "launch", "mix", "rest", "device"]
    for name, parts in (("bounds", everything[:2]), ("all", everything), ("monotone", everything)):
        columns, bounds = table(rows, parts)
        x = numpy.array(columns)
        monotone = [int(name == "monotone" and i < bounds) for i in range(x.shape[1])]

        def predicted(train, test):
            tree = HistGradientBoostingRegressor(loss="absolute_error", max_iter=120, learning_rate=0.06, max_leaf_nodes=12, min_samples_leaf=15,
                                                 l2_regularization=2.0, monotonic_cst=monotone, random_state=0)
            tree.fit(x[train], numpy.clip(y[train], -1.5, 1.5), sample_weight=weight[train] * len(rows))
            return tree.predict(x[test])

        every = numpy.ones(len(rows), dtype=bool)
        show(name, "nothing (in sample)", y - predicted(every, every))
        for out, key in groups.items():
            left = y.copy()
            for k in sorted(set(key)):
                held = numpy.array([v == k for v in key])
                left[held] -= predicted(~held, held)
            show(name, f"each {out}", left)
    return 0


if __name__ == "__main__":
    sys.exit(main())
