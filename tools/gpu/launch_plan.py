#!/usr/bin/env python3
"""Launches of a validation set, to be timed on a machine with an NVIDIA GPU.

launch_plan.py plan  KERNELS.csv ROWS.csv SOURCES FOLDER NAME [--arch sm_90a] [--each N] [--seed N] [--alone PATTERN]
    compiles the kernels with nvcc (in PATH, or --nvcc) and writes FOLDER/NAME.FAMILY.plan for kernelcast-cuda and FOLDER/NAME.rows.csv.
    A family's kernels have the first word of their id in common; those that match PATTERN are families by themselves, because a launch
    that reaches beyond a buffer takes the others of its plan with it.
    KERNELS and ROWS are as `kernelcast validate` takes them, with the column `params` ("const float* A:in, int M").
    A launch that stands in several rows is taken once; --each: at most N launches a kernel, drawn by --seed.
launch_plan.py times KERNELS.csv FOLDER NAME OUT.csv
    writes rows with the median time on the GPU of FOLDER/NAME.*.record, warm (the launch before was the same) and cold (256 MiB were
    read in between) as the kernel's cache_state says.

Buffers hold random numbers by their type, or what the kernel's fills say (zero, file:NAME.npy). Kernels whose parameters are structs are
left out, and so are tensor maps; what is left out is printed."""

import argparse
import csv
import glob
import hashlib
import os
import random
import re
import shlex
import statistics
import struct
import subprocess
import sys

from gpu_plans import argument_bytes, buffer_bytes, launch_bytes, phase_bytes, plan_bytes
from gpu_results import record_of

MIB = 1 << 20
FLUSH = 256 * MIB
PATTERN = MIB // 8  # of random numbers, over and over
SCALARS = {"int": "i", "int32_t": "i", "unsigned int": "I", "unsigned": "I", "uint32_t": "I", "float": "f", "double": "d", "long": "q", "int64_t": "q", "long long": "q",
           "size_t": "Q", "unsigned long": "Q", "uint64_t": "Q", "bool": "?", "char": "b", "half": "e", "short": "h"}
KINDS = {"half": "f16", "__half": "f16", "__nv_bfloat16": "bf16", "nv_bfloat16": "bf16", "float": "f32", "float4": "f32", "double": "f64"}
FLUSH_PTX = """.version 6.0
.target sm_50
.address_size 64
.visible .entry flush(.param .u64 p, .param .u32 n)
{
  .reg .u64 %p, %d; .reg .u32 %n, %i, %s, %v, %t, %c; .reg .pred %q;
  ld.param.u64 %p, [p]; ld.param.u32 %n, [n]; cvta.to.global.u64 %p, %p;
  mov.u32 %i, %ctaid.x; mov.u32 %t, %ntid.x; mov.u32 %c, %tid.x; mad.lo.u32 %i, %i, %t, %c;
  mov.u32 %s, %nctaid.x; mul.lo.u32 %s, %s, %t;
LOOP:
  mul.wide.u32 %d, %i, 4; add.u64 %d, %p, %d; ld.global.u32 %v, [%d]; add.u32 %v, %v, 1; st.global.u32 [%d], %v;
  add.u32 %i, %i, %s; setp.lt.u32 %q, %i, %n; @%q bra LOOP;
  ret;
}
"""


