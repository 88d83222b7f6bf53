#!/usr/bin/env python3
"""Runs the tutorials: scripts/tutorials.py PROGRAM [--check] [TUTORIAL.md...]

Executes every command (`$ ...`) of the `console` blocks of docs/tutorials/*.md in order and writes its output behind it. A command
goes on over lines that end in a backslash. `<!-- file: NAME -->` in front of a block makes the block a file of the tutorial's
folder. Commands run in a folder of their own that has examples/ and devices/, with kernelcast in the path.

--check changes nothing. It fails where a command prints something else than is shown: other words, other lines, or a number
that is off by more than 2 %."""

import glob
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
BLOCK = re.compile(r"(?:<!-- file: (?P<file>\S+) -->\n)?^```(?P<kind>\w*)\n(?P<text>.*?)^```$", re.S | re.M)
NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?")
TOLERANCE = 0.02


def commands(text):
    """Pairs of command and shown output of a console block."""
    found, more = [], False
    for line in text.splitlines():
        if more:
            found[-1][0].append(line)
        elif line.startswith("$ "):
            found.append(([line], []))
        elif found:
            found[-1][1].append(line)
        else:
            sys.exit(f"a console block begins with output: {line}")
        more = not found[-1][1] and found[-1][0][-1].endswith("\\")
    return found


class Session:
    """One tutorial's folder; $? is that of the command before."""

    def __init__(self, program, folder):
        self.folder, self.status = folder, 0
        for name in ("examples", "devices"):
            os.symlink(os.path.join(ROOT, name), os.path.join(folder, name))
        self.environment = {**os.environ, "PATH": os.path.dirname(program) + os.pathsep + os.environ["PATH"], "NO_COLOR": "1",
                            "KERNELCAST_DEVICES": "devices", "XDG_CACHE_HOME": os.path.join(folder, ".cache")}

    def run(self, lines):
        command = "\n".join([lines[0][2:], *lines[1:]])
        result = subprocess.run(["sh", "-c", f"(exit {self.status})\n{command}"], cwd=self.folder, env=self.environment, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120, check=False)
        self.status = result.returncode
        return [line.rstrip() for line in result.stdout.splitlines()]


def alike(shown, printed):
    """The same words, and numbers within the tolerance; columns may be wider."""
    def words(line):
        return NUMBER.sub("0", line).split()

    def numbers(line):
        return [float(n.replace(",", "")) for n in NUMBER.findall(line)]

    return words(shown) == words(printed) and all(abs(a - b) <= TOLERANCE * max(abs(a), abs(b))
                                                  for a, b in zip(numbers(shown), numbers(printed)))


def differences(name, command, shown, printed):
    for i in range(max(len(shown), len(printed))):
        a = shown[i] if i < len(shown) else "(no more lines)"
        b = printed[i] if i < len(printed) else "(no more lines)"
        if not alike(a, b):
            return [f"{name}: {command[0]}\n  shown:   {a}\n  printed: {b}"]
    return []


def run(path, program):
    """The tutorial with its real output, and what was shown otherwise."""
    name = os.path.relpath(path, ROOT)
    with open(path, encoding="utf-8") as file:
        text = file.read()
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        session = Session(program, folder)

        def block(match):
            if match["file"]:
                with open(os.path.join(folder, match["file"]), "w", encoding="utf-8") as file:
                    file.write(match["text"])
            if match["kind"] != "console":
                return match[0]
            lines = []
            for command, shown in commands(match["text"]):
                printed = session.run(command)
                wrong.extend(differences(name, command, shown, printed))
                lines += command + printed
            return "```console\n" + "\n".join(lines) + "\n```"

        return BLOCK.sub(block, text), wrong


def main():
    options = [a for a in sys.argv[1:] if a.startswith("--")]
    rest = [a for a in sys.argv[1:] if not a.startswith("--")]
    if not rest or set(options) - {"--check"}:
        sys.exit(__doc__)
    program = os.path.abspath(rest[0])
    paths = rest[1:] or sorted(glob.glob(os.path.join(ROOT, "docs", "tutorials", "*.md")))
    if not paths:
        sys.exit("docs/tutorials has no tutorial")
    failed = False
    for path in paths:
        made, wrong = run(os.path.abspath(path), program)
        if "--check" in options:
            failed = failed or bool(wrong)
            print("\n".join(wrong) if wrong else f"{os.path.relpath(path, ROOT)}: as shown")
        else:
            with open(path, "w", encoding="utf-8") as file:
                file.write(made)
    if failed:
        sys.exit("write them again with scripts/tutorials.py build/bin/kernelcast")


if __name__ == "__main__":
    main()
