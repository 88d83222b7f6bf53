#!/usr/bin/env python3
"""Measures which loops NVIDIA's run-time compiler unrolls, and how far.

usage: measure_unrolling.py LIBNVRTC [sm_80]

LIBNVRTC is the path of libnvrtc.so (its builtins beside it). Compiles small kernels and reads the PTX: the largest number
of trips up to which a loop vanishes (without and with a private array that its counter indexes), and how many copies of
a body a loop of known or unknown trips holds. The sizes in src/frontend/lower/unrolling.* and vendor_options.cpp come from its
tables for NVRTC 11.8, 12.4 and 13.0, which agree in all figures."""

import re
import sys

from nvrtc import Failed, Nvrtc

KERNEL = 'extern "C" __global__ void k(const float* a, float* c, const int* d, int n) {'
BRANCH, LOCAL = r"\bbra\b", r"\.local"
LOOPS = {  # instructions of a passage as LLVM counts them: the body
    "5: sum of one array": "float s = 0; for (int i = 0; i < N; ++i) s += a[i]; c[threadIdx.x] = s;",
    "6: stores": "for (int i = 0; i < N; ++i) c[i * 1024 + threadIdx.x] = 1;",
    "7: sum, strided": "float s = 0; for (int i = 0; i < N; ++i) s += a[i * 1024 + threadIdx.x]; c[threadIdx.x] = s;",
    "8: copy": "for (int i = 0; i < N; ++i) c[i * 1024 + threadIdx.x] = a[i * 1024 + threadIdx.x];",
    "9: gather": "float s = 0; for (int i = 0; i < N; ++i) s += a[d[i * 32 + threadIdx.x]]; c[threadIdx.x] = s;",
    "9: arithmetic": "float s = a[0], x = a[1], y = a[2]; for (int i = 0; i < N; ++i) "
                     "{ s = s * x + y; s = s * y + x; s = s * x + y; s = s * y + x; } c[threadIdx.x] = s;",
}
ARRAYS = {
    "filled and read back": "float s[N]; for (int i = 0; i < N; ++i) s[i] = a[i]; "
                            "for (int i = 0; i < N; ++i) c[i * 1024 + threadIdx.x] = s[i];",
    "summed into": "float s[N]; for (int i = 0; i < N; ++i) s[i] = 0; for (int k = 0; k < n; ++k) "
                   "for (int i = 0; i < N; ++i) s[i] += a[k * N + i]; for (int i = 0; i < N; ++i) c[i * 1024 + threadIdx.x] = s[i];",
    "16 x N tile": "float s[16 * N], x[16], y[N]; for (int i = 0; i < 16; ++i) for (int j = 0; j < N; ++j) s[i * N + j] = 0; "
                   "for (int k = 0; k < n; ++k) { for (int i = 0; i < 16; ++i) x[i] = a[k * 16 + i + threadIdx.x * 64]; "
                   "for (int j = 0; j < N; ++j) y[j] = a[k * N + j + threadIdx.x * 64]; "
                   "for (int i = 0; i < 16; ++i) for (int j = 0; j < N; ++j) s[i * N + j] += x[i] * y[j]; } "
                   "for (int i = 0; i < 16; ++i) for (int j = 0; j < N; ++j) c[(i * N + j) * 1024 + threadIdx.x] = s[i * N + j];",
}


class Compiler:
    def __init__(self, path, target):
        self.library = Nvrtc(path)
        self.flags = [f"--gpu-architecture={target.replace('sm_', 'compute_')}"]

    def ptx(self, body):
        try:
            return self.library.ptx(f"{KERNEL}{body}}}", "k.cu", self.flags)
        except Failed as messages:
            sys.exit(f"NVRTC does not compile: {body}\n{messages}")

    def limit(self, body, remains, most=1024):
        """The largest odd number of trips at which `remains` is not in the PTX: even ones may be unrolled in two steps."""
        low, most = 1, most + 1
        while most - low > 2:
            middle = (low + most) // 4 * 2 + 1
            if middle == low:
                middle += 2
            if re.search(remains, self.ptx(re.sub(r"\bN\b", str(middle), body))):
                most = middle
            else:
                low = middle
        return low


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    compiler = Compiler(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "sm_80")
    print(f"NVRTC {compiler.library.version}\n\nloops that vanish, most trips, odd (instructions a passage: body)")
    for name, body in LOOPS.items():
        print(f"  {name}: {compiler.limit(body, BRANCH)}")
    print("private arrays that live in registers, most elements or columns, odd")
    for name, body in ARRAYS.items():
        print(f"  {name}: {compiler.limit(body, LOCAL)}")
    print("copies of a body of multiply-adds (2 instructions each, and the counter's step)")
    for trips in ("960", "961", "962", "1000", "1024", "n"):
        copies = []
        for statements in (1, 2, 4, 6, 12, 14, 24, 28, 48, 56, 100):
            body = "".join(" s = s * x + y;" if k % 2 else " s = s * y + x;" for k in range(statements))
            text = f"float s = a[0], x = a[1], y = a[2]; for (int i = 0; i < {trips}; ++i) {{{body} }} c[threadIdx.x] = s;"
            copies.append(f"{2 * statements + 1}: {compiler.ptx(text).count('fma.rn') // statements}")
        print(f"  {trips} trips: {', '.join(copies)}")


if __name__ == "__main__":
    main()
