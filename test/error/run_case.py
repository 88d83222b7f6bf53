#!/usr/bin/env python3
"""Runs kernelcast on one bad input and checks exit status and message.

The first lines of the input say what to expect, behind any comment sign:

    ARGS: predict {} --device gtx280 --grid 1 --block 64    ({}: the input; {tmp}: a folder of its own)
    EXIT: 1
    STDERR: regular expression that standard error must contain (may repeat)
    SETUP: random BYTES | directory | remove | unreadable    makes {tmp}/input, which {} then names
    SECONDS: 45    must be over by then (default 20)

Whatever happens: nothing on standard output, no crash, and no message that speaks of an internal error.
"""

import os
import random
import re
import subprocess
import sys
import tempfile


def expectations(path):
    found = {"STDERR": []}
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in list(file)[:20]:
            match = re.match(r"^\W*(ARGS|EXIT|STDERR|SETUP|SECONDS): (.*)$", line.rstrip())
            if match and match[1] == "STDERR":
                found["STDERR"].append(match[2])
            elif match:
                found[match[1]] = match[2]
    return found


def set_up(what, folder):
    path = os.path.join(folder, "input.cl")
    words = what.split()
    if words[0] == "random":
        generator = random.Random(20201)
        with open(path, "wb") as file:
            for _ in range(int(words[1]) // 1000000):
                file.write(generator.randbytes(1000000))
    elif words[0] == "directory":
        os.mkdir(path)
    elif words[0] == "unreadable":
        with open(path, "w", encoding="utf-8") as file:
            file.write("__kernel void k() {}\n")
        os.chmod(path, 0)
    elif words[0] != "remove":
        raise SystemExit(f"unknown SETUP: {what}")
    return path


def main():
    program, path = (os.path.abspath(p) for p in sys.argv[1:3])
    expected = expectations(path)
    with tempfile.TemporaryDirectory() as folder:
        source = set_up(expected["SETUP"], folder) if "SETUP" in expected else path
        if expected.get("SETUP") == "unreadable" and os.access(source, os.R_OK):
            print("skipped: this user may read everything")
            return 77
        args = [word.replace("{tmp}", folder).replace("{}", source) for word in expected["ARGS"].split()]
        seconds = float(expected.get("SECONDS", 20))
        result = subprocess.run([program, *args], capture_output=True, timeout=seconds, check=False, cwd=folder)
    stderr = result.stderr.decode(errors="replace")
    faults = []
    if result.returncode != int(expected["EXIT"]):
        faults.append(f"exit status {result.returncode}, not {expected['EXIT']}")
    if result.stdout:
        faults.append("something on standard output: " + result.stdout[:200].decode(errors="replace"))
    if "internal error" in stderr:
        faults.append("an internal error")
    if not stderr.strip() or re.search(r"^kernelcast:[ \t]*$", stderr, re.M):
        faults.append("a message without words")
    if re.search(r"[\x00-\x08\x0b-\x1f\x7f]", stderr):
        faults.append("control characters in the message")
    faults += [f"no message matches {regex}" for regex in expected["STDERR"] if not re.search(regex, stderr, re.S)]
    if not expected["STDERR"]:
        faults.append("the case expects no message: give STDERR")
    if faults:
        print("kernelcast " + " ".join(args) + "\n" + "\n".join(faults) + "\nstandard error was:\n" + stderr[:3000])
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
