"""The AMD part of measure_costs.py: libclc's functions as clang compiles them for gfx90a.

Each function stands alone in an OpenCL kernel whose arguments are loaded, with libclc linked in; clang's assembly is
counted by opcode on the shortest path to s_endpgm, and the same kernel without the function is subtracted. Divergent branches
guard slow paths with s_cbranch_execz, which the shortest path takes.
"""
import collections
import re
import subprocess
import tempfile

CLC = "/usr/lib/clc/gfx90a-amdgcn--.bc"
ONE = ("exp exp2 exp10 expm1 log log2 log10 log1p sin cos tan sinpi cospi tanpi asin acos atan asinpi acospi atanpi sinh cosh tanh "
       "asinh acosh atanh cbrt erf erfc tgamma lgamma round logb ilogb native_exp native_exp2 native_exp10 native_log "
       "native_log2 native_log10 native_sin native_cos native_tan").split()
TWO = "atan2 atan2pi pow powr hypot fmod remainder fdim nextafter native_powr".split()
OTHER = {"pown": "pown(x,k)", "rootn": "rootn(x,k)", "ldexp": "ldexp(x,k)"}
PAIRS = {"sincos": "T s; q[0]=sincos(x,&s); q[1]=s;", "modf": "T s; q[0]=modf(x,&s); q[1]=s;",
         "fract": "T s; q[0]=fract(x,&s); q[1]=s;", "frexp": "int e; q[0]=frexp(x,&e); q[1]=e;",
         "remquo": "int e; q[0]=remquo(x,y,&e); q[1]=e;", "lgamma_r": "int e; q[0]=lgamma_r(x,&e); q[1]=e;"}


def classify(name):
    """Class of a vector instruction as in src/frontend/code/amd/amdgcn_ops.cpp; None: no operation."""
    if re.match(r"s_(waitcnt|nop|code_end|clause|delay)", name):
        return None
    if name.startswith(("s_cbranch", "s_branch", "s_endpgm")):
        return "control"
    if name.startswith("s_load"):
        return "scalar_load"
    if name.startswith("s_"):
        return "scalar_alu"
    name = re.sub(r"_(e32|e64|sdwa|dpp)$", "", name)
    f = {"f64": "fp64", "f32": "fp32", "f16": "fp16"}.get(name[-3:])
    rules = [(r"v_cmpx?_.*f64|v_(min|max)_f64", "fp64_compare"), (r"v_cmp", "compare"), (r"v_(pk_)?(min|max|med3)", "min_max"),
             (r"v_cvt.*f64", "convert64"), (r"v_cvt", "convert"), (r"v_cndmask", "select"),
             (r"v_(div_|fma|fmac|mac|mad).*_f\d\d|v_pk_fma", f"{f}_fma"), (r"v_(add|sub|subrev|floor|ceil|trunc|rndne|fract)_f\d\d|v_pk_add", f"{f}_add"),
             (r"v_(mul|ldexp|frexp\w*|trig_preop)(_\w+)?_f\d\d|v_frexp|v_pk_mul", f"{f or 'fp32'}_mul"),
             (r"v_(rcp|rsq|sqrt|exp|log|sin|cos)\w*f64", "fp64_special"), (r"v_(rcp|rsq|sqrt|exp|log|sin|cos)", "fp32_special"),
             (r"v_(add_co|addc|sub_co|subb|subrev_co|subbrev|lshl_add_u64)", "int64_add"),
             (r"v_(add3|add|sub|subrev|lshl_add|add_lshl|mul_[ui]32|mad_[ui]32)", "int_add"), (r"v_mul", "int_mul"), (r"v_mad", "int_mad"),
             (r"v_(lshl_or|and|or|xor|not|bfi|or3)", "logic"), (r"v_(lshl|lshr|ashr|align)", "shift"), (r"v_(bfe|perm|ffb|bfm|bcnt|bfrev)", "bit_special"),
             (r"v_(mov|readfirstlane|readlane|accvgpr|pk_mov)", "move"), (r"global_load|flat_load|buffer_load", "global_load"),
             (r"global_store|flat_store|buffer_store", "global_store"), (r"ds_read", "shared_load"), (r"ds_write", "shared_store")]
    for pattern, c in rules:
        if re.match(pattern, name):
            return c
    return "other"


def blocks(text, kernel):
    """[(opcode, operands)] with labels as ('label', name)."""
    body = text[text.index(f"\n{kernel}:"):]
    body = body[:body.index(".Lfunc_end")]
    out = []
    for line in body.split("\n")[2:]:
        line = line.split(";")[0].strip()
        if line.endswith(":"):
            out.append(("label", line[:-1]))
        elif line and not line.startswith("."):
            name, _, rest = line.partition(" ")
            out.append((name.strip(), rest.strip()))
    return out


def cheapest_path(code):
    labels = {rest: k for k, (name, rest) in enumerate(code) if name == "label"}
    came, queue = {0: None}, collections.deque([0])
    while queue:
        k = queue.popleft()
        name, rest = code[k]
        if name == "s_endpgm":
            path = []
            while k is not None:
                path.append(code[k])
                k = came[k]
            return path
        nexts = []
        if name.startswith(("s_branch", "s_cbranch")):
            nexts.append(labels[rest])
        if name != "s_branch":
            nexts.append(k + 1)
        for n in nexts:
            if n < len(code) and n not in came:
                came[n] = k
                queue.append(n)
    raise RuntimeError("no s_endpgm")


def measure(emit):
    for t, kind in (("float", "f32"), ("double", "f64")):
        tests = {"BASE": "q[0]=x;", "BASE2": "q[0]=x; q[1]=y;"}
        tests |= {f: f"q[0]={f}(x);" for f in ONE} | {f: f"q[0]={f}(x,y);" for f in TWO}
        tests |= {f: f"q[0]={e};" for f, e in OTHER.items()} | {f: e.replace("T ", t + " ") for f, e in PAIRS.items()}
        counts = {}
        for f, e in tests.items():
            if t == "double" and f.startswith("native"):
                continue
            source = ("#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"
                      f"kernel void k(global volatile {t}* p) {{ int i=__builtin_amdgcn_workitem_id_x(); "
                      f"global volatile {t}* q=p+i*8; {t} x=q[2],y=q[3]; int k=q[4]; {e} q[5]=x; q[6]=y; q[7]=k; }}\n")
            with tempfile.NamedTemporaryFile("w", suffix=".cl") as file:
                file.write(source)
                file.flush()
                run = subprocess.run(["clang-19", "-target", "amdgcn-amd-amdhsa", "-mcpu=gfx90a", "-nogpulib", "-x", "cl", "-cl-std=CL1.2",
                                      "-O3", "-w", "-S", "-o", "-", "-Xclang", "-mlink-builtin-bitcode", "-Xclang", CLC, file.name],
                                     capture_output=True, text=True)
            if run.returncode or "s_swappc" in run.stdout:
                continue
            total = collections.Counter()
            for name, _ in cheapest_path(blocks(run.stdout, "k")):
                c = classify(name) if name != "label" else None
                if c:
                    total[c] += 1
            counts[f] = total
        for f in counts:
            if f.startswith("BASE"):
                continue
            base = counts["BASE2" if f in PAIRS else "BASE"]
            cost = {c: counts[f][c] - base[c] for c in counts[f] if counts[f][c] > base[c]}
            emit(f"{f}.{kind}", cost)
