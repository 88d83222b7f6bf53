#!/usr/bin/env python3
"""What the program answers, as one file: taken before and after a change that must not move a forecast, and compared.

usage: snapshot.py take PROGRAM -o FILE.json.gz [--only PATTERN] [--jobs N]
       snapshot.py compare ONE TWO [--texts] [--relative TOLERANCE]
       snapshot.py times SNAPSHOT > test/data/times.csv

`take` runs explain, predict (all models; sm on a few), tune, check, offload and converge on every example, on the kernels of
test/data/kernels and on those that stand as text in the tests, on a dozen devices, and keeps exit status and JSON of each.
`compare` compares two snapshots to the last bit and exits 1 where they differ. Texts (sentences, messages, flags) are left out
unless --texts is given; --relative allows numbers to differ by that fraction (another compiler or mathematical library).
`times` lists each forecast time of a snapshot. test/cli/snapshot_test.py holds the program to the list in test/data/times.csv, so
that a change of forecasts shows in a commit: where it is meant, the list is written again.
"""

import argparse
import concurrent.futures
import csv
import fnmatch
import glob
import gzip
import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DEVICES = ["gtx280", "gtx480", "k20", "p100", "v100", "rtx2080ti", "a100", "rtx3090", "rtx4090", "h100", "mi100", "w6600"]
SM_DEVICES = "v100,a100"
# Sentences and flags: what a reader sees, not what is forecast.
TEXTS = {"what", "why", "flag", "reason", "value", "command", "tool_version", "message", "interval_reason", "note", "notes",
         "source", "method_note", "target", "seconds", "text", "assumptions_text", "advice", "warning", "warnings", "detail", "analyses"}
SCALAR = re.compile(r"^(?:const\s+)?((?:unsigned\s+)?(?:long\s+long|long|int|short|char|float|double|half|size_t|uint|ulong|"
                    r"u?int\d+_t|unsigned|bool))\s+(\w+)$")


def header_command(path):
    with open(path, encoding="utf-8") as file:
        text = re.sub(r"\\\n// *", "", file.read())
    found = re.search(r"^//   kernelcast (.*)$", text, re.M)
    return shlex.split(found[1]) if found else None


def without(words, *flags):
    """The words without these flags and their values."""
    left, skip = [], False
    for word in words:
        if skip:
            skip = False
        elif word in flags:
            skip = True
        else:
            left.append(word)
    return left


def kernels_of(text):
    """(name, arguments) of each kernel of a source: integers become 256, real numbers 1.5."""
    plain = re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.S)
    for found in re.finditer(r"(?:\b__global__|\b(?:__)?kernel\b)[^;{}()]*?\bvoid\b(?:\s+__\w+\([^()]*\))*\s+(\w+)\s*\(([^()]*)\)\s*\{",
                             plain):
        arguments = []
        for parameter in found[2].split(","):
            scalar = SCALAR.match(re.sub(r"\s+", " ", parameter).strip())
            if scalar:
                real = scalar[1] in ("float", "double", "half")
                arguments += ["--arg", f"{scalar[2]}={'1.5' if real else '256'}"]
        yield found[1], arguments


def texts_in_tests():
    """(name, ending, text) of the kernels that stand as strings in tests: raw ones, and plain ones side by side."""
    literal = r'"(?:[^"\\\n]|\\.)*"'
    for path in sorted(glob.glob(os.path.join(ROOT, "test", "**", "*.cpp"), recursive=True)):
        with open(path, encoding="utf-8") as file:
            source = file.read()
        raw = [found[2] for found in re.finditer(r'R"(\w*)\((.*?)\)\1"', source, re.S)]
        source = re.sub(r'R"(\w*)\((.*?)\)\1"', "", source, flags=re.S)
        plain = ["".join(json.loads(part) for part in re.findall(literal, found[0]) if "\\x" not in part and "\\0" not in part)
                 for found in re.finditer(rf"{literal}(?:\s*{literal})*", source)]
        seen = set()
        for text in raw + plain:
            if len(list(kernels_of(text))) != 1 or text in seen:
                continue
            seen.add(text)
            name = os.path.splitext(os.path.basename(path))[0]
            yield f"{name}-{hashlib.sha256(text.encode()).hexdigest()[:8]}", ".cu" if "__global__" in text else ".cl", text


