#!/usr/bin/env python3
"""Tables of docs/reference/converge.md: `converge` on the examples and on kernels of a public suite, loops with a divergent branch
and those that lanes leave at different times.

converge_kernels.py PROGRAM             the examples, as their heads say
converge_kernels.py PROGRAM SOURCES     kernels of HeCBench, whose checkout is SOURCES

Every rewrite that is legal and possible is forced and checked: the executor runs both kernels whole, on the same
inputs, and compares every buffer.
"""

import json
import os
import re
import shlex
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
REWRITES = ("round-robin", "advance-in-order", "advance")

# Inputs are ours: sizes small enough to execute, values in the range of the suite's own.
PUBLIC = (
    ("nqueen-cuda/main.cu",
     "--grid 4 --block 64 --arg N=8 --arg nPreFixos=256 --arg depthPreFixos=3 "
     "--buffer 'root_prefixes=256:uniform(0,256)'"),
    ("nw-cuda/nw.cu",
     "--kernel kernel1 --grid 2 --block 16 --arg offset_r=0 --arg offset_c=0 --arg max_cols=65 --arg blk=2 "
     "--arg penalty=10 --buffer d_input_itemsets=4225:0 --buffer 'd_reference=4225:uniform(-4,12)'"),
    ("nw-cuda/nw.cu",
     "--kernel kernel2 --grid 2 --block 16 --arg block_width=4 --arg offset_r=0 --arg offset_c=0 --arg max_cols=65 "
     "--arg blk=2 --arg penalty=10 --buffer d_input_itemsets=4225:0 --buffer 'd_reference=4225:uniform(-4,12)'"),
    ("aobench-cuda/ao.cu",
     "--grid 2,8 --block 16,4 --arg h=32 --arg w=32 --arg nsubsamples=2 --buffer fimg=3072:0 "
     "--buffer 'spheres=3:uniform(-3,3)'"),
    ("mandelbrot-cuda/main.cu",
     "--grid 8,8 --block 16,16 --arg rows=128 --arg cols=128 --buffer b=16384:0 --buffer 'p=3:constant(128)'"),
    ("logan-cuda/src/logan_functions.cu", ""),
    ("langford-cuda/main.cu", ""),
    ("rainflow-cuda/main.cu", ""),
    ("geodesic-cuda/main.cu", ""),
    ("gibbs-cuda/main.cu", ""),
    ("bfs-cuda/bfs.cu", ""),
    ("hmm-cuda/ViterbiGPU.cu", "--grid 4 --block 64 --arg nState=256 --arg t=1 --buffer obs=4:0"),
    ("mcpr-cuda/kernels.h",
     "--lang cuda --kernel compute_probs --grid 2 --block 64 --arg n=128 --arg K=21 --arg M=32 "
     "--buffer 'alphas=2688:uniform(-1,1)' --buffer 'rands=672:uniform(-2,2)' --buffer probs=2688"),
    ("mcpr-cuda/kernels.h",
     "--lang cuda --kernel compute_probs_unitStrides --grid 2 --block 64 --arg n=128 --arg K=21 --arg M=32 "
     "--buffer 'alphas=2688:uniform(-1,1)' --buffer 'rands=672:uniform(-2,2)' --buffer probs=2688"),
    ("particle-diffusion-cuda/motionsim.cu",
     "--grid 2 --block 128 --arg n_particles=256 --arg nIterations=64 --arg grid_size=21 --arg radius=0.5 "
     "--buffer 'a_particleX=256:uniform(8,12)' --buffer 'a_particleY=256:uniform(8,12)' "
     "--buffer 'a_randomX=16384:uniform(0,99)' --buffer 'a_randomY=16384:uniform(0,99)' --buffer a_map=112896:0"),
    ("bsearch-cuda/main.cu",
     "--kernel 'kernel_BS<float>' --grid 4 --block 64 --arg zSize=256 --arg n=4096 --buffer acc_a=4096:iota "
     "--buffer 'acc_z=256:uniform(0,4000)'"),
    ("bsearch-cuda/main.cu",
     "--kernel 'kernel_BS2<double>' --grid 4 --block 64 --arg zSize=256 --arg n=4095 --buffer acc_a=4096:iota "
     "--buffer 'acc_z=256:uniform(0,4000)'"),
)


