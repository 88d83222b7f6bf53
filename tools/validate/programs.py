#!/usr/bin/env python3
"""Scores kernels of public programs that nobody chose, by class of counts, bound and program, and the interval's half widths with each
program left out; writes validation/programs.md.

    tools/validate/programs.py ROWS KERNELS SOURCES [--counters CSV] [--program build/bin/kernelcast] [--json FILE] [--reuse] [--print]

ROWS and KERNELS are files of `kernelcast validate`, SOURCES the folder of its sources. It runs in the folder of ROWS, where device files
that ROWS names lie. --counters is the profile that the times come from (gpuFLOPBench's profiling-data.csv), for the counts of FLOPs; only
launches of ROWS are read in it. --json keeps the program's output, with --reuse that file is read instead. --print writes to standard output.
"""

import argparse
import collections
import csv
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import textwrap

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
PAGE = os.path.join(ROOT, "validation", "programs.md")
CLASSES = ["closed form", "executed", "defaults"]
HEAD = ["rows", "kernels", "gMAE", "median error, %", "within 2x, %", "inside, %", "bias", "half width"]


class Row:
    def __init__(self, value):
        model = value["models"]["kernelcast"]
        self.kernel, self.program = value["kernel_id"], value["kernel_id"].split("_")[0]
        self.basis, self.limiter, self.measured = value["counts_basis"], model["limiter"], value["measured_s"]
        self.error = math.log(model["time_s"] / self.measured)
        low, high = model["interval_s"]
        self.inside = low <= self.measured <= high
        self.width = math.log(high / low) / 2
        self.local = value["resources"]["stack_bytes"] + value["resources"]["spill_bytes"] > 0


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def at(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(share * len(values)))]


def score(rows):
    """Every kernel weighs alike, whatever the number of its launches."""
    of = collections.defaultdict(list)
    for r in rows:
        of[r.kernel].append(r)
    each = lambda f: mean(mean(f(r) for r in k) for k in of.values())
    apes = [mean(abs(math.expm1(r.error)) for r in k) for k in of.values()]
    return [
        str(len(rows)),
        str(len(of)),
        f"{math.exp(each(lambda r: abs(r.error))):.2f}",
        f"{100 * at(apes, 0.5):.0f}",
        f"{100 * each(lambda r: abs(r.error) <= math.log(2)):.0f}",
        f"{100 * each(lambda r: r.inside):.0f}",
        f"{math.exp(each(lambda r: r.error)):.2f}",
        f"{math.exp(at([r.width for r in rows], 0.5)):.2f}",
    ]


def table(first, groups):
    lines = ["| " + " | ".join([first] + HEAD) + " |", "|---" + "|---:" * len(HEAD) + "|"]
    return "\n".join(lines + ["| " + " | ".join([name] + score(rows)) + " |" for name, rows in groups if rows]) + "\n"


def grouped(rows, key):
    groups = collections.defaultdict(list)
    for r in rows:
        groups[key(r)].append(r)
    return sorted(groups.items(), key=lambda g: (-len(g[1]), g[0]))


def widths(rows):
    """Per class the half width that nine in ten kernels of the other programs need, and how many rows of a program it then holds."""
    lines = ["| counts | rows | nine in ten errors within | without each program | inside with their program left out, % |",
             "|---|---:|---:|---:|---:|"]
    for basis in CLASSES:
        mine = [r for r in rows if r.basis == basis and not r.local]
        if len({r.program for r in mine}) < 3:
            continue
        without, inside = {}, []
        for p in {r.program for r in mine}:
            without[p] = at([abs(r.error) for r in mine if r.program != p], 0.9)
            inside += [abs(r.error) <= without[p] for r in mine if r.program == p]
        lines.append(f"| {basis} | {len(mine)} | {at([abs(r.error) for r in mine], 0.9):.2f} | {min(without.values()):.2f} to "
                     f"{max(without.values()):.2f} | {100 * mean(inside):.0f} |")
    return "\n".join(lines) + "\n"


def profile_of(path, kernels):
    """FLOP a launch in each precision, by folder of the program, kernel and nanoseconds, for the programs of KERNELS; and the first two of
    each id. Launches of other kernels of a program may take as long to the nanosecond."""
    name = lambda entry: re.split(r"[<(]", entry)[0].split("::")[-1].strip()
    with open(kernels, encoding="utf-8") as file:
        of = {k["id"]: (k["path"].split("/")[0], name(k["entry"])) for k in csv.DictReader(file)}
    launches, known = {}, {folder for folder, _ in of.values()}
    with open(path, encoding="utf-8") as file:
        for launch in csv.DictReader(file):
            if launch["targetName"] in known:
                seconds = float(launch["xtime"]) * 1e-9
                launches[launch["targetName"], name(launch["kernelName"]), round(float(launch["xtime"]))] = {
                    "flops_fp32": float(launch["spPerf"]) * seconds, "flops_fp64": float(launch["dpPerf"]) * seconds}
    return of, launches


def flops(value, path, kernels):
    """Of each class of counts, how far the FLOPs of a kernel are from those that the GPU counted; none where there are none weighs as far
    off."""
    of, launches = profile_of(path, kernels)
    errors = {b: collections.defaultdict(list) for b in CLASSES}
    for v in value["rows"]:
        if not v["counts_basis"]:
            continue
        counted = launches.get((*of[v["kernel_id"]], round(v["measured_s"] * 1e9)))
        for name, truth in (counted or {}).items():
            mine = v["counts"][name]
            if truth >= 1 or mine >= 1:
                errors[v["counts_basis"]][v["kernel_id"], name].append(abs(mine / truth - 1) if truth >= 1 else math.inf)
    lines = ["| counts | kernels | median error, % | within 5 %, % | within 25 %, % |", "|---" + "|---:" * 4 + "|"]
    for basis, kernels_of in errors.items():
        each = [mean(e) for e in kernels_of.values()]
        if each:
            share = lambda most: f"{100 * mean(e <= most for e in each):.0f}"
            lines.append(f"| {basis} | {len(each)} | {100 * at(each, 0.5):.1f} | {share(0.05)} | {share(0.25)} |")
    return "\n".join(lines) + "\n"


