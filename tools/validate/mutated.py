#!/usr/bin/env python3
"""Runs the program on mutated inputs of every kind and says which are not taken.

    tools/validate/mutated.py [--program build/fuzz/bin/kernelcast] [--runs 3000] [--seed 1] [--jobs 2] [--ptx FOLDER]... [--python build/python]

Inputs: PTX of examples, of test/data and of the folders of --ptx; Triton's metadata; sources of report and advise --diff; rows of validate with
arguments and buffers by name and by position; the values of --buffer, --arg, --role and --tensor-map; with --python the plans of kernelcast-sweep, by
the release build. Tokens and lines are dropped, doubled, swapped and replaced by others of the same kind.

A run is taken when it ends within --seconds of processor time (twenty times that on the clock) with status 0, 1, 2 or 3, with a message where
that is not 0, without a control character or a report of a sanitizer. The same seed gives the same inputs. What is not taken is written into
--keep. Status 1 where there are any.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import random
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOKENS = re.compile(r"[A-Za-z_%$.@][\w.$:]*|0[xXfd][0-9A-Fa-f]+|\d+|\s+|.", re.S)
DEVICES = {"sm_70": "v100", "sm_75": "rtx2080ti", "sm_80": "a100", "sm_86": "rtx3090", "sm_89": "rtx4090", "sm_90": "h100", "sm_100": "b200"}
NUMBERS = ["0", "1", "-1", "3", "7", "31", "32", "33", "64", "255", "1024", "65536", "2147483647", "2147483648", "-2147483648", "4294967296",
           "9223372036854775807", "9223372036854775808", "-9223372036854775808", "99999999999999999999", "1e9", "1e308", "1e309", "nan", "inf", "0x10",
           "0.5", ""]  # fmt: skip
BYTES = ["\x00", "\x1b[31m", "\xff", "\u202e", "\r", "\n", "\t", '"', "'", "\\", "{", "}", "[", "]", "(", ")", ";", ",", ":", "=", "%", "#", "é"]


def kind_of(token):
    """Tokens of one kind may stand for each other: numbers, registers, instructions, words, blanks, signs."""
    if token[0].isdigit():
        return "number"
    if token.isspace():
        return "blank"
    if token[0] == "%":
        return "register" + re.sub(r"\d+", "", token)
    if token[0].isalpha() and "." in token:
        return "instruction"
    return "word" if token[0].isalpha() or token[0] in "_$.@" else "sign"


def by_tokens(text, chance):
    tokens = TOKENS.findall(text)
    if not tokens:
        return chance.choice(NUMBERS)
    places = [i for i, t in enumerate(tokens) if not t.isspace()] or [0]
    i = chance.choice(places)
    what = chance.randrange(8)
    if what < 4:
        alike = [t for t in tokens if kind_of(t) == kind_of(tokens[i])]
        tokens[i] = chance.choice(alike)
        if kind_of(tokens[i]) == "number" and chance.random() < 0.5:
            tokens[i] = chance.choice(NUMBERS)
    elif what == 4:
        del tokens[i]
    elif what == 5:
        tokens.insert(i, tokens[i])
    elif what == 6:
        j = chance.choice(places)
        tokens[i], tokens[j] = tokens[j], tokens[i]
    else:
        tokens[i] += chance.choice(BYTES)
    return "".join(tokens)


def by_lines(text, chance):
    lines = text.split("\n")
    i, j = chance.randrange(len(lines)), chance.randrange(len(lines))
    what = chance.randrange(5)
    if what == 0:
        del lines[min(i, j) : min(i, j) + chance.choice((1, 1, 1, 5))]
    elif what == 1:
        lines.insert(i, lines[j])
    elif what == 2:
        lines[i], lines[j] = lines[j], lines[i]
    elif what == 3:
        lines[i:i] = [lines[i]] * chance.choice((2, 10, 300))
    else:
        lines = lines[: max(1, i)]
    return "\n".join(lines)


def mutated(text, chance):
    for _ in range(chance.choice((1, 1, 1, 2, 2, 4))):
        text = by_tokens(text, chance) if chance.random() < 0.75 else by_lines(text, chance)
    return text


def value(text, chance):
    """A value on a command line holds no zero byte."""
    return by_tokens(text, chance).replace("\x00", "")


def flags_of(text):
    """The flags of the command that the head of an example holds; empty where it has none of predict, explain and offload."""
    found = re.search(r"kernelcast (?:predict|explain|offload) \S+((?:.*\\\n)*.*)", text)
    return shlex.split(re.sub(r"\\\n\s*//", " ", found.group(1))) if found else []


class Inputs:
    """One method a kind of input: writes files into `folder` and returns the command without the program, and its standard input."""

    def __init__(self, ptx_folders):
        data = ROOT / "test" / "data"
        self.ptx = sorted(data.glob("ptx/*.ptx")) + sorted(data.glob("triton/*.ptx"))
        for folder in ptx_folders:
            self.ptx += sorted(pathlib.Path(folder).rglob("*.ptx"))
        self.triton = sorted(data.glob("triton/*.json"))
        examples = ROOT / "examples"
        self.sources = [p for p in sorted([*examples.glob("*.cu"), *examples.glob("*.cl")]) if flags_of(self.text(p))]
        self.maps = [p for p in self.ptx if re.search(r"cp\.async\.bulk\.tensor", self.text(p))]
        self.nests = [p for p in sorted((examples / "offload").glob("*.c")) if flags_of(self.text(p))]

    @staticmethod
    def text(path):
        return path.read_text(encoding="utf-8", errors="replace")[: 1 << 18]

    @staticmethod
    def write(folder, name, text):
        path = folder / name
        path.write_bytes(text.encode("utf-8", errors="surrogatepass").replace(b"\xc3\xbf", b"\xff"))
        return str(path)

    def launch_of_ptx(self, text, chance):
        """Device, block, kernel and arguments as the unmutated text wants them."""
        target = re.search(r"\.target\s+(sm_\d+)", text)
        flags = ["--device", DEVICES.get(target.group(1) if target else "", "h100"), "--grid", "8"]
        entries = list(re.finditer(r"\.entry\s+([\w$]+)\s*(\([^)]*\))?([^{]*)", text))
        entry = chance.choice(entries) if entries else None
        block = re.search(r"\.(?:req|max)ntid\s+([\d, ]+)", entry.group(3)) if entry else None
        flags += ["--block", block.group(1).replace(" ", "").strip(",") if block else "128"]
        for n, kind in enumerate(re.findall(r"\.param\s+\.(\w+)", entry.group(2) or "") if entry else ()):
            if kind in ("u32", "b32", "s32", "f32"):
                flags += ["--arg", f"{n}={chance.choice((1, 16, 64, 1000))}"]
        return flags + (["--kernel", entry.group(1)] if entry else [])

    def example(self, source, command, folder, chance):
        """The command that a source's head holds, for a mutated copy."""
        text = self.text(source)
        return [command, self.write(folder, "k" + source.suffix, mutated(text, chance)), *flags_of(text)]

    def lifted_ptx(self, folder, chance):
        original = self.text(chance.choice(self.ptx))
        path = self.write(folder, "k.ptx", mutated(original, chance))
        counts = chance.choice((["symbolic"], ["executed"], ["auto"], ["executed", "--threads", "independent"]))
        return [chance.choice(("predict", "predict", "explain")), path, *self.launch_of_ptx(original, chance), "--max-seconds", "5", "--compile-seconds", "10",
                "--counts", *counts], None  # fmt: skip

    def tritons_metadata(self, folder, chance):
        known = chance.choice(self.triton)
        self.write(folder, "k.json", mutated(self.text(known), chance))
        path = self.write(folder, "k.ptx", self.text(known.with_suffix(".ptx")))
        flags = self.launch_of_ptx(self.text(known.with_suffix(".ptx")), chance)
        if chance.random() < 0.5:  # the block comes from the metadata
            at = flags.index("--block")
            del flags[at : at + 2]
        return ["predict", path, *flags, "--max-seconds", "5", "--compile-seconds", "10"], None

    def tensor_maps(self, folder, chance):
        path = chance.choice(self.maps)
        text = self.text(path)
        heads = " ".join(re.findall(r"\.entry\s+[\w$]+\s*\(([^)]*)\)", text))
        names = ["param_" + n.split("_param_")[1] if "_param_" in n else n for n in re.findall(r"([\w$]+)(?:\[\d+\])?\s*(?:,|$)", heads)] or ["map"]
        given = [part for _ in range(chance.choice((1, 2, 3))) for part in ("--tensor-map", value(f"{chance.choice(names)}=64x128:2", chance))]
        return ["predict", str(path), *self.launch_of_ptx(text, chance), "--max-seconds", "5", *given], None

    def given_values(self, folder, chance):
        arg = value("n=100000", chance)
        buffer = value(chance.choice(("x=1048576:uniform(0,1)", "x=1048576:sorted(0,1000000)", "x=65536:permutation", "y=1048576:normal(0,1)", "x=4096:constant(3)")), chance)
        grid, block = "64", "256"
        if chance.random() < 0.3:
            grid = value("64,2,1", chance)
        if chance.random() < 0.3:
            block = value("32,2,1", chance)
        more = [chance.choice(("--sample", "--seed", "--shared", "--max-memory", "--max-instructions", "--top", "--launch-overhead")), chance.choice(NUMBERS)]
        return ["predict", str(ROOT / "examples" / "saxpy.cu"), "--device", "v100", "--grid", grid, "--block", block, "--max-seconds", "5", "--counts",
                "executed", "--arg", arg, "--buffer", buffer, "--arg", "a=2", *(more if chance.random() < 0.3 else [])], None  # fmt: skip

    def offload_values(self, folder, chance):
        nest = chance.choice(self.nests)
        text = self.text(nest)
        known = flags_of(text)
        flags = [value(w, chance) if n and known[n - 1] == "--arg" and chance.random() < 0.2 else w for n, w in enumerate(known)]
        names = re.findall(r"\b(\w+)\s*\[", text) or ["a"]
        for name in {chance.choice(names) for _ in range(chance.choice((1, 1, 2)))}:
            flags += ["--buffer", value(f"{name}=250000", chance) if chance.random() < 0.7 else f"{name}={chance.choice(NUMBERS)}"]
        if chance.random() < 0.3:
            flags += ["--role", value(f"{chance.choice(names)}=inout", chance)]
        path = str(nest) if chance.random() < 0.7 else self.write(folder, "nest.c", mutated(text, chance))
        return ["offload", path, "--compile-seconds", "10", *flags], None

    def rows_of_validate(self, folder, chance):
        self.write(folder, "s.cu", self.text(ROOT / "examples" / "saxpy.cu"))
        kernels = "id,language,path,entry,cache_state,flags_argv\ns,cuda,s.cu,saxpy,cold,\n"
        rows = ("kernel_id,gpu,grid_x,grid_y,grid_z,block_x,block_y,block_z,time_ms,dyn_smem_bytes,args,buffers,buffer_elem_bytes\n"
                "s,v100,4096,1,1,256,1,1,0.02,0,n=1048576;a=2,x=1048576;y=1048576,x=4;y=4\n"
                "s,v100,4096,1,1,256,1,1,0.02,0,0=1048576;1=2,2=1048576;3=1048576,2=4;3=4\n")  # fmt: skip
        damaged = chance.random() < 0.8
        return ["validate", self.write(folder, "rows.csv", mutated(rows, chance) if damaged else rows), "--kernels",
                self.write(folder, "kernels.csv", kernels if damaged else mutated(kernels, chance)), "--sources", str(folder),
                "--jobs", "1", "--model", "kernelcast"], None  # fmt: skip

    def patches_of_advise(self, folder, chance):
        limits = ["--max-seconds", "3", "--compile-seconds", "10"]
        shown = ["--diff"] if chance.random() < 0.7 else ["--format", chance.choice(("json", "sarif", "text"))]
        return [*self.example(chance.choice(self.sources), "advise", folder, chance), *limits, *shown], None

    def pages_of_report(self, folder, chance):
        limits = ["--max-seconds", "3", "--compile-seconds", "10"]
        return [*self.example(chance.choice(self.sources), "report", folder, chance), *limits, "-o", str(folder / "page.html")], None

    def plans_of_sweep(self, folder, chance):
        self.write(folder, "saxpy.cu", self.text(ROOT / "examples" / "saxpy.cu"))
        plan = ('devices = ["a100", "v100"]\nmodel = "kernelcast"\nrisk = 0.5\n\n[[kernel]]\nsource = "saxpy.cu"\ngrid = "1..64:*2"\nblock = "32..1024:*2"\n'
                'args = { n = [1048576, 16777216], a = 2 }\nname = "s"\n')  # fmt: skip
        return ["kernelcast.sweep", self.write(folder, "plan.toml", mutated(plan, chance)), "-o", str(folder / "results.parquet")], None