def run(program, words):
    return subprocess.run([program, "converge", *words], cwd=ROOT, capture_output=True, text=True, check=False)


def gain(strategy):
    if strategy["speedup"] is None:
        return "-"
    low, high = strategy["interval"]
    return f"{strategy['speedup']:.2f} ({low:.2f}-{high:.2f})"


def checked(program, words, loop):
    """Which rewrites leave the same results, executed: "2 of 2"; why not, where one does not."""
    legal = [s for s in loop["strategies"] if s["name"] in REWRITES and s["legal"] == "yes"]
    if not loop["rewrite"] or loop["pattern"] != "executed" or not legal:
        return "-"
    same = 0
    for strategy in legal:
        done = run(program, [*words, "--loop", f"{loop['file']}:{loop['line']}", "--rewrite", "--diff", "--policy", strategy["name"]])
        same += done.returncode == 0
        if done.returncode != 0:
            print(done.stderr.strip(), file=sys.stderr)
    return f"{same} of {len(legal)}"


def verdict(strategy):
    text = {"yes": "legal", "no": "not legal", "unknown": "cannot tell"}[strategy["legal"]]
    return text if strategy["legal"] == "yes" else f"{text}: {strategy['condition']}"


def advice(text):
    """Its first clause behind "leave it"."""
    return re.split(r"[:;(]", text.removeprefix("leave it; "))[0].strip()


def place(name, words, loop):
    file = name if loop["file"] == words[0] else f"{name}, {os.path.basename(loop['file'])}"
    return f"{file}:{loop['line']}, `{loop.get('function', loop['kernel'])}`"


def uneven_row(name, words, loop):
    active = loop.get("active_lanes")
    share = "not executed" if active is None else f"{100 * active:.0f} %"
    return f"| {place(name, words, loop)} | {share} | {advice(loop['recommendation'])} |"


def row(program, name, words, loop):
    by_name = {s["name"]: s for s in loop["strategies"]}
    turn, order, ahead = (by_name[n] for n in ("round-robin", "advance-in-order", "advance"))
    ran = [f"{s['executed']:.2f}" if "executed" in s else "-" for s in (turn, order)]
    rho = "?" if loop["rho"] is None else f"{loop['rho']:.1f}"
    pattern = f"{loop['p_taken']:.2f}, {loop['flip_rate']:.2f}" if loop["pattern"] == "executed" else "assumed"
    cells = (place(name, words, loop), loop["branch_code"], pattern, rho, verdict(turn), verdict(ahead), f"{gain(turn)}, {ran[0]}",
             f"{gain(order)}, {ran[1]}", checked(program, words, loop), advice(loop["recommendation"]))
    return "| " + " | ".join(cells) + " |"


def example_words():
    folder = os.path.join(ROOT, "libconverge", "examples")
    for name in sorted(n for n in os.listdir(folder) if n.endswith((".cl", ".cu"))):
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            head = re.sub(r"\\\n// *", "", file.read())
        yield name, shlex.split(re.search(r"^//   kernelcast converge (.*)$", head, re.M)[1])


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    program = os.path.abspath(sys.argv[1])
    if len(sys.argv) == 2:
        kernels = list(example_words())
    else:
        base = os.path.join(os.path.abspath(sys.argv[2]), "src")
        kernels = [(f.split("/", 1)[0], [os.path.join(base, f), *shlex.split(a)]) for f, a in PUBLIC]
    print("| loop | code | p, flips | rho | postpone | advance | round robin: predicted, executed | in order: predicted, executed "
          "| same results | advice |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    uneven = []
    for name, words in kernels:
        done = run(program, [*words, "--format", "json"])
        if done.returncode != 0:
            sys.exit(done.stderr)
        found = json.loads(done.stdout)
        for loop in found["loops"]:
            print(row(program, name.removesuffix("-cuda"), words, loop), flush=True)
        uneven += [uneven_row(name.removesuffix("-cuda"), words, loop) for loop in found["uneven_loops"]]
    print("\n| loop that lanes leave at different times | active lanes | advice |\n|---|---|---|")
    print("\n".join(dict.fromkeys(uneven)))


if __name__ == "__main__":
    main()
