#!/usr/bin/env python3
"""Forecasts of the default model for kernels of the tensor-core era beside measured times: writes validation/modern.md.

    tools/validate/modern.py DATA SOURCES [--program build/bin/kernelcast] [--json FILE] [--reuse] [--cache DIR]

DATA holds rows.csv and kernels.csv (docs/reference/validate.md), SOURCES the kernels' sources. --json keeps the
program's whole output; with --reuse that file is read instead of running the program again; --cache is handed on. No
constant of the model was fitted to these rows."""

import argparse
import collections
import json
import math
import os
import re
import subprocess
import tempfile

from replay import spearman

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
PAGE = os.path.join(ROOT, "validation", "modern.md")
MARKED = re.compile(r"(<!-- tools/validate/modern.py writes from here -->\n).*(<!-- to here -->\n)", re.S)
LEFT_OUT = {"near_launch_floor", "launch_overhead", "replicate", "out_of_range_access"}
LADDER = 5  # kernels that a ladder has at least


def run(options):
    path = options.json or os.path.join(tempfile.mkdtemp(), "modern.json")
    if not options.reuse:
        command = [options.program, "validate", os.path.join(options.data, "rows.csv"), "--kernels",
                   os.path.join(options.data, "kernels.csv"), "--sources", options.sources, "--model", "kernelcast",
                   "--format", "json", "-o", path]
        subprocess.run(command + (["--cache", options.cache] if options.cache else []), check=True)
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def table(heading, rows, names=1):
    lines = ["| " + " | ".join(heading) + " |", "|" + "---|" * names + "---:|" * (len(heading) - names)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def factor(errors):
    return math.exp(sum(map(abs, errors)) / len(errors))


def median(values):
    return sorted(values)[len(values) // 2]


def ladders(rows):
    """The sections on ladders: kernels of a family that do one thing on one GPU."""
    of_problem = collections.defaultdict(list)
    for row in rows:
        gpu = row["gpu"].removeprefix("NVIDIA ").removeprefix("GeForce ")
        of_problem[(row["family"], gpu, row["problem"])].append(row)
    found = []
    for place, of in sorted(of_problem.items()):
        if len({r["kernel"] for r in of}) < LADDER:
            continue
        first = min(of, key=lambda r: r["forecast"])
        found.append((*place, len(of), spearman([r["measured"] for r in of], [r["forecast"] for r in of]),
                      first["measured"] / min(r["measured"] for r in of) - 1))
    if not found:
        return []
    near = [regret <= 0.05 for *_, regret in found]
    out = [f"\n### Ladders of at least {LADDER} kernels\n",
           f"Median Spearman {median([order for *_, order, _ in found]):.2f} over {len(found)} ladders; the first "
           f"choice is within 5 % of the best in {sum(near)}.\n"]
    families = collections.defaultdict(list)
    for ladder in found:
        families[ladder[:2]].append(ladder)
    lines = [[*family, str(len(of)), f"{median([order for *_, order, _ in of]):.2f}",
              str(sum(regret <= 0.05 for *_, regret in of)), f"{100 * max(regret for *_, regret in of):.0f} %"]
             for family, of in families.items()]
    heading = ["family", "GPU", "ladders", "median Spearman", "first choice within 5 %", "largest regret"]
    out.append(table(heading, lines, 2))
    found.sort(key=lambda ladder: ladder[4])
    out.append("\nThe worst ten:\n")
    out.append(table(["family", "GPU", "problem", "kernels", "Spearman", "regret"],
                     [[*place, str(size), f"{order:.2f}", f"{100 * regret:.0f} %"]
                      for *place, size, order, regret in found[:10]], 3))
    return out


def text(value):
    rows, failed = [], collections.Counter()
    for row in value["rows"]:
        forecast = row["models"]["kernelcast"]
        if LEFT_OUT & set(row["flags"]) or row["status"] != "ok":
            continue
        if not forecast.get("time_s"):
            failed[(row["kernel_id"], row["gpu"], forecast.get("reason") or "no forecast")] += 1
            continue
        rows.append({"kernel": row["kernel_id"], "family": row["kernel_id"].split("_")[0], "gpu": row["gpu"],
                     "problem": row["problem"], "warm": "l2_resident" in row["flags"], "measured": row["measured_s"],
                     "forecast": forecast["time_s"], "bound": forecast["limiter"],
                     "error": math.log(forecast["time_s"] / row["measured_s"])})
    out = [f"{len(rows)} rows that count, {sum(failed.values())} without a forecast.\n", "### By family\n"]
    groups = collections.defaultdict(list)
    for row in rows:
        groups[(row["family"], row["gpu"], row["warm"])].append(row)
    lines = []
    for (family, gpu, warm), of in sorted(groups.items()):
        errors = [r["error"] for r in of]
        bounds = collections.Counter(r["bound"] for r in of).most_common(2)
        lines.append([family + (" (warm)" if warm else ""), gpu.removeprefix("NVIDIA ").removeprefix("GeForce "),
                      ", ".join(name for name, _ in bounds), str(len(of)), f"{factor(errors):.2f}",
                      f"{math.exp(sum(errors) / len(errors)):.2f}", f"{math.exp(min(errors)):.2f}",
                      f"{math.exp(max(errors)):.2f}"])
    out.append(table(["family", "GPU", "limited by", "rows", "gMAE", "mean ratio", "least", "largest"], lines, 3))
    cold = collections.defaultdict(list)
    for row in rows:
        if not row["warm"]:
            cold[row["family"]].append(row["error"])
    if cold:
        mean = math.exp(sum(math.log(factor(e)) for e in cold.values()) / len(cold))
        every = sorted(abs(math.exp(r["error"]) - 1) for r in rows if not r["warm"])
        out.append(f"\nWithout the warm rows: gMAE {mean:.2f} (mean over families), median APE "
                   f"{100 * every[len(every) // 2]:.0f} %.\n")
    out += ladders(rows)
    worst = {}
    for row in rows:
        if not row["warm"] and abs(row["error"]) > abs(worst.get((row["kernel"], row["gpu"]), {"error": 0})["error"]):
            worst[(row["kernel"], row["gpu"])] = row
    out.append("\n### Largest errors\n")
    lines = [[r["kernel"], r["gpu"].removeprefix("NVIDIA ").removeprefix("GeForce "), r["problem"], r["bound"],
              f"{math.exp(r['error']):.2f}"] for r in sorted(worst.values(), key=lambda r: -abs(r["error"]))[:15]]
    out.append(table(["kernel", "GPU", "problem", "limited by", "forecast / measured"], lines, 4))
    if failed:
        out.append("\n### Without a forecast\n")
        out.append(table(["kernel", "GPU", "reason", "rows"],
                         [[k, g, why.replace("|", "/"), str(n)] for (k, g, why), n in failed.most_common()], 3))
    return "\n".join(out)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data")
    parser.add_argument("sources")
    parser.add_argument("--program", default=os.path.join(ROOT, "build", "bin", "kernelcast"))
    parser.add_argument("--json")
    parser.add_argument("--reuse", action="store_true")
    parser.add_argument("--cache")
    options = parser.parse_args()
    with open(PAGE, encoding="utf-8") as file:
        page = file.read()
    body = text(run(options))
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(MARKED.sub(lambda m: m[1] + "\n" + body + "\n" + m[2], page))


if __name__ == "__main__":
    main()
