#!/usr/bin/env python3
"""Sizes of the functions of NVIDIA's libdevice, as its compilers see them when they decide about unrolling.

usage: libdevice_sizes.py LIBDEVICE.bc > src/frontend/ir/libdevice_sizes.inc

Optimizes the library by LLVM 19's opt for sm_80 and counts the instructions of each function but what is free in LLVM's
cost model (phis, truncations, casts that change no bit) and returns. A function with a loop keeps the loop around it from
being unrolled. Held against nvcc 13.0: of 120 functions, each in a loop that adds up its products with another array,
114 are unrolled as far as these sizes and the limit of 202 say; the others lie close to the next number of copies."""

import re
import subprocess
import sys

FREE = re.compile(r"= (phi|bitcast|trunc|addrspacecast|freeze|extractvalue|insertvalue|inttoptr|ptrtoint)\b")
CALL = 4  # of a function that stays one: itself and its arguments
FUNCTION = re.compile(r"^define [^\n]*@(\w+)\([^\n]*\{\n(.*?)^\}", re.M | re.S)


def read(text):
    """Name -> (instructions, has a loop)."""
    found = {}
    for name, body in FUNCTION.findall(text):
        count, seen, loop, calls = 0, set(), False, 0
        for line in body.splitlines():
            line = line.split(";")[0].strip()
            label = re.match(r"^(\S+):$", line)
            if label:
                seen.add(label.group(1))
                continue
            targets = re.findall(r"label %(\S+?)(?:,|$)", line)
            loop = loop or any(t in seen for t in targets)
            if not line or line.startswith(("ret", "br label", "tail call void @llvm.lifetime", "call void @llvm.lifetime")):
                continue
            if FREE.search(line):
                continue
            call = re.search(r"call [^@]*@(__(?:nv|internal)\w*)\(", line)
            if call:
                calls += 1
            else:
                count += 1
        found[name] = (count + CALL * calls, loop)
    return found


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__.splitlines()[2])
    text = subprocess.run(["opt-19", "-mtriple=nvptx64-nvidia-cuda", "-mcpu=sm_80", "-passes=default<O3>", "-S", sys.argv[1], "-o", "-"],
                          check=True, capture_output=True, text=True).stdout
    found = read(text)
    print("// Made by tools/measure/libdevice_sizes.py from CUDA 13.0's libdevice.10.bc by LLVM 19; do not edit.")
    print("// {function without __nv_, LLVM instructions, whether it has a loop}")
    for name in sorted(found):
        if name.startswith("__nv_"):
            count, loop = found[name]
            print(f'{{"{name[5:]}", {count}, {"true" if loop else "false"}}},')


if __name__ == "__main__":
    main()
