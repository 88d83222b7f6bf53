"""Triton without a GPU: kernels compiled to PTX by Triton's own compiler, forecast, and the functions that `@triton.autotune` takes.

    @triton.autotune(configs, key=["M", "N", "K"], prune_configs_by={
        "early_config_prune": kernelcast.triton.early_config_prune(lambda: matmul, grid=lambda meta: (...), device="a100", keep=0.1)})
    @triton.jit
    def matmul(...): ...

The kernel is named by a function, because the decorators run before its name exists. Compilation stops before ptxas: what cannot launch
is dropped without it. Triton is needed (pip install triton), a GPU and a driver are not.
"""
import concurrent.futures
import inspect
import math
import os
import threading

from ._errors import Error, LimitError, UsageError
from ._forecast import Forecaster
from ._program import devices
from ._sources import SourceText
from ._ttir import read as read_tile, seconds as tile_seconds

__all__ = ["Compiled", "compile_to_ptx", "early_config_prune", "forecast_config", "perf_model"]

_dtypes = {"float16": "fp16", "bfloat16": "bf16", "float32": "fp32", "float64": "fp64", "int8": "i8", "int16": "i16", "int32": "i32",
           "int64": "i64", "uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64", "bool": "i1",
           "float8_e4m3fn": "fp8e4nv", "float8_e5m2": "fp8e5"}
_options = ("num_warps", "num_stages", "num_ctas", "maxnreg")
_known = {}
_lock = threading.Lock()


class Compiled:
    """PTX of one specialization. `asm["ptx"]` and `metadata` are as Triton's CompiledKernel has them; `arguments`: its parameters' names in
    the order of the PTX."""

    def __init__(self, ptx, metadata, arguments):
        self.asm, self.metadata, self.arguments = {"ptx": ptx}, metadata, arguments

    def source(self):
        return SourceText(f"{self.metadata['name']}.ptx", self.asm["ptx"], "ptx", self.metadata["name"], self.metadata["num_warps"] * 32,
                          self.metadata["shared"])


def _jit(kernel):
    """The JITFunction below autotuners and heuristics; `kernel` may be a function without parameters that returns it."""
    if not hasattr(kernel, "arg_names") and callable(kernel):
        kernel = kernel()
    while hasattr(kernel, "fn") and not hasattr(kernel, "cache_key"):
        kernel = kernel.fn
    if not hasattr(kernel, "arg_names"):
        raise TypeError(f"kernel is {type(kernel).__name__}: expected a triton.jit function, or a function that returns one")
    return kernel


def _type_of(name, value):
    dtype = getattr(value, "dtype", None)
    if dtype is not None and hasattr(value, "shape"):
        text = str(dtype).rsplit(".", 1)[-1]
        if text not in _dtypes:
            raise TypeError(f"argument {name}: elements of type {text} are not known here")
        return "*" + _dtypes[text]
    if isinstance(value, str):  # "*fp16": a pointer of which only the type is known
        return value
    if isinstance(value, bool):
        return "i1"
    if isinstance(value, int):
        return "i32" if -2**31 <= value < 2**31 else "i64"
    if isinstance(value, float):
        return "fp32"
    raise TypeError(f"argument {name} is {type(value).__name__}: expected an array, a type such as '*fp16', or a number")


def _architecture(name, device):
    """80 for an A100: what Triton calls the target. `device`: what devices() says of it."""
    target = str(device["codegen_target"])
    if not target.startswith("sm_"):
        raise LimitError(f"{name}: its target is {target}; Triton and Numba are asked for PTX, which needs an NVIDIA device")
    return int("".join(c for c in target[3:] if c.isdigit()))


