#!/usr/bin/env python3
"""Measures what PTX operations and mathematical functions become: writes src/frontend/ir/measured_costs.inc.

NVIDIA: every operation or function alone in a kernel, compiled by nvcc and ptxas for sm_75, sm_80 and sm_90; SASS is
disassembled and classified (sass.py), the instructions of the same kernel without the operation are subtracted. Branches are first
settled for a typical argument (ptx_run.py executes the PTX), so slow paths for huge arguments, denormals, infinities
are left out; loops (fmod) count one iteration.
AMD: libclc's functions, inlined by clang and compiled for gfx90a, counted by `measure_amd_costs` the same way: see below.

Needs CUDA's nvcc and ptxas, cuobjdump and nvdisasm in PATH, clang-19 and libclc-19.
For GPUs before Turing, "old" measures PTX operations on integers (others take what they take later) with ptxas 11.8 (the last for sm_35) for sm_35, sm_50 and sm_70; of sm_35 only code
without branches, read by sass.py. Scaled addresses are measured with one, two and three uses. Waits for loads (DEPBAR), which Maxwell
has where its first reader stands, are left out.
usage: measure_costs.py [nvidia|narrow|amd|all] > src/frontend/ir/measured_costs.inc
       measure_costs.py old > src/frontend/ir/measured_costs_old.inc
"""
import collections
import os
import re
import subprocess
import sys
import tempfile

import ptx_run
import sass

ARCHES = ["sm_75", "sm_80", "sm_90"]
OLD_ARCHES = ["sm_35", "sm_50", "sm_70"]

# PTX operations: row words in ptx_ops.cpp -> (instruction, operand type, inputs)
PTX = {w: (i, t, n) for w, i, t, n in [
    ("div rn f32", "div.rn.f32", "f32", 2), ("div full f32", "div.full.f32", "f32", 2),
    ("div full ftz f32", "div.full.ftz.f32", "f32", 2), ("div approx f32", "div.approx.f32", "f32", 2),
    ("div approx ftz f32", "div.approx.ftz.f32", "f32", 2), ("sqrt rn f32", "sqrt.rn.f32", "f32", 1),
    ("sqrt approx f32", "sqrt.approx.f32", "f32", 1), ("sqrt approx ftz f32", "sqrt.approx.ftz.f32", "f32", 1),
    ("rcp rn f32", "rcp.rn.f32", "f32", 1), ("rcp approx f32", "rcp.approx.f32", "f32", 1),
    ("rcp approx ftz f32", "rcp.approx.ftz.f32", "f32", 1), ("rsqrt approx f32", "rsqrt.approx.f32", "f32", 1),
    ("rsqrt approx ftz f32", "rsqrt.approx.ftz.f32", "f32", 1), ("ex2 approx f32", "ex2.approx.f32", "f32", 1),
    ("ex2 approx ftz f32", "ex2.approx.ftz.f32", "f32", 1), ("lg2 approx f32", "lg2.approx.f32", "f32", 1),
    ("lg2 approx ftz f32", "lg2.approx.ftz.f32", "f32", 1), ("sin approx f32", "sin.approx.f32", "f32", 1),
    ("cos approx f32", "cos.approx.f32", "f32", 1), ("div rn f64", "div.rn.f64", "f64", 2),
    ("sqrt rn f64", "sqrt.rn.f64", "f64", 1), ("rcp rn f64", "rcp.rn.f64", "f64", 1),
    ("rsqrt approx f64", "rsqrt.approx.f64", "f64", 1), ("rcp approx ftz f64", "rcp.approx.ftz.f64", "f64", 1),
    ("min f64", "min.f64", "f64", 2), ("max f64", "max.f64", "f64", 2), ("div s32", "div.s32", "s32", 2),
    ("div u32", "div.u32", "u32", 2), ("rem s32", "rem.s32", "s32", 2), ("rem u32", "rem.u32", "u32", 2),
    ("div s64", "div.s64", "s64", 2), ("div u64", "div.u64", "u64", 2), ("rem s64", "rem.s64", "s64", 2),
    ("rem u64", "rem.u64", "u64", 2), ("mul lo s64", "mul.lo.s64", "s64", 2), ("mul hi s64", "mul.hi.s64", "s64", 2),
    ("mul hi u64", "mul.hi.u64", "u64", 2), ("mad lo s64", "mad.lo.s64", "s64", 3), ("mul24", "mul24.lo.s32", "s32", 2),
    ("min s64", "min.s64", "s64", 2), ("abs s64", "abs.s64", "s64", 1), ("popc", "popc.b32", "b32", 1),
    ("clz", "clz.b32", "b32", 1), ("bfind", "bfind.u32", "u32", 1), ("bfe u32", "bfe.u32 %v3,%v0,5,7", "u32", 0),
    ("bfe s32", "bfe.s32 %v3,%v0,5,7", "s32", 0), ("bfe u64", "bfe.u64 %v3,%v0,9,20", "u64", 0),
    ("bfe s64", "bfe.s64 %v3,%v0,9,20", "s64", 0), ("bfi b32", "bfi.b32 %v3,%v0,%v1,8,9", "b32", 0),
    ("bfi b64", "bfi.b64 %v3,%v0,%v1,8,9", "b64", 0), ("popc b64", "popc.b64 %x0,%v0", "b64", -1),
    ("clz b64", "clz.b64 %x0,%v0", "b64", -1), ("bfind u64", "bfind.u64 %x0,%v0", "u64", -1),
    ("fns", "fns.b32 %v3,%v0,%x0,%x1", "b32", 0)]}

