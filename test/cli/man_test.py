"""The manual is what the program says of itself."""

import os
import subprocess
import sys
import unittest

from program import PROGRAM, ROOT


class Manual(unittest.TestCase):
    def test_it_is_up_to_date(self):
        script = os.path.join(ROOT, "scripts", "man.py")
        made = subprocess.run([sys.executable, script, PROGRAM], capture_output=True, text=True, check=True).stdout
        with open(os.path.join(ROOT, "docs", "man", "kernelcast.1"), encoding="utf-8") as file:
            self.assertEqual(file.read(), made, "write it again with scripts/man.py")


if __name__ == "__main__":
    unittest.main()