def example_cases():
    for path in sorted(glob.glob(os.path.join(ROOT, "examples", "*.*"))):
        words, name = header_command(path), os.path.basename(path)
        if words is None:
            continue
        yield f"example/{name}/own", words
        if words[0] not in ("predict", "explain"):
            continue
        rest = without(words[1:], "--device", "--model")
        yield f"example/{name}/explain", ["explain", *rest, "--device", "a100"]
        yield f"example/{name}/predict", ["predict", *rest, "--device", ",".join(DEVICES), "--model", "all"]
        yield f"example/{name}/symbolic", ["predict", *rest, "--device", "v100,mi100", "--counts", "symbolic"]
        yield f"example/{name}/check", ["check", rest[0], *rest, "--device", "a100"]
    for name in ("saxpy.cu", "reduce.cu"):
        rest = without(header_command(os.path.join(ROOT, "examples", name))[1:], "--device", "--model")
        yield f"example/{name}/sm", ["predict", *rest, "--device", SM_DEVICES, "--model", "sm"]
    for name, problem, block, more in (("saxpy.cu", "1048576", "32..1024:*2", ["--arg", "n=1048576", "--arg", "a=2.0"]),
                                       ("matmul_naive.cl", "1024,1024", "8..32:*2,4..32:*2", ["--arg", "n=1024"])):
        yield f"example/{name}/tune", ["tune", f"examples/{name}", "--device", "v100", "--problem", problem, "--block", block, *more]
    for path in sorted(glob.glob(os.path.join(ROOT, "examples", "offload", "*"))):
        yield f"offload/{os.path.basename(path)}", header_command(path)
    for path in sorted(glob.glob(os.path.join(ROOT, "*converge", "examples", "*.c[lu]"))):
        yield f"converge/{os.path.basename(path)}", ["converge", os.path.relpath(path, ROOT)]


def test_cases(folder):
    def of(name, path, text):
        for kernel, arguments in kernels_of(text):
            launch = ["--kernel", kernel, "--grid", "64", "--block", "128", *arguments]
            devices = [DEVICES[sum(map(ord, name + kernel + str(i))) % len(DEVICES)] for i in range(2)]
            yield f"test/{name}/{kernel}", ["predict", path, *launch, "--device", ",".join(sorted(set(devices))), "--model", "all"]

    for path in sorted(glob.glob(os.path.join(ROOT, "test", "data", "kernels", "*"))):
        with open(path, encoding="utf-8") as file:
            yield from of(os.path.basename(path), os.path.relpath(path, ROOT), file.read())
    for name, ending, text in texts_in_tests():
        path = os.path.join(folder, name + ending)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        yield from of(name, path, text)


def run(program, words, folder):
    """In `folder` where the source is there, so that no answer names a folder of its own."""
    environment = {**os.environ, "NO_COLOR": "1", "KERNELCAST_DEVICES": os.path.join(ROOT, "devices"), "XDG_CACHE_HOME": folder}
    words = [os.path.basename(word) if word.startswith(folder) else word for word in words]
    cwd = folder if os.path.exists(os.path.join(folder, words[1])) else ROOT
    done = subprocess.run([program, *words, "--format", "json"], cwd=cwd, env=environment, capture_output=True, text=True, check=False,
                          timeout=600)
    try:
        answer = json.loads(done.stdout) if done.stdout else None
    except json.JSONDecodeError:
        answer = done.stdout
    return {"status": done.returncode, "answer": answer, "message": done.stderr if done.returncode else ""}


