#!/usr/bin/env python3
"""Picture of the first parts of a report, for README.md: report_picture.py PROGRAM FILE. Needs Chromium."""

import os
import subprocess
import sys
import tempfile

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.path.insert(0, os.path.join(ROOT, "test", "cli"))
import browser  # noqa: E402

COMMAND = ("report", "examples/matmul_tiled.cu", "--device", "a100", "--grid", "64,64", "--block", "16,16", "--arg", "n=1024")
WIDTH = 1000
MOST_BYTES = 300_000


def main():
    program, picture = (os.path.abspath(p) for p in sys.argv[1:3])
    if browser.find() is None:
        sys.exit("report_picture.py: Chromium was not found: install the package chromium")
    with tempfile.TemporaryDirectory() as folder, browser.Browser(WIDTH, 1000) as page:
        report = os.path.join(folder, "report.html")
        subprocess.run([program, *COMMAND, "-o", report], check=True, cwd=ROOT)
        page.scheme("light")
        page.open(report)
        # The file's own path is of no interest to anybody.
        page.value("document.querySelector('.command code').textContent = " + repr(" ".join(("kernelcast", *COMMAND, "-o", "report.html"))))
        height = page.value("document.getElementById('source').getBoundingClientRect().top + scrollY")
        page.picture(picture, {"x": 0, "y": 0, "width": WIDTH, "height": height})
    size = os.path.getsize(picture)
    if size > MOST_BYTES:
        sys.exit(f"{picture}: {size} bytes, more than {MOST_BYTES}")


if __name__ == "__main__":
    main()
