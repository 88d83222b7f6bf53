"""tune --order: energy and energy times time."""

import unittest

from check_schema import checked
from program import Case

SPACE = ("examples/saxpy.cu", "--problem", "1048576", "--block", "32..1024:*2", "--arg", "n=1048576", "--arg", "a=2")


class Order(Case):
    def best(self, *args):
        return checked(self.good("tune", *SPACE, *args, "--format", "json"), "tune")["best"]

    def test_each_order_sorts_by_its_own(self):
        keys = {"time": lambda b: b["time_s"], "energy": lambda b: b["energy_j"], "energy-delay": lambda b: b["energy_j"] * b["time_s"]}
        for order, key in keys.items():
            values = [key(b) for b in self.best("--device", self.board_with_energies(), "--order", order)]
            self.assertEqual(values, sorted(values), order)
            self.assertGreater(len(values), 3)

    def test_energy_has_an_interval(self):
        for b in self.best("--device", "a100"):
            low, high = b["energy_interval_j"]
            self.assertLess(low, b["energy_j"])
            self.assertGreater(high, b["energy_j"])

    def test_the_table_has_energies(self):
        self.assertRegex(self.good("tune", *SPACE, "--device", "a100", "--order", "energy"), r"time +energy")

    def test_bad_orders_are_told(self):
        self.bad(2, "expected time, energy or energy-delay", "tune", *SPACE, "--device", "a100", "--order", "power")
        self.bad(2, "forecasts time only", "tune", *SPACE, "--device", "a100", "--order", "energy", "--model", "roofline")


if __name__ == "__main__":
    unittest.main()