class _Specialization:
    """One kernel with argument types, constants and alignments: what Triton compiles for a launch."""

    def __init__(self, kernel, arguments):
        function = _jit(kernel)
        self.function, self.signature, self.constants, self.attributes, self.left = function, {}, {}, {}, []
        for at, parameter in enumerate(function.params):
            name = parameter.name
            if name in arguments:
                value = arguments[name]
            elif parameter.default is not inspect.Parameter.empty and parameter.default is not None:
                value = parameter.default
            else:
                raise UsageError(f"{function.__name__}: no value for {name}: give it among the arguments")
            if parameter.is_constexpr or value is None or (isinstance(value, int) and not isinstance(value, bool) and value == 1):
                self.signature[name], self.constants[name] = "constexpr", value
                continue
            self.signature[name] = _type_of(name, value)
            self.left.append(name)
            if self.signature[name].startswith("*") or (isinstance(value, int) and not isinstance(value, bool) and value % 16 == 0):
                self.attributes[(at,)] = [["tt.divisibility", 16]]

    def key(self):
        return self.function.cache_key, str(self.signature), str(self.constants), str(self.attributes)

    def source(self):
        from triton.compiler.compiler import ASTSource
        return ASTSource(self.function, self.signature, self.constants, self.attributes)

    def lower(self, arch, last, options):
        """Module after Triton's stage `last`, and its metadata."""
        from triton.backends.compiler import GPUTarget
        from triton.compiler.compiler import make_backend
        from triton._C.libtriton import ir
        target, source = GPUTarget("cuda", arch, 32), self.source()
        backend = make_backend(target)
        parsed = backend.parse_options({**options, **source.parse_options()})
        stages = {}
        backend.add_stages(stages, parsed, source.language)
        context = ir.context()
        ir.load_dialects(context)
        backend.load_dialects(context)
        metadata = {"target": target, **parsed.__dict__}
        module = source.make_ir(target, parsed, backend.get_codegen_implementation(parsed), backend.get_module_map(), context)
        for name, stage in stages.items():
            module = stage(module, metadata)
            if name == last:
                break
        return (module if isinstance(module, str) else str(module)), metadata


def _once(key, make):
    """`make()`, once for each key; other keys may be made by other threads meanwhile."""
    with _lock:
        entry = _known.setdefault(key, [threading.Lock()])
    with entry[0]:
        if len(entry) == 1:
            entry.append(make())
        return entry[1]


def compile_to_ptx(kernel, arguments, *, arch, num_warps=4, num_stages=3, **options):
    """Compiled of `kernel` (a triton.jit function) for `arch` (80: sm_80).

    `arguments` by name: arrays (anything with dtype and shape), type names such as "*fp16" for pointers, numbers, and constexprs. As at a
    launch, numbers and pointers that 16 divides are compiled as such, and 1 becomes a constant.
    """
    special = _Specialization(kernel, arguments)
    options = {"num_warps": num_warps, "num_stages": num_stages, **options}
    return _once((*special.key(), arch, str(sorted(options.items()))), lambda: Compiled(*special.lower(arch, "ptx", options), special.left))


def _tile(kernel, arguments, arch):
    """What one program does, by TTIR: the same for all numbers of warps and stages."""
    special = _Specialization(kernel, arguments)
    scalars = {name: arguments[name] for name in special.left if isinstance(arguments.get(name), (bool, int, float))}
    return _once((*special.key(), arch, str(scalars)), lambda: read_tile(special.lower(arch, "ttir", {})[0], scalars))


def forecast_config(kernel, arguments, *, grid, device=None, num_warps=4, num_stages=3, model="kernelcast", execute=True, assume=None, cache="cold",
                    **options):
    """Forecast of one configuration. `grid`: sizes, or a function of the arguments that gives them. `execute`: as for Forecaster; `assume`
    and `cache`: as for forecast(). `device`: default the current one."""
    device = device or current_device()
    compiled = compile_to_ptx(kernel, arguments, arch=_architecture_of(device), num_warps=num_warps, num_stages=num_stages, **options)
    sizes = grid(arguments) if callable(grid) else grid
    scalars, buffers = {}, {}
    for position, name in enumerate(compiled.arguments):
        value = arguments.get(name)
        if hasattr(value, "shape"):
            buffers[str(position)] = math.prod(value.shape)
        elif isinstance(value, (bool, int, float)):
            scalars[str(position)] = value
    return Forecaster(compiled.source(), device=device, model=model, execute=execute)(sizes, args=scalars, buffers=buffers, assume=assume,
                                                                                             cache=cache)


_devices = {}


def _plain(name):
    """"NVIDIA GeForce RTX 3080" and "nvidia-geforce-rtx-3080" are one name."""
    return "".join(c for c in name.lower() if c.isalnum()).removeprefix("nvidia")


