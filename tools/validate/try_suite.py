#!/usr/bin/env python3
"""Runs a command on every kernel file of a folder and says how many succeed and why the others do not.

    tools/validate/try_suite.py FOLDER [--command 'build/bin/kernelcast_frontend_probe {file} {flags}'] [--programs 'src/*-cuda' --sample 100 --seed 1]

A kernel file is a .cu file with __global__, in itself or in a header beside it, or a .cl file with __kernel. With --programs, each folder that the pattern matches is one program, which
succeeds if all of its kernel files do. {flags} become the -I and -D options that the Makefile beside a file states without variables; the
suites themselves are not part of this repository. A file that
does not compile alone but is included by another .cu file counts by way of that one, if its kernels are there. A file counts as compiled when the command exits with 0 and prints at least one kernel (a line with tabs:
the kernel's plain name is the second column) or a note about a kernel template.
"""

import argparse
import collections
import concurrent.futures
import pathlib
import random
import re
import shlex
import subprocess
import sys

KERNEL = re.compile(r"__global__\s[^;{}]*?\bvoid\b[^;{}()]*?\b(\w+)\s*\(|__kernel\s[^;{}]*?\bvoid\s+(\w+)\s*\(")
INCLUDE = re.compile(r'#\s*include\s*"([^"]+)"')
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)


def text_of(path):
    return COMMENT.sub("", path.read_text(errors="replace"))


def headers_hold_kernels(path, text, depth=3):
    """Whether a header beside a file, or beside one of those, holds a kernel."""
    for name in INCLUDE.findall(text):
        header = path.parent / name
        if header.suffix == ".cu" or not header.is_file():
            continue
        inner = text_of(header)
        if "__global__" in inner or (depth > 1 and headers_hold_kernels(header, inner, depth - 1)):
            return True
    return False


def is_kernel_file(path):
    if path.suffix not in (".cu", ".cl") or not path.is_file():
        return False
    text = text_of(path)
    if path.suffix == ".cl":
        return bool(re.search(r"\b(__)?kernel\s+(void|__attribute__)", text))
    return "__global__" in text or headers_hold_kernels(path, text)


def makefile_flags(path):
    flags = []
    for name in ("Makefile", "makefile", "Makefile.am"):
        makefile = path.parent / name
        if makefile.is_file():
            for word in re.findall(r"(?<!\S)-[ID]\s*[^\s$]+(?!\S)", makefile.read_text(errors="replace")):
                flag, value = word[:2], word[2:].strip().strip("'\"")
                if flag == "-I":
                    value = str(path.parent / value)
                flags += [flag, value]
    return flags


def includers(path, folder, depth=3):
    """Files of the same kind that include `path`, directly or through another: fragments are compiled by way of them."""
    wanted = re.compile(r'#\s*include\s*"(?:[^"]*/)?' + re.escape(path.name) + '"')
    for other in sorted(folder.rglob("*" + path.suffix)):
        if other != path and other.is_file():
            for name in wanted.findall(other.read_text(errors="replace")):
                target = re.search(r'"([^"]+)"', name).group(1)
                if (other.parent / target).resolve() == path.resolve():
                    yield other
                    if depth > 1:
                        yield from includers(other, folder, depth - 1)


def kernels_named_in(path):
    return {a or b for a, b in KERNEL.findall(COMMENT.sub("", path.read_text(errors="replace")))}


def run_whole(path, command, limit, folder):
    result = run(path, command, limit)
    if result[0]:
        return result
    for other in includers(path, folder):
        good, _, names = run(other, command, limit)
        if good and kernels_named_in(path) <= names:
            return True, f"by way of {other.name}", names
    return result


def run(path, command, limit):
    words = []
    for word in shlex.split(command):
        if word == "{flags}":
            words += makefile_flags(path)
        else:
            words.append(word.replace("{file}", str(path)))
    try:
        done = subprocess.run(words, capture_output=True, timeout=limit, text=True, errors="replace")
    except subprocess.TimeoutExpired:
        return False, "timeout", set()
    listed = {line.split("\t")[1] for line in done.stdout.splitlines() if line.count("\t") >= 2}
    templates = {name.split("::")[-1] for name in re.findall(r"kernel template '([\w:]+)'", done.stderr)}
    if done.returncode == 0 and (listed or templates):
        return True, "", listed | templates
    error = re.search(r"error: (.*)", done.stderr)
    missing = re.findall(r"the header '([^']+)' was not found", done.stderr)
    reason = error.group(1) if error else (done.stderr.strip().splitlines() or ["no kernel in the module"])[-1]
    if done.returncode < 0:
        reason = f"signal {-done.returncode}"
    if missing:
        reason += f" [headers not found: {', '.join(missing[:3])}]"
    return False, reason, listed | templates