# One instruction from Volta on, several before.
MULTIPLIES = {w: (i, t, n) for w, i, t, n in [
    ("mul lo", "mul.lo.s32", "s32", 2), ("mul hi", "mul.hi.s32", "s32", 2), ("mad", "mad.lo.s32", "s32", 3),
    ("mul wide", "mul.wide.s32 %v3,%x0,%x1", "b64", 0)]}
# An index and bytes an element -> 1, 2, 3 addresses with bases of their own. The loads and stores are in the base.
ADDRESSES = {"wide.address": "mul.wide.s32 %a8,%x0,4;", "strided.address": "mul.wide.s32 %a8,%x0,12;", "shifted.address": "shl.b64 %a8,%w0,2;"}

ONE = ("exp exp2 exp10 expm1 log log2 log10 log1p sin cos tan sinpi cospi asin acos atan sinh cosh tanh asinh acosh atanh "
       "cbrt rcbrt erf erfc erfcx erfinv erfcinv normcdf normcdfinv tgamma lgamma round logb j0 j1 y0 y1").split()
TWO = "atan2 pow hypot rhypot fmod remainder fdim nextafter".split()
NATIVE = {"native_exp": "__expf(x)", "native_exp10": "__exp10f(x)", "native_log": "__logf(x)",
          "native_log2": "__log2f(x)", "native_log10": "__log10f(x)", "native_sin": "__sinf(x)",
          "native_cos": "__cosf(x)", "native_tan": "__tanf(x)", "native_powr": "__powf(x,y)", "native_exp2": "exp2f(x)"}
# OpenCL functions by CUDA expressions; {f} is the suffix of the type.
MORE = {"powr": "pow{f}(x,y)", "pown": "pow{f}(x,(int)k)", "rootn": "pow{f}(x,1/({t})k)", "ldexp": "ldexp{f}(x,k)",
        "ilogb": "ilogb{f}(x)", "tanpi": "sinpi{f}(x)/cospi{f}(x)", "asinpi": "asin{f}(x)*({t})0.318309886",
        "acospi": "acos{f}(x)*({t})0.318309886", "atanpi": "atan{f}(x)*({t})0.318309886",
        "atan2pi": "atan2{f}(x,y)*({t})0.318309886"}
# Of half and bfloat16, with an h before the name.
NARROW = "exp exp2 exp10 log log2 log10 sin cos sqrt rsqrt tanh".split()
# Functions with two results: (statement, what is stored)
PAIRS = {"sincos": "{t} s,c; sincos{f}(x,&s,&c); q[i]=s; q[i+64]=c;", "sincospi": "{t} s,c; sincospi{f}(x,&s,&c); q[i]=s; q[i+64]=c;",
         "modf": "{t} s; q[i]=modf{f}(x,&s); q[i+64]=s;", "frexp": "int e; q[i]=frexp{f}(x,&e); q[i+64]=__ptr(e);",
         "remquo": "int e; q[i]=remquo{f}(x,y,&e); q[i+64]=__ptr(e);",
         "fract": "{t} s=floor{f}(x); q[i]=fmin{f}(x-s,({t})0.99999994); q[i+64]=s;"}
TYPICAL = collections.defaultdict(lambda: (1.7, 2.3), {f: (0.6, 0.3) for f in
                                                      ("asin", "acos", "atanh", "erfinv", "normcdfinv", "asinpi", "acospi")})
