"""scripts/replay_plots.py draws every published system's figures."""

import importlib.util
import os
import subprocess
import sys
import unittest

from program import PROGRAM, ROOT, Case


class ReplayPlots(Case):
    def test_each_system_has_its_figures(self):
        if importlib.util.find_spec("matplotlib") is None:
            self.skipTest("no matplotlib")
        script = os.path.join(ROOT, "scripts", "replay_plots.py")
        run = subprocess.run([sys.executable, script, PROGRAM, self.folder], capture_output=True, text=True, timeout=170, check=False, cwd=ROOT)
        self.assertEqual(run.returncode, 0, run.stderr)
        names = sorted(os.listdir(self.folder))
        for system in ("opencl-quantitative", "ske", "ffma", "divergence", "offload"):
            drawn = [n for n in names if n.startswith(system)]
            self.assertTrue(drawn, system)
            for name in drawn:
                with open(os.path.join(self.folder, name), encoding="utf-8") as file:
                    text = file.read()
                self.assertIn("<svg", text, name)
                self.assertGreater(len(text), 5000, name)


if __name__ == "__main__":
    unittest.main()