def read(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def pairs(text):
    return dict(p.split("=", 1) for p in (text or "").split(";") if "=" in p)


def parameters(text):
    """[(type without const and qualifiers, name, is pointer)]"""
    out = []
    for part in re.split(r",\s*(?![^<]*>)", text):
        words = part.split(":")[0].replace("__restrict__", "").replace("*", " * ").split()
        words = [w for w in words if w not in ("const", "global", "__restrict", "restrict")]
        out.append((" ".join(w for w in words[:-1] if w != "*"), words[-1], "*" in words))
    return out


def compiled(kernel, row, sources, folder, nvcc, arch):
    """Path of the cubin."""
    defines = {**pairs(kernel.get("fixed_defines")), **pairs(row.get("defines"))}
    flags = [f"-D{k}={v}" for k, v in defines.items()] + shlex.split(kernel.get("flags_argv", ""))
    source = os.path.join(sources, kernel["wrapper"] or kernel["path"])
    key = hashlib.sha256("\0".join([source, arch, *flags]).encode()).hexdigest()[:16]
    out = os.path.join(folder, "cubins", key + ".cubin")
    os.makedirs(os.path.dirname(out), exist_ok=True)
    if not os.path.exists(out):
        command = [nvcc, "-cubin", f"-gencode=arch=compute_{arch[3:]},code={arch}", "-std=c++17", "-O3", "-w", "--expt-relaxed-constexpr", *flags, "-I", sources, source, "-o", out]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise ValueError("nvcc: " + (done.stderr.strip().splitlines() or ["no message"])[0])
    return out


def symbols(cubin, kept={}):
    if cubin not in kept:
        lines = subprocess.run(["readelf", "-sW", cubin], capture_output=True, text=True, check=True).stdout.splitlines()
        words = [line.split() for line in lines]
        kept[cubin] = [w[-1] for w in words if len(w) >= 8 and w[3] == "FUNC" and w[4] == "GLOBAL"]
    return kept[cubin]


def symbol_of(kernel, row, cubin):
    names = symbols(cubin)
    for wanted in (row.get("symbol"), kernel.get("symbol")):
        if wanted in names:
            return wanted
    entry = re.split(r"[<(]", kernel["entry"])[0].split("::")[-1]
    found = [n for n in names if re.search(rf"(?<![0-9]){len(entry)}{entry}(?![A-Za-z0-9_]*{entry})", n) or n == entry]
    if len(found) == 1:
        return found[0]
    raise ValueError(f"{len(found)} kernels {entry} in the cubin")


def contents(kind, seed):
    source = random.Random(seed)
    if kind == "f16":
        return b"".join(struct.pack("<e", source.gauss(0, 1)) for _ in range(PATTERN // 2))
    if kind == "bf16":
        return b"".join(struct.pack("<f", source.gauss(0, 1))[2:] for _ in range(PATTERN // 2))
    if kind == "f32":
        return b"".join(struct.pack("<f", source.gauss(0, 1)) for _ in range(PATTERN // 4))
    if kind == "f64":
        return b"".join(struct.pack("<d", source.gauss(0, 1)) for _ in range(PATTERN // 8))
    return source.randbytes(PATTERN)


def fill_of(kernel, name):
    for part in (kernel.get("fills") or "").split(";"):
        pattern, _, what = part.partition("=")
        if pattern and re.fullmatch(pattern.replace("*", ".*"), name):
            return what
    return ""


def state_of(kernel):
    return kernel.get("cache_state") or "cold"


class Phase:
    """Buffers by content and place; launches."""

    def __init__(self, name):
        self.name, self.images, self.image_of = name, [FLUSH_PTX.encode()], {}
        self.buffers, self.slots, self.launches = [(0, FLUSH, b"")], {}, []
        self.launches.append(launch_bytes("flush", 0, "flush", (2048, 1, 1), (256, 1, 1), [argument_bytes(buffer=0), argument_bytes(value=struct.pack("<I", FLUSH // 4))], 0, -1, True))

    def image(self, path):
        if path not in self.image_of:
            self.image_of[path] = len(self.images)
            with open(path, "rb") as file:
                self.images.append(file.read())
        return self.image_of[path]

    def buffer(self, key, size, data):
        """`key`: content and how many buffers of this content the launch has before it."""
        if key not in self.slots:
            self.slots[key] = len(self.buffers)
            self.buffers.append((2 if data else 0, 0, data))
        at = self.slots[key]
        fill, old, kept = self.buffers[at]
        self.buffers[at] = (fill, max(old, size), kept)
        return at

    def bytes(self, rounds, seconds):
        buffers = [buffer_bytes(fill, size + MIB, data) for fill, size, data in self.buffers]
        return phase_bytes(self.name, self.images, buffers, self.launches, rounds, rounds, seconds)


def arguments_of(kernel, row, phase, fills):
    """`fills`: folder of the files that fills name."""
    scalars, counts, sizes = pairs(row.get("args")), pairs(row.get("buffers")), pairs(row.get("buffer_elem_bytes"))
    seen, out = {}, []
    for kind, name, pointer in parameters(kernel["params"]):
        if not pointer:
            if kind not in SCALARS:
                raise ValueError(f"parameter {name} has the type {kind}")
            if name not in scalars:
                raise ValueError(f"no value for {name}")
            letter = SCALARS[kind]
            value = float(scalars[name]) if letter in "fde" else int(float(scalars[name]))
            out.append(argument_bytes(value=struct.pack("<" + letter, value)))
            continue
        what = fill_of(kernel, name)
        if name not in counts:
            size = 1024  # a pointer that no row gives a size: unused
        else:
            size = int(counts[name]) * int(sizes.get(name) or 4)
        if what.startswith("file:"):
            import numpy
            values = numpy.load(os.path.join(fills, what[5:]))
            content, data = what, values.tobytes()
        elif what == "zero":
            content, data = "zero", b""
        else:
            content = KINDS.get(kind, "bytes")
            data = True
        place = seen[content] = seen.get(content, -1) + 1
        if data is True:
            data = contents(content, place) if (content, place) not in phase.slots else phase.buffers[phase.slots[content, place]][2]
        out.append(argument_bytes(buffer=phase.buffer((content, place), size, data)))
    return out


def plan(a):
    kernels = {k["id"]: k for k in read(a.kernels) if k["language"] == "cuda"}
    taken, seen = {}, set()
    for row in read(a.rows):
        key = tuple(row.get(c) for c in ("kernel_id", "defines", "grid_x", "grid_y", "grid_z", "block_x", "block_y", "block_z", "dyn_smem_bytes", "args", "buffers", "symbol"))
        if row["kernel_id"] in kernels and key not in seen:
            seen.add(key)
            taken.setdefault(row["kernel_id"], []).append(row)
    source = random.Random(a.seed)
    phases, rows, refused = {}, [], {}
    for name, of in taken.items():
        kernel = kernels[name]
        if a.each and len(of) > a.each:
            of = source.sample(of, a.each)
        for row in of:
            try:
                cubin = compiled(kernel, row, a.sources, a.folder, a.nvcc, a.arch)
                family = name if a.alone and re.search(a.alone, name) else name.split("_")[0]
                phase = phases.setdefault(family, Phase(family))
                symbol = symbol_of(kernel, row, cubin)
                arguments = arguments_of(kernel, row, phase, os.path.dirname(os.path.abspath(a.kernels)))
            except (ValueError, KeyError) as e:
                refused.setdefault((name, str(e)), []).append(row)
                continue
            grid, block = (tuple(int(float(row[p + c] or 1)) for c in "xyz") for p in ("grid_", "block_"))
            shared = int(float(row.get("dyn_smem_bytes") or 0))
            state = state_of(kernel)
            phase.launches.append(launch_bytes(f"{len(rows)}.{state}", phase.image(cubin), symbol, grid, block, arguments, shared, before=0 if state == "cold" else -1))
            rows.append(row)
    for (name, why), of in refused.items():
        print(f"{name}: {len(of)} launches left out: {why}")
    size = 0
    for family, phase in phases.items():
        with open(os.path.join(a.folder, f"{a.name}.{family}.plan"), "wb") as file:
            size += file.write(plan_bytes("launches", int(re.sub(r"\D", "", a.arch)), phase.bytes(a.rounds, a.seconds)))
    with open(os.path.join(a.folder, a.name + ".rows.csv"), "w", encoding="utf-8", newline="") as file:
        out = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        out.writeheader()
        out.writerows(rows)
    print(f"{a.name}: {len(rows)} launches in {len(phases)} plans, {size / MIB:.1f} MiB")


def times(a):
    kernels = {k["id"]: k for k in read(a.kernels)}
    rows = read(os.path.join(a.folder, a.name + ".rows.csv"))
    series = {}
    for path in sorted(glob.glob(os.path.join(glob.escape(a.folder), a.name + ".*.record"))):
        device, driver, of = record_of(path)
        series.update(of)
    method = "nvcc 13.0, driver API; GPU time of a launch by CUPTI"
    written, failures = 0, {}
    with open(a.out, "w", encoding="utf-8", newline="") as file:
        names = [*rows[0], "fastest_ms", "repeats", "driver", "method"]
        out = csv.DictWriter(file, names, lineterminator="\n")
        out.writeheader()
        for i, row in enumerate(rows):
            why, runs = series.get(f"{i}.{state_of(kernels[row['kernel_id']])}", ("it was not run", []))
            if not runs:
                failures.setdefault((row["kernel_id"], why), []).append(i)
                continue
            out.writerow({**row, "gpu": device, "time_ms": f"{1e3 * statistics.median(runs):.6g}", "stat": "median", "fastest_ms": f"{1e3 * min(runs):.6g}",
                          "repeats": len(runs), "driver": f"CUDA {driver // 1000}.{driver % 1000 // 10}", "method": method})
            written += 1
    for (name, why), of in failures.items():
        print(f"{name}: {len(of)} launches: {why}")
    print(f"{a.out}: {written} of {len(rows)} launches")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    p = commands.add_parser("plan")
    for name in ("kernels", "rows", "sources", "folder", "name"):
        p.add_argument(name)
    p.add_argument("--arch", default="sm_90a")
    p.add_argument("--nvcc", default="nvcc")
    p.add_argument("--alone", default="")
    p.add_argument("--each", type=int, default=0)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--seconds", type=float, default=60)
    p.set_defaults(run=plan)
    t = commands.add_parser("times")
    for name in ("kernels", "folder", "name", "out"):
        t.add_argument(name)
    t.set_defaults(run=times)
    arguments = parser.parse_args()
    arguments.run(arguments)


if __name__ == "__main__":
    sys.exit(main())