TYPICAL.update({"erfcinv": (0.6, 0), "fmod": (7.3, 2.1), "remainder": (7.3, 2.1), "remquo": (7.3, 2.1), "exp": (1.7, 0),
                "lgamma": (2.7, 0), "tgamma": (2.7, 0)})


def show(cost):
    order = [c for c in sorted(cost) if cost[c] > 0]
    return " ".join(c if cost[c] == 1 else f"{c}:{cost[c]}" for c in order)


def subtract(cost, base):
    return {c: max(0, cost[c] - base[c]) for c in cost if cost[c] > base[c]}


def emit(family, since, key, cost, seen):
    text = show(cost)
    if seen.get(key) != text:
        print(f'{{"{family}", {since}, "{key}", "{text}"}},')
    seen[key] = text


def path_counts(ptx, arch, kernel=None):
    cubin, _ = sass.assemble(ptx, arch)
    kernels = sass.kepler_words(cubin) if arch == "sm_35" else sass.disassemble(cubin)
    os.unlink(cubin)
    code = sass.cheapest_path(kernels[kernel] if kernel else next(iter(kernels.values())))
    if any(i.opcode.startswith("?") for i in code):
        raise sass.Unknown([i.opcode for i in code if i.opcode.startswith("?")])
    return sass.counts([i for i in code if int(arch[3:]) >= 70 or not i.opcode.startswith("DEPBAR")])


def ptx_kernel(instruction, kind, inputs):
    """A kernel with one instruction on loaded values; all values are stored too, so that nothing is folded."""
    bits = int(kind[1:])
    reg = ("f" if kind[0] == "f" else "b") + str(bits)
    text = [f".visible .entry k(.param .u64 p) {{ .reg .{reg} %v<8>; .reg .b32 %t,%x<3>; .reg .b64 %a<4>;",
            "ld.param.u64 %a0,[p]; cvta.to.global.u64 %a1,%a0; mov.u32 %t,%tid.x;",
            f"mul.wide.u32 %a2,%t,{bits // 8}; add.s64 %a3,%a1,%a2;"]
    for k in range(3):
        text.append(f"ld.global.{reg} %v{k},[%a3+{k * 1024}];")
    for k in range(2):
        text.append(f"ld.global.b32 %x{k},[%a3+{8192 + k * 1024}];")
    result = f"st.global.{reg} [%a3],%v3;"
    if instruction is None:
        text.append(f"mov.{reg} %v3,%v0;")
    elif inputs > 0:
        text.append(f"{instruction} %v3," + ",".join(f"%v{k}" for k in range(inputs)) + ";")
    else:
        text.append(instruction + ";")
        if inputs < 0:
            text.append(f"mov.{reg} %v3,%v0;")
    text.append(result)
    for k in range(3):
        text.append(f"st.global.{reg} [%a3+{k * 1024 + 64}],%v{k};")
    for k in range(2):
        text.append(f"st.global.b32 [%a3+{9216 + 1024 * k + 64}],%x{k};")
    return "\n".join(text) + " ret; }\n"


def measure_ptx(seen, operations, arches, version):
    for words, (instruction, kind, inputs) in operations.items():
        for arch in arches:
            head = f".version {version}\n.target {arch}\n.address_size 64\n"
            try:
                base = path_counts(head + ptx_kernel(None, kind, 1), arch)
                cost = subtract(path_counts(head + ptx_kernel(instruction, kind, inputs), arch), base)
            except sass.Unknown as e:
                print(f"{words} on {arch}: not read, left out: {e}", file=sys.stderr)
                break
            emit("nvidia", int(arch[3:]), words.replace(" ", "."), cost, seen)


def address_kernel(scale, uses):
    """Loads of `uses` buffers at one scaled index; without a scale at an address that is loaded."""
    text = [".visible .entry k(.param .u64 p,.param .u64 q0,.param .u64 q1,.param .u64 q2) { .reg .b32 %v<4>,%t,%x<2>; .reg .b64 %a<12>,%w<2>;",
            "ld.param.u64 %a0,[p]; cvta.to.global.u64 %a1,%a0; mov.u32 %t,%tid.x; mul.wide.u32 %a2,%t,8; add.s64 %a3,%a1,%a2;",
            "ld.global.b32 %x0,[%a3]; ld.global.b64 %w0,[%a3+4096];", scale or "mov.b64 %a8,%w0;"]
    for k in range(uses):
        text.append(f"ld.param.u64 %a4,[q{k}]; cvta.to.global.u64 %a5,%a4; "
                    + ("add.s64 %a9,%a5,%a8;" if scale else f"ld.global.b64 %a9,[%a3+{8192 + 8 * k}];") + f"ld.global.b32 %v{k},[%a9];")
    for k in range(uses):
        text.append(f"st.global.b32 [%a3+{16384 + 4 * k}],%v{k};")
    return "\n".join(text) + "st.global.b32 [%a3+32768],%x0; st.global.b64 [%a3+65536],%w0; ret; }\n"


