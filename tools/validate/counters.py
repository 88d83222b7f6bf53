#!/usr/bin/env python3
"""Compares kernelcast's counts with published hardware counters.

    tools/validate/counters.py VALIDATION_FOLDER SOURCES [--kernelcast build/bin/kernelcast] [--counts executed]
                           [--step N] [--all | --write FILE]

VALIDATION_FOLDER has kernels.csv, rows.csv and counters-*.csv.gz; SOURCES has the kernels' sources as its checkout.sh
lays them out. For each kernel and problem one line: counted over measured. What a counter means differs by
architecture: `global_load_transactions` of nvprof counts 128-byte segments on Kepler and 32-byte sectors on Maxwell
(profiler user's guide, metrics of compute capability 3.x and 5.x). The counters of the RTX 2080 Ti are Nsight Compute's;
its FP32 operations hold special functions: one more for each reciprocal square root. --write puts the table
between the two comment lines `counters.py` of a Markdown file."""

import argparse
import collections
import csv
import gzip
import itertools
import json
import os
import statistics
import subprocess
import sys


def read(path):
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rt") as f:
        return list(csv.DictReader(f))


def pairs(text):
    return [p.split("=", 1) for p in text.split(";") if "=" in p]


def predict(args, kernel, row, device):
    command = [args.kernelcast, "predict", os.path.join(args.sources, kernel["wrapper"]), "--kernel",
               kernel["entry"], "--device", device, "--model", "roofline", "--format", "json", "-I", args.sources,
               "--grid", ",".join(row[f"grid_{a}"] for a in "xyz"), "--block",
               ",".join(row[f"block_{a}"] for a in "xyz")]
    if args.counts:
        command += ["--counts", args.counts]
    if "-use_fast_math" in kernel["flags_argv"]:
        command.append("--use_fast_math")
    if args.devices_dir:
        command += ["--devices-dir", args.devices_dir]
    for name, value in pairs(kernel["fixed_defines"]) + pairs(row["defines"]):
        command += ["-D", f"{name}={value}"]
    for name, value in pairs(row["args"]):
        command += ["--arg", f"{name}={value}"]
    for name, value in pairs(row["buffers"]):
        command += ["--buffer", f"{name}={value}"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}\n{done.stderr.strip()}")
    return json.loads(done.stdout)["predictions"][0]


def counted(counts, space, kind, what):
    return sum(a.get(what) or 0 for a in counts["memory"] if a["space"] == space and a["kind"] == kind)


def rodinia(args, kernels, rows):
    """(quantity, counted, measured) by kernel, device and grid."""
    known = {}
    for r in rows:
        known.setdefault((r["kernel_id"], r["gpu"], r["grid_x"], r["grid_y"]), r)
    seen = set()
    for c in read(os.path.join(args.validation, "counters-rodinia.csv.gz")):
        key = (c["kernel_id"], c["gpu"], c["grid_x"], c["grid_y"])
        if key in seen or key not in known:
            continue
        seen.add(key)
        prediction = predict(args, kernels[c["kernel_id"]], known[key], c["gpu"])
        n, resources = prediction["counts"], prediction["resources"]
        maxwell = "GTX 980" in c["gpu"]
        lines = "sectors" if maxwell else "segments"
        yield key, [
            ("instructions", sum(n["warp_instructions"].values()), float(c["inst_executed"])),
            ("load requests", counted(n, "global", "load", "requests"), float(c["gld_request"])),
            ("store requests", counted(n, "global", "store", "requests"), float(c["gst_request"])),
            ("load transactions", counted(n, "global", "load", lines), float(c["global_load_transactions"])),
            ("store transactions", counted(n, "global", "store", lines), float(c["global_store_transactions"])),
            ("shared load passes", counted(n, "shared", "load", "bank_passes"), float(c["shared_load_transactions"])),
            ("shared store passes", counted(n, "shared", "store", "bank_passes"),
             float(c["shared_store_transactions"])),
            ("L2 read sectors", counted(n, "global", "load", "sectors"), float(c["l2_read_transactions"])),
            ("registers", resources["registers_per_thread"] or 0, float(c["registers.per.thread"])),
        ]


