"""forecast() and Forecaster: in this process, with no file written."""
import json
import numbers
import os
from collections.abc import Iterable
from dataclasses import dataclass, field

from . import _kinds
from ._errors import UsageError
from ._native import device_folder, native
from ._sources import is_numba_launch, is_triton_function, read_source


@dataclass(frozen=True, slots=True)
class Bound:
    """One named bound of the time. `time_s` (seconds) is None where the model cannot say."""
    name: str
    time_s: float | None
    why: str


@dataclass(frozen=True, slots=True)
class Assumption:
    """Something taken for granted; `replace` is the argument that replaces it, empty where nothing can be given."""
    what: str
    value: str
    replace: str


@dataclass(slots=True)
class Forecast:
    """One kernel on one device by one model. None stands for unknown; `failure` then says why."""
    kernel: str
    device: str
    model: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    time_s: float | None
    interval_s: tuple[float, float] | None
    limiter: str | None
    floor_s: float | None
    energy_j: float | None
    occupancy: float | None
    _native: object = field(repr=False, compare=False)

    @property
    def bounds(self):
        """The bounds of the time, the binding one first: a list of Bound."""
        return [Bound(*b) for b in self._native.bounds]

    @property
    def assumptions(self):
        """What was taken for granted: a list of Assumption."""
        return [Assumption(*a) for a in self._native.assumptions]

    @property
    def failure(self):
        """Why there is no time; empty where there is one."""
        return self._native.failure

    def to_dict(self):
        """The entry of `predictions` that `kernelcast predict --format json` writes (schema/predict.schema.json)."""
        return json.loads(self._native.json())["predictions"][0]

    def to_json(self):
        """The whole document of `kernelcast predict --format json`, as text."""
        return self._native.json()

    def _repr_html_(self):
        from ._html import forecast_html
        return forecast_html(self)


def _scalar(name, value):
    if type(value) is int or type(value) is float:
        return value
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real):
        return float(value)
    raise TypeError(f"args[{name!r}] is {type(value).__name__}: expected an integer or a real number; arrays are given as buffers")


def _buffer(name, value):
    if isinstance(value, numbers.Integral):
        return int(value), ""
    if isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], numbers.Integral) and isinstance(value[1], str):
        return int(value[0]), value[1]
    size = getattr(value, "size", None)  # numpy; torch has a method of that name
    if callable(size):
        size = value.numel()
    if isinstance(size, numbers.Integral):
        return int(size), ""
    raise TypeError(f"buffers[{name!r}] is {type(value).__name__}: expected a number of elements, (elements, fill) or an array")


def _tensor_box(name, box):
    try:
        sizes, element_bytes = box
        return f"{name}={'x'.join(str(int(n)) for n in sizes)}:{int(element_bytes)}"
    except (TypeError, ValueError):
        raise TypeError(f"tensor_maps[{name!r}]: expected (sizes, bytes of an element), such as ((64, 128), 2)") from None


def _tensor_boxes(boxes):
    return [_tensor_box(name, box) for name, box in _kinds.mapping("tensor_maps", boxes, '{"A": ((64, 128), 2)}').items()]


def _defines(defines):
    return [f"{name}={value}" for name, value in _kinds.mapping("defines", defines, '{"TILE": 16}').items()]


def _setting(name, value):
    """Of the command line, "" for None."""
    if value is None or isinstance(value, str):
        return value or ""
    return str(_kinds.real(name, value))


_none = {}


def _plain(args):
    for name, value in args.items():
        if type(name) is not str or (type(value) is not int and type(value) is not float):
            return False
    return True


