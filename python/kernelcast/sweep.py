"""Sweeps: kernels x devices x configurations to a Parquet file, on all cores or on a Dask cluster.

    kernelcast sweep PLAN.toml -o results.parquet [--engine threads|dask:ADDRESS] [--jobs N]

A plan (docs/reference/fleets.md):

    devices = ["a100", "rtx3080"]
    [[kernel]]
    source = "saxpy.cu"
    problem = "1048576"
    block = "32..1024:*2"
    args = { n = 1048576 }

Rows are written in shards to a folder beside the output, and joined when all are there: an interrupted sweep continues where it stopped.
Needs pyarrow; the engine `dask` needs distributed (pip install kernelcast[sweep]).
"""
import argparse
import sys
import time
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from os import cpu_count

from ._errors import Error
from ._sweep_file import SweepFile
from ._sweep_plan import Plan
from ._sweep_shard import shard_bytes

TRIES = 3  # of a shard, before it is set aside


class Progress:
    """One line on a terminal: rows, rate, time left."""

    def __init__(self, rows, done, stream):
        self.rows, self.done, self.stream = rows, done, stream
        self.fresh, self.start, self.last = 0, time.monotonic(), 0.0

    def add(self, rows):
        self.done += rows
        self.fresh += rows
        now = time.monotonic()
        if self.stream is None or (now - self.last < 0.2 and self.done < self.rows):
            return
        self.last = now
        rate = self.fresh / max(now - self.start, 1e-9)
        left = (self.rows - self.done) / max(rate, 1e-9)
        self.stream.write(f"\r{self.done:,} of {self.rows:,} rows, {rate:,.0f} a second, {left:,.0f} s left\x1b[K")
        self.stream.flush()

    def end(self):
        if self.stream is not None and self.fresh:
            self.stream.write("\n")


def run_threads(plan, shards, jobs, done):
    """All cores of this machine: the interpreter lock is released while rows are made and compressed."""
    with ThreadPoolExecutor(jobs) as pool:
        waiting, running = iter(shards), {}
        try:
            while True:
                while len(running) < 2 * jobs and (shard := next(waiting, None)) is not None:
                    running[pool.submit(shard_bytes, plan, shard)] = shard
                if not running:
                    return
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    shard = running.pop(future)
                    error = future.exception()
                    done(shard, None if error else future.result(), error)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _remote(plan, shard):
    """A worker's part; what it raises can be sent, whatever it was."""
    try:
        return shard_bytes(plan, shard)
    except Exception as error:
        raise Error(f"{type(error).__name__}: {error}") from None


def run_dask(address, plan, shards, done):
    """A cluster whose scheduler is the user's. A shard whose worker dies runs again on another one; one that fails or whose workers died
    TRIES times is set aside."""
    try:
        from distributed import Client, as_completed
    except ImportError:
        raise ImportError("--engine dask needs distributed: pip install 'kernelcast[sweep]'") from None
    with Client(address, set_as_default=False) as client:
        # A task, not scattered data: where the worker that holds it dies, it is made again.
        text = client.submit(str, plan.text, key=f"kernelcast-{plan.digest[:16]}-plan")
        waiting = iter(shards)
        most = 4 * max(1, sum(client.nthreads().values()))
        running = {}

        def submit():
            shard = next(waiting, None)
            if shard is None:
                return None
            future = client.submit(_remote, text, shard, key=f"kernelcast-{plan.digest[:16]}-{shard.number}", retries=TRIES - 1, pure=True)
            running[future] = shard
            return future

        queue = as_completed([f for f in (submit() for _ in range(most)) if f is not None], loop=client.loop)
        for future in queue:
            shard = running.pop(future)
            error = future.exception() if future.status != "finished" else None
            done(shard, None if error else future.result(), error)
            future.release()
            if (fresh := submit()) is not None:
                queue.add(fresh)


def sweep(plan, output, *, engine="threads", jobs=None, stream=None):
    """Runs a plan (path of a TOML file, or a Plan); the finished SweepFile. `failed` of it lists shards that were set aside."""
    plan = plan if isinstance(plan, Plan) else Plan.read(plan)
    file = SweepFile(output, plan)
    if file.complete:
        return file
    shards = plan.shards()
    left = [s for s in shards if not file.has(s)]
    progress = Progress(sum(s.rows for s in shards), sum(s.rows for s in shards if file.has(s)), stream)

    def done(shard, data, error):
        if error is None:
            file.keep(shard, data)
        else:
            file.set_aside(shard, error)
        progress.add(shard.rows)

    try:
        if engine == "threads":
            run_threads(plan, left, jobs or cpu_count() or 1, done)
        elif engine.startswith("dask:"):
            run_dask(engine[len("dask:"):], plan, left, done)
        else:
            raise Error(f"--engine {engine}: expected threads or dask:ADDRESS, such as dask:tcp://10.0.0.1:8786")
    finally:
        progress.end()
    if not file.failed:
        file.join(shards)
    return file


def main(words=None):
    """The command kernelcast sweep; its exit status."""
    parser = argparse.ArgumentParser(prog="kernelcast-sweep", description="Forecast kernels x devices x configurations into a Parquet file.")
    parser.add_argument("plan", metavar="PLAN.toml", help="plan: docs/reference/fleets.md")
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help="Parquet file; an unfinished sweep of the same plan continues")
    parser.add_argument("--engine", default="threads", metavar="ENGINE", help="threads, or dask:ADDRESS of a scheduler (default: threads)")
    parser.add_argument("--jobs", type=int, metavar="N", help="threads of the engine `threads` (default: all cores)")
    given = parser.parse_args(words)
    try:
        file = sweep(given.plan, given.output, engine=given.engine, jobs=given.jobs, stream=sys.stderr if sys.stderr.isatty() else None)
    except KeyboardInterrupt:
        sys.stderr.write("kernelcast-sweep: interrupted; the same command continues\n")
        return 130
    except (Error, ImportError, OSError) as error:
        sys.stderr.write(f"kernelcast-sweep: {error}\n")
        return 2
    for shard, error in file.failed.items():
        sys.stderr.write(f"kernelcast-sweep: shard {shard} is set aside: {error}\n")
    if file.failed:
        return 1
    print(f"{file.path}: {file.rows:,} rows, {file.timed:,} with a time")
    return 0


if __name__ == "__main__":
    sys.exit(main())
