#!/usr/bin/env python3
"""kernelcast as a tool of Compiler Explorer: reads a source, writes the JSON that its pane shows.

    tools/compiler_explorer.py FILE [FLAGS of `kernelcast explain`...]

The site gives its tools a source file and the user's words and reads their standard output; etc/config/c++.local.properties:

    tools=kernelcast
    tools.kernelcast.exe=/opt/kernelcast/tools/compiler_explorer.py
    tools.kernelcast.type=independent
    tools.kernelcast.class=base-tool
    tools.kernelcast.stdinHint=disabled

Output: {"text", "asm": [{"text", "source": {"file", "line"}}], "code", "stderr": [{"text"}]}, the shape of the site's answer to a
compilation. Each source line with instructions is a line of "asm". KERNELCAST names the program (default: on PATH).
"""
import json
import os
import subprocess
import sys

USAGE = 2


def answer(document, path):
    """The site's JSON of an `explain` document: the forecasts, then the source's lines with their share of the instructions."""
    heads, lines = [], []
    for device in document["explanations"]:
        for p in device["predictions"]:
            time = p["time_s"]
            heads.append(f"{p['device']}: " + (p.get("reason", "unknown") if time is None else f"{time * 1e6:.4g} us, limited by {p['limiter']}"))
        for line in device["lines"]:
            at, share = line["at"], line.get("instruction_share")
            if share is None or not at.get("line"):
                continue
            own = os.path.abspath(path).endswith("/" + at["file"].lstrip("/"))  # the site's own file has no name
            lines.append({"text": f"{100 * share:5.1f} % of the instructions", "source": {"file": None if own else at["file"], "line": at["line"]}})
    return {"text": "\n".join(heads), "asm": [{"text": h, "source": None} for h in heads] + lines, "code": 0}


def main():
    if len(sys.argv) < 2:
        print(json.dumps({"text": "", "asm": [], "code": USAGE, "stderr": [{"text": "usage: compiler_explorer.py FILE [FLAGS]"}]}))
        return USAGE
    path, flags = sys.argv[1], sys.argv[2:]
    done = subprocess.run([os.environ.get("KERNELCAST", "kernelcast"), "explain", path, *flags, "--format", "json"], capture_output=True, text=True, check=False)
    messages = [{"text": line} for line in done.stderr.splitlines()]
    if done.returncode or not done.stdout:
        result = {"text": "", "asm": [], "code": done.returncode or 1, "stderr": messages}
    else:
        result = {**answer(json.loads(done.stdout), path), "stderr": messages}
    print(json.dumps(result))
    return result["code"]


if __name__ == "__main__":
    sys.exit(main())
