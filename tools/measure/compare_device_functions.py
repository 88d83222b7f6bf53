#!/usr/bin/env python3
"""Compares kernelcast's headers with CUDA's, function by function.

For each device function, constructor, conversion and operator that CUDA's headers declare there is one kernel, which
reads the arguments from memory and stores the result. nvcc says which of them are valid, and its machine code how many
instructions each takes. kernelcast compiles the same kernels: what it refuses is listed as missing, and what it counts
stands beside nvcc's. A kernel counts as straight-line where nvcc's code has one exit and neither calls nor branches.

    compare_device_functions.py /usr/local/cuda/include build/bin/kernelcast --header cuda_fp16.h
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

INTRINSICS = ["sm_20_intrinsics.h", "sm_30_intrinsics.h", "sm_32_intrinsics.h", "sm_61_intrinsics.h",
              "device_atomic_functions.h", "sm_20_atomic_functions.h", "sm_32_atomic_functions.h",
              "sm_60_atomic_functions.h", "vector_functions.h", "crt/device_functions.h", "crt/math_functions.h",
              "crt/device_double_functions.h", "crt/sm_70_rt.h", "crt/sm_80_rt.h", "crt/sm_90_rt.h", "crt/sm_100_rt.h"]
NARROW = ["cuda_fp16.h", "cuda_bf16.h", "cuda_fp8.h", "cuda_fp6.h", "cuda_fp4.h"]
INCLUDED = {**{h: "cuda_runtime.h" for h in INTRINSICS}, **{h: h for h in NARROW},
            "cuda_pipeline_primitives.h": "cuda_pipeline.h"}
TYPE = (r"(?:unsigned long long int|unsigned long long|long long int|long long|unsigned long int|unsigned long|"
        r"long int|"
        r"unsigned short int|unsigned int|unsigned short|unsigned char|signed char|short int|long|int|short|char|float|"
        r"double|bool|size_t|void|unsigned|[a-z]+[1-4](?:_\d+a)?|__half2_raw|__half_raw|__half2|__half|__nv_\w+|"
        r"(?:enum )?cudaRoundMode)")
# No user writes these: halves of the headers themselves.
INTERNAL = re.compile(r"^(?:____|__nv_internal|__internal|__nv_associate_access_property|"
                      r"__nv_memcpy_async_shared_global|"
                      r"__u128|any$|all$|ballot$|syncthreads_)|_impl$")


def text_of(header):
    text = re.sub(r"/\*.*?\*/", "", header.read_text(errors="ignore"), flags=re.S)
    text = re.sub(r"//.*", "", text)
    text = re.sub(r"\\\n", " ", text)
    return re.sub(r"\s+", " ", re.sub(r"^\s*#.*$", "", text, flags=re.M))


def parameter(text):
    """(type, "*" or "&" or "") of a parameter, None where it is not understood."""
    text = re.sub(r"=.*", "", text)
    text = re.sub(r"\b(const|volatile|register)\b", "", text).replace(" *", "*").replace("* ", "*")
    found = re.match(r"^\s*(%s)\s*([*&]*)\s*(\w+)?\s*$" % TYPE, text)
    return (found.group(1), found.group(2)) if found else None


def parameters(text):
    text = text.strip()
    found = [] if text in ("", "void") else [parameter(p) for p in text.split(",")]
    return None if None in found else found


def values(kinds):
    return ["(%s*)(p+%d)" % (t, 64 * n) if "*" in how else "*(%s*)(p+%d)" % (t, 64 * n)
            for n, (t, how) in enumerate(kinds)]


STORE = "auto r=%s; *(decltype(r)*)(p+1024)=r;"


def functions(text):
    """(name, body of a kernel) of the functions that a header declares."""
    for m in re.finditer(r"\b(?:const )?(%s) ?(\*? ?)(\w+) ?\(([^()]*)\)" % TYPE, text):
        name, kinds = m.group(3), parameters(m.group(4))
        if kinds is None or name in ("if", "for", "defined", "operator") or INTERNAL.search(name):
            continue
        call = "%s(%s)" % (name, ",".join(values(kinds)))
        yield name, call + ";" if m.group(1) == "void" and not m.group(2).strip() else STORE % call


def members(text):
    """(name, body) of constructors, conversions, assignments and operators."""
    for m in re.finditer(r"struct (?:__\w+\(\d\) ?)?(\w+) ?\{", text):
        name, depth, at = m.group(1), 1, m.end()
        while depth and at < len(text):
            depth += {"{": 1, "}": -1}.get(text[at], 0)
            at += 1
        inside = text[m.end():at]
        if not re.match(r"__half|__nv_(bfloat|fp)", name):
            continue
        for c in re.finditer(r"(?<![\w~.])%s ?\(([^()]*)\)" % name, inside):
            kinds = parameters(c.group(1))
            if kinds:
                made = "%s(%s)" % (name, ",".join(values(kinds)))
                yield name + "(" + ",".join(t for t, _ in kinds) + ")", STORE % made
        for c in re.finditer(r"operator (%s) ?\( ?\) ?const" % TYPE, inside):
            to = c.group(1)
            yield name + "::operator " + to, "*(%s*)(p+1024)=static_cast<%s>(*(%s*)p);" % (to, to, name)
        for c in re.finditer(r"operator ?= ?\(([^()]*)\)", inside):
            kinds = parameters(c.group(1))
            if kinds:
                yield name + "=" + kinds[0][0], "*(%s*)(p+1024)=*(%s*)p;" % (name, kinds[0][0])
    for m in re.finditer(r"operator ?([-+*/=<>!]+) ?\(([^()]*)\)", text):
        kinds = parameters(m.group(2))
        if not kinds or m.group(1) == "=" or not kinds[0][0].startswith("__"):
            continue
        op, v = m.group(1), values(kinds)
        if "&" in kinds[0][1] and (op in ("++", "--") or (op.endswith("=") and op[0] in "+-*/")):
            change = v[0] + op if len(v) == 2 and op in ("++", "--") else op + v[0] if len(v) == 1 else v[0] + op + v[1]
            yield "%s %s" % (kinds[0][0], op), change + ";"
        else:
            applied = op + " " + v[0] if len(v) == 1 else v[0] + " " + op + " " + v[1]
            yield "%s %s" % (kinds[0][0], op), STORE % applied


def kernels_of(include, header):
    text = text_of(include / header)
    found = dict.fromkeys(functions(text))
    if header in NARROW:
        found.update(dict.fromkeys(members(text)))
        found.update(dict.fromkeys(members(text_of(include / header.replace(".h", ".hpp")))))
    return list(found)


def prefix_of(header):
    return "#include <%s>\n#include <cstdint>\n#include <cstddef>\n" % INCLUDED[header]


def line_of(number, kernel):
    # Addresses differ between lanes: nvcc would leave out shuffles of a value that all of them share.
    return 'extern "C" __global__ void k%d(char* p) { p += threadIdx.x << 11; %s }' % (number, kernel[1])


def run(command):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True)


def drop_refused(command, source, header, kernels):
    """Kernels by number that `command` takes, and what it said of the others."""
    taken, refused = dict(enumerate(kernels)), {}
    while True:
        order = list(taken)
        source.write_text(prefix_of(header) + "\n".join(line_of(n, taken[n]) for n in order) + "\n")
        result = run(command)
        first = prefix_of(header).count("\n") + 1
        wrong = {}
        said = result.stderr + result.stdout
        for line, what in re.findall(re.escape(str(source)) + r"[(:](\d+)[):].*?error: ?(.*)", said):
            wrong.setdefault(order[int(line) - first], what)
        for line in re.findall(r"ptxas .*?, line (\d+); error", result.stderr):
            wrong.setdefault(kernel_at(source.with_suffix(".ptx"), int(line)), "ptxas refuses it")
        if not wrong and "error: " in result.stderr:
            sys.exit(result.stderr[:2000])
        if not wrong:
            return taken, refused, result
        for n, what in wrong.items():
            refused[n] = what
            del taken[n]


def kernel_at(ptx, line):
    """Number of the kernel that a line of PTX belongs to."""
    lines = ptx.read_text().splitlines()[:line]
    return int(next(re.search(r"\.entry k(\d+)", text).group(1) for text in reversed(lines) if ".entry k" in text))


def sass(cuobjdump, cubin):
    """Instructions by kernel, and whether the code is a straight line."""
    found, name = {}, None
    for line in run([cuobjdump, "-sass", cubin]).stdout.splitlines():
        if "Function : " in line:
            name = line.split("Function : ")[1].strip()
            found[name] = []
        elif name:
            m = re.match(r"\s*/\*[0-9a-f]+\*/\s+(.*?);", line)
            if m:
                found[name].append(m.group(1))
    result = {}
    for name, code in found.items():
        while code and (code[-1].split()[0] == "NOP" or code[-1].startswith("BRA")):
            code.pop()
        words = [w for i in code for w in re.sub(r"^@!?U?P\w+ ", "", i).split()[:1]]
        straight = not any(w.split(".")[0] in ("BRA", "CALL", "RET", "BRX", "BSSY") for w in words)
        result[name] = len(code), straight and words.count("EXIT") == 1
    return result


def counted(kernelcast, folder, header, kernels, device, chunk=25):
    """Instructions of a thread by kernel. A kernel that cannot be analysed has none."""
    numbers, result = list(kernels), {}
    for at in range(0, len(numbers), chunk):
        some = numbers[at:at + chunk]
        source = folder / "counted.cu"
        launches = " ".join("k%d<<<1, 32>>>(p);" % n for n in some)
        source.write_text(prefix_of(header) + "\n".join(line_of(n, kernels[n]) for n in some) +
                          "\nint main() { char* p; cudaMalloc(&p, 4096); %s }\n" % launches)
        done = run([kernelcast, "predict", source, "--device", device, "--format", "json"])
        try:
            predictions = json.loads(done.stdout)["predictions"]
        except (json.JSONDecodeError, KeyError):
            if len(some) > 1:
                result.update(counted(kernelcast, folder, header, {n: kernels[n] for n in some}, device, 1))
            else:
                print("    %s: %s" % (kernels[some[0]][0], done.stderr.strip()[:200]))
            continue
        for one in predictions:
            counts = one.get("counts") or {}
            number = re.search(r"\d+", one["kernel"])
            result[int(number.group())] = sum(counts.get("warp_instructions", {}).values())
    return result


def compare(options, header, folder):
    kernels = kernels_of(options.include, header)
    source, cubin = folder / "functions.cu", folder / "functions.cubin"
    compile_all = [options.nvcc, "-arch=" + options.arch, "-std=c++17", "-w", "-cubin", "-o", cubin, source, "--keep",
                   "--keep-dir", folder]
    valid, _, _ = drop_refused(compile_all, source, header, kernels)
    truth = sass(options.cuobjdump, cubin)
    numbers = list(valid)
    ask = [options.kernelcast, "explain", source, "--device", options.device, "--grid", 1, "--block", 32,
           "--kernel", "k"]
    taken, refused, _ = drop_refused(ask, source, header, [valid[n] for n in numbers])
    print("%s: %d functions, %d missing" % (header, len(valid), len(refused)), flush=True)
    for n, what in refused.items():
        print("    missing: %s: %s" % (valid[numbers[n]][0], what[:100]))
    if options.only_missing:
        return len(valid), len(refused), []
    chosen = {numbers[n]: k for n, k in taken.items() if not options.name or re.search(options.name, k[0])}
    rows = []
    for n, count in counted(options.kernelcast, folder, header, chosen, options.device).items():
        true, straight = truth["k%d" % n]
        rows.append((count / true, count, true, straight, valid[n]))
    for ratio, count, true, straight, kernel in sorted(rows, key=lambda r: -r[0]):
        if options.all or (straight and not 0.5 <= ratio <= 2):
            more = ("" if straight else " (branches)", kernel[0], kernel[1] if options.bodies else "")
            print("    %5.2f  kernelcast %3d, nvcc %3d%s  %s   %s" % (ratio, count, true, *more))
    return len(valid), len(refused), rows


def summary(what, total, missing, rows):
    straight = sorted(r[0] for r in rows if r[3])
    text = "%s: %d functions, %d missing" % (what, total, missing)
    if straight:
        text += "; %d straight-line: median ratio %.2f, above 2: %d, below 0.5: %d" % (
            len(straight), straight[len(straight) // 2], sum(r > 2 for r in straight), sum(r < 0.5 for r in straight))
    print(text, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("include", type=pathlib.Path, help="folder of CUDA's headers")
    parser.add_argument("kernelcast", type=pathlib.Path)
    parser.add_argument("--header", action="append", choices=list(INCLUDED), help="default: all")
    parser.add_argument("--name", help="only functions whose name matches this expression")
    parser.add_argument("--nvcc", default="nvcc")
    parser.add_argument("--cuobjdump", default="cuobjdump")
    parser.add_argument("--arch", default="sm_90a")
    parser.add_argument("--device", default="h100-sxm")
    parser.add_argument("--only-missing", action="store_true", help="do not count instructions")
    parser.add_argument("--all", action="store_true",
                        help="show every function, not only those off by more than a factor of 2")
    parser.add_argument("--bodies", action="store_true", help="show the kernels as well")
    options = parser.parse_args()
    options.kernelcast = options.kernelcast.resolve()
    total, missing, rows = 0, 0, []
    with tempfile.TemporaryDirectory() as folder:
        for header in options.header or INCLUDED:
            t, m, r = compare(options, header, pathlib.Path(folder))
            total, missing, rows = total + t, missing + m, rows + r
            if not options.only_missing:
                summary(header, t, m, r)
    summary("all", total, missing, rows)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