class Forecaster:
    """A source that is analysed once, for many launches.

    `source`: a path, source text, a list of texts as PyTorch's load_inline takes them, a compiled Triton or Numba kernel, or a
    cupy.RawKernel. `device`, `model`: a name or several.
    `defines`: {"NAME": value}. `tensor_maps`: {"NAME": ((64, 128), 2)}, the box in elements and the bytes of one.
    `clock`: of the GPU's units, in Hz, "base" or "boost"; `power_limit`: of the GPU, in W. `execute=False` counts by
    closed forms alone. Calling it gives what `forecast` gives.
    """

    def __init__(self, source, *, device, kernel="", model="kernelcast", lang="", defines=None, include_dirs=(), std="", fast_math=False,
                 execute=True, compile_seconds=120.0, device_dir="", tensor_maps=None, clock=None, power_limit=None):
        self._source = read_source(source, lang)
        settings = native.Settings()
        settings.path, settings.text, settings.language = self._source.path, self._source.text, self._source.language
        settings.kernel, settings.standard = _kinds.text("kernel", kernel or self._source.kernel), _kinds.text("std", std)
        settings.device_folder = os.fspath(device_dir) if isinstance(device_dir, os.PathLike) else _kinds.text("device_dir", device_dir)
        settings.device_folder = settings.device_folder or device_folder()
        settings.clock, settings.power_limit = (_setting(name, value) for name, value in (("clock", clock), ("power_limit", power_limit)))
        settings.devices, settings.models = _kinds.names("device", device), _kinds.names("model", model)
        settings.defines = _defines(defines)
        settings.include_dirs = _kinds.paths("include_dirs", include_dirs)
        settings.tensor_maps = _tensor_boxes(tensor_maps)
        settings.fast_math, settings.execute = _kinds.truth("fast_math", fast_math), _kinds.truth("execute", execute)
        settings.compile_seconds = _kinds.real("compile_seconds", compile_seconds)
        self._shared = self._source.shared_bytes or 0
        self._one = isinstance(device, str) and isinstance(model, str)
        self._analysed = native.Analysed(settings)

    def __call__(self, grid=None, block=None, *, global_size=None, shared=None, args=None, buffers=None, assume=None, cache="cold"):
        """A Forecast, or a list of them where several devices or models were named."""
        # Most calls of a search have a grid, a block and plain numbers; they take the short way. The long one says what is wrong.
        if not (type(grid) is int and type(block) is int and 0 < grid < 2**63 and 0 < block < 2**63 and shared is global_size is assume is None
                and not buffers and cache == "cold" and type(args) is dict and _plain(args)):
            return self._checked(grid, block, global_size, shared, args, buffers, assume, cache)
        found = self._analysed.on((grid, 1, 1), False, (block, 1, 1), self._shared, args, _none, _none, False)
        if self._one:
            return Forecast(*found[0])
        return [Forecast(*fields) for fields in found]

    def _checked(self, grid, block, global_size, shared, args, buffers, assume, cache):
        if (grid is None) == (global_size is None):
            raise UsageError("give either grid (in blocks) or global_size (in threads)")
        if block is None:
            block = self._source.block
        if block is None:
            raise UsageError("give the threads of a block with block")
        if shared is None:
            shared = self._shared
        scalars = {str(name): _scalar(name, value) for name, value in _kinds.mapping("args", args, '{"n": 1024}').items()} if args else {}
        memory = {str(name): _buffer(name, value) for name, value in _kinds.mapping("buffers", buffers, '{"x": 1024}').items()} if buffers else {}
        assumed = _kinds.reals("assume", assume, '{"trips:14": 3}') if assume else {}
        sizes = _kinds.sizes("grid", grid) if grid is not None else _kinds.sizes("global_size", global_size)
        if cache != "cold" and _kinds.text("cache", cache) != "warm":
            raise UsageError(f"cache is {cache!r}: expected 'cold' or 'warm'")
        found = self._analysed.on(sizes, grid is None, _kinds.sizes("block", block), _kinds.whole("shared", shared), scalars, memory,
                                  assumed, cache == "warm")
        forecasts = [Forecast(*fields) for fields in found]
        return forecasts[0] if self._one else forecasts


def _refuse_given(source, **values):
    for name, value in values.items():
        if value is not None:
            raise UsageError(f"{name} is not given for {source}")


def forecast(source, *, device, grid=None, block=None, global_size=None, shared=None, args=None, buffers=None, assume=None, cache="cold",
             **analysis):
    """How long one launch takes.

    `grid` in blocks or `global_size` in threads, `block` in threads, `shared`: dynamic shared memory in bytes. `args`: scalar arguments
    by name or position; `buffers`: elements of pointer arguments, (elements, fill), or arrays whose size is taken. `assume`: answers to
    what analysis cannot know ({"trips:14": 3}). `cache`: "warm" where an earlier launch left in the L2 what fits there. The rest is as for
    Forecaster. Of a triton.jit function `args` are all arguments, arrays or "*fp16" for pointers, and `num_warps` and `num_stages` may be
    given. Of a numba.cuda.jit function `args` are all arguments in order or by name: NumPy arrays and numbers. Raises SourceError,
    UsageError or LimitError where no device and model has an answer.
    """
    if is_triton_function(source):
        from .triton import forecast_config
        _refuse_given("a triton.jit function: Triton decides, by grid and args", block=block, global_size=global_size, shared=shared, buffers=buffers)
        if grid is None:
            raise UsageError("give grid, in programs of the triton.jit function")
        arguments = dict(_kinds.mapping("args", args, '{"x": "*fp32", "n": 1024}'))
        found = [forecast_config(source, arguments, grid=grid, device=d, assume=assume, cache=cache, **analysis) for d in _kinds.names("device", device)]
        return found[0] if isinstance(device, str) else found
    if is_numba_launch(source, args):
        from ._numba import forecast_function
        _refuse_given("a function of numba.cuda.jit: arrays among args have sizes, grid is in blocks", global_size=global_size, buffers=buffers)
        return forecast_function(source, args, device=device, grid=grid, block=block, shared=shared, assume=assume, cache=cache, **analysis)
    return Forecaster(source, device=device, **analysis)(grid, block, global_size=global_size, shared=shared, args=args, buffers=buffers,
                                                         assume=assume, cache=cache)


def frame(forecasts):
    """Forecasts as a pandas DataFrame, one row each: the dataclass's fields, sizes as text, and a column `bound_NAME` (seconds) for each bound."""
    try:
        import pandas
    except ImportError:
        raise ImportError("frame() needs pandas: pip install pandas") from None
    if isinstance(forecasts, Forecast):
        forecasts = [forecasts]
    rows = []
    for f in forecasts if isinstance(forecasts, Iterable) else _kinds.refuse("forecasts", forecasts, "Forecasts"):
        if not isinstance(f, Forecast):
            _kinds.refuse("one of the forecasts", f, "a Forecast")
        low, high = f.interval_s or (None, None)
        rows.append({"kernel": f.kernel, "device": f.device, "model": f.model, "grid": "x".join(map(str, f.grid)), "block": "x".join(map(str, f.block)),
                     "time_s": f.time_s, "low_s": low, "high_s": high, "limiter": f.limiter, "floor_s": f.floor_s, "energy_j": f.energy_j,
                     "occupancy": f.occupancy, **{f"bound_{b.name}": b.time_s for b in f.bounds}, "failure": f.failure or None})
    return pandas.DataFrame(rows)
