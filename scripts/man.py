#!/usr/bin/env python3
"""Manual pages from the program's own --help.

    scripts/man.py PROGRAM > docs/man/kernelcast.1
    scripts/man.py PROGRAM FOLDER                   kernelcast-COMMAND.1 for each command, which the installation has beside it
"""

import os
import re
import subprocess
import sys

COMMANDS = ("predict", "explain", "advise", "report", "tune", "devices", "models", "validate", "check", "converge", "probe", "offload", "replay")


def help_text(program, *words):
    return subprocess.run([program, *words, "--help"], capture_output=True, text=True, check=True).stdout


def quoted(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^([.'])", r"\\&\1", text, flags=re.M)


def title(name, version):
    return f'.TH {name.upper()} 1 "" "kernelcast {version}" "User commands"'


def pages(program, version, folder):
    """A page a command: its first line is the sentence of NAME."""
    os.makedirs(folder, exist_ok=True)
    for command in COMMANDS:
        sentence, text = help_text(program, command).strip().split("\n", 1)
        name = f"kernelcast-{command}"
        out = [title(name, version), ".SH NAME", quoted(name) + r" \- " + quoted(sentence), ".SH SYNOPSIS", ".nf", quoted(text.strip()), ".fi", ".SH SEE ALSO",
               "kernelcast(1)"]
        with open(os.path.join(folder, name + ".1"), "w", encoding="utf-8") as file:
            file.write("\n".join(out) + "\n")


def main():
    program = os.path.abspath(sys.argv[1])
    version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout.split()[1]
    if len(sys.argv) > 2:
        pages(program, version, sys.argv[2])
        return
    out = [
        title("kernelcast", version),
        ".SH NAME",
        r"kernelcast \- a forecast for GPU kernels: from source to time, with no GPU",
    ]
    for head, words in [("SYNOPSIS", ())] + [(c.upper(), (c,)) for c in COMMANDS]:
        out += [f".SH {head}", ".nf", quoted(help_text(program, *words).strip()), ".fi"]
    out += [
        ".SH EXIT STATUS",
        "0 success, 1 analysis failed, 2 usage, 3 the gate of check or advise is broken, 70 a bug in kernelcast, 130 interrupted.",
        ".SH ENVIRONMENT",
        ".TP",
        "KERNELCAST_DEVICES",
        "Folder of device files, unless " + quoted("--devices-dir") + " names one.",
        ".TP",
        "KERNELCAST_CUDA_LIBRARY, KERNELCAST_PTXAS",
        "Driver library and assembler of probe, unless " + quoted("--cuda-library") + " and " + quoted("--ptxas") + " name them.",
        ".TP",
        "XDG_CACHE_HOME, HOME",
        "Where tune keeps analyses, unless " + quoted("--cache") + " names a folder.",
        ".TP",
        "NO_COLOR",
        "No color, even on a terminal.",
    ]
    print("\n".join(out))


if __name__ == "__main__":
    main()
