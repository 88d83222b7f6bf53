#!/usr/bin/env python3
"""Measures which loops ptxas unrolls once more after NVVM has.

usage: measure_assembler_unrolling.py [NVCC] [CUOBJDUMP] [sm_86]

Compiles small loops and counts, in the loops of the PTX and of the SASS, the copies of one marked instruction. The
limits of unroll_as_assembler() (src/frontend/lower/unrolling.h) come from its table for CUDA 13.0."""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

HEAD = ("__global__ void k(const float* a, const float* b, float* c, const int* d, int n, int m, float x, float y) {"
        " int t = threadIdx.x; ")
SUM, END = "float s = 0; for (int j = 0; j < n; ++j) ", " c[t] = s; }"
MORE = "s = s * x + y; "


def sums(term):
    return f"{SUM}s += {term};{END}"


LOOPS = {
    **{f"{k} multiply-adds": ("FFMA", f"{SUM}{{ {MORE * k}}}{END}") for k in (1, 2, 4, 5, 6, 8, 12)},
    **{f"load, {k} multiply-adds": ("LDG", f"{SUM}{{ s += a[j]; {MORE * k}}}{END}") for k in (0, 1, 2, 4, 6, 8, 10, 12, 16)},
    **{f"{k} loads": ("LDG", SUM + "{ " + "".join(f"s += {'abc'[i % 3]}[j + {i // 3 * 16}]; " for i in range(k)) + "}" + END)
       for k in (2, 3, 4, 5, 6)},
    **{term: ("LDG", sums(term)) for term in
       ("a[t * n + j]", "b[j * m + t]", "b[j * 1024 + t]", "a[threadIdx.x * n + j]", "a[t * n + j] * b[j * m + t]", "a[d[j]]",
        "sqrtf(a[j])", "rsqrtf(a[j])", "x / a[j]", "expf(a[j])", "__expf(a[j])", "logf(a[j])", "tanhf(a[j])", "floorf(a[j])",
        "fabsf(a[j])", "__sinf(a[j])", "(float)cbrt((double)a[j])")},
    "copy": ("STG", "for (int j = 0; j < n; ++j) c[j] = a[j]; }"),
    "fill": ("STG", "for (int j = 0; j < n; ++j) c[j] = x; }"),
    "atomics": ("RED", "for (int j = 0; j < n; ++j) atomicAdd(c + j, x); }"),
    "branch": ("LDG", f"{SUM}if (a[j] > x) s += a[j];{END}"),
    "barrier": ("LDG", f"{SUM}{{ s += a[j]; __syncthreads(); }}{END}"),
    "64-bit counter": ("LDG", "float s = 0; for (long j = 0; j < n; ++j) s += a[j];" + END),
    "pragma unroll 1": ("LDG", "float s = 0;\n#pragma unroll 1\nfor (int j = 0; j < n; ++j) s += a[j];" + END),
    "1000 trips": ("LDG", "float s = 0; for (int j = 0; j < 1000; ++j) s += a[j];" + END),
    "data decide the trips": ("LDG", "float s = 0; int e = d[t]; for (int j = 0; j < e; ++j) s += a[j];" + END),
}


def loops(code):
    """Instructions of each loop of SASS, by backward branches."""
    for address, text in code:
        target = re.search(r"BRA\S* .*?0x([0-9a-f]+)", text)
        if target and int(target.group(1), 16) < int(address, 16):
            yield [t for a, t in code if int(target.group(1), 16) <= int(a, 16) <= int(address, 16)]


def main():
    nvcc, cuobjdump, target = (sys.argv[1:] + ["nvcc", "cuobjdump", "sm_86"][len(sys.argv) - 1:])[:3]
    print(f"{'loop':32} SASS loops: instructions (copies)")
    with tempfile.TemporaryDirectory() as folder:
        source, cubin = Path(folder, "k.cu"), Path(folder, "k.cubin")
        for name, (marker, body) in LOOPS.items():
            source.write_text(HEAD + body)
            subprocess.run([nvcc, "-arch=" + target, "-cubin", "-o", cubin, source], check=True, stderr=subprocess.DEVNULL)
            text = subprocess.run([cuobjdump, "-sass", cubin], check=True, capture_output=True, text=True).stdout
            code = re.findall(r"/\*([0-9a-f]{4,5})\*/\s+(.*?);", text)
            print(f"{name:32} " + ", ".join(f"{len(loop)} ({sum(marker in t for t in loop)})" for loop in loops(code)))


if __name__ == "__main__":
    main()
