"""docs/reference/papers.md names code and tests that exist, and tables that `replay` has."""

import importlib.util
import json
import os
import re
import subprocess
import unittest

from program import ROOT, Case

PAGE = os.path.join(ROOT, "docs", "reference", "papers.md")


class Papers(Case):
    def setUp(self):
        super().setUp()
        with open(PAGE, encoding="utf-8") as file:
            self.text = file.read()

    def test_files_exist(self):
        files = {os.path.basename(p) for folder in ("src", "test", "include") for _, _, names in os.walk(os.path.join(ROOT, folder)) for p in names}
        for path in re.findall(r"`((?:src|test)/[\w/.*]+)`", self.text):
            self.assertTrue(os.path.exists(os.path.join(ROOT, path)), path)
        for name in re.findall(r"`(\w+\.(?:cpp|h|py))`", self.text):
            self.assertIn(name, files)

    def test_functions_exist(self):
        source = subprocess.run(["grep", "-rhoE", r"\w+", os.path.join(ROOT, "src"), os.path.join(ROOT, "include"), "--include=*.h", "--include=*.cpp"],
                                capture_output=True, text=True, check=True).stdout
        words = set(source.split())
        for row in self.text.splitlines():
            cells = row.split("|")
            if len(cells) < 5 or "where" in cells[2]:
                continue
            for name in re.findall(r"`([a-z]\w+)`", cells[2]):
                if "table" not in cells[2]:
                    self.assertIn(name, words, row)

    def test_each_row_has_a_change_that_its_test_finds(self):
        spec = importlib.util.spec_from_file_location("perturb", os.path.join(ROOT, "tools", "validate", "perturb.py"))
        perturb = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(perturb)
        rows = set()
        for name, section in re.findall(r"^## (\S+).*?\n(.*?)(?=^## |\Z)", self.text, flags=re.M | re.S):
            cells = [[c.strip() for c in line.split("|")] for line in section.splitlines() if line.startswith("|")]
            rows |= {f"{name}: {c[1]}" for c in cells if c[1] != "of the text" and not c[1].startswith("-")}
        self.assertEqual(rows, {change[1] for change in perturb.CHANGES})
        for name, _, source, place, *_ in perturb.CHANGES:
            with open(os.path.join(ROOT, source), encoding="utf-8") as file:
                self.assertEqual(file.read().count(place), 1, name)

    def test_tables_exist(self):
        for name, section in re.findall(r"^## (\S+).*?\n(.*?)(?=^## |\Z)", self.text, flags=re.M | re.S):
            if name in ("ffma", "offload"):
                continue  # minutes, or a table a device
            value = json.loads(self.good("replay", name, "--format", "json"))
            ids = {t["id"] for t in value["tables"]}
            for of in re.findall(r"table `([\w-]+)`", section):
                self.assertIn(of, ids, name)


if __name__ == "__main__":
    unittest.main()
