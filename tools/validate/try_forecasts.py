#!/usr/bin/env python3
"""Forecasts the kernels of every CUDA file of a suite on one device and lists why the others are refused.

    tools/validate/try_forecasts.py FOLDER [--programs '*-cuda'] [--program build/bin/kernelcast] [--sample N --seed S] [--most 6] [--nvcc nvcc] [--list FILE]

A kernel file holds __global__ outside of comments, in itself or in a header beside it. -I and -D are those that the Makefile beside the file states without variables. Every
launch is 1,024 blocks of 256 threads, or of as many as the kernel declares at most, every argument that the program asks for 1,024. Up to --most kernels of a file are forecast. With --nvcc,
files that are refused are compiled by that compiler with the same flags: "accepted by it" counts those that it takes. A file that only
other files include is counted by way of one of them.
"""

import argparse
import collections
import concurrent.futures
import os
import pathlib
import random
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from try_suite import COMMENT, includers, is_kernel_file, makefile_flags

LAUNCH = ["--device", "a100", "--grid", "1024"]


def call(options, path, flags, more):
    try:
        done = subprocess.run([options.program, "predict", str(path), *LAUNCH, *flags, *more, "--format", "csv"], capture_output=True,
                              timeout=options.limit, text=True, errors="replace")  # fmt: skip
    except subprocess.TimeoutExpired:
        return -999, "timeout"
    return done.returncode, done.stderr


def forecast(options, path, flags, kernel):
    """Status ("forecast", "asks", "refused", "crash") and the reason of one kernel, or of the file where `kernel` is None."""
    more = ["--block", "256"] + (["--kernel", kernel] if kernel else [])
    given = set()
    for _ in range(12):
        code, text = call(options, path, flags, more)
        if code == 0:
            return "forecast", ""
        if text == "timeout":
            return "timeout", text
        if code < 0 or code == 70:
            return "crash", text.strip()[-400:] or f"signal {-code}"
        small = re.search(r"--arg (\S+)=1024: parameter .* holds -?\d+ to (\d+):", text)  # a bool, a char
        if small:
            more[more.index(f"{small.group(1)}=1024")] = "=".join(small.groups())
            continue
        fewer = re.search(r"declared for at most (\d+) threads a block", text)
        if fewer and more[1] == "256":
            more[1] = fewer.group(1)
            continue
        wanted = [n for n in re.findall(r"--arg (\S+)=VALUE", text) if n not in given]
        if not wanted:
            break
        given.update(wanted)
        more += [w for n in wanted for w in ("--arg", f"{n}=1024")]
    if "several kernels" in text:
        return "several", text
    reason = next((line for line in text.splitlines() if "error: " in line or line.startswith("kernelcast: ")), text[:200])
    if re.search(r"no kernel found(: this one is under| \()", reason):
        return "no kernel", ""
    return ("refused" if code == 1 and ", with --arg" not in reason else "asks"), reason.replace("kernelcast: ", "", 1)


def names_in(text):
    """The names of a list that is divided by commas, which names hold as well, in brackets."""
    names, depth = [""], 0
    for c in text:
        depth += (c in "([<") - (c in ")]>")
        if c == "," and depth == 0:
            names.append("")
        else:
            names[-1] += c
    return [n.strip() for n in names]


def judge(options, path):
    flags = makefile_flags(path) + [w for folder in options.include for w in ("-I", folder)]
    status, reason = forecast(options, path, flags, None)
    if status != "several":
        return status, [(status, reason)]
    names = names_in(re.search(r"--kernel: (.*)", reason).group(1))
    results = [forecast(options, path, flags, n) for n in names[: options.most]]
    worst = "forecast"
    for rank in ("no kernel", "asks", "timeout", "refused", "crash"):
        if any(s == rank for s, _ in results):
            worst = rank
    if worst == "refused" and any(s in ("forecast", "asks") for s, _ in results):
        worst = "in part"
    return worst, results


def accepted(options, path):
    flags = makefile_flags(path) + [w for folder in options.include for w in ("-I", folder)]
    command = [options.nvcc, "-arch=sm_80", "-std=c++17", "-ptx", "-o", "/dev/null", *flags, str(path)]
    try:
        done = subprocess.run(command, capture_output=True, timeout=300, text=True, errors="replace")
    except subprocess.TimeoutExpired:
        return False, "timeout"
    error = re.search(r".*error.*", done.stdout + done.stderr)
    return done.returncode == 0, error.group(0) if error else ""


def whole(options, path, top):
    status, results = judge(options, path)
    if status == "refused":
        for other in includers(path, top):
            through, more = judge(options, other)
            if through in ("forecast", "asks"):
                return "by way", [("by way", other.name)]
    return status, results


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--programs", default=".", help="pattern of folders below FOLDER")
    parser.add_argument("--program", default="build/bin/kernelcast")
    parser.add_argument("--include", action="append", default=[])
    parser.add_argument("--most", type=int, default=6)
    parser.add_argument("--nvcc")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--limit", type=float, default=120)
    parser.add_argument("--sample", type=int, help="that many folders at random")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--files", help="file with the paths to try, instead of all")
    parser.add_argument("--list", help="file to which a line for each file is written")
    options = parser.parse_args()

    files = []
    for folder in sorted(options.folder.glob(options.programs)) if options.programs != "." else [options.folder]:
        files += [(p, folder) for p in sorted(folder.rglob("*.cu")) if is_kernel_file(p)]
    if options.sample:
        chosen = set(random.Random(options.seed).sample(sorted({f for _, f in files}), options.sample))
        files = [f for f in files if f[1] in chosen]
    if options.files:
        wanted = set(open(options.files).read().split())
        files = [f for f in files if str(f[0]) in wanted]
    out = open(options.list, "w") if options.list else None
    counts, reasons, taken = collections.Counter(), collections.defaultdict(list), 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for (path, _), (status, results) in zip(files, pool.map(lambda f: whole(options, *f), files)):
            reason = next((r for s, r in results if s in ("refused", "crash")), next((r for s, r in results if r), ""))
            if status == "refused" and "kernel template" in reason:
                status = "templates"
            if status == "refused" and options.nvcc:
                good, why = accepted(options, path)
                status = "refused, accepted by nvcc" if good else "refused by both"
                reason += "" if good else f" [nvcc: {why}]"
            counts[status] += 1
            if status not in ("forecast", "by way"):
                key = re.sub(r"'[^']*'|\"[^\"]*\"|\S*/\S*|:\d+", "_", reason)
                reasons[status, key].append((path, reason))
            if out:
                print(status, path, reason, sep="\t", file=out, flush=True)
    for (status, _), cases in sorted(reasons.items(), key=lambda item: -len(item[1])):
        print(f"{len(cases):4}  {status}: {cases[0][1][:200]}")
    print(f"{len(files)} files: " + ", ".join(f"{n} {s}" for s, n in counts.most_common()))
    return 1 if counts["crash"] else 0


if __name__ == "__main__":
    sys.exit(main())