def measure_addresses(seen, arches, version):
    for name, scale in ADDRESSES.items():
        for uses in (1, 2, 3):
            for arch in arches:
                head = f".version {version}\n.target {arch}\n.address_size 64\n"
                cost = path_counts(head + address_kernel(scale, uses), arch)
                base = path_counts(head + address_kernel(None, uses), arch)
                base["global_load"] -= uses  # of the addresses
                cost["move"] = 0  # the factor in a register, once a kernel: ptx_fusion.cpp
                emit("nvidia", int(arch[3:]), f"{name}.{uses}", subtract(cost, base), seen)


def function_source():
    kernels = {}
    for t, f, name in (("float", "f", "f32"), ("double", "", "f64")):
        ins = f"{t}* p"
        def add(key, body):
            kernels[f"{key}.{name}"] = f'extern "C" __global__ void KEY({ins}){{int i=threadIdx.x; {body}}}\n'
        bits = "__float_as_int" if f else "__double2loint"
        load = f"volatile {t}* q=p+1024; {t} x=p[i],y=p[i+64]; int k={bits}(p[i+128]); "
        keep = "q[i+128]=x; q[i+192]=y; q[i+256]=p[i+128];"
        add("BASE", load + f"q[i]=x; {keep}")
        add("BASE2", load + f"q[i]=x; q[i+64]=y; {keep}")
        for g in ONE:
            add(g, load + f"q[i]={g}{f}(x); {keep}")
        for g in TWO:
            add(g, load + f"q[i]={g}{f}(x,y); {keep}")
        for g, e in MORE.items():
            add(g, load + f"q[i]={e.format(f=f, t=t)}; {keep}")
        for g, e in PAIRS.items():
            add(g, load + e.format(f=f, t=t).replace("__ptr(e)", f"({t})e") + " " + keep)
        if f:
            for g, e in NATIVE.items():
                add(g, load + f"q[i]={e}; {keep}")
    return kernels


def bytes_of_symbols(ptx):
    """Addresses and contents of the module's constant tables."""
    symbols, memory, at = {}, {}, 1 << 32
    for m in re.finditer(r"\.(?:global|const) .align \d+ \.b8 (\w+)\[(\d+)\](?: = \{([^}]*)\})?;", ptx):
        symbols[m.group(1)] = at
        for k, v in enumerate((m.group(3) or "").split(",")):
            if v.strip():
                memory[at + k] = int(v)
        at += 4096
    return symbols, memory


