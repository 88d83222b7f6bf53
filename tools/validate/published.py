#!/usr/bin/env python3
"""Forecasts kernels of public repositories for which their authors published times, beside those times.

tools/validate/published.py PROGRAM FOLDER [--write] [--only TEXT]

FOLDER holds the repositories of validation/published.json, one folder OWNER+NAME each, as a checkout. Sources are read as
they are. No constant of any model was fitted to these times. --write puts the table into validation/published.md.
Exit status 1 when a kernel has no forecast."""

import argparse
import json
import math
import os
import subprocess
import sys
import textwrap

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BEGIN, END = "<!-- tools/validate/published.py writes from here -->\n", "<!-- to here -->\n"


def forecast(program, folder, group, row):
    """The model's estimate in seconds with its interval, or the program's complaint."""
    base = os.path.join(folder, group["repository"].replace("/", "+"))
    command = [program, "predict", os.path.join(base, row["path"]), "--device", group["device"], "--kernel", row["kernel"],
               "--grid", row["grid"], "--block", row["block"], "--format", "json"]
    for directory in group.get("include", []):
        command += ["-I", os.path.join(base, directory)]
    for name, value in {**group.get("args", {}), **row.get("args", {})}.items():
        command += ["--arg", f"{name}={value}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return None, done.stderr.strip().splitlines()[0] if done.stderr.strip() else f"exit {done.returncode}"
    for estimate in json.loads(done.stdout)["predictions"]:
        if estimate["model"] == "kernelcast":
            return estimate, None
    return None, "no estimate"


def measured_seconds(group, row):
    if "tflops" in row:
        return group["flop"] / (row["tflops"] * 1e12)
    return row["us"] * 1e-6


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("folder")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    with open(os.path.join(ROOT, "validation", "published.json"), encoding="utf-8") as file:
        groups = json.load(file)["groups"]
    lines, failed = [], 0
    for group in groups:
        if options.only not in group["repository"]:
            continue
        lines += ["", f"### {group['what']}, {group['gpu']}", "",
                  textwrap.fill(f"{group['repository']} at {group['commit'][:12]}; times: {group['source']}.", 120), "",
                  "| kernel | measured | forecast | 90 % | ratio | limited by |", "|---|---:|---:|---:|---:|---|"]
        errors = []
        for row in group["rows"]:
            truth = measured_seconds(group, row)
            estimate, problem = forecast(options.program, options.folder, group, row)
            if estimate is None:
                failed += 1
                lines.append(f"| {row['name']} | {truth * 1e3:.3g} ms | - | - | - | {problem} |")
            else:
                time, interval = estimate["time_s"], estimate["interval_s"]
                errors.append(math.log(time / truth))
                inside = "" if interval[0] <= truth <= interval[1] else " (outside)"
                lines.append(f"| {row['name']} | {truth * 1e3:.3g} ms | {time * 1e3:.3g} ms | "
                             f"{interval[0] * 1e3:.3g} to {interval[1] * 1e3:.3g} ms{inside} | "
                             f"{time / truth:.2f} | {estimate['limiter']} |")
            print(lines[-1], flush=True)
        if errors:
            mean = math.exp(sum(map(abs, errors)) / len(errors))
            lines += ["", f"{len(errors)} kernels: mean error (of logarithms) a factor of {mean:.2f}, "
                      f"largest {math.exp(max(map(abs, errors))):.2f}."]
            print(lines[-1])
    if options.write:
        path = os.path.join(ROOT, "validation", "published.md")
        with open(path, encoding="utf-8") as file:
            text = file.read()
        head, rest = text.split(BEGIN)
        tail = rest.split(END)[1]
        with open(path, "w", encoding="utf-8") as file:
            file.write(head + BEGIN + "\n".join(lines) + "\n\n" + END + tail)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
