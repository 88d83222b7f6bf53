#!/usr/bin/env python3
"""Compares every model with measured times and writes the tables of validation/README.md.

    tools/validate/validate.py DATA SOURCES [--program build/bin/kernelcast] [--json FILE] [--reuse] [--cache DIR]

DATA holds rows.csv and kernels.csv (docs/reference/validate.md), SOURCES the kernels' sources. --json keeps the program's whole
output; with --reuse that file is read instead of running the program again; --cache is handed on.
"""

import argparse
import collections
import datetime
import json
import math
import os
import re
import resource
import subprocess
import sys
import tempfile
import textwrap

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
README = os.path.join(ROOT, "validation", "README.md")
MARKED = re.compile(r"(<!-- tools/validate/validate.py writes from here -->\n).*(<!-- to here -->\n)", re.S)
HEADLINE = [
    ("gMAE", "gmae", "{:.2f}", 1),
    ("within a factor of 2, %", "within_2x", "{:.1f}", 100),
    ("MAPE, %", "mape", "{:.1f}", 100),
    ("median APE, %", "median_ape", "{:.1f}", 100),
    ("90th percentile of APE, %", "p90_ape", "{:.1f}", 100),
    ("bias, %", "bias", "{:+.1f}", 100),
    ("median Spearman", "spearman_median", "{:.3f}", 1),
    ("median top-1 regret, %", "top1_regret_median", "{:.1f}", 100),
    ("ratios: median error, %", "ratio_median_error", "{:.1f}", 100),
    ("ratios: sign right, %", "ratio_sign_accuracy", "{:.1f}", 100),
    ("inside the 90 % interval, %", "interval_coverage", "{:.1f}", 100),
    ("rows that count", "rows", "{}", 1),
    ("rows left out by a flag", "excluded", "{}", 1),
    ("rows that failed", "failed", "{}", 1),
]


def cell(value, form, scale=1):
    return "-" if value is None else form.format(value * scale)


def table(heading, rows):
    lines = ["| " + " | ".join(heading) + " |", "|---" + "|---:" * (len(heading) - 1) + "|"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def headline(value, models):
    scores = value["models"]
    return table(["score"] + models, [[name] + [cell(scores[m][key], form, scale) for m in models] for name, key, form, scale in HEADLINE])


def families(value, models):
    names = list(value["models"][models[0]]["families"])
    of = {m: value["models"][m]["families"] for m in models}
    rows = [[f, str(max(of[m][f]["n"] for m in models))] + [cell(of[m][f]["gmae"], "{:.2f}") for m in models] for f in names]
    return table(["family", "rows"] + models, rows)


def by(value, models, key):
    """gMAE over the pairs that share a GPU or a kernel."""
    logs, counts = collections.defaultdict(list), collections.Counter()
    for pair in value["pairs"]:
        if pair["mean_log_error"] is not None:
            logs[pair[key], pair["model"]].append(pair["mean_log_error"])
            if pair["model"] == models[0]:
                counts[pair[key]] += pair["n"]
    rows = []
    for name in dict.fromkeys(pair[key] for pair in value["pairs"]):
        means = [logs.get((name, m)) for m in models]
        rows.append([name, str(counts[name])] + [cell(math.exp(sum(x) / len(x)), "{:.2f}") if x else "-" for x in means])
    return table([key, "rows"] + models, rows)


def flags(value, models):
    found = collections.defaultdict(dict)
    for f in value["flags"]:
        found[f["flag"]][f["model"]] = f
    rows = []
    for flag, of in found.items():
        logs = [of[m]["mean_log_error"] for m in models]
        rows.append([flag, str(max(of[m]["n"] for m in models))] + [cell(x if x is None else math.exp(x), "{:.2f}") for x in logs])
    return table(["flag", "rows"] + models, rows)


def failures(value, data):
    lines = []
    for f in value["failures"]:
        place = os.path.relpath(f["first"], data) if os.path.isabs(f["first"]) else os.path.basename(f["first"])
        who = "" if f["model"] == "all" else f" by {f['model']}"
        why = " ".join(f["why"].replace("|", "\\|").split())
        lines.append(f"- {f['n']} {'row' if f['n'] == 1 else 'rows'}{who}, first {place}: {why}")
    return "\n".join(lines or ["None."]) + "\n"


def report(value, data, seconds):
    models = list(value["models"])
    sets = collections.Counter(row["dataset"] or "not named" for row in value["rows"])
    gpus = sorted({row["gpu"] for row in value["rows"]})
    took = f", {seconds:.0f} s of processor time" if seconds else ""
    return "\n".join(
        [
            f"{datetime.date.today()}, kernelcast {value['tool_version']}: {len(value['rows'])} rows, "
            f"{value['analyses']} analyses of source{took}.",
            "",
            textwrap.fill("Data sets: " + ", ".join(f"{name} ({n})" for name, n in sets.most_common()) + ".", 120),
            "",
            textwrap.fill("GPUs: " + ", ".join(gpus) + ".", 120),
            "",
            "### Headline",
            "",
            headline(value, models),
            "### gMAE by family of kernels",
            "",
            families(value, models),
            "### gMAE by GPU",
            "",
            by(value, models, "gpu"),
            "### gMAE by kernel",
            "",
            by(value, models, "kernel_id"),
            "### Left out of the above: gMAE by flag",
            "",
            flags(value, models),
            "### Rows without a forecast",
            "",
            failures(value, data),
        ]
    )


def run(program, data, sources, path, cache):
    command = [program, "validate", os.path.join(data, "rows.csv"), "--kernels", os.path.join(data, "kernels.csv")]
    command += ["--sources", sources, "--launch-overhead", "5.56e-6", "--format", "json", "-o", path]
    command += ["--cache", cache] if cache else []
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data")
    parser.add_argument("sources")
    parser.add_argument("--program", default=os.path.join(ROOT, "build", "bin", "kernelcast"))
    parser.add_argument("--json")
    parser.add_argument("--cache")
    parser.add_argument("--reuse", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = options.json or os.path.join(folder, "validate.json")
        seconds = None if options.reuse else run(options.program, options.data, options.sources, path, options.cache)
        with open(path, encoding="utf-8") as file:
            value = json.load(file)
    with open(README, encoding="utf-8") as file:
        text = file.read()
    made = report(value, options.data, seconds)
    with open(README, "w", encoding="utf-8") as file:
        file.write(MARKED.sub(lambda m: m[1] + "\n" + made + "\n" + m[2], text))


if __name__ == "__main__":
    sys.exit(main())