def main_path(ptx, kernel, function, bits):
    """ptx with the branches of `kernel` settled for the function's typical argument."""
    import math
    symbols, memory = bytes_of_symbols(ptx)
    x, y = TYPICAL[function]
    for at, value in ((4096, x), (4096 + 64 * bits // 8, y)):
        for k, b in enumerate(ptx_run.f2b(value, bits).to_bytes(bits // 8, "little")):
            memory[at + k] = b
    memory[4096 + 128 * bits // 8] = 3
    params = {f"{kernel}_param_0": 4096}
    calls = {"__internal_accurate_pow": (lambda a, b: abs(a) ** b, 2), "__internal_lgamma_pos": (math.lgamma, 1)}
    symbols["__local_depot"] = 1 << 40
    run = ptx_run.Run(ptx, kernel, params, memory, symbols, calls)
    for k in range(100):
        symbols[f"__local_depot{k}"] = 1 << 40
    run.r["%SP"] = run.r["%SPL"] = 1 << 40
    run.run()
    return ptx_run.straighten(ptx, run.taken)


def measure_functions(seen, fast):
    kernels = function_source()
    names = {key: "k_" + key.replace(".", "_") for key in kernels}
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "a.cu")
        with open(source, "w") as f:
            f.write("".join(text.replace("KEY", names[key]) for key, text in kernels.items()))
        out = os.path.join(folder, "a.ptx")
        subprocess.run([sass.tool("nvcc"), "-w", "-arch=compute_75", "-ptx", source, "-o", out] + (["-use_fast_math"] if fast else []),
                       check=True)
        ptx = open(out).read()
    for key, kernel in names.items():  # one module, all branches settled
        function, kind = key.rsplit(".", 1)
        try:
            ptx = main_path(ptx, kernel, function, int(kind[1:]))
        except (ptx_run.Stuck, KeyError, StopIteration) as e:
            print(f"{key}: branches not settled ({e!r}): shortest path", file=sys.stderr)
    for arch in ARCHES:
        cubin, _ = sass.assemble(ptx.replace(".target compute_75", f".target {arch}").replace(".target sm_75", f".target {arch}"), arch)
        code = sass.disassemble(cubin)
        os.unlink(cubin)
        total = {key: sass.counts(sass.cheapest_path(code[kernel])) for key, kernel in names.items()}
        for key in names:
            function, kind = key.rsplit(".", 1)
            if function.startswith("BASE") or (fast and (kind != "f32" or function.startswith("native"))):
                continue
            base = total[("BASE2." if function in PAIRS else "BASE.") + kind]
            emit("nvidia", int(arch[3:]), key + (".fast" if fast else ""), subtract(total[key], base), seen)


def narrow_source(kind, header, to_bits, from_bits):
    """The functions of 16-bit values, each alone in a kernel, and one without."""
    load = f"volatile unsigned short* q=p+1024; auto x={from_bits}(p[i]),y={from_bits}(p[i+64]); "
    bodies = {"BASE": "x", "div": "__hdiv(x,y)", **{f: f"h{f}(x)" for f in NARROW}, "native_recip": "hrcp(x)"}
    return header, {f"{f}.{kind}": f'extern "C" __global__ void k_{f}(unsigned short* p){{int i=threadIdx.x; {load}'
                                   f'q[i]={to_bits}({value}); q[i+128]={to_bits}(x); q[i+192]={to_bits}(y);}}\n' for f, value in bodies.items()}


def measure_narrow(seen):
    """Functions of half and bfloat16 have bodies of their own, which -use_fast_math leaves as they are."""
    for kind, arches, header, to_bits, from_bits in (
            ("f16", ARCHES, "cuda_fp16.h", "__half_as_ushort", "__ushort_as_half"),
            ("bf16", ARCHES[1:], "cuda_bf16.h", "__bfloat16_as_ushort", "__ushort_as_bfloat16")):
        name, kernels = narrow_source(kind, header, to_bits, from_bits)
        for arch in arches:
            with tempfile.TemporaryDirectory() as folder:
                source, cubin = os.path.join(folder, "a.cu"), os.path.join(folder, "a.cubin")
                with open(source, "w") as f:
                    f.write(f"#include <{name}>\n" + "".join(kernels.values()))
                subprocess.run([sass.tool("nvcc"), "-w", f"-arch={arch}", "-cubin", source, "-o", cubin], check=True)
                code = sass.disassemble(cubin)
            base = sass.counts(sass.cheapest_path(code["k_BASE"]))
            for key in kernels:
                function = key.rsplit(".", 1)[0]
                if function != "BASE":
                    emit("nvidia", int(arch[3:]), key, subtract(sass.counts(sass.cheapest_path(code["k_" + function])), base), seen)


def main():
    what = sys.argv[1] if len(sys.argv) > 1 else "all"
    seen = {}
    version = subprocess.run([sass.tool("ptxas"), "--version"], capture_output=True, text=True).stdout.split()[-1]
    print(f"// Made by tools/measure/measure_costs.py with CUDA {version}"
          + ("" if what == "old" else ", LLVM 19 and libclc 19") + "; do not edit.")
    print("// {family, smallest sm of the row, operation or function, instructions of a lane on the main path}")
    if what in ("nvidia", "all"):
        measure_ptx(seen, PTX, ARCHES, "8.3")
        measure_functions(seen, False)
        measure_functions(seen, True)
    if what in ("narrow", "nvidia", "all"):
        measure_narrow(seen)
    if what == "old":
        integers = {w: o for w, o in PTX.items() if o[1][0] != "f" and not (w.startswith(("div", "rem")) and "64" in w) and w != "fns"}
        measure_ptx(seen, {**integers, **MULTIPLIES}, OLD_ARCHES, "7.8")
        measure_addresses(seen, OLD_ARCHES, "7.8")
    if what in ("amd", "all"):
        import measure_amd
        measure_amd.measure(lambda key, cost: emit("amd", 0, key, cost, {}))


if __name__ == "__main__":
    main()
