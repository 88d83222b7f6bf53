"""The commands that the program answers: explain, advise, tune, check, offload, devices. Each runs it once and reads its JSON."""
import json
import os
import sys
from collections.abc import Iterable
from pathlib import Path

from . import _kinds
from ._errors import Error, SourceError, UsageError
from ._forecast import _buffer, _defines, _scalar, _tensor_boxes
from ._native import device_folder
from ._sources import _endings, read_source


class Answer(dict):
    """The JSON document of a command (its schema is in schema/), whose keys are attributes as well."""

    def __getattr__(self, name):
        try:
            value = self[name]
        except KeyError:
            raise AttributeError(f"the answer has no {name!r}; it has {', '.join(self)}") from None
        return value

    def to_json(self):
        """As text."""
        return json.dumps(self, indent=2)


_own = Path(__file__).resolve().parent / "bin" / "kernelcast"


def program():
    """Path of the kernelcast program: KERNELCAST, the package's own, or the one on PATH."""
    import shutil  # here and below: not needed for a forecast, and the package is to be imported quickly
    own = _own
    found = os.environ.get("KERNELCAST") or (str(own) if own.exists() else shutil.which("kernelcast"))
    if not found:
        raise Error("the program kernelcast is neither in the package nor on PATH: name it with the variable KERNELCAST")
    return found


def main():
    """The command `kernelcast` of an installed package."""
    words = sys.argv[1:]
    if words[:1] in (["sweep"], ["mcp"]):
        sys.argv = [f"kernelcast {words[0]}", *words[1:]]
        from importlib import import_module
        sys.exit(import_module(f"kernelcast.{words[0]}").main())
    path = os.environ.get("KERNELCAST") or str(_own)  # not one on PATH, which may be this command
    if folder := device_folder():
        os.environ.setdefault("KERNELCAST_DEVICES", folder)
    try:
        os.execv(path, ["kernelcast", *words])
    except OSError as error:
        sys.exit(f"kernelcast: {path}: {error.strerror}")


def _run(arguments, good=(0,)):
    import subprocess
    environment = dict(os.environ)
    if folder := device_folder():
        environment.setdefault("KERNELCAST_DEVICES", folder)
    done = subprocess.run([program(), *arguments, "--format", "json"], stdin=subprocess.DEVNULL, capture_output=True, text=True, env=environment,
                          check=False)
    if done.returncode in good and done.stdout:
        return json.loads(done.stdout, object_hook=Answer)
    words = "\n".join(line.removeprefix("kernelcast: ") for line in done.stderr.splitlines() if "--help` show usage" not in line)
    raise {1: SourceError, 2: UsageError}.get(done.returncode, Error)(words or f"kernelcast ended with status {done.returncode}")


def _comma(name, value):
    return value if isinstance(value, str) else ",".join(str(s) for s in _kinds.sizes(name, value))


def _flags(source, device, grid, block, global_size, shared, args, buffers, assume, kernel, defines, include_dirs, tensor_maps):
    flags = ["--device", ",".join(_kinds.names("device", device))] if device is not None else []
    for name, value in (("grid", grid), ("global", global_size), ("block", source.block if block is None else block)):
        if value is not None:
            flags += [f"--{name}", _comma(name, value)]
    shared = source.shared_bytes if shared is None else shared
    if shared:
        flags += ["--shared", shared if isinstance(shared, str) else str(_kinds.whole("shared", shared))]
    for name, value in _kinds.mapping("args", args, '{"n": 1024}').items():
        flags += ["--arg", f"{name}={_scalar(name, value)}"]
    for name, value in _kinds.mapping("buffers", buffers, '{"x": 1024}').items():
        count, fill = _buffer(name, value)
        flags += ["--buffer", f"{name}={count}" + (f":{fill}" if fill else "")]
    for name, value in _kinds.reals("assume", assume, '{"trips:14": 3}').items():
        flags += ["--assume", f"{name}={value:.17g}"]
    if kernel or source.kernel:
        flags += ["--kernel", _kinds.text("kernel", kernel or source.kernel)]
    for define in _defines(defines):
        flags += ["-D", define]
    for folder in _kinds.paths("include_dirs", include_dirs):
        flags += ["-I", folder]
    for box in _tensor_boxes(tensor_maps):
        flags += ["--tensor-map", box]
    return flags


