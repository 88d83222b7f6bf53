#!/usr/bin/env python3
"""Measures which loops ptxas unrolls once more after NVVM has.

usage: measure_assembler_unrolling.py [NVCC] [CUOBJDUMP] [sm_86]

Compiles small loops and counts, in the loops of the PTX and of the SASS, the copies of one marked instruction. Then
loops of known trips, which the compiler in front leaves rolled and ptxas is free to unroll: copies in the SASS, with a
+ where no loop is left. The limits of unroll_as_assembler() (src/frontend/lower/unrolling.cpp) come from both tables
for CUDA 13.0."""

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


TRIPS = (2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 16, 18, 20, 24, 28, 32, 36, 40, 48, 64, 100, 128, 1000)
BODIES = {
    **{f"{k} multiply-adds": ("FFMA", MORE * k, k) for k in (1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 96, 128)},
    **{f"{k} loads": ("LDG", "".join(f"s += a[t + j * 1024 + {32 * i}]; " for i in range(k)), k)
       for k in (1, 2, 4, 8, 12, 16, 24, 32, 48)},
    "load, square root": ("LDG", "s += sqrtf(a[t + j * 1024]);", 1),
    "load, barrier": ("LDG", "s += a[t + j * 1024]; __syncthreads();", 1),
    "load, branch": ("LDG", "if (a[t + j * 1024] > x) s += y;", 1),
}


def loops(code):
    """Instructions of each loop of SASS, by backward branches."""
    for address, text in code:
        target = re.search(r"BRA\S* .*?0x([0-9a-f]+)", text)
        if target and int(target.group(1), 16) < int(address, 16):
            yield [t for a, t in code if int(target.group(1), 16) <= int(a, 16) <= int(address, 16)]


def listing(cuobjdump, cubin):
    text = subprocess.run([cuobjdump, "-sass", cubin], check=True, capture_output=True, text=True).stdout
    return re.findall(r"/\*([0-9a-f]{4,5})\*/\s+(.*?);", text)


def known_trips(nvcc, cuobjdump, target, folder):
    """Prints a line for each body."""
    ptxas = str(Path(nvcc).with_name("ptxas"))
    source, ptx, cubin = (Path(folder, "k" + ending) for ending in (".cu", ".ptx", ".cubin"))
    print("\nknown trips" + " " * 13 + " ".join(f"{trips:6}" for trips in TRIPS))
    for name, (marker, body, each) in BODIES.items():
        cells = []
        for trips in TRIPS:
            source.write_text(f"{HEAD}float s = 0;\n#pragma unroll 1\nfor (int j = 0; j < {trips}; ++j) {{ {body} }}{END}")
            subprocess.run([nvcc, "-arch=" + target, "-ptx", "-o", ptx, source], check=True, stderr=subprocess.DEVNULL)
            ptx.write_text(ptx.read_text().replace('.pragma "nounroll";', ""))
            subprocess.run([ptxas, "-arch=" + target, ptx, "-o", cubin], check=True)
            code = listing(cuobjdump, cubin)
            left = any(any(marker in line for line in loop) for loop in loops(code))
            cells.append(f"{sum(marker in line for _, line in code) / each:.4g}{'' if left else '+'}")
        print(f"{name:24}" + " ".join(f"{cell:>6}" for cell in cells))


def main():
    nvcc, cuobjdump, target = (sys.argv[1:] + ["nvcc", "cuobjdump", "sm_86"][len(sys.argv) - 1:])[:3]
    print(f"{'loop':32} SASS loops: instructions (copies)")
    with tempfile.TemporaryDirectory() as folder:
        source, cubin = Path(folder, "k.cu"), Path(folder, "k.cubin")
        for name, (marker, body) in LOOPS.items():
            source.write_text(HEAD + body)
            subprocess.run([nvcc, "-arch=" + target, "-cubin", "-o", cubin, source], check=True, stderr=subprocess.DEVNULL)
            code = listing(cuobjdump, cubin)
            print(f"{name:32} " + ", ".join(f"{len(loop)} ({sum(marker in t for t in loop)})" for loop in loops(code)))
        known_trips(nvcc, cuobjdump, target, folder)


if __name__ == "__main__":
    main()
