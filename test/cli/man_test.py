"""The manual is what the program says of itself."""

import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from program import PROGRAM, ROOT

FLAG = re.compile(r"(?<![\w-])--[a-z][a-z0-9_-]*")


def found(pattern):
    return sorted(p for p in glob.glob(os.path.join(ROOT, pattern)) if os.path.isfile(p))


def documents():
    return [p for pattern in ("*.md", "docs/*.md", "docs/*/*.md", "converge/*.md", "src/*.md", "validation/*.md") for p in found(pattern)]


def read(name):
    with open(name, encoding="utf-8", errors="replace") as file:
        return file.read()


class Manual(unittest.TestCase):
    def test_it_is_up_to_date(self):
        script = os.path.join(ROOT, "scripts", "man.py")
        made = subprocess.run([sys.executable, script, PROGRAM], capture_output=True, text=True, check=True).stdout
        with open(os.path.join(ROOT, "docs", "man", "kernelcast.1"), encoding="utf-8") as file:
            self.assertEqual(file.read(), made, "write it again with scripts/man.py")

    def test_a_page_a_command(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([sys.executable, os.path.join(ROOT, "scripts", "man.py"), PROGRAM, folder], check=True)
            listed = subprocess.run([PROGRAM, "--help"], capture_output=True, text=True, check=True).stdout
            for name in sorted(os.listdir(folder)):
                command = name.removeprefix("kernelcast-").removesuffix(".1")
                self.assertRegex(listed, rf"(?m)^  {command} ")
                text = read(os.path.join(folder, name))
                self.assertIn(f".SH NAME\nkernelcast\\-{command} \\- ", text)
                if shutil.which("groff"):
                    done = subprocess.run(["groff", "-man", "-Tutf8", "-ww", os.path.join(folder, name)], capture_output=True, text=True, check=True)
                    self.assertEqual(done.stderr, "")
            self.assertEqual(len(os.listdir(folder)), len(re.findall(r"(?m)^\.SH [A-Z]+\n\.nf", read(os.path.join(ROOT, "docs/man/kernelcast.1")))) - 1)


    def test_flags_are_documented_and_documented_flags_are_there(self):
        with open(os.path.join(ROOT, "docs", "man", "kernelcast.1"), encoding="utf-8") as file:
            flags = set(FLAG.findall(file.read().replace("\\-", "-")))
        texts = {name: read(name) for name in documents()}
        told = set().union(*map(FLAG.findall, texts.values()))
        self.assertEqual(flags - told - {f for f in flags if f.startswith("--new-")} - {"--help", "--version", "--completion"}, set())
        scripts = "".join(read(name) for pattern in ("scripts/*", "tools/*/*", "python/kernelcast/*.py") for name in found(pattern))
        for name, text in texts.items():
            for flag in set(FLAG.findall(text)) - flags - {"--prefix", "--text"}:  # CMake's; an arrow of a drawing
                self.assertRegex(scripts, re.escape(flag) + r"(?![\w-])", f"{name}: {flag} is a flag of nothing")

    def test_help_of_options_is_noun_phrases(self):
        """A unit and a default stand in parentheses; nothing is told about the option's absence."""
        with open(os.path.join(ROOT, "docs", "man", "kernelcast.1"), encoding="utf-8") as file:
            text = file.read().replace("\\-", "-")
        self.assertEqual(re.findall(r"(?i)\b(?:without it|likewise|anew|stand-in|in all, as)\b", text), [])
        options = [o for o in re.findall(r"^  -.*(?:\n {20,}.*)*", text, re.M) if "(default" in o]
        self.assertGreater(len(options), 100)
        for option in options:
            self.assertRegex(option, r"\(default: [^()]+(?:\([^()]*\)[^()]*)?\)")


if __name__ == "__main__":
    unittest.main()
