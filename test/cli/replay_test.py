"""`kernelcast replay`: tables of the published systems beside what their texts print."""

import csv
import io
import json
import os
import re
import shutil
import unittest

from check_schema import checked
from program import ROOT, Case

NAMES = ("opencl-quantitative", "ske", "ffma", "divergence", "offload")


class Replay(Case):
    def tables(self, name, *more, **keywords):
        value = checked(self.good("replay", name, "--format", "json", *more, **keywords), "replay")
        self.assertEqual(value["name"], name)
        for table in value["tables"]:
            for row in table["rows"]:
                self.assertEqual(len(row), len(table["columns"]), table["id"])
        return {t["id"]: [dict(zip(t["columns"], row)) for row in t["rows"]] for t in value["tables"]}

    def test_list(self):
        text = self.good("replay")
        for name in NAMES:
            self.assertIn(name, text)

    def test_unknown_names_get_the_list(self):
        message = self.bad(2, "no experiment 'sk', did you mean ske\\?", "replay", "sk")
        for name in NAMES:
            self.assertIn(name, message)
        self.bad(2, "--format yaml: expected text, json or csv", "replay", "ske", "--format", "yaml")
        self.bad(2, "--examples nowhere", "replay", "opencl-quantitative", "--examples", "nowhere")
        self.bad(1, "no/table", "replay", "offload", "--table", "no/table.csv")
        self.bad(2, "--draws -1: expected", "replay", "offload", "--draws", "-1")

    def test_flags_that_an_experiment_does_not_read_are_refused(self):
        readers = {
            "--device": ("v100", {"ffma"}),
            "--examples": ("examples", {"opencl-quantitative", "offload"}),
            "--table": ("cells.csv", {"offload"}),
            "--draws": ("3", {"offload"}),
            "--seed": ("2", {"offload"}),
        }
        for flag, (value, of) in readers.items():
            for name in set(NAMES) - of:
                with self.subTest(flag=flag, name=name):
                    message = self.bad(2, f"{flag} {value}: {name} does not read it; ", "replay", name, flag, value)
                    self.assertTrue(all(reader in message for reader in of), message)
            self.bad(2, f"{flag}: NAME is missing", "replay", flag, value)
        self.bad(2, "--seed 2: --draws is missing", "replay", "offload", "--seed", "2")

    def test_a_perturbed_device_outside_its_range_is_told(self):
        folder = self.path("devices")
        shutil.copytree(os.path.join(ROOT, "devices"), folder)
        file = os.path.join(folder, "intel-core-i7-4710mq.toml")
        with open(file, encoding="utf-8") as source:
            text = source.read()
        with open(file, "w", encoding="utf-8") as changed:
            changed.write(text.replace("dram_bandwidth_bytes_per_s = { value = 2.56e10", "dram_bandwidth_bytes_per_s = { value = 9.9e13"))
        self.bad(
            1,
            r"intel-core-i7-4710mq: memory.dram_bandwidth_bytes_per_s = 9.9e\+13 perturbed by 5 % is .* to 1.0395e\+14, outside its range 1e\+09 to 1e\+14",
            *("replay", "offload", "--draws", "1", "--devices-dir", folder),
        )

    def test_csv_has_every_value(self):
        tables = self.tables("ske")
        rows = list(csv.DictReader(io.StringIO(self.good("replay", "ske", "--format", "csv"))))
        self.assertEqual(len(rows), sum(len(r) for t in tables.values() for r in t))
        first = next(r for r in rows if r["table"] == "sweep" and r["row"] == "4" and r["column"] == "resize")
        self.assertAlmostEqual(float(first["value"]), tables["sweep"][3]["resize"], places=3)

    def test_ske_shape_and_printed_counts(self):
        tables = self.tables("ske")
        for row in tables["sweep"]:
            stated = row["printed: model's shape"]
            if stated in ("minimum", "high", "low"):
                self.assertEqual(row["shape of resize"], stated, row)
        self.assertEqual(sum(r["printed: measured shape"] == "high" for r in tables["sweep"]), 4)
        self.assertGreater(tables["sweep"][0]["resize"], 4 * tables["sweep"][3]["resize"])
        for row in tables["memory-capacity"]:
            for of in ("an SM", "the GPU", "together"):
                if row["printed: " + of] != "":
                    self.assertEqual(row[of], row["printed: " + of])
        best = [r for r in tables["memory-choice"] if r["rank"] == 1 and r["threads"] == "a pixel"]
        self.assertEqual([r["printed: advice"] for r in best], ["this one"] * 3)
        self.assertEqual(len(tables["plan-choice"]), 9)

    def test_ske_sweep_is_the_table_of_its_page(self):
        with open(os.path.join(ROOT, "docs", "model", "ske.md"), encoding="utf-8") as file:
            page = file.read().splitlines()
        for row in self.tables("ske")["sweep"]:
            cells = [c.strip(" *") for c in next(line for line in page if re.match(rf"\| {row['h']:g} \| [*\d]", line)).split("|")[2:-1]]
            for of, text in zip(("resize", "RGB to gray", "Gaussian", "resize, corrected-a", "resize, corrected-b"), cells):
                value = row["resize"] if text == "=" else float(text)
                self.assertAlmostEqual(row[of], value, delta=0.05001, msg=f"{of} at h = {row['h']}")

    def test_opencl_quantitative_is_the_table_of_its_page(self):
        tables = self.tables("opencl-quantitative")
        with open(os.path.join(ROOT, "docs", "model", "opencl-quantitative.md"), encoding="utf-8") as file:
            page = file.read()
        for row in tables["figures-9-to-12"]:
            cells = next(line for line in page.splitlines() if line.startswith(f"| {row['kernel']} {row['configuration']} |")).split("|")
            number = lambda text: float(text.strip().replace(",", ""))
            self.assertAlmostEqual(number(cells[3]), row["compute"] + row["branch"], places=6)
            self.assertEqual(number(cells[6]), round(row["barriers"], 6))
            self.assertAlmostEqual(number(cells[7]) / row["settled, ms"], 1, places=5)
            self.assertAlmostEqual(number(cells[8]) / row["printed (14), ms"], 1, places=5)
            self.assertAlmostEqual(number(cells[9]) / row["no-overlap, ms"], 1, places=5)
        for row in tables["costs"]:
            if isinstance(row["printed: cycles"], (int, float)):
                self.assertEqual(row["used"], row["printed: cycles"])
        counted = {(r["kernel"], r["quantity"]): r for r in tables["counts-of-the-front-end"]}
        flat = counted["MM_Local 16x16", "of these flat"]
        self.assertEqual((flat["paper"], flat["front end"]), (64, 64))
        self.assertEqual(counted["MM_Local 16x16", "barriers a group"]["front end"], 128)
        # The front end's computation is what makes MM_Global dearer than the paper's counts.
        whole, part = counted["MM_Global 256", "settled, ms"], counted["MM_Global 256", "computation and branches, ms"]
        self.assertAlmostEqual(whole["paper"], 217.512, places=3)
        self.assertGreater(part["front end"] - part["paper"], 0.9 * (whole["front end"] - whole["paper"]))

    def test_divergence_meets_the_printed_shares(self):
        tables = self.tables("divergence")
        for row in tables["worked-examples"]:
            self.assertAlmostEqual(row["of plain"], row["printed: of plain"], places=3)
        values = {r["quantity"]: r["value"] for r in tables["enumeration"]}
        self.assertEqual(values["of these with 5 by majority and 4 by round robin"], 36)
        self.assertEqual(values["most steps of majority"], 8)
        for row in tables["advance-sweep"]:
            self.assertAlmostEqual(row["paths only"] / row["1/(1 - a)"], 1, delta=0.01)
            self.assertLess(row["0.25"], row["6"] + 1e-9)
        # S = (rho + 1) / (c (rho / 2 + 1)) with c = 2 (1 - p q), docs/reference/converge.md.
        for row in tables["postpone-sweep"][:-1]:
            rho = row["ratio"]
            self.assertAlmostEqual(row["round robin"] / ((rho + 1) / (1.5 * (rho / 2 + 1))), 1, delta=0.01)
        self.assertLess(tables["postpone-sweep"][0]["round robin"], 1)
        self.assertAlmostEqual(tables["postpone-sweep"][-1]["round robin"] / (4 / 3), 1, delta=0.01)

    def test_ffma_meets_the_printed_figures_of_k20(self):
        found = {r["result"]: r for t in self.tables("ffma").values() for r in t}
        printed = {k: r for k, r in found.items() if r["printed"] != ""}
        self.assertGreaterEqual(len(printed), 4)
        for row in printed.values():
            if isinstance(row["printed"], (int, float)):
                self.assertAlmostEqual(row["value"], row["printed"], delta=0.02)
        self.assertEqual(found["ffma.best_order"]["value"], "1-2-2-1")

    def test_offload_is_what_offload_replay_gives(self):
        table = os.path.join(ROOT, "test", "data", "offload-2017.csv")
        tables = self.tables("offload", timeout=120)
        old = json.loads(self.good("offload", "--replay", table, "--format", "json", timeout=120))
        for platform in old["platforms"]:
            rows = tables["cells-" + platform["gpu"]]
            self.assertEqual([r["kernelcast"] for r in rows], [c["decision"] for c in platform["cells"]])
            self.assertEqual([r["printed: cheaper"] for r in rows], [c["measured"]["cheaper"] for c in platform["cells"]])
            scores = {r["who"]: r for r in tables["scores-" + platform["gpu"]]}
            for s in platform["scores"]:
                self.assertEqual((scores[s["who"]]["right"], scores[s["who"]]["loss"]), (s["right"], s["loss"]))

    def test_perturbed_devices_repeat_with_their_seed(self):
        one, two, other = (self.tables("offload", "--draws", "2", "--seed", seed, timeout=170)["robustness"] for seed in ("1", "1", "2"))
        self.assertEqual(one, two)
        self.assertNotEqual(one, other)
        self.assertEqual([r["who"] for r in one], ["kernelcast", "always the GPU"] * 2)
        self.assertEqual(one[1]["right, mean"], 36)


if __name__ == "__main__":
    unittest.main()
