#!/usr/bin/env python3
"""Compares CPU and GPU forecasts of OpenDwarfs' kernels, and the decision between the two, with measured times.

tools/validate/offload_opendwarfs.py PROGRAM TABLE.csv SOURCES [--facts FILE] [--cells] [--json FILE | --reuse FILE]

TABLE has the columns application, kernel, size, device (i7-6700k, gtx1080, k20c) and median_us. SOURCES is a checkout of
the suite; without it the answer is SKIP. What the host code launches is in
validation/opendwarfs.toml.

GPU: `kernelcast predict` on the suite's OpenCL. CPU: the same source in a loop nest over groups and work-items, the loop
over groups shared by the threads, as an OpenCL runtime for CPUs arranges it, with a loop over work-items for every piece
between barriers. A measured time spans enqueue and wait, and what that costs is no property of a kernel: for each program the cost
of a launch on each device is the median, over the *other* programs, of what their smallest size takes beyond its
forecast. That is the only number that is learned.
"""

import argparse
import collections
import csv
import json
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile
import tomllib

from opencl_nest import PRELUDE, NoKernel, arguments_of, nest, parameters_of, threads_of

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SIZES = ["tiny", "small", "medium", "large"]
CPU, GPUS = "i7-6700k", ["gtx1080", "k20c"]
DEVICE = {"gtx1080": "gtx1080", "k20c": "k20"}
CPU_THREADS = 8  # four cores with two threads each
class NotAnalysed(Exception):
    pass


def at(value, size):
    """The value of one size: lists have one for each."""
    return value[SIZES.index(size)] if isinstance(value, list) else value


def listed(numbers):
    return ",".join(str(n) for n in numbers)


def run(arguments):
    out = subprocess.run(arguments, capture_output=True, text=True, cwd=ROOT)
    if out.returncode != 0:
        lines = out.stderr.strip().splitlines() or ["no message"]
        raise NotAnalysed(next((text for text in lines if "error: " in text), lines[0]))
    return json.loads(out.stdout)


def assumed(facts, size, shift):
    return [w for kind, line, value in facts.get("assume", []) for w in ("--assume", f"{kind}:{line + shift}={at(value, size)}")]


def run_vectors(arguments, answers):
    """With the answers that are asked for: a branch that vectors of work-items go through under masks is none."""
    while True:
        try:
            return run([*arguments, *(w for answer in answers for w in ("--assume", answer))])
        except NotAnalysed as e:
            closed = re.search(r"--assume (\S+): kernel \S+ leaves nothing of that name open", str(e))
            left = [a for a in answers if not closed or a.split("=")[0] != closed[1]]
            if len(left) == len(answers):
                raise
            answers = left


def scalars(facts, size, declared):
    words = []
    for name, value in facts["args"].items():
        if re.search(rf"\b{name}\s*(,|$)", declared) and not re.search(rf"\*\s*(restrict\s+)?{name}\s*(,|$)", declared):
            words += ["--arg", f"{name}={at(value, size)}"]
    return words


def forecasts(program, sources, facts, kernel, size, folder):
    """Seconds on each device, without what a launch costs."""
    path = os.path.join(sources, facts["file"])
    with open(path, encoding="utf-8") as file:
        source = file.read()
    declared = parameters_of(source, kernel)[2]
    common = [w for k, v in facts.get("defines", {}).items() for w in ("-D", f"{k}={v}")]
    common += ["-I", os.path.join(sources, facts.get("include", "include")), "-I", os.path.dirname(path)]
    common += ["--kernel", kernel, "--format", "json", *scalars(facts, size, declared)]
    block, grid = at(facts["block"], size), at(facts["grid"], size)
    value = run([program, "predict", path, "--device", ",".join(DEVICE[g] for g in GPUS), "--block", listed(block), "--grid", listed(grid),
                 "--counts", "symbolic", "--std", "CL1.2", *common, *assumed(facts, size, 0)])
    seconds = {}
    for gpu, estimate in zip(GPUS, value["predictions"]):
        launch = sum(b["time_s"] for b in estimate["bounds"] if b["name"] == "launch")
        seconds[gpu] = estimate["time_s"] - launch
    block, grid = at(facts.get("block_cpu", facts["block"]), size), at(facts.get("grid_cpu", facts["grid"]), size)
    c = os.path.join(folder, kernel + ".c")
    with open(c, "w", encoding="utf-8") as file:
        file.write(nest(source, kernel, block, grid))
    threads = threads_of(grid, CPU_THREADS)
    side = run_vectors([program, "offload", c, "--cpu", CPU, "--gpu", "gtx1080", "--grid", "1", "--cpu-threads", str(threads), *common,
                        *arguments_of(grid)], assumed(facts, size, PRELUDE.count("\n"))[1::2])["cpu"]
    seconds[CPU] = side["time_s"] - side["launch_s"]
    return seconds, threads


def launch_costs(rows, without, threads):
    """Seconds by device, from the other programs' smallest sizes; the CPU's from launches that wake threads, or not,
    likewise, where there are any."""
    others = [r for r in rows if r["application"] != without and r["size"] == "tiny"]
    alike = [r for r in others if (r["threads"] > 1) == (threads > 1)] or others
    costs = {}
    for device in [CPU, *GPUS]:
        beyond = collections.defaultdict(list)
        for r in alike if device == CPU else others:
            beyond[r["application"]].append(max(0.0, r["measured"][device] - r["forecast"][device]))
        costs[device] = statistics.median(statistics.median(v) for v in beyond.values()) if beyond else 0.0
    return costs