def failures(value):
    lines = [f"- {f['n']} {'row' if f['n'] == 1 else 'rows'}, first {os.path.basename(f['first'])}" for f in value["failures"]]
    return "\n".join(lines or ["None."]) + "\n"


def page(value, counted):
    rows = [Row(v) for v in value["rows"] if v["models"].get("kernelcast", {}).get("time_s")]
    long = [r for r in rows if r.measured >= 20e-6]
    spans = [(0, 10), (10, 20), (20, 100), (100, 1000), (1000, math.inf)]
    name = lambda lo, hi: f"{lo} to {hi} us" if hi < math.inf else f"from {lo} us"
    return "\n".join([
        "# Kernels of public programs",
        "",
        textwrap.fill(
            f"{len(value['rows'])} launches of {len({v['kernel_id'] for v in value['rows']})} kernels of "
            f"{len({r.program for r in rows})} programs that were not chosen by anybody who works on this model, on an RTX 3080 whose SM "
            "clock its profiler holds at the base clock (Scientific-Computing-Lab/gpuFLOPBench). Sources and times are not part of this "
            "repository. Made by `tools/validate/programs.py ROWS KERNELS SOURCES`, model `kernelcast`. Every kernel weighs alike. "
            "*Inside* is the share of measured times within the 90 % interval, *bias* the geometric mean of forecast over measured, "
            "*half width* the median factor of the interval.", 120),
        "",
        textwrap.fill(
            "Two thirds of the same programs are kept apart and were not read. This third has been: the time of an empty grid, the "
            "exponents of the norms and the widths of the interval were fitted with it ([fit](fit.md)), so the kept two thirds may well "
            "be worse.", 120),
        "",
        table("", [("all", rows), ("closed form, at least 20 us", [r for r in long if r.basis == "closed form"])]),
        "## By what the counts rest on",
        "",
        table("counts", [(b, [r for r in rows if r.basis == b]) for b in CLASSES]),
        "*Defaults*: a trip count, a probability, an address pattern or generated contents of a buffer on which counts depend.",
        "",
        *([
            "## FLOPs",
            "",
            textwrap.fill("Additions, multiplications and twice the fused ones of a launch, against the counters of the GPU "
                          "(`smsp__sass_thread_inst_executed_op_fadd_pred_on` and its like), single and double precision apart. "
                          "The programs were built by clang 18, as that repository's `Dockerfile` and `runBuild.sh` say; counts are of "
                          "nvcc's code, whose `sqrtf` is exact where clang's is approximate (`hellinger`), and which divides -1 by a "
                          "number as it inverts it (`ccsd-trpdrv`).", 120),
            "",
            counted,
        ] if counted else []),
        "## By binding bound",
        "",
        table("bound", grouped(rows, lambda r: r.limiter)),
        "## By measured time",
        "",
        table("time", [(name(lo, hi), [r for r in rows if lo <= r.measured * 1e6 < hi]) for lo, hi in spans]),
        "## Interval, with each program left out",
        "",
        "Sizes of ln(measured / forecast), without rows that use local memory.",
        "",
        widths(rows),
        "## By program",
        "",
        table("program", sorted(grouped(rows, lambda r: r.program))),
        "## Rows without a forecast",
        "",
        failures(value),
    ])


def folders_of_headers(rows):
    """Kernel id -> the folders that its rows' notes name beyond its own: "more -I: src/debayer-sycl"."""
    found = {}
    with open(rows, encoding="utf-8") as file:
        for row in csv.DictReader(file):
            _, marked, folders = row["note"].partition("more -I: ")
            if marked:
                found[row["kernel_id"]] = [os.path.relpath(f, "src") for f in folders.split(";")[0].split()]
    return found


def run(program, rows, kernels, sources, path):
    folders = folders_of_headers(rows)
    with open(kernels, encoding="utf-8") as file:
        entries = list(csv.DictReader(file))
    for entry in entries:
        entry["flags_argv"] = " ".join([entry["flags_argv"], *("-I" + f for f in folders.get(entry["id"], []))]).strip()
    with tempfile.NamedTemporaryFile("w", suffix=".csv", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(entries[0]))
        writer.writeheader()
        writer.writerows(entries)
        file.flush()
        subprocess.run([program, "validate", os.path.basename(rows), "--kernels", file.name, "--sources", sources, "--model",
                        "kernelcast", "--format", "json", "-o", path], check=True, cwd=os.path.dirname(rows))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("rows", "kernels", "sources"):
        parser.add_argument(name, type=os.path.abspath)
    parser.add_argument("--program", type=os.path.abspath, default=os.path.join(ROOT, "build", "bin", "kernelcast"))
    parser.add_argument("--counters", type=os.path.abspath)
    parser.add_argument("--json", type=os.path.abspath)
    parser.add_argument("--reuse", action="store_true")
    parser.add_argument("--print", action="store_true", dest="show")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = options.json or os.path.join(folder, "programs.json")
        if not options.reuse:
            run(options.program, options.rows, options.kernels, options.sources, path)
        with open(path, encoding="utf-8") as file:
            value = json.load(file)
    text = page(value, flops(value, options.counters, options.kernels) if options.counters else "")
    if options.show:
        print(text, end="")
        return
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(text)


if __name__ == "__main__":
    sys.exit(main())