class _OnDisk:
    """The path of a source, written to a folder of its own for as long as the program runs where it has no file."""

    def __init__(self, source, lang):
        self.source = read_source(source, lang)
        self.folder = None

    def __enter__(self):
        if Path(self.source.path).exists():
            return self.source.path
        import tempfile
        self.folder = tempfile.TemporaryDirectory(prefix="kernelcast-")
        name = Path(self.source.path).stem + _endings.get(self.source.language, Path(self.source.path).suffix)
        path = Path(self.folder.name) / name
        path.write_text(self.source.text, encoding="utf-8", errors="surrogateescape")
        return str(path)

    def __exit__(self, *_):
        if self.folder:
            self.folder.cleanup()


def _ask(command, source, lang, extra, good=(0,), device=None, grid=None, block=None, global_size=None, shared=None, args=None, buffers=None,
         assume=None, kernel="", defines=None, include_dirs=(), tensor_maps=None):
    held = _OnDisk(source, lang)
    flags = _flags(held.source, device, grid, block, global_size, shared, args, buffers, assume, kernel, defines, include_dirs,
                   tensor_maps)
    with held as path:
        return _run([command, path, *flags, *extra], good)


def explain(source, *, lang="", **launch):
    """Where the time goes, line by line. Keywords as for forecast; an Answer as schema/explain.schema.json has it."""
    return _ask("explain", source, lang, [], **launch)


def advise(source, *, lang="", **launch):
    """What to change, and what it gains. Keywords as for forecast; an Answer with `findings`."""
    return _ask("advise", source, lang, [], **launch)


def tune(source, *, lang="", problem=None, tile=None, params=None, constraints=(), top=None, **launch):
    """The best configurations. `block` takes ranges as text ("32..1024:*2"); `params`: {"TILE": [1, 2, 4]} become defines; `problem`:
    sizes from which the grid follows; `tile`: elements per thread; `top`: a number, or "all"; the rest as for forecast."""
    extra = ["--problem", _comma("problem", problem)] if problem is not None else []
    if tile is not None:
        extra += ["--tile", _comma("tile", tile)]
    for name, values in _kinds.mapping("params", params, '{"TILE": [8, 16]}').items():
        if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
            _kinds.refuse(f"params[{name!r}]", values, "a list of values")
        extra += ["--param", f"{name}={','.join(str(v) for v in values)}"]
    for text in _kinds.names("constraints", constraints):
        extra += ["--constraint", text]
    if top is not None:
        extra += ["--top", str(top)]
    return _ask("tune", source, lang, extra, **launch)


def check(base, new, *, device, max_slowdown="5%", lang="", **launch):
    """Whether `new` is slower than `base`: an Answer with `checks`; a broken gate is an answer, not an exception."""
    held_base, held_new = _OnDisk(base, lang), _OnDisk(new, lang)
    keys = ("grid", "block", "global_size", "shared", "args", "buffers", "assume", "kernel", "defines", "include_dirs", "tensor_maps")
    given = {key: launch.pop(key, () if key == "include_dirs" else None) for key in keys}
    if launch:
        raise TypeError(f"check() has no argument {', '.join(launch)}")
    flags = _flags(held_new.source, device, **given)
    most = max_slowdown if isinstance(max_slowdown, str) else str(_kinds.real("max_slowdown", max_slowdown))
    with held_base as one, held_new as two:
        return _run(["check", one, two, *flags, "--max-slowdown", most], good=(0, 3))


def offload(source, *, cpu, gpu, lang="", **launch):
    """Whether the GPU is worth it: an Answer with `decision`, `cpu` and `gpu`."""
    return _ask("offload", source, lang, ["--cpu", _kinds.text("cpu", cpu), "--gpu", _kinds.text("gpu", gpu)], **launch)


def devices(name=None):
    """All devices, or one with the source of every number: an Answer."""
    return _run(["devices"] + ([] if name is None else [_kinds.text("name", name)]))
