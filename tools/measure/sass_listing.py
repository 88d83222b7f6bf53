#!/usr/bin/env python3
"""Writes test/data/sass/listing.txt: machine code of the front end's test kernels beside NVIDIA's disassembly of it.

Runs the front end's unit tests, which record the PTX of every test kernel, assembles each for one of three targets in turn and
disassembles it (ptxas and nvdisasm from PATH). Kernels whose PTX holds pseudo instructions are left out.
usage: sass_listing.py build/bin/test_unit_frontend > test/data/sass/listing.txt
"""
import os
import re
import subprocess
import sys
import tempfile

import register_table
import sass

LONGEST = 300  # instructions
LINE = re.compile(r"\s+/\*([0-9a-f]{4,5})\*/\s+(?:@!?U?P\w+\s+)?([A-Z]\w*)(.*?);\s+/\* 0x([0-9a-f]{16}) \*/")


def listing(cubin):
    text = subprocess.run([sass.tool("nvdisasm"), "-hex", cubin], capture_output=True, text=True, check=True).stdout
    labels, rows, waiting = {}, [], []
    for line in text.splitlines():
        label = re.match(r"\s*(\.L_x?_?\w+):", line)
        if label:
            waiting.append(label.group(1))
            continue
        found = LINE.match(line)
        if found:
            labels.update({name: len(rows) for name in waiting})
            waiting = []
            target = re.search(r"`\((\.L\w+)\)", found.group(3))
            rows.append([found.group(4), None, found.group(2), target and target.group(1)])
        elif rows and rows[-1][1] is None:
            rows[-1][1] = re.search(r"/\* 0x([0-9a-f]{16}) \*/", line).group(1)
    return [(low, high, name, labels.get(target, "")) for low, high, name, target in rows]


def main():
    version = subprocess.run([sass.tool("ptxas"), "--version"], capture_output=True, text=True).stdout.split()[-1]
    print(f"# Made by tools/measure/sass_listing.py with {version}. Of each instruction its two halves, its name and the place it branches to.")
    targets = ["sm_75", "sm_80", "sm_90"]
    kernels = sorted({key.split()[3]: ptx for key, ptx in register_table.recorded(sys.argv[1]).items() if key.startswith("ptx sm_80 ")}.items())
    for n, (symbol, ptx) in enumerate(kernels):
        if "kc.math" in ptx:
            continue
        arch = targets[n % 3]
        cubin, _ = sass.assemble(ptx.replace(".target sm_80", f".target {arch}") if arch != "sm_75" else ptx.replace("sm_80", "sm_75"), arch)
        rows = listing(cubin)
        os.unlink(cubin)
        if len(rows) > LONGEST:
            continue
        print(f"kernel {symbol} {arch}")
        for low, high, name, target in rows:
            print(low, high, name, target)


if __name__ == "__main__":
    main()
