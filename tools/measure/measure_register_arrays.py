#!/usr/bin/env python3
"""When ptxas keeps a thread's arrays of unknown index in registers: the rule of src/frontend/lower/register_arrays.cpp.

usage: measure_register_arrays.py NVCC FOLDER [KERNELCAST]

Compiles generated kernels with NVCC to PTX and with the ptxas beside it to machine code (sm_86), leaves both in FOLDER,
and fits the rule

    accesses of unknown index x words of all arrays <= limit x instructions

both counted by loop depth (`weight` for each) and once more by the copies that ptxas makes of innermost loops, without
moves and comparisons. Prints the constants that decide most kernels as ptxas does, and the kernels that they decide
otherwise. With KERNELCAST it also prints for how many of them that program's local memory agrees.
"""
import itertools
import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

ARCH = "86"
HEAD = 'extern "C" __global__ void k(const float* a, float* c, const int* index, size_t m, size_t limit, int n) {\n'


def arrays_in_a_loop(arrays, elements, stores, body):
    """Stores of unknown index to some arrays in each pass of a loop of `body` multiply-adds."""
    text = HEAD + " float sum = 0; int t = threadIdx.x;\n for (int i = 0; i < n; ++i) {\n"
    for k in range(arrays):
        at = f"(i * {arrays} + {k}) * {1024 * elements} + t * {elements}"
        text += f" {{ float v[{elements}];\n"
        text += "".join(f"  v[{e}] = a[{at} + {e}];\n" for e in range(elements))
        text += "".join(f"  v[(a[i + {k * 100 + d * 7 + 10000}] > 0 ? 1 : 0) + int(m >> {d + 1})] = {d}.f + i;\n"
                        for d in range(stores))
        text += "".join(f"  c[{at} + {e}] = v[{e}];\n" for e in range(elements)) + " }\n"
    return text + multiply_adds(body) + " }\n c[t] += sum;\n}\n"


def vectors_that_a_loop_clears(arrays, kind, body):
    """Vectors of four, read and written whole, of which a part is cleared in a way that `kind` names."""
    clears = {
        "scalars": "{ size_t b = a[i + %d * 77]; v[b & 3] = 0; if (m > 4) { v[(b >> 2) & 3] = 1; "
                   "if (m > 5) v[(b >> 4) & 3] = 2; } }",
        "loop": "if (x > limit) {\n#pragma unroll 1\n for (size_t j = 0; j < x - limit; ++j) v[3 - j] = 0; }",
        "short counter": "if (x > limit) {\n#pragma unroll 1\n for (int j = 0; j < int(x - limit); ++j) v[3 - j] = 0; }",
        "unrolled loop": "if (x > limit) { for (size_t j = 0; j < x - limit; ++j) v[3 - j] = 0; }",
        "wide loop": "if (x > limit) {\n#pragma unroll 1\n for (size_t j = 0; j < x - limit; j += 4) "
                     "*(float4*)&v[-j] = make_float4(0, 0, 0, 0); }",
        "wide": "if (x > limit) { *(float4*)&v[-x * 4] = make_float4(0, 0, 0, 0); }",
    }
    text = HEAD + " float sum = 0; int t = threadIdx.x;\n for (int i = 0; i < n; ++i) {\n"
    for k in range(arrays):
        clear = clears[kind] % k if "%d" in clears[kind] else clears[kind]
        at = f"(i * {arrays} + {k}) * 4096 + t * 4"
        text += (f"{{ size_t x = i * 32 + {k}; alignas(16) float v[4];\n *(float4*)v = *(const float4*)&a[{at}];\n"
                 f" {clear}\n *(float4*)&c[{at}] = *(float4*)v; }}\n")
    return text + multiply_adds(body) + " }\n c[t] += sum;\n}\n"


def without_loops(elements, reads, writes, zero):
    text = HEAD + f" int t = threadIdx.x; float v[{elements}], sum = 0;\n"
    text += "".join(f" v[{e}] = {'0' if zero else f'a[t + {e * 32}]'};\n" for e in range(elements))
    text += "".join(f" v[index[t + {w * 32}]] = a[t + {(w + 100) * 32}];\n" for w in range(writes))
    text += "".join(f" sum += v[index[t + {(r + 50) * 32}]];\n" for r in range(reads))
    if not reads:
        text += "".join(f" sum += v[{e}];\n" for e in range(elements))
    return text + " c[t] = sum;\n}\n"


def multiply_adds(number):
    return "".join(f"  sum = sum * {1 + b / 1000:.3f}f + {0.5 + b / 777:.4f}f;\n" for b in range(number))


def kernels():
    shapes = [(2, 8, 4), (2, 8, 8), (2, 8, 16), (2, 16, 4), (3, 4, 4), (3, 4, 8), (3, 8, 4), (4, 4, 1), (4, 4, 4),
              (4, 8, 1), (4, 8, 2), (4, 8, 4), (8, 4, 1), (8, 4, 2), (1, 32, 8), (1, 32, 16)]
    for shape, body in itertools.product(shapes, (0, 30, 80, 150, 250, 400)):
        yield "arrays " + "x".join(map(str, shape)) + f" {body}", arrays_in_a_loop(*shape, body)
    kinds = ("scalars", "loop", "short counter", "unrolled loop", "wide loop", "wide")
    for kind, arrays, body in itertools.product(kinds, (1, 2, 3, 4), (0, 50, 100, 200, 400, 700)):
        yield f"vectors {arrays} {kind} {body}", vectors_that_a_loop_clears(arrays, kind, body)
    uses = [(1, 0), (2, 0), (3, 0), (4, 0), (6, 0), (0, 1), (0, 2), (0, 4), (0, 6), (1, 1), (2, 2), (3, 3)]
    for (reads, writes), zero, elements in itertools.product(uses, (False, True),
                                                             (4, 5, 6, 7, 8, 10, 12, 13, 14, 16, 20, 24, 32)):
        if writes or not zero:
            yield f"straight {reads}+{writes} {elements}{' zero' * zero}", without_loops(elements, reads, writes, zero)


