#!/usr/bin/env python3
"""Runs the commands in README.md and puts their real output behind them: scripts/readme.py PROGRAM [--check]."""

import os
import re
import shlex
import subprocess
import sys

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
README = os.path.join(ROOT, "README.md")
BLOCK = re.compile(r"(<!-- scripts/readme.py writes the next block -->\n```\n\$ kernelcast ((?:.*\\\n)*.*)\n)(?:[^`]*)(```\n)")


def main():
    program = os.path.abspath(sys.argv[1])
    with open(README, encoding="utf-8") as file:
        text = file.read()

    def output(command):
        words = shlex.split(command.replace("\\\n", " "))
        return subprocess.run([program, *words], capture_output=True, text=True, check=True, cwd=ROOT).stdout

    made = BLOCK.sub(lambda m: m[1] + output(m[2]) + m[3], text)
    if "--check" in sys.argv:
        if made != text:
            print("README.md shows old output: write it again with scripts/readme.py build/bin/kernelcast")
            return 1
        return 0
    with open(README, "w", encoding="utf-8") as file:
        file.write(made)
    return 0


if __name__ == "__main__":
    sys.exit(main())