def given_by_host(path, reason, folder, cache={}):
    """Whether host code somewhere in the suite passes the missing name by -D when it builds its OpenCL source."""
    name = re.search(r"(?:undeclared identifier|unknown type name) '(\w+)'", reason)
    if path.suffix != ".cl" or not (name or "recision" in reason):
        return False
    if folder not in cache:
        hosts = [p for p in folder.rglob("*") if p.suffix in (".c", ".cc", ".cpp", ".h") and p.is_file()]
        cache[folder] = "\n".join(p.read_text(errors="replace") for p in hosts)
    return re.search(rf"-D\s*{name.group(1) if name else '[A-Z]+_PRECISION'}\b", cache[folder]) is not None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--command", default="build/bin/kernelcast_frontend_probe {file} {flags}")
    parser.add_argument("--suffix", action="append", help=".cu or .cl; default both")
    parser.add_argument("--programs", help="pattern of program folders below FOLDER")
    parser.add_argument("--sample", type=int, help="that many programs at random")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--limit", type=float, default=60, help="seconds a file")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()

    suffixes = options.suffix or [".cu", ".cl"]
    files_below = lambda folder: sorted(p for p in folder.rglob("*") if p.suffix in suffixes and is_kernel_file(p))
    units = {}
    if options.programs:
        folders = [f for f in sorted(options.folder.glob(options.programs)) if f.is_dir()]
        units = {f: files_below(f) for f in folders}
        units = {f: files for f, files in units.items() if files}
        if options.sample:
            chosen = random.Random(options.seed).sample(sorted(units), min(options.sample, len(units)))
            units = {f: units[f] for f in chosen}
    else:
        units = {f: [f] for f in files_below(options.folder)}

    results = {}
    every_file = sorted({f for files in units.values() for f in files})
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for path, result in zip(every_file, pool.map(lambda f: run_whole(f, options.command, options.limit, options.folder if not options.programs else f.parent), every_file)):
            results[path] = result
    expected = found = 0
    reasons = collections.defaultdict(list)
    for path, (good, reason, names) in results.items():
        kernels = kernels_named_in(path)
        expected += len(kernels)
        found += len(kernels & names)
        if options.verbose and kernels - names and good:
            print(f"{path}: kernels not in the module: {', '.join(sorted(kernels - names))}")
        if not good:
            reasons[re.sub(r"'[^']*'", "'...'", reason)].append((path, reason))
    good_units = sum(all(results[f][0] for f in files) for files in units.values())
    good_files = sum(result[0] for result in results.values())
    for key, cases in sorted(reasons.items(), key=lambda item: -len(item[1])):
        print(f"{len(cases):4}  {cases[0][1]}")
        for path, reason in cases if options.verbose else cases[:2]:
            print(f"        {path.relative_to(options.folder)}: {reason}")
    by_host = [path for path, result in results.items() if not result[0] and given_by_host(path, result[1], options.folder)]
    by_way = sum(bool(result[1]) for result in results.values() if result[0])
    if options.programs:
        print(f"programs: {good_units} of {len(units)} ({100 * good_units / max(1, len(units)):.1f} %)")
    print(f"files: {good_files} of {len(results)} ({100 * good_files / max(1, len(results)):.1f} %), {by_way} of them by way of the file that includes them")
    if by_host:
        rest = len(results) - len(by_host)
        print(f"{len(by_host)} files fail for a name that host code of the suite gives by -D; without them: {good_files} of {rest} ({100 * good_files / max(1, rest):.1f} %)")
    print(f"kernels named in the text: {found} of {expected} in the modules ({100 * found / max(1, expected):.1f} %)")
    return 0 if good_files == len(results) else 1


if __name__ == "__main__":
    sys.exit(main())