def take(arguments):
    program = os.path.abspath(arguments.program)
    with tempfile.TemporaryDirectory() as folder:
        cases = [(n, w) for n, w in [*example_cases(), *test_cases(folder)] if w and fnmatch.fnmatch(n, arguments.only)]
        with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
            answers = list(pool.map(lambda case: run(program, case[1], folder), cases))
    taken = {name: answer for (name, _), answer in zip(cases, answers)}
    with gzip.open(arguments.output, "wt", encoding="utf-8") as file:
        json.dump(taken, file, sort_keys=True)
    good = sum(1 for answer in taken.values() if answer["status"] == 0)
    print(f"{len(taken)} cases, {good} with status 0, in {arguments.output}")
    return 0


def differences(one, two, options, place=""):
    if isinstance(one, dict) and isinstance(two, dict):
        for key in sorted(set(one) | set(two)):
            if key in ("seconds", "analyses") or key in TEXTS and not options.texts:
                continue
            if key not in one or key not in two:
                yield f"{place}.{key}: only in {'one' if key in one else 'two'}"
            else:
                yield from differences(one[key], two[key], options, f"{place}.{key}")
    elif isinstance(one, list) and isinstance(two, list):
        if len(one) != len(two):
            yield f"{place}: {len(one)} entries, {len(two)}"
        for i, (a, b) in enumerate(zip(one, two)):
            yield from differences(a, b, options, f"{place}[{i}]")
    elif isinstance(one, float) and isinstance(two, (float, int)) and abs(one - two) <= options.relative * max(abs(one), abs(two)):
        return
    elif one != two:
        yield f"{place}: {one!r}, {two!r}"


def compare(arguments):
    snapshots = []
    for path in (arguments.one, arguments.two):
        with gzip.open(path, "rt", encoding="utf-8") as file:
            snapshots.append(json.load(file))
    one, two = snapshots
    bad = 0
    for name in sorted(set(one) | set(two)):
        if name not in one or name not in two:
            print(f"{name}: only in {arguments.one if name in one else arguments.two}")
            bad += 1
            continue
        found = list(differences(one[name], two[name], arguments))
        bad += bool(found)
        for line in found[:5]:
            print(f"{name}: {line}")
        if len(found) > 5:
            print(f"{name}: and {len(found) - 5} more")
    print(f"{len(set(one) | set(two))} cases, {bad} differ")
    return 1 if bad else 0


def times_of(answer, place=""):
    """(place, seconds) of every time in an answer, in order."""
    if isinstance(answer, dict):
        for key, value in sorted(answer.items()):
            if key == "time_s" and isinstance(value, (int, float)):
                yield f"{place}.{key}", value
            elif key not in TEXTS and key != "bounds":
                yield from times_of(value, f"{place}.{key}")
    elif isinstance(answer, list):
        for i, value in enumerate(answer):
            yield from times_of(value, f"{place}[{i}]")


def times(arguments):
    with gzip.open(arguments.snapshot, "rt", encoding="utf-8") as file:
        taken = json.load(file)
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(["case", "place", "time_s"])
    for name, answer in sorted(taken.items()):
        for place, seconds in times_of(answer["answer"]):
            writer.writerow([name, place, f"{seconds:.9g}"])
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    taking = commands.add_parser("take")
    taking.add_argument("program")
    taking.add_argument("-o", "--output", required=True)
    taking.add_argument("--only", default="*")
    taking.add_argument("--jobs", type=int, default=os.cpu_count())
    taking.set_defaults(do=take)
    listing = commands.add_parser("times")
    listing.add_argument("snapshot")
    listing.set_defaults(do=times)
    comparing = commands.add_parser("compare")
    comparing.add_argument("one")
    comparing.add_argument("two")
    comparing.add_argument("--texts", action="store_true")
    comparing.add_argument("--relative", type=float, default=0.0)
    comparing.set_defaults(do=compare)
    arguments = parser.parse_args()
    sys.exit(arguments.do(arguments))


if __name__ == "__main__":
    main()
