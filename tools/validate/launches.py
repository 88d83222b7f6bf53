#!/usr/bin/env python3
"""How many programs' launches are found in the host code, and how many agree with recorded ones.

  launches.py rows PROGRAM ROWS.csv KERNELS.csv SOURCES   recorded grids, blocks and arguments against those found
  launches.py count PROGRAM FOLDER...                     programs (a folder each): launches found, and complete
  launches.py count PROGRAM --draw 200 --seed 1 ROOT      the same for programs drawn from those below ROOT that launch

Arguments, macros and include folders of a program are those that `make -n run` prints. Without a Makefile: no arguments,
sources and include folders of CMakeLists.txt.
"""

import argparse
import concurrent.futures
import csv
import functools
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict


ENDINGS = (".cu", ".cpp", ".cc", ".c")


def text_of(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def has_main(path):
    return os.path.exists(path) and re.search(r"^[^/\n]*\bmain\s*\(", text_of(path), re.M)


@functools.lru_cache(maxsize=None)
def program_of(folder):
    """(source with main, further sources, flags, arguments): what `make -n run` says, or what lies in the folder."""
    sources, flags, words = [], [], ""
    done = None
    if any(os.path.exists(os.path.join(folder, name)) for name in ("Makefile", "makefile")):
        done = subprocess.run(["make", "-n", "-B", "run"], cwd=folder, capture_output=True, text=True, timeout=60, check=False)
    for line in (done.stdout.replace("\\\n", " ") if done else "").split("\n"):
        parts = line.split()
        if not parts:
            continue
        at = next((k for k, part in enumerate(parts) if part.startswith("./")), 0) if parts[0] in ("mpirun", "mpiexec") else 0
        if parts[at].startswith("./") or (len(parts) > 1 and parts[0] in ("sh", "bash")):
            words = " ".join(parts[at + 1:]).split(">")[0].split("|")[0].split("&&")[0].split(";")[0].strip()
            break
        for k, part in enumerate(parts):
            if part in ("-I", "-D") and k + 1 < len(parts):
                flags += [part, parts[k + 1]]
            elif part.startswith(("-I", "-D")) and len(part) > 2:
                flags += [part[:2], part[2:]]
            elif part.endswith(ENDINGS):
                sources.append(os.path.normpath(os.path.join(folder, part)))
    unique = []
    for k in range(0, len(flags), 2):
        if flags[k:k + 2] not in unique:
            unique.append(flags[k:k + 2])
    flags = [x for pair in unique for x in (pair if pair[0] == "-D" else ["-I", os.path.join(folder, pair[1])])]
    sources = list(dict.fromkeys(s for s in sources if os.path.exists(s)))
    if not sources:
        sources, more = cmake_of(folder)
        flags += more
    for below in ("", "src"):
        place = os.path.join(folder, below)
        if not sources and os.path.isdir(place):
            sources = sorted(os.path.join(place, f) for f in os.listdir(place) if f.endswith(ENDINGS))
            sources = [s for s in sources if has_main(s)] or sources
    common = os.path.join(folder, "../../../Common")
    if os.path.isdir(common):
        flags += ["-I", common]
    mains = sorted((s for s in sources if has_main(s)), key=lambda s: not s.endswith(".cu")) or [s for s in sources if s.endswith(".cu")]
    main = mains[0] if mains else None
    outside = [s for s in sources if main and s != main and os.path.dirname(s) != os.path.dirname(main)]
    return main, outside, flags, words


def cmake_of(folder):
    """Sources of the first program that CMakeLists.txt adds, and its include folders."""
    path = os.path.join(folder, "CMakeLists.txt")
    text = re.sub(r"#.*", "", text_of(path)) if os.path.exists(path) else ""
    added = re.search(r"add_executable\s*\(\s*\S+([^)]*)\)", text)
    sources = [os.path.normpath(os.path.join(folder, s)) for s in (added[1].split() if added else []) if s.endswith(ENDINGS)]
    flags = []
    for words in re.findall(r"include_directories\s*\(([^)]*)\)", text):
        for word in words.split():
            place = os.path.normpath(os.path.join(folder, word.replace("${CMAKE_CURRENT_SOURCE_DIR}", ".")))
            if os.path.isdir(place):
                flags += ["-I", place]
    return [s for s in sources if os.path.exists(s)], flags


LAUNCH = re.compile(r"<<<|\b(cuda|hip)Launch(Cooperative)?Kernel|\bcuLaunchKernel|hipLaunchKernelGGL")


def programs_below(root, ending):
    """Folders with a build file, a function main and a launch in a source of theirs."""
    found = []
    for folder, below, files in os.walk(root):
        below.sort()
        if not folder.endswith(ending) or not {"Makefile", "CMakeLists.txt"} & set(files):
            continue
        texts = [text_of(os.path.join(at, f)) for at, _, names in os.walk(folder) for f in names
                 if f.endswith(ENDINGS + (".cuh", ".h", ".hpp"))]
        if any(LAUNCH.search(t) for t in texts) and program_of(folder)[0]:
            found.append(folder)
            below.clear()
    return found


def launches_of(program, source, words, with_files=(), flags=()):
    """(launches, error)"""
    with tempfile.TemporaryDirectory() as folder:
        output = os.path.join(folder, "out.json")
        command = [program, "predict", source, "--device", "rtx3080", "--launch", "list", "--format", "json", "-o", output, *flags]
        if words:
            command += ["--argv", words]
        for file in with_files:
            command += ["--with", file]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False, cwd=os.path.dirname(source))
        except subprocess.TimeoutExpired:
            return [], "timeout"
        if not os.path.exists(output):
            return [], (done.stderr.strip() or str(done.returncode)).split("\n")[0]
        with open(output, encoding="utf-8") as file:
            return json.load(file)["launches"], ""