KINDS = ["lifted_ptx", "tritons_metadata", "tensor_maps", "given_values", "offload_values", "rows_of_validate", "patches_of_advise", "pages_of_report"]
OF_PYTHON = ["plans_of_sweep"]
WEIGHTS = {"lifted_ptx": 4}
SANITIZER = re.compile(rb"ERROR: (Address|Leak|Thread|Undefined)\w*Sanitizer|runtime error:|SUMMARY: \w*Sanitizer|LLVM ERROR|Stack dump|Traceback")
CONTROL = re.compile(rb"[\x00-\x08\x0b-\x1f\x7f]")


def run(options, inputs, number):
    """The run of one number: its kind, status, seconds, what is wrong (empty: taken), its folder."""
    chance = random.Random(options.seed * 1000003 + number)
    kinds = options.kinds
    kind = chance.choices(kinds, [WEIGHTS.get(k, 1) for k in kinds])[0]
    folder = pathlib.Path(tempfile.mkdtemp(prefix="mutated."))
    arguments, given = getattr(inputs, kind)(folder, chance)
    of_python = kind in OF_PYTHON
    command = [sys.executable, "-m", *arguments] if of_python else [options.program, *arguments]
    environment = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1", "UBSAN_OPTIONS": "print_stacktrace=1", "PYTHONPATH": options.python or ""}
    start = time.monotonic()
    try:
        limit = int(options.seconds)
        done = subprocess.run(command, input=given, capture_output=True, timeout=20 * limit, cwd=folder, check=False, env=environment,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 1)),
                              **({} if given is not None else {"stdin": subprocess.DEVNULL}))  # fmt: skip
        status, out, err = done.returncode, done.stdout, done.stderr
        wrong = ""
        if status == -signal.SIGXCPU:
            wrong = f"not over after {limit} s of processor time"
        elif status not in (0, 1, 2, 3):
            wrong = f"status {status}"
        elif status != 0 and not err.strip():
            wrong = f"status {status} without a message"
        elif report := SANITIZER.search(err) or SANITIZER.search(out):
            wrong = report.group().decode()
        elif CONTROL.search(err) or (not of_python and CONTROL.search(out)):
            wrong = "a control character"
    except subprocess.TimeoutExpired as late:
        status, wrong, out, err = None, f"not over after {20 * limit} s on the clock", late.stdout or b"", late.stderr or b""
    seconds = time.monotonic() - start
    if wrong:
        kept = pathlib.Path(options.keep) / f"{number}"
        shutil.copytree(folder, kept, dirs_exist_ok=True)
        (kept / "command").write_text(json.dumps([*command]) + "\n", encoding="utf-8")
        (kept / "output").write_bytes(out[-20000:] + b"\n-- standard error --\n" + err[-20000:])
        if given is not None:
            (kept / "input").write_bytes(given)
    shutil.rmtree(folder)
    return kind, status, seconds, wrong, number


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=str(ROOT / "build" / "fuzz" / "bin" / "kernelcast"))
    parser.add_argument("--python", help="folder of the package kernelcast: plans, too")
    parser.add_argument("--ptx", action="append", default=[], metavar="FOLDER")
    parser.add_argument("--runs", type=int, default=3000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--kinds", help="comma-separated (default: all)")
    parser.add_argument("--keep", default="build/mutated")
    options = parser.parse_args()
    options.kinds = options.kinds.split(",") if options.kinds else KINDS + (OF_PYTHON if options.python else [])
    options.keep = os.path.abspath(options.keep)
    options.program = os.path.abspath(options.program)
    inputs = Inputs(options.ptx)
    counts, slowest, refused = collections.defaultdict(collections.Counter), collections.Counter(), 0
    start = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for kind, status, seconds, wrong, number in pool.map(lambda n: run(options, inputs, n), range(options.first, options.first + options.runs)):
            counts[kind][status] += 1
            slowest[kind] = max(slowest[kind], seconds)
            if wrong:
                refused += 1
                counts[kind]["not taken"] += 1
                print(f"{number} {kind}: {wrong} ({options.keep}/{number})", flush=True)
    print("| input | runs | status 0 | 1 | 2 | 3 | slowest | not taken |\n|---|---|---|---|---|---|---|---|")
    for kind in options.kinds:
        c = counts[kind]
        runs = sum(n for s, n in c.items() if s != "not taken")
        print(f"| {kind.replace('_', ' ')} | {runs} | {c[0]} | {c[1]} | {c[2]} | {c[3]} | {slowest[kind]:.1f} s | {c['not taken']} |")
    print(f"{options.runs} runs in {time.monotonic() - start:.0f} s, {refused} not taken")
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main())