def scores(rows, gpu):
    """right, loss of each who decides."""
    deciders = collections.OrderedDict()
    for name in ["kernelcast", "kernelcast without launch cost", "GPU", "CPU"]:
        right, log_loss = 0, 0.0
        for r in rows:
            cpu_s, gpu_s = r["measured"][CPU], r["measured"][gpu]
            if name.startswith("kernelcast"):
                launch = r["launch"] if name == "kernelcast" else {CPU: 0, gpu: 0}
                to_gpu = r["forecast"][gpu] + launch[gpu] < r["forecast"][CPU] + launch[CPU]
            else:
                to_gpu = name == "GPU"
            right += to_gpu == (gpu_s < cpu_s)
            log_loss += math.log((gpu_s if to_gpu else cpu_s) / min(cpu_s, gpu_s))
        deciders[name] = (right, math.exp(log_loss / len(rows)))
    return deciders


def errors(rows, device):
    return [(r["forecast"][device] + r["launch"][device]) / r["measured"][device] for r in rows]


def print_results(rows, left_out, cells):
    if cells:
        print(f"{'kernel':34}{'size':8}" + "".join(f"{d:>22}" for d in [CPU, *GPUS]) + "   measured / forecast, us")
        for r in rows:
            print(f"{r['kernel']:34}{r['size']:8}" + "".join(
                f"{r['measured'][d] * 1e6:11.1f} /{(r['forecast'][d] + r['launch'][d]) * 1e6:9.1f}" for d in [CPU, *GPUS]))
    for device in [CPU, *GPUS]:
        ratios = errors(rows, device)
        off = sorted(abs(math.log(x)) for x in ratios)
        print(f"{device:9} {len(ratios)} cells: forecast / measured, geometric mean {math.exp(statistics.mean(math.log(x) for x in ratios)):.2f}, "
              f"median factor off {math.exp(statistics.median(off)):.2f}, within a factor of 2: {sum(x < math.log(2) for x in off)}")
    for gpu in GPUS:
        print(f"{CPU} or {gpu}, {len(rows)} cells, by program left out:")
        for name, (right, loss) in scores(rows, gpu).items():
            print(f"  {name:32} {right:3} right ({right / len(rows):.1%}), loss {loss:.4f}")
    print("not analysed:")
    for (kernel, why), n in left_out.items():
        print(f"  {kernel} ({n} sizes): {why}")


def analysed(args, measured, all_facts):
    """Rows with forecasts, and (kernel, reason) of what has none."""
    rows, left_out = [], collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        for (application, kernel, size), seconds in sorted(measured.items()):
            try:
                if application not in all_facts or kernel not in all_facts[application]["kernels"]:
                    raise NotAnalysed("no facts of its launch")
                facts = {**all_facts[application], **all_facts[application]["kernels"][kernel]}
                if "skip" in facts:
                    raise NotAnalysed(facts["skip"])
                if not {CPU, *GPUS} <= seconds.keys():
                    raise NotAnalysed("not measured on every device")
                said, threads = forecasts(os.path.abspath(args.program), os.path.abspath(args.sources), facts, kernel, size, folder)
                rows.append({"application": application, "kernel": kernel, "size": size, "measured": seconds, "forecast": said, "threads": threads})
            except (NotAnalysed, NoKernel) as e:
                left_out[kernel, str(e)] += 1
    return rows, left_out


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("table")
    parser.add_argument("sources", nargs="?")
    parser.add_argument("--facts", default=os.path.join(ROOT, "validation", "opendwarfs.toml"))
    parser.add_argument("--cells", action="store_true", help="print each cell")
    parser.add_argument("--json", help="keep the forecasts in this file")
    parser.add_argument("--reuse", help="such a file, instead of analysing again")
    args = parser.parse_args()
    if not args.reuse and (not args.sources or not os.path.isdir(args.sources)):
        print("SKIP: no checkout of the suite's sources")
        return
    with open(args.facts, "rb") as file:
        all_facts = tomllib.load(file)
    measured = collections.OrderedDict()
    with open(args.table, encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            key = row["application"], row["kernel"], row["size"]
            measured.setdefault(key, {})[row["device"]] = float(row["median_us"]) * 1e-6
    if args.reuse:
        with open(args.reuse, encoding="utf-8") as file:
            kept = json.load(file)
        rows, left_out = kept["rows"], {(l["kernel"], l["why"]): l["sizes"] for l in kept["left_out"]}
    else:
        rows, left_out = analysed(args, measured, all_facts)
    if len({r["application"] for r in rows}) < 2:
        sys.exit("two programs are needed: " + "; ".join(f"{kernel}: {why}" for kernel, why in left_out))
    for r in rows:
        r["launch"] = launch_costs(rows, r["application"], r["threads"])
    print_results(rows, left_out, args.cells)
    if args.json:
        with open(args.json, "w", encoding="utf-8") as file:
            left = [{"kernel": kernel, "why": why, "sizes": n} for (kernel, why), n in left_out.items()]
            json.dump({"rows": rows, "left_out": left}, file, indent=1)


if __name__ == "__main__":
    main()
