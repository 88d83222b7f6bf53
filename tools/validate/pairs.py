#!/usr/bin/env python3
"""Predicted against measured gains of pairs that differ in one change: writes validation/pairs.md.

    tools/validate/pairs.py --modern FILE --validation FILE [--published FOLDER] [--program build/bin/kernelcast] [--write]

--modern and --validation are outputs of `kernelcast validate ... --format json` for the two sets of measured rows
(tools/validate/modern.py --json, and the same command on the older rows). --published is the folder that
tools/validate/published.py takes. validation/pairs.json lists the pairs; a pair is of two kernels of one set, on one GPU
and one problem, or of two rows of one kernel whose -D settings differ in one parameter. The gain is the ratio of times
after over before. A pair counts once per GPU: where it was measured on several problems, the medians over them do."""

import argparse
import collections
import json
import math
import os
import re
import statistics
import sys

import published

ROOT = published.ROOT
PAGE = os.path.join(ROOT, "validation", "pairs.md")
MARKED = re.compile(r"(<!-- tools/validate/pairs.py writes from here -->\n).*(<!-- to here -->\n)", re.S)
LEFT_OUT = {"near_launch_floor", "launch_overhead", "replicate", "out_of_range_access"}
LIKE = 1.05  # a measured difference below this is no sign: campaigns repeat within 3 to 5 %


class Pair:
    """One change on one GPU: logarithms of ratios after / before, one for each problem."""

    def __init__(self, kind, before, after, gpu, family):
        self.kind, self.before, self.after, self.gpu, self.family = kind, before, after, gpu, family
        self.measured, self.forecast, self.bounds = [], [], collections.Counter()

    def add(self, before, after):
        self.measured.append(math.log(after["measured"] / before["measured"]))
        self.forecast.append(math.log(after["forecast"] / before["forecast"]))
        self.bounds[f"{before['bound']} to {after['bound']}"] += 1

    @property
    def ratio(self):
        return statistics.median(self.measured)

    @property
    def answer(self):
        return statistics.median(self.forecast)

    @property
    def error(self):
        return statistics.median(abs(math.expm1(f - m)) for f, m in zip(self.forecast, self.measured))


def rows_of(path):
    with open(path, encoding="utf-8") as file:
        value = json.load(file)
    rows = []
    for row in value["rows"]:
        forecast = row["models"]["kernelcast"]
        if LEFT_OUT & set(row["flags"]) or row["status"] != "ok" or not forecast.get("time_s"):
            continue
        rows.append({"kernel": row["kernel_id"], "gpu": row["gpu"], "problem": row["problem"],
                     "defines": dict(d.split("=", 1) for d in row["defines"] if "=" in d),
                     "launch": (tuple(row["launch"]["grid"]), tuple(row["launch"]["block"])),
                     "warm": "l2_resident" in row["flags"], "measured": row["measured_s"],
                     "forecast": forecast["time_s"], "bound": forecast["limiter"]})
    return rows


def best(rows):
    """The row of the quickest measured launch: what the author would launch."""
    return min(rows, key=lambda r: r["measured"])


def size_of(problem):
    """The problem without its type, which a pair may change."""
    return re.sub(r"\s(float|half|\S*(f16|f32|i32)\S*)$", "", problem)


def of_kernels(rows, groups):
    found = []
    by_kernel = collections.defaultdict(lambda: collections.defaultdict(list))
    for row in rows:
        by_kernel[row["kernel"]][(row["gpu"], size_of(row["problem"]))].append(row)
    for group in groups:
        for names in group["pairs"]:
            before, after = names.split()
            pairs = {}
            for key in sorted(by_kernel[before].keys() & by_kernel[after].keys()):
                pair = pairs.setdefault(key[0], Pair(group["kind"], before, after, key[0], before.split("_")[0]))
                # The same launch where both have it, otherwise each kernel's best.
                one = {r["launch"]: r for r in by_kernel[before][key]}
                two = {r["launch"]: r for r in by_kernel[after][key]}
                both = one.keys() & two.keys()
                if both:
                    for launch in sorted(both):
                        pair.add(one[launch], two[launch])
                else:
                    pair.add(best(by_kernel[before][key]), best(by_kernel[after][key]))
            found += pairs.values()
    return found


def of_parameters(rows, parameters):
    """Rows of one kernel, GPU and problem whose settings differ in one parameter; the smaller value is before."""
    found, groups = [], collections.defaultdict(list)
    for row in rows:
        if row["defines"]:
            groups[(row["kernel"], row["gpu"], row["problem"])].append(row)
    for (kernel, gpu, _), of in sorted(groups.items()):
        for i, one in enumerate(of):
            for two in of[i + 1:]:
                if one["defines"].keys() != two["defines"].keys():
                    continue
                differ = [n for n in one["defines"] if one["defines"][n] != two["defines"][n]]
                if len(differ) != 1 or differ[0] not in parameters:
                    continue
                name = differ[0]
                a, b = sorted((one, two), key=lambda r: float(r["defines"][name]))
                pair = Pair(parameters[name], f"{kernel} {name}={a['defines'][name]}", f"{name}={b['defines'][name]}",
                            gpu, kernel.split("_")[0])
                pair.add(a, b)
                found.append(pair)
    return found


