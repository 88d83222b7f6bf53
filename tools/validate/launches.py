#!/usr/bin/env python3
"""How many programs' launches are found in the host code, and how many agree with recorded ones.

  launches.py rows PROGRAM ROWS.csv KERNELS.csv SOURCES   recorded grids, blocks and arguments against those found
  launches.py count PROGRAM FOLDER...                     programs (a folder each): launches found, and complete

The arguments of a program are those of the `run` rule of its Makefile.
"""

import argparse
import csv
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import defaultdict


def default_arguments(folder):
    for name in ("Makefile", "makefile"):
        path = os.path.join(folder, name)
        if not os.path.exists(path):
            continue
        with open(path, encoding="utf-8", errors="replace") as file:
            found = re.search(r"^run\s*:.*\n((?:\t.*\n?)+)", file.read(), re.M)
        if found:
            line = found.group(1).strip().split("\n")[0].replace("$(LAUNCHER)", "").strip()
            return re.sub(r"^\S+\s*", "", line)
    return ""


def launches_of(program, source, words, includes=()):
    """(launches, error)"""
    with tempfile.TemporaryDirectory() as folder:
        output = os.path.join(folder, "out.json")
        command = [program, "predict", source, "--device", "rtx3080", "--launch", "list", "--format", "json", "-o", output]
        if words:
            command += ["--argv", words]
        for i in includes:
            command += ["-I", i]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, cwd=os.path.dirname(source))
        except subprocess.TimeoutExpired:
            return [], "timeout"
        if not os.path.exists(output):
            return [], (done.stderr.strip() or str(done.returncode)).split("\n")[0]
        with open(output, encoding="utf-8") as file:
            return json.load(file)["launches"], ""


def complete(launch):
    return None not in launch["grid"] + launch["block"] + [launch["shared_bytes"]]


def rows(a):
    with open(a.kernels, encoding="utf-8") as file:
        kernels = {k["id"]: k for k in csv.DictReader(file)}
    wanted = defaultdict(list)
    with open(a.rows, encoding="utf-8") as file:
        for row in csv.DictReader(file):
            wanted[kernels[row["kernel_id"]]["path"]].append(row)
    total = defaultdict(int)
    for path, of_program in sorted(wanted.items()):
        source = os.path.join(a.sources, path)
        found, error = launches_of(a.program, source, default_arguments(os.path.dirname(source)))
        for row in {(r["kernel_id"], r["grid_x"], r["grid_y"], r["grid_z"], r["block_x"], r["block_y"], r["block_z"]): r for r in of_program}.values():
            entry = kernels[row["kernel_id"]]["entry"]
            base = re.sub(r"[<(].*", "", entry).split("::")[-1].split()[-1]
            mine = [f for f in found if re.sub(r"[<(].*", "", f["kernel"]).split("::")[-1] == base]
            sizes = [[int(row[f"{what}_{axis}"]) for axis in "xyz"] for what in ("grid", "block")]
            whole = [f for f in mine if complete(f)]
            right = [f for f in whole if [f["grid"], f["block"]] == sizes]
            arguments = dict(part.split("=", 1) for part in row["args"].split(";") if "=" in part)
            agree = [f for f in right if all(same(x["value"], arguments[x["name"]]) for x in f["args"] if x["name"] in arguments and x["kind"] == "value")]
            verdict = "right" if agree else "other arguments" if right else "other sizes" if whole else "unknown" if mine else "not found"
            total[verdict] += 1
            print(f"{verdict:16} {row['kernel_id']} {sizes} {[(f['grid'], f['block']) for f in mine][:3]} {error[:160]}")
    print(dict(total), f"{total['right'] / max(sum(total.values()), 1):.0%} right")


def same(value, text):
    try:
        return abs(float(text) - value) <= 1e-6 * abs(value)
    except (TypeError, ValueError):
        return False


def count(a):
    tally = defaultdict(int)
    for folder in a.folders:
        sources = sorted(os.path.join(folder, f) for f in os.listdir(folder) if f.endswith(".cu"))
        mains = [s for s in sources if re.search(r"\bmain\s*\(", open(s, encoding="utf-8", errors="replace").read())]
        best, why = [], "no .cu file with main"
        for source in mains[:1]:
            includes = [p for p in (os.path.join(folder, "../../../Common"), os.path.join(folder, "include")) if os.path.isdir(p)]
            best, why = launches_of(a.program, source, default_arguments(folder), includes)
        verdict = "complete" if best and all(complete(f) for f in best) else "some complete" if any(complete(f) for f in best) else "found" if best else "none"
        tally[verdict] += 1
        print(f"{verdict:14} {os.path.basename(folder):32} {len(best)} {why[-170:]}", flush=True)
    print(dict(tally))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    one = commands.add_parser("rows")
    for name in ("program", "rows", "kernels", "sources"):
        one.add_argument(name)
    one.set_defaults(run=rows)
    many = commands.add_parser("count")
    many.add_argument("program")
    many.add_argument("folders", nargs="+")
    many.set_defaults(run=count)
    a = parser.parse_args()
    a.program = os.path.abspath(a.program)
    a.run(a)


if __name__ == "__main__":
    sys.exit(main())
