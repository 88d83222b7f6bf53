#!/usr/bin/env python3
"""Two roads, one answer: forecasts from CUDA source beside those from the PTX that nvcc makes of it.

    tools/validate/roads.py ROWS KERNELS SOURCES --nvcc NVCC --arch sm_86 [--program build/bin/kernelcast] [--keep FOLDER] [--json FILE]

ROWS and KERNELS are files of `kernelcast validate`, SOURCES the folder of its sources; only kernels in CUDA that are no templates are
taken, one row of each. PTX is made once and kept in FOLDER. Prints, for each kernel, both forecasts, the measured time and what nvcc says
against, the largest ratio first, and the median and the largest ratio.
"""
import argparse
import collections
import csv
import json
import math
import os
import re
import shlex
import statistics
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def parameters(text, kernel):
    """Names of a kernel's parameters as its definition has them; None: not found."""
    for found in re.finditer(r"__global__[^;{()]*(?:__launch_bounds__\s*\([^)]*\))?[^;{()]*\b" + re.escape(kernel) + r"\s*\(", text):
        depth, at = 1, found.end()
        while at < len(text) and depth:
            depth += {"(": 1, ")": -1}.get(text[at], 0)
            at += 1
        if text[at:at + 200].lstrip().startswith(";"):
            continue
        inside = re.sub(r"/\*.*?\*/|//[^\n]*", "", text[found.end():at - 1], flags=re.S)
        names = [re.sub(r"\[[^\]]*\]", "", p).split("=")[0].strip() for p in inside.split(",")]
        return [re.findall(r"\w+", n)[-1] for n in names if re.findall(r"\w+", n)]
    return None


def to_ptx(args, folder, kernel):
    """The kernel's PTX file, and why there is none."""
    source = Path(args.sources, kernel["path"]).resolve()
    out = folder / (re.sub(r"\W", "_", kernel["path"] + kernel["fixed_defines"] + kernel["flags_argv"]) + ".ptx")
    if out.exists():
        return out, ""
    includes = [w for w in shlex.split(kernel["flags_argv"]) if w[:2] in ("-I", "-D") or not w.startswith("-")]
    command = [args.nvcc, "-ptx", "-std=c++17", f"-arch={args.arch}", "-lineinfo", str(source), "-o", str(out), "-I", str(source.parent), *includes]
    command += [f"-D{d}" for d in kernel["fixed_defines"].split(";") if d]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=args.sources)
    return (out, "") if done.returncode == 0 else (None, (done.stderr.splitlines() or ["?"])[0][:100])


def forecast(args, path, kernel, row, device, values, flags=()):
    grid, block = (",".join(row[f"{what}_{axis}"] for axis in "xyz") for what in ("grid", "block"))
    command = [args.program, "predict", str(path), "--kernel", kernel, "--device", device, "--grid", grid, "--block", block, "--format", "json", *flags]
    for name, value in values:
        command += ["--arg", f"{name}={value}"]
    if row["dyn_smem_bytes"]:
        command += ["--shared", row["dyn_smem_bytes"]]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    if done.returncode != 0:
        return None, done.stderr.splitlines()[0][:160]
    p = json.loads(done.stdout)["predictions"][0]
    return p, "" if p.get("time_s") else str(p.get("time_reason"))


def compare(args, folder, kernel, row):
    source = Path(args.sources, kernel["path"])
    result = {"kernel": kernel["id"]}
    names = parameters(source.read_text(errors="replace"), kernel["entry"])
    if names is None:
        return {**result, "why": "its definition is in another file"}
    values = [v.split("=", 1) for v in row["args"].split(";") if v]
    ptx, why = to_ptx(args, folder, kernel)
    if ptx is None:
        return {**result, "why": "nvcc: " + why}
    entries = [e for e in re.findall(r"\.entry (\w+)\(", ptx.read_text()) if e == kernel["entry"] or e.startswith(f"_Z{len(kernel['entry'])}{kernel['entry']}")]
    if len(entries) != 1:
        return {**result, "why": f"{len(entries)} entries of this name"}
    device = str(Path(args.rows).resolve().parent / row["gpu"]) if row["gpu"].endswith(".toml") else row["gpu"]
    flags = [f"-D{d}" for d in kernel["fixed_defines"].split(";") if d] + shlex.split(kernel["flags_argv"])
    one, why_one = forecast(args, source, kernel["entry"], row, device, values, flags)
    other, why_other = forecast(args, ptx, entries[0], row, device, [(names.index(n), v) for n, v in values if n in names])
    if why_one or why_other:
        return {**result, "why": "source: " + why_one if why_one else "PTX: " + why_other}
    return {**result, "source_s": one["time_s"], "ptx_s": other["time_s"], "measured_s": float(row["time_ms"]) * 1e-3,
            "limiters": [one["limiter"], other["limiter"]], "ratio": other["time_s"] / one["time_s"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("rows", "kernels", "sources"):
        parser.add_argument(name)
    parser.add_argument("--nvcc", default="nvcc")
    parser.add_argument("--arch", default="sm_86")
    parser.add_argument("--program", default=str(ROOT / "build" / "bin" / "kernelcast"))
    parser.add_argument("--keep")
    parser.add_argument("--json")
    args = parser.parse_args()
    args.program = str(Path(args.program).resolve())
    folder = Path(args.keep or tempfile.mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)
    first = {}
    for row in csv.DictReader(open(args.rows, encoding="utf-8")):
        first.setdefault(row["kernel_id"], row)
    kernels = [k for k in csv.DictReader(open(args.kernels, encoding="utf-8")) if k["language"] == "cuda" and re.fullmatch(r"\w+", k["entry"]) and k["id"] in first]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda k: compare(args, folder, k, first[k["id"]]), kernels))
    if args.json:
        Path(args.json).write_text(json.dumps(results, indent=1))
    both = sorted((r for r in results if "ratio" in r), key=lambda r: -abs(math.log(r["ratio"])))
    for r in both:
        print(f"{r['ratio']:8.3f}  source {r['source_s'] / r['measured_s']:7.3f}  PTX {r['ptx_s'] / r['measured_s']:7.3f} of measured  {r['kernel']}  {' | '.join(r['limiters'])}")
    for why, n in collections.Counter(re.sub(r"[\"'].*", "", r["why"]) for r in results if "why" in r).most_common():
        print(f"{n:4} without: {why}")
    if not both:
        sys.exit("no kernel has both forecasts")
    sizes = sorted(math.exp(abs(math.log(r["ratio"]))) for r in both)
    print(f"{len(both)} kernels: PTX against source, median factor {statistics.median(sizes):.3f}, nine in ten within {sizes[int(0.9 * len(sizes))]:.3f}, at most {sizes[-1]:.3f}")
    for road in ("source", "ptx"):
        errors = [abs(math.log(r[road + "_s"] / r["measured_s"])) for r in both]
        print(f"{road} against measured: factor {math.exp(statistics.mean(errors)):.3f} in the geometric mean, {math.exp(statistics.median(errors)):.3f} in the median")


if __name__ == "__main__":
    main()
