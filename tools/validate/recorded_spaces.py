"""Recorded tuning spaces as tools/validate/replay.py and tools/validate/failures.py read them (data as docs/reference/validate.md describes)."""

import csv
import gzip
import json
import os
import subprocess
import tempfile

SPACES = {
    "convolution-a100": "convolution-milo",
    "convolution-rtx2080ti": "convolution-bat",
    "convolution-w6600": "convolution-milo",
    "dedispersion-a4000": "dedispersion-milo",
    "dedispersion-mi250x": "dedispersion-milo",
    "gemm-k20": "gemm-milo",
    "gemm-v100": "gemm-milo",
    "hotspot-a100": "hotspot-milo",
}
OWN = ("kernel_id", "gpu", "time_ms", "status")
RAN = "ok"
# Kernel Tuner writes this where the launch was refused with "too many resources requested for launch",
# OUT_OF_RESOURCES or INVALID_WORK_GROUP_SIZE; every other error, a wrong result included, ends its run.
FAILED = "RuntimeFailedConfig"


def table(path):
    opened = gzip.open(path, "rt") if path.endswith(".gz") else open(path, encoding="utf-8")
    with opened as file:
        return list(csv.DictReader(file))


def holds(condition, values):
    functions = {"min": min, "max": max, "abs": abs, "int": int, "range": range, "len": len}
    return bool(eval(condition, {"__builtins__": functions}, values))  # expressions of T1 files are Python's


class Space:
    """One recorded space: `rows` of text, `names` of the parameters in the order of `key`."""

    def __init__(self, data, name):
        self.data, self.name = data, name
        self.rows = table(os.path.join(data, "spaces", name + ".csv.gz"))
        kernel_id = self.rows[0]["kernel_id"]
        self.gpu = self.rows[0]["gpu"]
        self.kernel = next(k for k in table(os.path.join(data, "kernels.csv")) if k["id"] == kernel_id)
        self.like = next(r for r in table(os.path.join(data, "rows.csv")) if r["kernel_id"] == kernel_id)
        with open(os.path.join(data, "spaces", SPACES[name] + ".t1.json"), encoding="utf-8") as file:
            self.t1 = json.load(file)
        # A file may list all sizes of the problem, with those that are no direction of the grid: gemm's third is the
        # length of its sums. What was launched stands in rows.csv.
        if self.like["grid_z"] == "1":
            kernel = self.t1["KernelSpecification"]
            kernel["ProblemSize"] = kernel["ProblemSize"][:2]
        columns = [c for c in self.rows[0] if c not in OWN]
        parameters = self.t1["ConfigurationSpace"]["TuningParameters"]
        known = {p["Name"] for p in parameters}
        fixed = lambda p: isinstance(p["Values"], list) and len(p["Values"]) == 1
        self.parameters = [p for p in parameters if p["Name"] in columns or fixed(p)] + [
            {"Name": c, "Type": "int", "Values": sorted({int(r[c]) for r in self.rows})} for c in columns if c not in known
        ]
        self.names = [p["Name"] for p in self.parameters if p["Name"] in columns]
        # Some campaigns measured more than the file's conditions allow: that is no part of its space.
        conditions = [compile(c["Expression"], name, "eval") for c in self.t1["ConfigurationSpace"]["Conditions"]]
        self.rows = [r for r in self.rows if all(holds(c, self.values(r)) for c in conditions)]

    def values(self, row):
        """Of every parameter, those that have one value and no column included."""
        return {p["Name"]: int(row[p["Name"]]) if p["Name"] in self.names else p["Values"][0] for p in self.parameters}

    def key(self, row):
        return tuple(int(row[n]) for n in self.names)

    def threads(self, row):
        """Threads of a block."""
        names = ("MDIMC", "NDIMC") if "MDIMC" in row else ("block_size_x", "block_size_y", "block_size_z")
        count = 1
        for n in names:
            count *= int(row.get(n) or 1)
        return count

    def tune(self, program, sources, sample, *flags):
        """JSON of `kernelcast tune` on the sample's configurations; raises RuntimeError with its message."""
        t1 = json.loads(json.dumps(self.t1))
        t1["ConfigurationSpace"]["TuningParameters"] = self.parameters
        wanted = ", ".join(str(self.key(r)) for r in sample)
        t1["ConfigurationSpace"]["Conditions"].append(
            {"Expression": "(" + ", ".join(self.names) + ") in [" + wanted + "]", "Parameters": self.names})
        with tempfile.NamedTemporaryFile("w", suffix=".t1.json") as file:
            json.dump(t1, file)
            file.flush()
            command = [program, "tune", os.path.join(self.data, self.kernel["wrapper"]), "-I", sources, "--kernel",
                       self.kernel["entry"], "--space", file.name, "--device", self.gpu, "--top", "all", "--format", "json",
                       "--search", "enumerate", *flags]
            for pair in filter(None, self.like["args"].split(";")):
                command += ["--arg", pair]
            result = subprocess.run(command, capture_output=True, text=True, check=False)
        if result.returncode != 0:
            raise RuntimeError(f"{self.name}: {result.stderr[:500]}")
        return json.loads(result.stdout)

    def predicted(self, answer):
        """By key: what an answer says of each configuration that it did not refuse."""
        return {tuple(int(b["params"][n]) for n in self.names): b for b in answer["best"]}
