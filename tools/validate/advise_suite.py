#!/usr/bin/env python3
"""`advise` over kernels of public programs: crashes, findings, times; draws findings to be read by hand.

    tools/validate/advise_suite.py FOLDER... [--program build/bin/kernelcast] [--device a100] [--kernels 100] [--seed 1]
                                   [--draw 50] [--json FILE] [--jobs 2] [--times]

FOLDER holds CUDA sources. Their launches come from the host code (`predict --launch list`), with the arguments of the
program from the rule `run` of a Makefile beside the source. Files are taken in random order (--seed); of a file the first
launch of each kernel, at most two kernels. Writes every finding to --json, and prints the draw: kernel, launch and
finding, for a reader of the source."""

import argparse
import concurrent.futures
import json
import os
import random
import re
import shlex
import subprocess
import sys
import time

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
LIMIT = 120  # seconds for one command


def expanded(text):
    """Variables that the Makefile itself sets; others stay."""
    values = dict(re.findall(r"^(\w+)\s*[:?]?=[ \t]*(.*?)[ \t]*$", text, re.M))
    return re.sub(r"\$[({](\w+)[)}]", lambda name: values.get(name[1], name[0]), text)


def makefile_of(path):
    """The Makefile beside the source, and what it includes."""
    folder = os.path.dirname(path)
    for name in ("Makefile", "makefile"):
        try:
            with open(os.path.join(folder, name), encoding="utf-8", errors="replace") as file:
                text = expanded(file.read().replace("\\\n", " "))
        except OSError:
            continue
        for other in re.findall(r"^-?include\s+(\S+)$", text, re.M):
            try:
                with open(os.path.join(folder, other), encoding="utf-8", errors="replace") as file:
                    text += "\n" + file.read().replace("\\\n", " ")
            except OSError:
                continue
        return expanded(text)
    return ""


def flags_of(path):
    """Include folders, macros and program arguments that the Makefile tells."""
    folder, make = os.path.dirname(path), makefile_of(path)
    flags, argv = [], None
    for word in re.findall(r"(?<!\S)-([ID]\s*[^\s$]+)", make):
        kind, value = word[0], word[1:].strip()
        flags += ["-I", os.path.normpath(os.path.join(folder, value))] if kind == "I" else ["-D", value]
    ran = re.search(r"^run\s*:.*\n\t+(.*)$", make, re.M)
    if ran:
        at = re.search(r"\./\S+((?:\s+[^\s|>&;#]+)*)", ran[1])
        if at and "$" not in at[1]:
            argv = at[1].strip()
    return flags, argv


def run(command, folder):
    begin = time.monotonic()
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=LIMIT, cwd=folder,
                              check=False)
    except subprocess.TimeoutExpired:
        return None, "", f"more than {LIMIT} s", LIMIT
    return done.returncode, done.stdout, done.stderr.strip(), time.monotonic() - begin


def launch_flags(launch):
    flags = ["--kernel", launch["kernel"], "--grid", ",".join(map(str, launch["grid"])), "--block",
             ",".join(map(str, launch["block"]))]
    if launch["shared_bytes"]:
        flags += ["--shared", str(launch["shared_bytes"])]
    for argument in launch["args"]:
        if argument["kind"] == "buffer" and argument.get("elements"):
            flags += ["--buffer", f"{argument['name']}={int(argument['elements'])}"]
        elif argument.get("value") is not None:
            flags += ["--arg", f"{argument['name']}={argument['value']}"]
    return flags


