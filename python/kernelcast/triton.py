"""Triton without a GPU: kernels compiled to PTX by Triton's own compiler, forecast, and the functions that `@triton.autotune` takes.

    @triton.autotune(configs, key=["M", "N", "K"], prune_configs_by={
        "early_config_prune": kernelcast.triton.early_config_prune(lambda: matmul, grid=lambda meta: (...), device="a100", keep=0.1)})
    @triton.jit
    def matmul(...): ...

The kernel is named by a function, because the decorators run before its name exists. Compilation stops before ptxas: what cannot launch
is dropped without it. Triton is needed (pip install triton), a GPU and a driver are not.
"""
import inspect
import math
import threading

from ._errors import Error, LimitError, UsageError
from ._forecast import Forecaster
from ._program import devices
from ._sources import SourceText

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


def _architecture(device):
    """80 for an A100: what Triton calls the target."""
    target = str(devices(device)["devices"][0]["codegen_target"])
    if not target.startswith("sm_"):
        raise LimitError(f"{device}: its target is {target}; forecasts of Triton kernels need an NVIDIA device")
    return int("".join(c for c in target[3:] if c.isdigit()))


def compile_to_ptx(kernel, arguments, *, arch, num_warps=4, num_stages=3, **options):
    """Compiled of `kernel` (a triton.jit function) for `arch` (80: sm_80).

    `arguments` by name: arrays (anything with dtype and shape), type names such as "*fp16" for pointers, numbers, and constexprs. As at a
    launch, numbers and pointers that 16 divides are compiled as such, and 1 becomes a constant.
    """
    from triton.backends.compiler import GPUTarget
    from triton.compiler.compiler import ASTSource, make_backend
    from triton._C.libtriton import ir

    function = _jit(kernel)
    signature, constants, attributes, left = {}, {}, {}, []
    for at, parameter in enumerate(function.params):
        name = parameter.name
        if name in arguments:
            value = arguments[name]
        elif parameter.default is not inspect.Parameter.empty and parameter.default is not None:
            value = parameter.default
        else:
            raise UsageError(f"{function.__name__}: no value for {name}: give it among the arguments")
        if parameter.is_constexpr or value is None or (isinstance(value, int) and not isinstance(value, bool) and value == 1):
            signature[name], constants[name] = "constexpr", value
            continue
        signature[name] = _type_of(name, value)
        left.append(name)
        if signature[name].startswith("*") or (isinstance(value, int) and not isinstance(value, bool) and value % 16 == 0):
            attributes[(at,)] = [["tt.divisibility", 16]]
    target = GPUTarget("cuda", arch, 32)
    key = (function.cache_key, arch, num_warps, num_stages, str(sorted(options.items())), str(signature), str(constants), str(attributes))
    with _lock:
        if key in _known:
            return _known[key]
        source = ASTSource(function, signature, constants, attributes)
        backend = make_backend(target)
        parsed = backend.parse_options({"num_warps": num_warps, "num_stages": num_stages, **options, **source.parse_options()})
        stages = {}
        backend.add_stages(stages, parsed, source.language)
        context = ir.context()
        ir.load_dialects(context)
        backend.load_dialects(context)
        metadata = {"target": target, **parsed.__dict__}
        module = source.make_ir(target, parsed, backend.get_codegen_implementation(parsed), backend.get_module_map(), context)
        for name, stage in stages.items():
            module = stage(module, metadata)
            if name == "ptx":
                break
        _known[key] = Compiled(module, metadata, left)
        return _known[key]


def forecast_config(kernel, arguments, *, grid, device, num_warps=4, num_stages=3, model="kernelcast", **options):
    """Forecast of one configuration. `grid`: sizes, or a function of the arguments that gives them."""
    compiled = compile_to_ptx(kernel, arguments, arch=_architecture_of(device), num_warps=num_warps, num_stages=num_stages, **options)
    sizes = grid(arguments) if callable(grid) else grid
    scalars, buffers = {}, {}
    for position, name in enumerate(compiled.arguments):
        value = arguments.get(name)
        if hasattr(value, "shape"):
            buffers[str(position)] = math.prod(value.shape)
        elif isinstance(value, (bool, int, float)):
            scalars[str(position)] = value
    return Forecaster(compiled.source(), device=device, model=model)(sizes, args=scalars, buffers=buffers)


_architectures = {}


def _architecture_of(device):
    if device not in _architectures:
        _architectures[device] = _architecture(device)
    return _architectures[device]


def perf_model(kernel, *, grid, device):
    """For `prune_configs_by={"perf_model": ...}`: seconds of a configuration, infinite where it cannot launch. `kernel`: the triton.jit
    function, or a function without parameters that returns it."""
    def model(**arguments):
        options = {name: arguments.pop(name) for name in _options if arguments.get(name) is not None}
        try:
            time = forecast_config(kernel, arguments, grid=grid, device=device, **options).time_s
        except Error:
            return math.inf
        return math.inf if time is None else time
    return model


def early_config_prune(kernel, *, grid, device, keep=0.1):
    """For `prune_configs_by={"early_config_prune": ...}`: the share `keep` of the configurations that are forecast fastest (at least one),
    the fastest first. Those that cannot launch are dropped; if none can, all are kept, so that Triton says why."""
    seconds = perf_model(kernel, grid=grid, device=device)

    def prune(configs, named_args, **kwargs):
        timed = [(seconds(**named_args, **kwargs, **config.all_kwargs()), at) for at, config in enumerate(configs)]
        good = sorted((time, at) for time, at in timed if math.isfinite(time))
        count = max(1, math.ceil(len(good) * keep)) if good else len(configs)
        return [configs[at] for _, at in (good or timed)[:count]]
    return prune