def complete(launch):
    return None not in launch["grid"] + launch["block"] + [launch["shared_bytes"]]


def rows(a):
    with open(a.kernels, encoding="utf-8") as file:
        kernels = {k["id"]: k for k in csv.DictReader(file)}
    wanted = defaultdict(list)
    with open(a.rows, encoding="utf-8") as file:
        for row in csv.DictReader(file):
            wanted[kernels[row["kernel_id"]]["path"]].append(row)
    total = defaultdict(int)
    for path, of_program in sorted(wanted.items()):
        source = os.path.join(a.sources, path)
        _, outside, flags, words = program_of(os.path.dirname(source))
        found, error = launches_of(a.program, source, words, outside, flags)
        for row in {(r["kernel_id"], r["grid_x"], r["grid_y"], r["grid_z"], r["block_x"], r["block_y"], r["block_z"]): r for r in of_program}.values():
            entry = kernels[row["kernel_id"]]["entry"]
            base = re.sub(r"[<(].*", "", entry).split("::")[-1].split()[-1]
            mine = [f for f in found if re.sub(r"[<(].*", "", f["kernel"]).split("::")[-1] == base]
            sizes = [[int(row[f"{what}_{axis}"]) for axis in "xyz"] for what in ("grid", "block")]
            whole = [f for f in mine if complete(f)]
            right = [f for f in whole if [f["grid"], f["block"]] == sizes]
            arguments = dict(part.split("=", 1) for part in row["args"].split(";") if "=" in part)
            agree = [f for f in right if all(same(x["value"], arguments[x["name"]]) for x in f["args"] if x["name"] in arguments and x["kind"] == "value")]
            verdict = "right" if agree else "other arguments" if right else "other sizes" if whole else "unknown" if mine else "not found"
            total[verdict] += 1
            print(f"{verdict:16} {row['kernel_id']} {sizes} {[(f['grid'], f['block']) for f in mine][:3]} {error[:160]}")
    print(dict(total), f"{total['right'] / max(sum(total.values()), 1):.0%} right")


def same(value, text):
    try:
        return abs(float(text) - value) <= 1e-6 * abs(value)
    except (TypeError, ValueError):
        return False


def reasons(found):
    """What is not known of launches that are not complete: "name: why", each once."""
    return list(dict.fromkeys(f"{u['name']}: {u['why']} (line {u['line']})" for f in found if not complete(f) for u in f["unknown"]))


def count(a):
    def one(folder):
        source, outside, flags, words = program_of(folder)
        found, error = launches_of(a.program, source, words, outside, flags) if source else ([], "no source with main")
        whole = sum(complete(f) for f in found)
        verdict = "complete" if found and whole == len(found) else "some complete" if whole else "found" if found else "none"
        why = error or "; ".join(reasons(found)[:3])
        print(f"{verdict:14} {os.path.relpath(folder, a.folders[0]):40} {whole}/{len(found)} {why[-300:]}", flush=True)
        return {"folder": folder, "verdict": verdict, "why": why, "words": words, "source": source, "launches": found}

    folders = [os.path.abspath(f) for f in a.folders]
    if a.draw:
        folders = [p for f in folders for p in programs_below(f, a.ending)]
        print(f"{len(folders)} programs launch; {min(a.draw, len(folders))} are drawn")
        folders = random.Random(a.seed).sample(folders, min(a.draw, len(folders)))
    with concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
        results = list(pool.map(one, folders))
    tally = Counter(r["verdict"] for r in results)
    print(dict(tally), f"{tally['complete'] / len(folders):.0%} complete")
    if a.json:
        with open(a.json, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    one = commands.add_parser("rows")
    for name in ("program", "rows", "kernels", "sources"):
        one.add_argument(name)
    one.set_defaults(run=rows)
    many = commands.add_parser("count")
    many.add_argument("program")
    many.add_argument("folders", nargs="+")
    many.add_argument("--jobs", type=int, default=1)
    many.add_argument("--draw", type=int, help="programs to draw from those below FOLDER")
    many.add_argument("--seed", type=int, default=1)
    many.add_argument("--ending", default="", help="end of the names of drawn folders (-cuda)")
    many.add_argument("--json", help="results of every program")
    many.set_defaults(run=count)
    a = parser.parse_args()
    a.program = os.path.abspath(a.program)
    a.run(a)


if __name__ == "__main__":
    sys.exit(main())
