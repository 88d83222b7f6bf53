"""The notebooks of docs/tutorials run from a clean kernel."""
import importlib.util
import sys
import unittest
from pathlib import Path

NEEDED = ("nbclient", "nbformat", "ipykernel", "pandas", "pyarrow")
if missing := [name for name in NEEDED if importlib.util.find_spec(name) is None]:
    print("SKIP: not installed:", ", ".join(missing))
    sys.exit(77)

import nbclient
import nbformat

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "tutorials"


class Notebooks(unittest.TestCase):
    def test_they_run(self):
        found = sorted(FOLDER.glob("*.ipynb"))
        self.assertGreaterEqual(len(found), 2)
        for path in found:
            with self.subTest(path.name):
                notebook = nbformat.read(path, as_version=4)
                self.assertEqual([c for c in notebook.cells if c.get("outputs")], [], "notebooks are kept without outputs")
                nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(FOLDER)}}).execute()
                last = [c for c in notebook.cells if c.cell_type == "code"][-1]
                self.assertTrue(last.outputs)

    def test_a_forecast_is_a_table(self):
        notebook = nbformat.read(FOLDER / "forecast.ipynb", as_version=4)
        notebook.cells = [c for c in notebook.cells if c.cell_type == "code"][:1]
        nbclient.NotebookClient(notebook, timeout=300).execute()
        self.assertIn("<table>", notebook.cells[0].outputs[0].data["text/html"])


if __name__ == "__main__":
    unittest.main()