def advise(options, path):
    """Results of the kernels of one file."""
    flags, argv = flags_of(path)
    base = [options.program, "predict", path, "--device", options.device, "--launch", "list", "--format", "json"] + flags
    code, out, _, _ = run(base + (["--argv", argv] if argv else []), os.path.dirname(path))
    if code is None or not out.strip():
        return []
    results, seen = [], set()
    for launch in json.loads(out)["launches"]:
        name = launch["kernel"]
        if name in seen or launch.get("failure") or not launch.get("grid") or not launch.get("block") or len(seen) == 2:
            continue
        if not all(isinstance(n, int) and n > 0 for n in launch["grid"] + launch["block"]):
            continue  # depends on what the source does not tell
        seen.add(name)
        command = [options.program, "advise", path, "--device", options.device] + flags + launch_flags(launch)
        code, out, error, seconds = run(command + ["--format", "json"], os.path.dirname(path))
        plain = None
        if options.times:
            _, _, _, plain = run([options.program, "predict"] + command[2:] + ["--format", "json"], os.path.dirname(path))
        findings = []
        if code == 0:
            findings = json.loads(out)["findings"]
        results.append({"path": path, "kernel": name, "command": command, "code": code, "error": error[-400:],
                        "seconds": seconds, "predict_seconds": plain, "findings": findings})
    return results


def sources(folders):
    found = []
    for folder in folders:
        for at, names, files in os.walk(folder):
            names.sort()
            for name in sorted(files):
                if name.endswith(".cu"):
                    with open(os.path.join(at, name), encoding="utf-8", errors="replace") as file:
                        text = file.read()
                    if "__global__" in text and "<<<" in text:
                        found.append(os.path.join(at, name))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--program", default=os.path.join(ROOT, "build", "bin", "kernelcast"))
    parser.add_argument("--device", default="a100")
    parser.add_argument("--kernels", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--draw", type=int, default=50)
    parser.add_argument("--json")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--times", action="store_true", help="also time predict on the same launches")
    options = parser.parse_args()
    options.program = os.path.abspath(options.program)
    random.seed(options.seed)
    paths = sources(map(os.path.abspath, options.folders))
    random.shuffle(paths)
    results, waiting = [], iter(paths)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        running = set()
        while True:
            answered = sum(r["code"] == 0 for r in results)
            while answered < options.kernels and len(running) < options.jobs:
                path = next(waiting, None)
                if path is None:
                    break
                running.add(pool.submit(advise, options, path))
            if not running:
                break
            done, running = concurrent.futures.wait(running, return_when=concurrent.futures.FIRST_COMPLETED)
            for task in done:
                results += task.result()
            print(f"{sum(r['code'] == 0 for r in results)} kernels", file=sys.stderr)
            if options.json:
                with open(options.json, "w", encoding="utf-8") as file:
                    json.dump(results, file, indent=1)
    results.sort(key=lambda r: (r["path"], r["kernel"]))
    answered = [r for r in results if r["code"] == 0]
    crashed = [r for r in results if r["code"] is not None and (r["code"] < 0 or r["code"] > 3)]
    counts = sorted(len(r["findings"]) for r in answered)
    slower = sorted(r["seconds"] / r["predict_seconds"] for r in answered if r["predict_seconds"])
    print(f"{len(answered)} kernels answered, {len(results) - len(answered)} not, {len(crashed)} crashed")
    if answered:
        print(f"findings of a kernel: median {counts[len(counts) // 2]}, most {counts[-1]}")
    if slower:
        print(f"time of advise over that of predict: median {slower[len(slower) // 2]:.2f}, most {slower[-1]:.2f}")
    for r in results:
        if r["code"] != 0:
            print("not answered:", r["path"], r["kernel"], r["code"], r["error"].splitlines()[-1:])
    every = [(r, f) for r in answered for f in r["findings"]]
    random.shuffle(every)
    for number, (r, f) in enumerate(every[:options.draw], 1):
        print(f"\n{number}. {f.get('file', r['path'])}:{f.get('line', 0)} {r['kernel']} [{f['rule']}] "
              f"{100 * f['gain_fraction']:.0f} %\n"
              f"   {f['message']}\n   {f['change']}\n   " + shlex.join(r["command"][2:]))


if __name__ == "__main__":
    main()