def of_published(program, folder, groups):
    with open(os.path.join(ROOT, "validation", "published.json"), encoding="utf-8") as file:
        sets = json.load(file)["groups"]
    found, known = [], {}
    for group in groups:
        of = sets[group["group"]]
        for before, after in group["pairs"]:
            pair = Pair(group["kind"], f"{of['repository'].split('/')[0]} {before}", after, of["gpu"],
                        of["repository"].split("/")[0])
            rows = []
            for name in (before, after):
                if (group["group"], name) not in known:
                    row = next(r for r in of["rows"] if r["name"] == name)
                    estimate, why = published.forecast(program, folder, of, row)
                    if not estimate:
                        print(f"{of['repository']} {name}: {why}", file=sys.stderr)
                    known[(group["group"], name)] = estimate and {
                        "measured": published.measured_seconds(of, row), "forecast": estimate["time_s"],
                        "bound": estimate["limiter"]}
                rows.append(known[(group["group"], name)])
            if all(rows):
                pair.add(*rows)
                found.append(pair)
    return found


def scores(pairs):
    told = [p for p in pairs if abs(p.ratio) > math.log(LIKE)]
    return {"pairs": len(pairs), "error": statistics.median(p.error for p in pairs),
            "bias": statistics.median(p.answer - p.ratio for p in pairs), "told": len(told),
            "sign": sum(p.answer * p.ratio > 0 for p in told) / len(told) if told else None}


def cells(name, value):
    sign = "-" if value["sign"] is None else f"{100 * value['sign']:.0f} % of {value['told']}"
    return f"| {name} | {value['pairs']} | {100 * value['error']:.1f} % | {math.exp(value['bias']):.2f} | {sign} |"


def table(pairs, key, head):
    groups = collections.defaultdict(list)
    for pair in pairs:
        groups[key(pair)].append(pair)
    lines = [f"| {head} | pairs | median error of the ratio | median forecast / measured ratio | sign right |",
             "|---|---:|---:|---:|---:|"]
    return "\n".join(lines + [cells(name, scores(of)) for name, of in sorted(groups.items())] +
                     [cells("all", scores(pairs))]) + "\n"


def short(gpu):
    return gpu.removeprefix("NVIDIA ").removeprefix("GeForce ")


def listing(pairs):
    lines = ["| change | before | after | GPU | problems | measured | forecast | error | limited by |",
             "|---|---|---|---|---:|---:|---:|---:|---|"]
    for p in sorted(pairs, key=lambda p: (p.kind, p.before, p.after, p.gpu)):
        lines.append(f"| {p.kind} | {p.before} | {p.after} | {short(p.gpu)} | {len(p.measured)} | "
                     f"{math.exp(p.ratio):.2f} | {math.exp(p.answer):.2f} | {100 * p.error:.0f} % | "
                     f"{p.bounds.most_common(1)[0][0]} |")
    return "\n".join(lines) + "\n"


def text(kernels, parameters):
    return "\n".join(["### By kind of change: two kernels\n", table(kernels, lambda p: p.kind, "change"),
                      "### By kind of change: one parameter of one kernel\n",
                      table(parameters, lambda p: p.kind, "change"),
                      "### By kernel: one parameter\n", table(parameters, lambda p: p.before.split()[0], "kernel"),
                      "### Pairs of kernels\n", "Times after over before.\n", listing(kernels)])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--modern", required=True)
    parser.add_argument("--validation", required=True)
    parser.add_argument("--published")
    parser.add_argument("--program", default=os.path.join(ROOT, "build", "bin", "kernelcast"))
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    with open(os.path.join(ROOT, "validation", "pairs.json"), encoding="utf-8") as file:
        lists = json.load(file)
    modern, old = rows_of(options.modern), rows_of(options.validation)
    kernels = of_kernels(modern, lists["modern"]) + of_kernels(old, lists["validation"])
    if options.published:
        kernels += of_published(options.program, options.published, lists["published"])
    body = text(kernels, of_parameters(old, lists["parameters"]))
    print(body)
    if options.write:
        with open(PAGE, encoding="utf-8") as file:
            page = file.read()
        with open(PAGE, "w", encoding="utf-8") as file:
            file.write(MARKED.sub(lambda m: m[1] + "\n" + body + "\n" + m[2], page))


if __name__ == "__main__":
    main()
