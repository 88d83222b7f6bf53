#!/usr/bin/env python3
"""Writes docs/lab/registers.md: the register estimate against ptxas, and operation counts against SASS.

Runs the front end's unit tests, which record estimate, ptxas's answer, PTX and counts of every test kernel. With cuobjdump in PATH the PTX
is also assembled and its SASS counted by class (sass.py); ".pragma nounroll" is put into every loop first, so that one
block of PTX is one of SASS, and out-of-line slow paths (behind the last EXIT) do not count.
usage: register_table.py build/bin/test_unit_frontend > docs/lab/registers.md
"""
import collections
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


def main():
    data = recorded(sys.argv[1])
    version = subprocess.run([sass.tool("ptxas"), "--version"], capture_output=True, text=True).stdout.split()[-1]
    print(f"""# Lab: registers and instruction counts against NVIDIA's assembler

Made by `tools/measure/register_table.py` with {version}; do not edit.

[Registers](../reference/registers.md) describes the estimate. Its constants 6, 3 and 48 were chosen on the set
"kernels" (test/data/kernels); the set "examples" (examples/) had no part in it. Kernels that call the math library are
left out, since their PTX holds pseudo instructions. Code was generated for each target.
""")
    register_section(data)
    print("""
## Spills

Registers for values are the cap minus the six that PTX does not show, minus 32 for reloaded values, the number that
loads in flight may take in the schedule too (`src/frontend/code/nvidia/ptx_spills.*`). Nothing was fitted.

Against ptxas 11.8 on PTX of NVRTC 11.8 for sm_80: CLBlast's xgemm in seven configurations with 64, 128 and 256
accumulators, each with `-maxrregcount` 255, 168, 128, 96, 80 and 64. ptxas spills in 31 of the 42 cells. In the 28
with more than 20 loads our loads are 1.05 times ptxas's (median), within 30 % in 22; stores are 0.82 times. Outliers:
a configuration with 64 accumulators under caps of 80 and 64, where ptxas spills 500 to 1,400 times (ours: 170 to 230),
and the cells where it barely begins.

### Another order

A block can fit the registers in one order and not in program order. A completely unrolled convolution, whose sums read
values that others read many instructions before, keeps 18 values alive in one order and 1,600 in the other. ptxas goes
through the loaded values row by row, as the better order does, but how far it looks ahead decides whether they fit.
PTX of NVRTC 11.8 and ptxas 11.8 for sm_75, a filter of 15 x 15, tiles of shared memory that rows of the block share,
registers and bytes of spill stores (the spills of 12.4 are the same in the cell tried, 3 x 6 on 32 x 8):

| block | outputs per thread: spilled | not spilled (registers) |
|---|---|---|
| 32 x 8 | 2 x 7: 1,988; 3 x 5: 672; 3 x 6: 7,180; 4 x 4: 1,224; 5 x 3: 2,296; 6 x 3: 5,300; 7 x 2: 2,572; 7 x 3: 5,236; 8 x 2: 2,564 | 2 x 6 (80), 2 x 8 (243), 3 x 4 (196), 3 x 7 (69), 4 x 3 (253), 4 x 5 (71), 5 x 4 (80), 6 x 2 (255) |
| 32 x 4 | 2 x 8: 132; 3 x 5: 1,040; 5 x 3: 1,404; 7 x 2: 996; 7 x 3: 2,992 | 2 x 6 (59), 2 x 7 (78), 3 x 4 (53), 3 x 6 (68), 3 x 7 (68), 4 x 3 (53), 4 x 4 (89), 4 x 5 (71), 5 x 4 (80), 6 x 2 (127), 6 x 3 (128), 8 x 2 (59) |

The numbers of instructions, sums, loads, values in program order and border checks do not separate the two. So the
estimate is that of the better order, its upper end is the cap, and the spills of program order (Belady again) are a
finding: "the compiler finds an order in which the values fit; in the order of the code it is given they need 1607
registers a thread", with the bytes and the time if it does not. The 90 % interval includes that time.

On RTX 2080 Ti, 32 x 8, times of the spilled ones, measured and in the finding: 3 x 6 36 ms and 19 ms, 7 x 3 20 and 16,
7 x 2 15 and 10, 5 x 3 13 and 14, 2 x 7 12 and 18, 4 x 4 8 and 16. The forecasts themselves are 2 to 3 ms, the time of
the others. Of 200 random configurations of that space with 8 outputs and more, 96 carry the finding: 20 of them took
more than 1.6 times the median of their block, all with 13 outputs or more; 16 of the 104 others did.
""")
    print("""
## Loops and remainders

The front end optimizes with LLVM 19, NVIDIA's compilers with older LLVMs and rules of their own. Their unrolling was
measured with NVRTC 11.8, 12.4 and 13.0, which agree in every figure (`tools/measure/measure_unrolling.py`, sm_80). The
front end follows it (`src/frontend/lower/unrolling.*`, tests in `test/unit/frontend/unrolling_test.cpp`):

| loop | NVRTC | here |
|---|---|---|
| known trip count, no private array | completely up to 405 instructions: 57, 80, 67, 50, 44, 44 iterations of six bodies | the same trip counts |
| known trip count, its counter indexes a private array, nests included | completely up to six times that: 303, 303, 127 iterations; tiles of 16 x 18, 16 x 21, 4 x 4 x 14 | 303, 269, 121; 16 x 18, 16 x 21, 4 x 4 x 18 |
| known trip count, larger | the largest power of two that divides it, up to 202 instructions; odd trip counts by four or two | the same in 23 sizes and 10 trip counts |
| unknown trip count | by four or two up to 202 instructions, with a remainder | the same in 22 of 23 sizes |
| contains a loop that stays | unchanged | the same |
| unknown trip count with a barrier, or with a loaded step or end | by four | unchanged: LLVM makes no remainder with a barrier; counts of loaded trip counts stay one number |
| small trip count that depends on the thread | by four at run time | the same, the remainder in a loop |
| `#pragma unroll` | completely up to 32,768 instructions | completely up to 22,000 of LLVM 19's, which are fewer for the same loop |

ptxas 13.0 then unrolls what is left (`tools/measure/measure_assembler_unrolling.py`, sm_86), if it is one block without
operations that become branches (square roots, divisions, shuffles) and no pragma stands before it. For known trip
counts, S instructions with loads counted twice and T trips (24 bodies, 24 trip counts from 2 to 1,000):

| S, pure arithmetic | unrolled whole up to | otherwise |
|---|---|---|
| 1, 2 | 1,000 and more | |
| 4, 8, 12 | 128 and more, not 1,000 | 87, 40, 28 copies of 1,000 |
| 16, 24, 32 | 64, 36, 20 (not 100, 40, 24) | 10 to 20 copies |
| 48, 64, 96 | 10, 6, 4 (not 12, 7, 5) | 4 to 7 copies; of 96 one |
| 128 | never | one copy |

Two trips stay a loop. The partial copies are the largest number u for which u and the rest of T by u are together at
most 350 / S. The front end follows with (S - 15.5) T <= 333 and S T <= 1,500 (2,000 for S up to 8); that is off at
three of some ninety places beside a limit, all with loads. The 11 sizes of `KnownTripsAreUnrolledTwice` agree. With it
four kernels of hexciton went from 1.6 to 1.7 times the measured time to 1.1 to 1.2, and an outer product from 1.37 to
0.95. PTX is unrolled by ptxas' rules alone, and `.pragma "nounroll"` is obeyed.

nvcc stores the initial values of a thread's own array one by one, those of a constant array as well (3 to 3,000
elements), and reads them back from local memory. LLVM reads the table from which clang copies them. The front end
stores them as nvcc does (CUDA on NVIDIA).

Equal loads with no write in between are one in the end, however far apart: NVRTC 11.8 leaves most of those that are
more than 200 loads apart in PTX, ptxas 11.8, 12.4 and 13.0 merge them, `ld.global.nc` too. Of 15 x 15 filters with
several outputs a thread 690 of 900, 1,170 of 1,800 and 2,340 of 3,600 loads are left in SASS. What is merged stays in
registers in between: the last kernel spills 17 KB a thread and takes 107.6 ms on an RTX A4000; it was 5.7 ms here while
loads apart were kept, and is 102 ms.

With a limit of 300 instructions for loops over private arrays, a matrix product without pragmas kept its sums in local
memory: 674 ms instead of 5.9 for the tenth kernel of [SGEMM_CUDA](../../validation/published.md), which takes 6.3.

LLVM 19 sees that `s` in `for (s = 1; s < n; s *= 2)` is a power of two and makes a mask of `tid % (2 * s)`; NVRTC
divides (28 instructions per step of the usual first sum in shared memory, not 8). The front end hides such divisors
from LLVM until its passes are done (`src/frontend/ir/divisors.*`): that sum on Tesla V100, 0.80 ms measured, was 0.48
and is 0.94 ms.
""")
    print("""
## Small private arrays

ptxas keeps small arrays with an unknown index in registers. The largest number of elements, found on generated kernels
(NVRTC and ptxas 12.4, sm_75 and sm_80; 11.8 goes to 9 where 12.4 goes to 7), by the number of accesses in the code:

| accesses of unknown index | largest number of elements |
|---|---|
| loads only: 1, 2, 3, 4, 6 and more | 13 and more, 8, 7, 6, 5 |
| stores only: 1, 2, 3, 4, 6 | 13 and more, 10, 7, 7, 5 |
| loads and stores: 1 + 1, 2 + 2, 3 + 3 and more | 7, 5, 4 |
| neighbors that make accesses of 8 bytes: 1 + 1 | 11 |
| neighbors that make accesses of 16 bytes: 1 + 1, 2 + 2 | 13 and more, 8 |

The front end does the same with selections (`src/frontend/lower/register_arrays.*`), within one or two elements of the
table; tests compare the results with native runs. KTT's Coulomb kernel on RTX 2080 Ti, whose arrays had been forecast
in local memory, is off by a factor of 1.31; with the arrays in local memory it was 1.55.
""")
    print("""
## Branches

PTX of LLVM and of NVIDIA's compiler branches around every guarded path. ptxas replaces short ones by predicated
instructions. Its [limits](../reference/registers.md#branches) were measured on generated kernels with ptxas 11.8
(`tools/measure/measure_predication.py`; the same for sm_52, sm_75 and sm_80). ptxas 13.0 does the same on sm_75, sm_90
and sm_100 in the ten kinds of path tried, but a shared load counts for more on sm_90 and sm_100, and on sm_100 no path
behind a condition of the whole block is too long for it. The rules do not follow it there. Outside loops ptxas 12.4
keeps the branch around a load with which no other load could be in flight (none before the branch that is still waited
for, none behind the path): three instructions more than the rules say (`warp_sum`, and generated kernels).

Instructions per polygon edge of KTT's `Pnpoly`, in the loop of ptxas's code for sm_75 without the slow path of its
division, then ours with these rules and without:

| points per thread | ptxas | with the rules | without |
|---|---:|---:|---:|
| 1 | 23 | 22.9 | 24.6 |
| 4 | 53.5 | 56.9 | 63.5 |
| 8 | 84 | 83.7 | 98 |
| 16 | 165 | 162.8 | 190 |
| 20 | 141 | 139 | 174 |
""")
    print("""
## Wide accesses to shared memory

NVIDIA's compilers keep the alignment of shared arrays in the source (4 bytes for `float`) and read four neighbors by
four PTX instructions. ptxas, which places the arrays, merges them: 11.7, 11.8, 12.4 and 13.0 make 64-bit and 128-bit
accesses for sm_52 to sm_86, but not with `-c`, where another step places the arrays. So CUDA's arrays count as 16-byte
aligned. OpenCL programs behave like relocatable code: on Tesla V100, CLBlast's xgemm with tiles of 128 x 16, 32 x 16
threads and both tiles in shared memory takes 94 to 105 ms with scalars, 50 to 56 with vectors of two and 30 to 32 with
vectors of four, whose addresses are the same. Scalars conflict four ways in the banks, accesses of 16 bytes do not.
RTX 2080 Ti and Tesla K20 behave alike. So OpenCL's arrays keep the source's alignment, and `--ptxas` assembles OpenCL
with `-c` (except for kernels with 64-bit divisions, whose code would be in separate sections).
""")
    if shutil.which("cuobjdump"):
        print("""
## Instruction counts

Static counts of the front end (PTX read by the table of `src/frontend/code/nvidia/ptx_ops.cpp`, merged by
`ptx_fusion.cpp`) against SASS, summed over all kernels. 64-bit and 32-bit additions are combined, and so are
multiplications and multiply-adds. ptxas was told not to unroll loops. By default it unrolls small inner loops four
times, which saves loop counters and branches that are counted here.
""")
        sass_section(data)


if __name__ == "__main__":
    main()
