#!/usr/bin/env python3
"""Measures up to what length ptxas predicates a guarded path instead of branching around it.

For each kind of path: a kernel whose path of n instructions stands behind a branch, assembled for n = 1, 2 ... until a
branch is left in the SASS. The figures are the limits in src/frontend/code/nvidia/ptx_predication.cpp.

Needs ptxas and nvdisasm in PATH.
usage: measure_predication.py [sm_NN ...]      sm_52 sm_60 sm_70 sm_75 sm_80 without arguments
"""
import pathlib
import re
import subprocess
import sys
import tempfile

BEFORE = """.version %s
.target %s
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 b, .param .u32 n)
{
.reg .pred %%p<9>; .reg .f32 %%f<99>; .reg .b32 %%r<99>; .reg .b64 %%rd<9>; .reg .f64 %%d<9>;
.shared .align 4 .b8 sm[4096];
ld.param.u64 %%rd1, [a]; ld.param.u64 %%rd2, [b]; ld.param.u32 %%r1, [n];
cvta.to.global.u64 %%rd1, %%rd1; cvta.to.global.u64 %%rd2, %%rd2;
mov.u32 %%r2, %%tid.x; mul.wide.s32 %%rd3, %%r2, 4; add.s64 %%rd4, %%rd1, %%rd3; add.s64 %%rd5, %%rd2, %%rd3;
ld.global.f32 %%f1, [%%rd4]; ld.global.f32 %%f2, [%%rd4+4096];
ld.global.f32 %%f3, [%%rd4+8192]; ld.global.f32 %%f4, [%%rd4+16384]; ld.global.u32 %%r3, [%%rd4+32768];
add.f32 %%f2, %%f2, %%f3; add.f32 %%f2, %%f2, %%f4; setp.gt.f32 %%p1, %%f2, %%f4;
"""
AFTER = """
st.global.f32 [%rd5], %f1; st.global.f32 [%rd5+4096], %f2; st.global.u32 [%rd5+8192], %r3;
st.global.f32 [%rd5+16384], %f3; st.global.f32 [%rd5+32768], %f4;
ret;
}
"""
ADD = "add.f32 %f1, %f1, %f3; "
LOAD = "ld.global.f32 %f20, [%rd4+131072]; add.f32 %f1, %f1, %f20; "


def around(path, condition="%p1"):
    return f"@{condition} bra L1; {path} L1:"


def two_paths(first, second):
    return f"@%p1 bra L1; {first} bra.uni L2; L1: {second} L2:"


def two_conditions(between, path):
    return around(f"mul.f32 %f50, %f1, %f3; {between} setp.gt.f32 %p2, %f50, %f4; @%p2 bra L1; {path}")


CASES = {
    "arithmetic": lambda n: around(ADD * n),
    "condition of the whole block": lambda n: "setp.gt.s32 %p2, %r1, 5; " + around(ADD * n, "%p2"),
    "one load and its use, then arithmetic": lambda n: around(LOAD + ADD * n),
    "one shared load and its use, then arithmetic":
        lambda n: around("ld.shared.f32 %f20, [sm]; add.f32 %f1, %f1, %f20; " + ADD * n),
    "stores": lambda n: around("".join(f"st.global.f32 [%rd5+{(1 << 20) + 4096 * i}], %f3; " for i in range(n))),
    "first of two paths, the other 1": lambda n: two_paths(ADD * n, "mul.f32 %f1, %f1, %f3;"),
    "second of two paths, the other 1": lambda n: two_paths(ADD, "mul.f32 %f1, %f1, %f3; " * n),
    "additions between two conditions (and a product and a comparison)":
        lambda n: two_conditions("add.f32 %f50, %f50, %f4; " * n, ADD),
    "behind two conditions": lambda n: two_conditions("", ADD * n),
    "inside a path with another, predicated one": lambda n: around(
        "setp.gt.f32 %p2, %f3, %f4; @%p2 bra L2; " + ADD + "L2: " + "mul.f32 %f1, %f1, %f4; " * n),
    "reciprocal, then arithmetic": lambda n: around("rcp.approx.ftz.f32 %f1, %f1; " + ADD * n),
    "division, then arithmetic": lambda n: around("div.rn.f32 %f1, %f1, %f3; " + ADD * n),
    "atomic, then arithmetic": lambda n: around("red.global.add.f32 [%rd5+65536], %f3; " + ADD * n),
    "shuffle, then arithmetic": lambda n: around("shfl.sync.idx.b32 %r3, %r3, 1, 31, -1; " + ADD * n),
}


def branches(body, target, folder):
    """Conditional branches in the SASS."""
    ptx, cubin = folder / "k.ptx", folder / "k.cubin"
    number = int(target.removeprefix("sm_"))
    version = "8.6" if number >= 100 else "7.8" if number > 80 else "7.0"
    ptx.write_text(BEFORE % (version, target) + body + AFTER)
    subprocess.run(["ptxas", "-arch", target, ptx, "-o", cubin], check=True)
    sass = subprocess.run(["nvdisasm", "-c", cubin], check=True, capture_output=True, text=True).stdout
    return len(re.findall(r"@!?P\d+ +(?:BRA|SYNC|BRK)\b|\bBRA !?P\d", sass))


def most(case, target, folder, limit=40):
    n = 0
    while n < limit and branches(case(n + 1), target, folder) == 0:
        n += 1
    return n


def main():
    targets = sys.argv[1:] or ["sm_52", "sm_60", "sm_70", "sm_75", "sm_80"]
    with tempfile.TemporaryDirectory() as d:
        for name, case in CASES.items():
            figures = [f"{t} {most(case, t, pathlib.Path(d))}" for t in targets]
            print(f"{name}: {', '.join(figures)}", flush=True)


if __name__ == "__main__":
    main()
