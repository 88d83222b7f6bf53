#!/usr/bin/env python3
"""Two roads, one answer, for launches of whole programs: no measured time is needed.

    tools/validate/program_roads.py FOLDER... --nvcc NVCC [--arch sm_86] [--device rtx3080] [--program build/bin/kernelcast] [--keep FOLDER] [--json FILE]

FOLDER holds one program. The first complete launch of each kernel that kernelcast finds in its host code, six at most, is forecast from
source and from the PTX that nvcc makes of the same file, both with the launch's grid, block, shared memory and scalar arguments. Prints the
largest ratios first, what has no two forecasts and why, and every crash. PTX is made once and kept in --keep; --json goes on where it ended.
"""
import argparse
import collections
import json
import math
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import launches

ROOT = Path(__file__).resolve().parents[2]


def run(command, seconds, folder=None):
    """(standard output or None, first line of what went wrong)"""
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=seconds, check=False, cwd=folder)
    except subprocess.TimeoutExpired:
        return None, f"more than {seconds} s"
    return (done.stdout, "") if done.returncode == 0 else (None, (done.stderr.strip().splitlines() or ["?"])[0])


def forecast(args, words):
    text, why = run([args.program, "predict", *words, "--device", args.device, "--format", "json"], 120)
    if text is None:
        return {"why": why}
    p = json.loads(text)["predictions"][0]
    return {"time_s": p["time_s"], "limiter": p["limiter"]} if p.get("time_s") else {"why": str(p.get("time_reason"))}


def entries_of(args, name, sources, flags):
    """{entry: (PTX file, demangled name)}, what nvcc says"""
    found, why = {}, ""
    for source in sources:
        ptx = Path(args.keep, f"{name}_{Path(source).name}.ptx")
        if not ptx.exists():
            command = [args.nvcc, "-ptx", "-std=c++17", f"-arch={args.arch}", "-lineinfo", source, "-o", str(ptx), "-I", os.path.dirname(source)]
            _, problem = run([*command, *flags], 300, os.path.dirname(source))
            why = why or problem
        if ptx.exists():
            names = re.findall(r"\.entry (\w+)\(", ptx.read_text(errors="replace"))
            plain = subprocess.run(["c++filt", *names], capture_output=True, text=True, check=True).stdout.splitlines() if names else []
            found.update({entry: (str(ptx), d) for entry, d in zip(names, plain)})
    return found, why


def entry_of(kernel, entries):
    """Entries that the launch's kernel may mean."""
    base = re.sub(r"[<(].*", "", kernel).split("::")[-1]
    same = [e for e, (_, plain) in entries.items() if e == base or re.match(rf"(?:void )?(?:\w+::|\(anonymous namespace\)::)*{re.escape(base)}[<(]", plain)]
    squeezed = lambda text: re.sub(r"\(\w+\)|\s|(?<=\d)[uUlL]+", "", text)
    return [e for e in same if squeezed(kernel) in squeezed(entries[e][1])] or same if len(same) > 1 else same


def kernels_of(args, folder):
    source, outside, flags, words = launches.program_of(folder)
    if not source or not source.endswith(".cu"):
        return {"why": "no CUDA source with main"}
    found, why = launches.launches_of(args.program, source, words, outside, flags)
    if why:
        return {"why": "launches: " + why}
    first = {}
    for launch in found:
        if launches.complete(launch):
            first.setdefault(launch["kernel"], launch)
    entries, why = entries_of(args, os.path.basename(folder), [s for s in (source, *outside) if s.endswith(".cu")], flags)
    results = []
    for kernel, launch in list(first.items())[:6]:
        mine = entry_of(kernel, entries)
        if len(mine) != 1:
            results.append({"kernel": kernel, "ptx": {"why": why or f"{len(mine)} entries of this name"}, "source": {}})
            continue
        shape = ["--grid", ",".join(map(str, launch["grid"])), "--block", ",".join(map(str, launch["block"]))]
        if launch["shared_bytes"]:
            shape += ["--shared", str(launch["shared_bytes"])]
        values = [(n, a["name"], a["value"]) for n, a in enumerate(launch["args"]) if a["kind"] == "value" and a["value"] is not None]
        by_name, by_place = ([w for v in values for w in ("--arg", f"{v[k]}={v[2]}")] for k in (1, 0))
        results.append({"kernel": kernel, "source": forecast(args, [source, "--kernel", kernel, *flags, *shape, *by_name]),
                        "ptx": forecast(args, [entries[mine[0]][0], "--kernel", mine[0], *shape, *by_place])})
    return {"kernels": results}


def report(results):
    both, without = [], collections.Counter()
    for program, r in results.items():
        if "why" in r:
            without[re.sub(r"/\S+|\d+", "...", r["why"])[:90]] += 1
        for k in r.get("kernels", []):
            if "time_s" in k["source"] and "time_s" in k["ptx"]:
                both.append((k["ptx"]["time_s"] / k["source"]["time_s"], program, k))
            for road in ("source", "ptx"):
                if "why" in k[road]:
                    without[road + ": " + re.sub(r'/\S+|"[^"]*"|\d+', "...", k[road]["why"])[:90]] += 1
                if "crashed" in k[road].get("why", ""):
                    print(f"CRASH {program} {k['kernel']} ({road})")
    for ratio, program, k in sorted(both, key=lambda b: -abs(math.log(b[0]))):
        if abs(math.log(ratio)) > math.log(1.25):
            print(f"{ratio:9.3f} {k['source']['time_s'] * 1e6:12.1f} {k['ptx']['time_s'] * 1e6:12.1f} us  {program} {k['kernel'][:60]}  {k['source']['limiter']} | {k['ptx']['limiter']}")
    for why, n in without.most_common():
        print(f"{n:4} without: {why}")
    sizes = sorted(max(b[0], 1 / b[0]) for b in both)
    if sizes:
        print(f"{len(results)} programs, {len(both)} kernels: PTX against source, median factor {sizes[len(sizes) // 2]:.3f}, nine in ten within "
              f"{sizes[int(0.9 * len(sizes))]:.3f}; within 1.1 {sum(s <= 1.1 for s in sizes)}, beyond 2 {sum(s > 2 for s in sizes)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--nvcc", default="nvcc")
    parser.add_argument("--arch", default="sm_86")
    parser.add_argument("--device", default="rtx3080")
    parser.add_argument("--program", default=str(ROOT / "build" / "bin" / "kernelcast"))
    parser.add_argument("--keep")
    parser.add_argument("--json")
    args = parser.parse_args()
    args.program = str(Path(args.program).resolve())
    args.keep = args.keep or tempfile.mkdtemp()
    Path(args.keep).mkdir(parents=True, exist_ok=True)
    results = json.loads(Path(args.json).read_text()) if args.json and Path(args.json).exists() else {}
    for folder in args.folders:
        name = os.path.basename(os.path.abspath(folder))
        if name in results:
            continue
        results[name] = kernels_of(args, os.path.abspath(folder))
        if args.json:
            Path(args.json).write_text(json.dumps(results))
    report(results)


if __name__ == "__main__":
    main()
