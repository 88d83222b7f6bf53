"""Sweeps: rows equal the program's, files continue and are refused, a Dask cluster that loses a worker gives the same bytes."""
import importlib.util
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

if importlib.util.find_spec("pyarrow") is None:
    print("SKIP: pyarrow is not installed")
    sys.exit(77)

import kernelcast as kc
import pyarrow.parquet as pq
from kernelcast import _sweep_plan
from kernelcast import sweep as sweeps

ROOT = Path(__file__).resolve().parents[2]
PLAN = f"""devices = ["a100", "v100"]
[[kernel]]
source = "{ROOT}/examples/saxpy.cu"
problem = 1048576
block = "32..1024:+32"
args = {{ n = [1048576, 4096] }}
[[kernel]]
source = "{ROOT}/examples/matmul_tiled.cl"
problem = [1024, 1024]
block = "TILE,TILE"
params = {{ TILE = [8, 16, 32, 64] }}
args = {{ n = 1024 }}
"""


class Sweeps(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.plan = self.folder / "plan.toml"
        self.plan.write_text(PLAN)
        self.output = self.folder / "results.parquet"
        before = _sweep_plan.ROWS_OF_A_SHARD
        self.addCleanup(setattr, _sweep_plan, "ROWS_OF_A_SHARD", before)

    def test_rows_are_those_of_tune(self):
        file = sweeps.sweep(self.plan, self.output)
        self.assertEqual(file.rows, 2 * (2 * 32 + 4))
        rows = pq.read_table(self.output).to_pylist()
        self.assertEqual(sum(r["time_s"] is not None for r in rows), file.timed)
        best = kc.tune(ROOT / "examples/matmul_tiled.cl", device=["a100", "v100"], problem=(1024, 1024), block="TILE,TILE",
                       params={"TILE": [8, 16, 32, 64]}, args={"n": 1024}, top="all")
        mine = {(r["device"], r["param_TILE"]): r["time_s"] for r in rows if r["kernel"] == "matmul_tiled" and r["time_s"]}
        self.assertEqual(mine, {(c["device"], str(c["params"]["TILE"])): c["time_s"] for c in best["best"]})
        self.assertEqual(len(mine), 6)

    def test_each_row_has_its_own_reason(self):
        sweeps.sweep(self.plan, self.output)
        failed = [r for r in pq.read_table(self.output).to_pylist() if r["time_s"] is None]
        self.assertEqual({r["param_TILE"] for r in failed}, {"64"})
        for r in failed:
            self.assertRegex(r["reason"], r"^threads per block: 4096 threads")

    def test_an_interrupted_sweep_continues_and_gives_the_same_bytes(self):
        _sweep_plan.ROWS_OF_A_SHARD = 8
        whole = self.folder / "whole.parquet"
        sweeps.sweep(self.plan, whole, jobs=1)
        with self.assertRaises(KeyboardInterrupt):
            self.interrupt_after(5)
        self.assertFalse(self.output.exists())
        kept = len(list((self.folder / "results.parquet.shards").glob("*.parquet")))
        self.assertEqual(kept, 5)
        sweeps.sweep(self.plan, self.output, jobs=2)
        self.assertEqual(self.output.read_bytes(), whole.read_bytes())

    def interrupt_after(self, count):
        file_keep = sweeps.SweepFile.keep
        kept = []

        def keep(file, shard, data):
            if len(kept) == count:
                raise KeyboardInterrupt
            kept.append(shard)
            file_keep(file, shard, data)

        sweeps.SweepFile.keep = keep
        try:
            sweeps.sweep(self.plan, self.output, jobs=1)
        finally:
            sweeps.SweepFile.keep = file_keep

    def test_a_file_of_another_plan_is_refused(self):
        sweeps.sweep(self.plan, self.output)
        before = self.output.read_bytes()
        self.plan.write_text(PLAN.replace("1024:+32", "512:+32"))
        with self.assertRaisesRegex(kc.UsageError, "holds the results of another plan, and is not overwritten"):
            sweeps.sweep(self.plan, self.output)
        self.assertEqual(self.output.read_bytes(), before)
        self.output.write_text("no parquet")
        with self.assertRaisesRegex(kc.UsageError, "is no Parquet file"):
            sweeps.sweep(self.plan, self.output)

    def test_a_poisoned_shard_is_set_aside(self):
        _sweep_plan.ROWS_OF_A_SHARD = 8
        real = sweeps.shard_bytes
        self.addCleanup(setattr, sweeps, "shard_bytes", real)

        def poisoned(plan, shard):
            if shard.number == 2:
                raise RuntimeError("out of luck")
            return real(plan, shard)

        sweeps.shard_bytes = poisoned
        file = sweeps.sweep(self.plan, self.output, jobs=1)
        self.assertEqual(file.failed, {2: "RuntimeError: out of luck"})
        self.assertFalse(self.output.exists())
        sweeps.shard_bytes = real
        self.assertTrue(sweeps.sweep(self.plan, self.output).complete)

    def test_what_is_wrong_with_a_plan_is_said(self):
        for text, message in (("devices = ['a100']\n", r"no \[\[kernel\]\]"), (PLAN.replace("block =", "blok ="), "kernel 1: unknown key 'blok'"),
                              (PLAN.replace('"a100", ', '"a1oo", '), "a1oo"), (PLAN.replace("= 1048576\nb", "= 'x+'\nb"), "problem")):
            self.plan.write_text(text)
            with self.assertRaisesRegex(kc.Error, message):
                sweeps.sweep(self.plan, self.output)

    def test_the_command(self):
        command = [sys.executable, "-m", "kernelcast.sweep", str(self.plan), "-o", str(self.output)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("136 rows", done.stdout)
        done = subprocess.run([*command, "--engine", "slurm"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0)  # complete already
        self.output.unlink()
        done = subprocess.run([*command, "--engine", "slurm"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("expected threads or dask:ADDRESS", done.stderr)


SLOW = """import time
from kernelcast import _sweep_shard
def table_of(plan, shard, real=_sweep_shard.table_of):
    time.sleep(0.1)
    return real(plan, shard)
_sweep_shard.table_of = table_of
"""

POISON = """import os
from kernelcast import _sweep_shard
def table_of(plan, shard, real=_sweep_shard.table_of):
    if shard.number == 2 and os.path.exists({path!r}):
        raise RuntimeError("out of luck")
    return real(plan, shard)
_sweep_shard.table_of = table_of
"""


@unittest.skipUnless(importlib.util.find_spec("distributed"), "distributed is not installed")
class Cluster(unittest.TestCase):
    """A scheduler and two workers on loopback."""

    setUp = Sweeps.setUp

    def start(self, *words):
        process = subprocess.Popen([sys.executable, "-m", "distributed.cli." + words[0], *words[1:]], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   cwd=self.folder, start_new_session=True)
        self.addCleanup(self.stop, process)
        return process

    @staticmethod
    def stop(process):
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def workers(self, preload):
        """Address of a scheduler, and two workers' processes; both run the text `preload` first."""
        from distributed import Client
        found = self.folder / "scheduler.json"
        self.start("dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--dashboard-address", "127.0.0.1:0", "--no-dashboard", "--scheduler-file", str(found))
        script = self.folder / "preload.py"
        script.write_text(preload)
        deadline = time.monotonic() + 120
        while not found.exists() and time.monotonic() < deadline:
            time.sleep(0.1)
        both = [self.start("dask_worker", "--scheduler-file", str(found), "--nthreads", "1", "--no-dashboard", "--no-nanny", "--preload", str(script))
                for _ in range(2)]
        with Client(scheduler_file=str(found), set_as_default=False) as client:
            client.wait_for_workers(2, timeout=120)
            return client.scheduler.address, both

    def test_a_poisoned_shard_is_set_aside(self):
        """It fails on every worker that tries it; the others are finished, and a cluster without the poison completes the file."""
        _sweep_plan.ROWS_OF_A_SHARD = 8
        local = self.folder / "local.parquet"
        sweeps.sweep(self.plan, local)
        poison = self.folder / "poison"
        poison.touch()
        address, _ = self.workers(POISON.format(path=str(poison)))
        file = sweeps.sweep(self.plan, self.output, engine="dask:" + address)
        self.assertEqual(list(file.failed), [2])
        self.assertIn("out of luck", file.failed[2])
        self.assertFalse(self.output.exists())
        poison.unlink()
        self.assertTrue(sweeps.sweep(self.plan, self.output, engine="dask:" + address).complete)
        self.assertEqual(self.output.read_bytes(), local.read_bytes())

    def test_a_worker_is_killed_in_mid_run(self):
        _sweep_plan.ROWS_OF_A_SHARD = 4
        local = self.folder / "local.parquet"
        sweeps.sweep(self.plan, local)
        address, (victim, _) = self.workers(SLOW)
        kept, real = [], sweeps.SweepFile.keep

        def keep(file, shard, data):
            kept.append(shard.number)
            if len(kept) == 6:
                os.killpg(victim.pid, signal.SIGKILL)
            real(file, shard, data)

        sweeps.SweepFile.keep = keep
        self.addCleanup(setattr, sweeps.SweepFile, "keep", real)
        file = sweeps.sweep(self.plan, self.output, engine="dask:" + address)
        self.assertIsNotNone(victim.wait(60))
        self.assertEqual(file.failed, {})
        self.assertEqual(self.output.read_bytes(), local.read_bytes())


if __name__ == "__main__":
    unittest.main()
