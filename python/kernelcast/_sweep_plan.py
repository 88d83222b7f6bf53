"""The plan of a sweep: a TOML file, completed with the text of its sources, and divided into shards."""
import hashlib
import itertools
import json
import numbers
import os
import threading
from dataclasses import dataclass
from pathlib import Path

from ._errors import UsageError
from ._native import __version__, device_folder, native

ROWS_OF_A_SHARD = 1 << 18
_KERNEL_KEYS = {"source", "name", "kernel", "lang", "std", "block", "grid", "global", "problem", "tile", "shared", "params", "constraints", "args",
                "buffers", "assume", "defines", "include_dirs", "fast_math", "devices"}
_PLAN_KEYS = {"devices", "model", "risk", "compile_seconds", "device_dir", "kernel"}


@dataclass(frozen=True)
class Shard:
    """Configurations `begin` to `end` of one kernel; `rows` is the most that they give."""
    number: int
    kernel: int
    begin: int
    end: int
    rows: int


def _words(value):
    """As the flags of `kernelcast tune` have it: 32, "32..1024:*2", [16, 16], {list}."""
    if isinstance(value, str):
        return value
    return ",".join(str(v) for v in value) if isinstance(value, list) else str(value)


def _expanded(entry):
    """One entry for each combination of the arguments and buffers that are lists."""
    axes = [(group, name, values) for group in ("args", "buffers") for name, values in entry.get(group, {}).items() if isinstance(values, list)]
    for chosen in itertools.product(*(values for _, _, values in axes)):
        own = {key: dict(value) if key in ("args", "buffers") else value for key, value in entry.items()}
        for (group, name, _), value in zip(axes, chosen):
            own[group][name] = value
        yield own


def _check(place, given, known):
    for key in given:
        if key not in known:
            raise UsageError(f"{place}: unknown key '{key}'; known are {', '.join(sorted(known))}")


class Plan:
    """`text`: JSON that says all that a worker needs; `digest`: of text and version, by which a file is known to be this plan's."""

    def __init__(self, text):
        self.text = text
        self.digest = hashlib.sha256((__version__ + "\n" + text).encode()).hexdigest()
        self._document = json.loads(text)
        self.kernels = self._document["kernels"]
        self._made, self._lock = {}, threading.Lock()

    @classmethod
    def read(cls, path):
        try:
            import tomllib
        except ImportError:
            raise ImportError("plans need Python 3.11 or later (tomllib)") from None
        path = Path(path)
        try:
            document = tomllib.loads(path.read_text(encoding="utf-8"))
        except tomllib.TOMLDecodeError as error:
            raise UsageError(f"{path}: {error}") from None
        return cls.of(document, path.parent, str(path))

    @classmethod
    def of(cls, document, folder, place):
        """From the TOML's contents; paths are relative to `folder`."""
        _check(place, document, _PLAN_KEYS)
        entries = document.get("kernel")
        if not entries or not isinstance(entries, list):
            raise UsageError(f"{place}: no [[kernel]] is given")
        kernels = []
        for number, entry in enumerate(entries, 1):
            where = f"{place}: kernel {number}"
            _check(where, entry, _KERNEL_KEYS)
            if "source" not in entry:
                raise UsageError(f"{where}: no source is given")
            source = Path(folder) / entry["source"]
            text = source.read_text(encoding="utf-8", errors="surrogateescape")
            devices = entry.get("devices", document.get("devices"))
            if not devices:
                raise UsageError(f"{where}: no devices are given, here or at the top")
            for own in _expanded(entry):
                kernels.append({**own, "name": own.get("name", own.get("kernel") or Path(own["source"]).stem), "source": str(source), "text": text,
                                "devices": [devices] if isinstance(devices, str) else devices,
                                "include_dirs": [str((Path(folder) / d).absolute()) for d in own.get("include_dirs", [])]})
        folder = document.get("device_dir", "") or device_folder()
        own = {"kernels": kernels, "model": document.get("model", "kernelcast"), "risk": document.get("risk", 0.5),
               "compile_seconds": document.get("compile_seconds", 60), "device_dir": os.path.abspath(folder) if document.get("device_dir") else ""}
        plan = cls(json.dumps(own, sort_keys=True))
        for k in range(len(kernels)):  # what is wrong is said before anything runs
            plan.swept(k)
        return plan

    def swept(self, number):
        """The native sweep of kernel `number`."""
        with self._lock:
            if number not in self._made:
                self._made[number] = self._make(number)
            return self._made[number]

    def _make(self, number):
        k, document = self.kernels[number], self._document
        settings, flags = native.Settings(), native.SpaceFlags()
        settings.path, settings.text = k["source"], k["text"]
        settings.language, settings.kernel, settings.standard = k.get("lang", ""), k.get("kernel", ""), k.get("std", "")
        settings.device_folder = document["device_dir"] or device_folder()
        settings.devices, settings.models = k["devices"], [document["model"]]
        settings.defines = [f"{name}={value}" for name, value in k.get("defines", {}).items()]
        settings.include_dirs, settings.fast_math = k["include_dirs"], k.get("fast_math", False)
        settings.compile_seconds = document["compile_seconds"]
        for name in ("block", "grid", "problem", "tile", "shared"):
            if name in k:
                setattr(flags, name, _words(k[name]))
        if "global" in k:
            flags.global_size = _words(k["global"])
        flags.parameters = [f"{name}={_words(values)}" for name, values in k.get("params", {}).items()]
        flags.constraints = list(k.get("constraints", []))
        for name, value in k.get("args", {}).items():
            if not isinstance(value, numbers.Real):
                raise UsageError(f"{k['source']}: args.{name} is {value!r}: expected a number or a list of them")
        buffers = {name: (b, "") if isinstance(b, int) else (b[0], b[1]) for name, b in k.get("buffers", {}).items()}
        return native.SweptKernel(settings, flags, k.get("args", {}), buffers, k.get("assume", {}), document["risk"])

    def shards(self):
        """The same for everybody who has the plan: in the order of the file's rows."""
        shards = []
        for number, kernel in enumerate(self.kernels):
            devices = len(kernel["devices"])
            step = max(1, ROWS_OF_A_SHARD // devices)
            count = self.swept(number).configurations
            for begin in range(0, count, step):
                end = min(begin + step, count)
                shards.append(Shard(len(shards), number, begin, end, (end - begin) * devices))
        return shards

    @property
    def parameter_names(self):
        """Of all kernels, each once, in the order of their appearance."""
        return list(dict.fromkeys(name for k in range(len(self.kernels)) for name, _ in self.swept(k).parameters))
