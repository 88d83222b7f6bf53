"""The documents: line length, links, no dates in user pages, everything listed where readers look for it."""

import glob
import os
import re
import unittest

from program import ROOT

COLUMNS = 120
USER_PAGES = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "docs/*.md", "docs/tutorials/*.md", "docs/reference/*.md", "docs/model/*.md",
              "libconverge/README.md")
PAGES = (*USER_PAGES, "docs/lab/*.md", "src/README.md", "scripts/README.md", "tools/*/README.md", "validation/*.md", "python/README.md",
         "examples/*/README.md")
MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
DATE = re.compile(rf"\b(?:20\d\d-\d\d-\d\d|(?:\d{{1,2}} )?(?:{MONTHS}) 20\d\d|\d{{1,2}} (?:{MONTHS}))\b")
LINK = re.compile(r"(?<!!)\[[^\]\[]*\]\(([^)\s]+)\)|^\[[^\]]+\]: (\S+)", re.M)
# Words of ours for what the field, or plain English, has a word for.
HOME_MADE = re.compile(r"\b(likewise|anew|in the mean|stand-in|by which road|lanes that are off|passes through the banks|passes of the L1)\b", re.I)
GENERATED = re.compile(r"(<!-- scripts/\S+ writes the next block -->\n)```\n.*?^```$", re.S | re.M)


def found(patterns):
    names = {p for pattern in patterns for p in glob.glob(os.path.join(ROOT, pattern)) if os.path.isfile(p)}
    return sorted(os.path.relpath(p, ROOT) for p in names)


def read(name):
    with open(os.path.join(ROOT, name), encoding="utf-8") as file:
        return file.read()


def without_code(text):
    return re.sub(r"^```.*?^```$", "", text, flags=re.S | re.M)


def anchors(text):
    """The names that GitHub gives headings."""
    headings = re.findall(r"^#+ (.*)$", without_code(text), re.M)
    return {re.sub(r"[^\w\- ]", "", re.sub(r"\]\([^)]*\)", "", h).lower()).replace(" ", "-") for h in headings}


class Documents(unittest.TestCase):
    def test_lines_end_at_120_columns(self):
        # Rows of measured tables may be longer: a row cannot be broken.
        for name in found(PAGES):
            measured = name.startswith(("docs/lab/", "validation/"))
            for number, line in enumerate(GENERATED.sub(r"\1", read(name)).splitlines(), 1):
                if not (measured and line.startswith("|")):
                    self.assertLessEqual(len(line), COLUMNS, f"{name}: line {number} of the text without its generated block: {line[:60]}")

    def test_readme_begins_with_shell_python_and_continuous_integration(self):
        first = "\n".join(read("README.md").splitlines()[:45])
        for door in ("$ kernelcast predict", "import kernelcast as kc", "$ kernelcast check . --base-ref"):
            self.assertIn(door, first)

    def test_tables_are_whole(self):
        for name in found(PAGES):
            columns = before = None
            for number, line in enumerate(without_code(read(name)).splitlines(), 1):
                cells = len(re.sub(r"\\\||`[^`]*`", "", line).strip("|").split("|")) if line.startswith("|") else None
                if cells and columns:
                    self.assertEqual(cells, columns, f"{name}: text line {number}: {line[:60]}")
                elif cells:
                    self.assertFalse(before, f"{name}: text line {number}: a table directly behind text: {line[:60]}")
                columns, before = cells, line.strip()

    def test_relative_links_lead_somewhere(self):
        for name in found(PAGES):
            for link in (a or b for a, b in LINK.findall(without_code(read(name)))):
                if re.match(r"[a-z]+:", link):
                    continue
                path, _, anchor = link.partition("#")
                target = os.path.normpath(os.path.join(os.path.dirname(name), path)) if path else name
                self.assertTrue(os.path.exists(os.path.join(ROOT, target)), f"{name}: {link}")
                if anchor:
                    self.assertIn(anchor, anchors(read(target)), f"{name}: {link}")

    def test_user_pages_have_no_dates(self):
        for name in found(USER_PAGES):
            self.assertEqual(DATE.findall(GENERATED.sub(r"\1", read(name))), [], f"{name}: dated measurements belong in docs/lab/")

    def test_user_pages_use_the_terms_of_the_field(self):
        for name in found((*USER_PAGES, "docs/lab/*.md")):
            self.assertEqual(HOME_MADE.findall(without_code(read(name))), [], name)

    def test_the_test_of_dates_finds_dates(self):
        for text in ("measured 23 November 2026", "on 2026-11-23", "in November 2026", "of 22 November"):
            self.assertTrue(DATE.search(text), text)
        for text in ("Hong and Kim 2009", "a table of 2017", "may 2 threads", "Makefile"):
            self.assertFalse(DATE.search(text), text)

    def test_the_index_has_every_page(self):
        index = read("docs/README.md")
        for name in found(("docs/*.md", "docs/*/*.md")):
            if name != "docs/README.md":
                self.assertIn(f"({os.path.relpath(name, 'docs')})", index, "docs/README.md does not list it")

    def test_readmes_mention_every_script_and_tool(self):
        for folder in ("scripts", "tools/measure", "tools/validate", "tools/gpu"):
            readme = read(os.path.join(folder, "README.md"))
            for parent, folders, names in os.walk(os.path.join(ROOT, folder)):
                folders[:] = [f for f in folders if f != "__pycache__"]
                for name in names:
                    path = os.path.relpath(os.path.join(parent, name), os.path.join(ROOT, folder))
                    if name != "README.md":
                        self.assertIn(f"`{path}", readme, f"{folder}/README.md does not mention {path}")

    def test_contributing_names_at_most_three_files(self):
        table = re.search(r"^\| to add \|.*?\n\n", read("CONTRIBUTING.md"), re.S | re.M)[0]
        rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:] if line]
        for what in ("a device", "a bound", "input language", "an advice rule", "a command"):
            row = [r for r in rows if r[0].startswith(what)]
            self.assertEqual(len(row), 1, f"CONTRIBUTING.md: {what}")
            self.assertTrue(1 <= len(re.findall(r"`[^`]+`", row[0][1])) <= 3, f"CONTRIBUTING.md: {what}: {row[0][1]}")


if __name__ == "__main__":
    unittest.main()