def coulomb(args, kernels, rows):
    """The same for the tuning space of KTT's direct Coulomb sum; all configurations share arguments and buffers."""
    known = next(r for r in rows if r["kernel_id"] == "ktt_coulomb3d")
    for c in read(os.path.join(args.validation, "counters-coulomb3d-rtx2080ti.csv.gz"))[::args.step]:
        row = {**known, **{k: v for k, v in c.items() if k.startswith(("grid_", "block_"))}, "defines": c["config"]}
        prediction = predict(args, kernels[c["kernel_id"]], row, c["gpu"])
        n, resources = prediction["counts"], prediction["resources"]
        operations = n["thread_operations"]
        per_thread = lambda what: float(c[f"smsp__sass_thread_inst_executed_op_{what}_pred_on.sum"])
        yield (c["kernel_id"], c["gpu"], c["config"], ""), [
            ("instructions", sum(n["warp_instructions"].values()), float(c["smsp__inst_executed.sum"])),
            ("FP32 operations", sum(operations.get(f"fp32_{o}", 0) for o in ("add", "mul", "fma", "special")),
             per_thread("fp32")),
            ("memory operations", counted(n, "global", "load", "lanes") + counted(n, "global", "store", "lanes"),
             per_thread("memory")),
            ("load requests", counted(n, "global", "load", "requests"),
             float(c["l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"])),
            ("L2 write sectors", counted(n, "global", "store", "sectors"), float(c["lts__t_sectors_op_write.sum"])),
            ("registers", resources["registers_per_thread"] or 0, float(c["regs"])),
        ]


def table(ratios):
    yield "| kernel | device | quantity | cases | median | least | most |"
    yield "|---|---|---|---:|---:|---:|---:|"
    for (kernel, gpu, what), r in sorted(ratios.items()):
        gpu = gpu.replace("NVIDIA ", "").replace("GeForce ", "")
        yield f"| {kernel} | {gpu} | {what} | {len(r)} | {statistics.median(r):.2f} | {min(r):.2f} | {max(r):.2f} |"


def write(path, lines):
    mark = "<!-- counters.py -->"
    with open(path) as f:
        parts = f.read().split(mark)
    if len(parts) != 3:
        raise SystemExit(f"counters.py: {path} needs two lines {mark}, between which the table goes")
    with open(path, "w") as f:
        f.write(mark.join([parts[0], "\n\n" + "\n".join(lines) + "\n\n", parts[2]]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("validation")
    parser.add_argument("sources")
    parser.add_argument("--kernelcast", default="build/bin/kernelcast")
    parser.add_argument("--counts", default="")
    parser.add_argument("--devices-dir", default="", help="folder of device files")
    parser.add_argument("--step", type=int, default=1, help="every Nth configuration of the tuning space")
    parser.add_argument("--write", metavar="FILE", help="Markdown file that gets the table")
    parser.add_argument("--all", action="store_true", help="print every line, not only the summary")
    args = parser.parse_args()
    kernels = {k["id"]: k for k in read(os.path.join(args.validation, "kernels.csv"))}
    rows = read(os.path.join(args.validation, "rows.csv"))
    ratios = collections.defaultdict(list)
    for key, quantities in itertools.chain(rodinia(args, kernels, rows), coulomb(args, kernels, rows)):
        if args.all:
            print(*key)
        for what, ours, theirs in quantities:
            if args.all:
                print(f"    {what:20} {ours:14.0f} {theirs:14.0f} {ours / theirs if theirs else float('nan'):8.3f}")
            if theirs > 0 and ours > 0:
                ratios[(key[0], key[1], what)].append(ours / theirs)
            elif theirs > 0 or ours > 0:
                ratios[(key[0], key[1], what)].append(0 if ours == 0 else float("inf"))
    if args.write:
        write(args.write, table(ratios))
        return
    print(f"{'kernel':24} {'device':26} {'quantity':20} {'n':>4} {'median':>8} {'least':>8} {'most':>8}")
    for (kernel, gpu, what), r in sorted(ratios.items()):
        print(f"{kernel:24} {gpu:26} {what:20} {len(r):4} {statistics.median(r):8.3f} {min(r):8.3f} {max(r):8.3f}")


if __name__ == "__main__":
    sys.exit(main())
