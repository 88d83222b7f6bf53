#!/usr/bin/env python3
"""Forecasts of whole programs against what a GPU took for their kernels.

  traced.py gather FOLDER TIMES.csv                          traces of tools/gpu/trace_kernels.cpp, NAME.trace each
  traced.py compare PROGRAM TIMES.csv PROGRAMS.csv SOURCES   their forecasts, from the host code of these programs

TIMES.csv has a line for each kernel, grid, block and dynamic shared memory of a program. PROGRAMS.csv says how it is
analysed: program, device, cache, source (below SOURCES), flags, argv. A launch counts where one forecast has its
kernel's name, grid and block, several agree within 1 %, or there are as many as were measured, of which both times are
then the median; the others are counted by what they lack.
"""

import argparse
import concurrent.futures
import csv
import json
import math
import os
import re
import shlex
import statistics
import subprocess
import tempfile
from collections import Counter, defaultdict

COLUMNS = "program,kernel,grid,block,dynamic_shared_bytes,registers,launches,median_us,min_us,max_us".split(",")
LIBRARIES = re.compile(r"3cub|thrust|xmma|nvjet|cublas|cutlass|gemvx|gemv2T|2at6native")


def gather(a):
    with open(a.times, "w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow(COLUMNS)
        for name in sorted(n for n in os.listdir(a.folder) if n.endswith(".trace")):
            times = defaultdict(list)
            with open(os.path.join(a.folder, name), encoding="utf-8", errors="replace") as trace:
                for line in list(trace)[1:]:
                    c = line.rstrip("\n").split("\t")
                    if len(c) > 7:
                        times[(c[7], c[2], c[3], c[6], c[4])].append(1e6 * float(c[1]))
            for key, t in times.items():
                out.writerow([name[:-6], *key, len(t), *(f"{x:.3f}" for x in (statistics.median(t), min(t), max(t)))])


def predictions(program, row, sources):
    source = os.path.abspath(os.path.join(sources, row["source"]))
    with tempfile.TemporaryDirectory() as folder:
        output = os.path.join(folder, "out.json")
        command = [program, "predict", source, "--device", row["device"], "--cache", row["cache"], "--format", "json",
                   "-o", output, *shlex.split(row["flags"].replace("SOURCES/", os.path.abspath(sources) + "/"))]
        if row["argv"]:
            command += ["--argv", row["argv"]]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False, cwd=os.path.dirname(source))
        except subprocess.TimeoutExpired:
            return [], "timeout"
        if not os.path.exists(output):
            return [], done.stderr.strip()[-300:].replace("\n", " ")
        with open(output, encoding="utf-8") as file:
            result = json.load(file)
        times = {launch["number"]: launch["repetitions"] for launch in result["launches"]}
        return [{**p, "repetitions": times[p["launch_number"]]} for p in result["predictions"]], ""


def names_in(symbol):
    return {symbol} | {symbol[m.end():m.end() + int(m[0])] for m in re.finditer(r"\d+", symbol)}


def verdict(row, found):
    """(prediction, "") or (None, what it lacks)"""
    sizes = [[int(x) for x in row[c].split(",")] for c in ("grid", "block")]
    names = names_in(row["kernel"])
    mine = [p for p in found if re.sub(r"[<(].*", "", p["kernel"]).split("::")[-1] in names]
    mine = [p for p in mine if p.get("launch") and [p["launch"]["grid"], p["launch"]["block"]] == sizes]
    timed = [p for p in mine if p.get("time_s")]
    if not timed:
        return None, "no number" if mine else "not found"
    if max(p["time_s"] for p in timed) > 1.01 * min(p["time_s"] for p in timed):
        if sum(p["repetitions"] for p in timed) != int(row["launches"]):
            return None, "several"
        runs = sorted((p for p in timed for _ in range(p["repetitions"])), key=lambda p: p["time_s"])
        return runs[len(runs) // 2], ""
    return timed[0], ""


def compare(a):
    with open(a.times, encoding="utf-8") as file:
        times = [r for r in csv.DictReader(file) if not LIBRARIES.search(r["kernel"]) and float(r["median_us"]) > 0]
    with open(a.programs, encoding="utf-8") as file:
        programs = {r["program"]: r for r in csv.DictReader(file)}
    program = os.path.abspath(a.program)
    wanted = sorted({r["program"] for r in times} & set(programs))
    with concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
        found = dict(zip(wanted, pool.map(lambda name: predictions(program, programs[name], a.sources), wanted)))
    rows, lacking = [], Counter()
    for name in wanted:
        if found[name][1]:
            print(f"{name}: {found[name][1]}")
    for row in times:
        if row["program"] not in found:
            continue
        p, lack = verdict(row, found[row["program"]][0])
        if p is None:
            lacking[lack] += 1
            continue
        low, high = (1e6 * x for x in p["interval_s"])
        rows.append({"row": row, "ratio": 1e6 * p["time_s"] / float(row["median_us"]), "kernel": p["kernel"], "limiter": p["limiter"],
                     "inside": low <= float(row["median_us"]) <= high, "width": math.sqrt(high / low)})
    for r in sorted(rows, key=lambda r: -abs(math.log(r["ratio"]))):
        print(f"{r['ratio']:8.3f} {r['row']['program']:28} {r['kernel'][:48]:48} {r['row']['grid']:>16} {r['row']['block']:>10} "
              f"{float(r['row']['median_us']):12.2f} us {r['limiter']}{'' if r['inside'] else ' outside'}")
    for least in (0, 6, 20):
        part = [r for r in rows if float(r["row"]["median_us"]) >= least]
        logs = [abs(math.log(r["ratio"])) for r in part]
        if part:
            print(f"at least {least} us: {len(part)} launches of {len({r['row']['program'] for r in part})} programs, "
                  f"gMAE {math.exp(statistics.mean(logs)):.3f}, median error {math.exp(statistics.median(logs)) - 1:.0%}, "
                  f"within a factor of 2 {sum(x < math.log(2) for x in logs) / len(logs):.0%}, "
                  f"inside {sum(r['inside'] for r in part) / len(part):.0%}, "
                  f"half width x{statistics.median(r['width'] for r in part):.2f}")
    print("without a forecast:", dict(lacking))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    g = commands.add_parser("gather")
    g.add_argument("folder")
    g.add_argument("times")
    c = commands.add_parser("compare")
    for name in ("program", "times", "programs", "sources"):
        c.add_argument(name)
    c.add_argument("--jobs", type=int, default=2)
    a = parser.parse_args()
    gather(a) if a.command == "gather" else compare(a)


if __name__ == "__main__":
    main()
