#!/usr/bin/env python3
"""Writes the tables of docs/lab/registers.md: the register estimate against ptxas, and operation counts against SASS.

Runs the front end's unit tests, which record estimate, ptxas's answer, PTX and counts of every test kernel. With cuobjdump in PATH the PTX
is also assembled and its SASS counted by class (sass.py); ".pragma nounroll" is put into every loop first, so that one
block of PTX is one of SASS, and out-of-line slow paths (behind the last EXIT) do not count.
usage: register_table.py build/bin/test_unit_frontend docs/lab/registers.md
"""
import collections
import contextlib
import io
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

import sass

FOLD = {"int64_add": "int_add", "int_mul": "int_mad", "int64_mad": "int_mad"}


def recorded(binary):
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "out.json")
        subprocess.run([binary, "--gtest_filter=*RegisterTest*", f"--gtest_output=json:{out}"], check=False, stdout=subprocess.DEVNULL)
        found = {}
        for suite in json.load(open(out))["testsuites"]:
            for test in suite["testsuite"]:
                found.update({k: v for k, v in test.items() if k.startswith(("registers ", "ptx ", "ops "))})
        return found


def register_section(data):
    rows = collections.defaultdict(dict)
    for key, value in data.items():
        if key.startswith("registers "):
            _, arch, group, symbol = key.split()
            rows[group, symbol][arch] = [float(x) for x in value.split()]
    arches = sorted({a for r in rows.values() for a in r})
    print("| set | target | kernels | mean abs. error | median | largest | bias | inside low..high |\n|---|---|---|---|---|---|---|---|")
    for group in ("kernels", "examples"):
        for arch in arches:
            found = [r[arch] for (g, _), r in rows.items() if g == group and arch in r]
            errors = [r[0] - r[3] for r in found]
            inside = sum(r[1] <= r[3] <= r[2] for r in found)
            print(f"| {group} | {arch} | {len(found)} | {statistics.mean(map(abs, errors)):.1f} | {statistics.median(map(abs, errors)):.1f} | "
                  f"{max(map(abs, errors)):.0f} | {statistics.mean(errors):+.1f} | {100 * inside / len(found):.0f} % |")
    print("\n| set | kernel | " + " | ".join(f"{a} estimate (low..high) | ptxas" for a in arches) + " |\n|---|---|" + "---|---|" * len(arches))
    for (group, symbol), r in sorted(rows.items(), key=lambda kv: (kv[0][0] != "kernels", kv[0][1])):
        cells = " | ".join(f"{r[a][0]:.0f} ({r[a][1]:.0f}..{r[a][2]:.0f})"
                           + (f", {r[a][4]:.0f} B spilled" if r[a][4] else "") + f" | {r[a][3]:.0f}"
                           + (f", {r[a][5]:.0f} B of spill stores" if r[a][5] else "") for a in arches)
        print(f"| {group} | {symbol} | {cells} |")


def fold(counts):
    folded = collections.Counter()
    for k, v in counts.items():
        folded[FOLD.get(k, k)] += v
    return folded


def sass_section(data, arch="sm_80"):
    ours, theirs, errors = collections.Counter(), collections.Counter(), []
    for key, ptx in data.items():
        if not key.startswith(f"ptx {arch} ") or "kc.math" in ptx:
            continue
        cubin, _ = sass.assemble(re.sub(r"(\$L__BB\d+_\d+:)", r'\1\n.pragma "nounroll";', ptx), arch)
        code = next(iter(sass.disassemble(cubin).values()))
        os.unlink(cubin)
        code = code[:max(i for i, x in enumerate(code) if x.opcode.startswith("EXIT")) + 1]
        o = fold({k: float(v) for k, v in (x.split(":") for x in data["ops" + key[3:]].split())})
        s = fold(sass.counts(code))
        errors.append(abs(sum(o.values()) / sum(s.values()) - 1))
        ours += o
        theirs += s
    print(f"{len(errors)} kernels, {arch}: error of the number of instructions: mean {100 * statistics.mean(errors):.0f} %, "
          f"median {100 * statistics.median(errors):.0f} %.\n")
    print("| class | counted | SASS |\n|---|---|---|")
    for c in sorted(set(ours) | set(theirs)):
        print(f"| {c} | {ours[c]:.0f} | {theirs[c]} |")


def rewritten(page, name, table):
    """`page` with `table` between its marks for `name`."""
    first, last = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->"
    before, rest = page.split(first)
    return before + first + table + last + rest.split(last)[1]


def text_of(section, *arguments):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        section(*arguments)
    return out.getvalue()


def main():
    binary, path = sys.argv[1:3]
    data = recorded(binary)
    version = subprocess.run([sass.tool("ptxas"), "--version"], capture_output=True, text=True, check=True).stdout.split()[-1]
    with open(path, encoding="utf-8") as file:
        page = file.read()
    page = rewritten(page, "registers", f"ptxas: {version}\n\n{text_of(register_section, data)}")
    if shutil.which("cuobjdump"):
        page = rewritten(page, "instructions", text_of(sass_section, data))
    with open(path, "w", encoding="utf-8") as file:
        file.write(page)


if __name__ == "__main__":
    main()