def compiled(nvcc, folder, name, text):
    """PTX, bytes of stack."""
    path = os.path.join(folder, re.sub(r"\W+", "_", name))
    with open(path + ".cu", "w", encoding="utf-8") as file:
        file.write(text)
    subprocess.run([nvcc, "-arch=compute_" + ARCH, "-w", "-ptx", path + ".cu", "-o", path + ".ptx"], check=True)
    ptxas = os.path.join(os.path.dirname(nvcc), "ptxas")
    done = subprocess.run([ptxas, "-arch=sm_" + ARCH, "-v", path + ".ptx", "-o", path + ".cubin"], check=True,
                          capture_output=True, text=True)
    with open(path + ".ptx", encoding="utf-8") as file:
        return file.read(), int(re.search(r"(\d+) bytes stack", done.stderr)[1])


def parsed(ptx):
    """By instruction: (text, loops around it, whether ptxas copies its loop); places of unknown local accesses; words."""
    words = int(re.search(r"__local_depot\d+\[(\d+)\]", ptx)[1]) // 4
    texts, labels = [], {}
    for line in map(str.strip, ptx.split("\n")):
        if re.match(r"\$L__BB\d+_\d+:", line):
            labels[line[:-1]] = len(texts)
        elif line.endswith(";") and not line.startswith((".", "//")):
            texts.append(line)
    loops = set()
    for place, text in enumerate(texts):
        jump = re.search(r"bra(?:\.uni)?\s+(\$\w+)", text)
        if jump and labels[jump[1]] <= place:
            loops.add((labels[jump[1]], place))
    depth = [sum(first <= i <= last for first, last in loops) for i in range(len(texts))]
    copied = [False] * len(texts)
    for first, last in loops:
        if ".pragma" not in ptx and not any(re.search(r"\bbra\b", t) for t in texts[first:last]):
            copied[first:last + 1] = [True] * (last + 1 - first)
    fixed = {"%SP", "%SPL"} | {m[1] for t in texts if (m := re.match(r"add\.u64\s+(%rd\d+), %SPL?, \d+", t))}
    unknown = [i for i, t in enumerate(texts)
               if (m := re.match(r"(?:st|ld)\.local\S*\s.*\[(%\w+)", t)) and m[1] not in fixed]
    return texts, depth, copied, unknown, words


def share(kernel, weight, copies):
    """Comparisons by instruction."""
    texts, depth, copied, unknown, words = kernel
    times = [weight ** d * (copies if c else 1) for d, c in zip(depth, copied)]
    counted = sum(t for t, text in zip(times, texts) if not re.match(r"(@!?%p\d+ )?(mov|setp)", text))
    return sum(times[i] for i in unknown) * words / counted


def main(nvcc, folder, program=None):
    os.makedirs(folder, exist_ok=True)
    named = list(kernels())
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        done = list(pool.map(lambda k: compiled(nvcc, folder, *k), named))
    all_kernels = {name: (parsed(ptx), stack == 0) for (name, _), (ptx, stack) in zip(named, done) if "depot" in ptx}
    best = None
    for weight, copies in itertools.product((6, 10, 15, 20, 30), (1, 2, 4, 7)):
        shares = {name: share(kernel, weight, copies) for name, (kernel, _) in all_kernels.items()}
        for limit in (x / 100 for x in range(70, 145, 5)):
            wrong = [name for name, (_, kept) in all_kernels.items() if (shares[name] <= limit) != kept]
            if best is None or len(wrong) < len(best[0]):
                best = wrong, weight, copies, limit
    wrong, weight, copies, limit = best
    print(f"{len(all_kernels)} kernels, {sum(kept for _, kept in all_kernels.values())} without local memory; weight of a "
          f"loop {weight}, copies {copies}, limit {limit}: {len(all_kernels) - len(wrong)} as ptxas has them")
    for name in wrong:
        kernel, kept = all_kernels[name]
        print(f"  {name}: {share(kernel, weight, copies):.2f}, {'kept' if kept else 'in memory'}")
    if program:
        agree = 0
        for name, (_, kept) in all_kernels.items():
            path = os.path.join(folder, re.sub(r"\W+", "_", name))
            command = [program, "explain", path + ".cu", "--kernel", "k", "--grid", "64", "--block", "128", "--device",
                       "rtx3090", "--format", "json"] + [x for p in ("m", "limit", "n") for x in ("--arg", p + "=64")]
            text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            local = any(a.get("space") == "local" for a in accesses(json.loads(text)))
            agree += local != kept
        print(f"{program}: {agree} as ptxas has them")


def accesses(value):
    if isinstance(value, dict):
        if "space" in value:
            yield value
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from accesses(item)


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    main(*sys.argv[1:])