def current_device():
    """The id of the GPU that PyTorch has chosen, by its name."""
    try:
        from torch import cuda
        name = cuda.get_device_name()
    except (ImportError, AssertionError, RuntimeError) as error:
        raise UsageError(f"there is no current GPU ({error}): name one with device") from None
    for device in devices()["devices"]:
        if _plain(name) in map(_plain, (device["id"], device["name"], *device.get("aliases", ()))):
            return device["id"]
    raise UsageError(f"the current GPU, {name}, is none of the devices by its name: name one with device")


def _device(name):
    """(architecture, numbers by field) of a device; None: the current one."""
    name = name or current_device()
    if name not in _devices:
        device = devices(name)["devices"][0]
        arch = _architecture(name, device)
        fields = {field["key"]: field["value"] for field in device["fields"]}
        _devices[name] = arch, {**fields, "compute_capability": arch // 10}
    return _devices[name]


def _architecture_of(device):
    return _device(device)[0]


def _split_options(arguments):
    """(arguments of the kernel, options of the compiler)."""
    return ({name: value for name, value in arguments.items() if name not in _options},
            {name: arguments[name] for name in _options if arguments.get(name) is not None})


def perf_model(kernel, *, grid, device=None):
    """For `prune_configs_by={"perf_model": ...}`: seconds of a configuration, infinite where it cannot launch. `kernel`: the triton.jit
    function, or a function without parameters that returns it. `device`: a name; without it the current GPU, which PyTorch tells."""
    def model(**arguments):
        return _seconds(kernel, *_split_options(arguments), grid, device)
    return model


def _seconds(kernel, arguments, options, grid, device, **how):
    try:
        time = forecast_config(kernel, arguments, grid=grid, device=device, **options, **how).time_s
    except Error:
        return math.inf
    return math.inf if time is None else time


def _first_seconds(kernel, arguments, options, grid, device):
    """Seconds by TTIR alone: an order, not a forecast."""
    from triton.compiler.errors import CompileTimeAssertionFailure
    arch, fields = _device(device)
    try:
        tile = _tile(kernel, arguments, arch)
    except CompileTimeAssertionFailure:
        return math.inf
    sizes = grid(arguments) if callable(grid) else grid
    programs = sizes if isinstance(sizes, int) else math.prod(sizes)
    return tile_seconds(tile, programs, options.get("num_warps", 4), options.get("num_stages", 3), fields)


def early_config_prune(kernel, *, grid, device=None, keep=0.1, compiled=1.0, threads=None):
    """For `prune_configs_by={"early_config_prune": ...}`: the share `keep` of the configurations that are forecast fastest (at least one),
    the fastest first. Those that cannot launch are dropped; if none can, all are kept, so that Triton says why. `device`: a name; without
    it the current GPU, which PyTorch tells.

    All are ordered by their tiles first, before they have code. `compiled` times as many as are kept are then compiled to PTX and forecast
    by closed forms, in `threads` threads (default: one a processor), and more of them where some cannot launch. 1.5 costs half as much
    again and may find a configuration whose code is better than its tile; infinity compiles all.
    """
    def prune(configs, named_args, **kwargs):
        every = [_split_options({**named_args, **kwargs, **config.all_kwargs()}) for config in configs]
        first = sorted((_first_seconds(kernel, *given, grid, device), at) for at, given in enumerate(every))
        waiting = [at for time, at in first if math.isfinite(time)]
        kept = max(1, math.ceil(len(waiting) * keep))
        more, good = min(len(waiting), math.ceil(kept * max(1.0, compiled))) if math.isfinite(compiled) else len(waiting), []
        with concurrent.futures.ThreadPoolExecutor(threads or os.cpu_count()) as pool:
            while waiting and more > 0:
                chosen, waiting = waiting[:more], waiting[more:]
                times = pool.map(lambda at: _seconds(kernel, *every[at], grid, device, execute=False), chosen)
                good += sorted((time, at) for time, at in zip(times, chosen) if math.isfinite(time))
                more = kept - len(good)
        return [configs[at] for _, at in sorted(good)[:kept]] or list(configs)
    return prune
