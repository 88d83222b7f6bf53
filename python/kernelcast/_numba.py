"""Numba without a GPU: functions of @cuda.jit compiled to PTX by Numba's own compiler (numba-cuda), for the arguments of a launch.

Numba passes an array as 5 + 2 n parameters of PTX: two pointers that its run time uses, elements, bytes of an element, the data, then n
sizes and n strides (numba/core/typing and its documentation, "Array layout"). They follow from the array, so callers give arrays.
"""
import inspect
import math
import numbers
import re

from . import _kinds
from ._errors import Error, SourceError, UsageError
from ._forecast import Forecaster
from ._sources import SourceText
from .triton import _architecture_of

__all__ = ["forecast_function", "parameters_of"]


def _in_order(function, args):
    names = list(inspect.signature(function).parameters)
    if isinstance(args, (list, tuple)):
        if len(args) != len(names):
            raise UsageError(f"{function.__name__} takes {len(names)} arguments ({', '.join(names)}): args has {len(args)}")
        return dict(zip(names, args))
    args = _kinds.mapping("args", args, '{"x": array, "n": 1024}')
    for name in args:
        if name not in names:
            raise UsageError(f"args: {function.__name__} has no argument {name}: it takes {', '.join(names)}")
    for name in names:
        if name not in args:
            raise UsageError(f"{function.__name__}: no value for {name}: give it among args")
    return {name: args[name] for name in names}


def parameters_of(values):
    """Scalars and buffers by parameter of the PTX, of arguments in order: numbers and arrays (what has shape, strides and itemsize)."""
    scalars, buffers, at = {}, {}, 0
    for name, value in values.items():
        if isinstance(value, numbers.Number):  # NumPy's too
            scalars[f"param_{at}"] = value.item() if hasattr(value, "item") else value
            at += 1
        elif hasattr(value, "shape") and hasattr(value, "strides") and hasattr(value, "itemsize"):
            size = math.prod(map(int, value.shape))
            fields = [size, int(value.itemsize), None, *map(int, value.shape), *map(int, value.strides)]
            for k, field in enumerate(fields, start=2):
                if field is not None:
                    scalars[f"param_{at + k}"] = field
            buffers[f"param_{at + 4}"] = size
            at += 2 + len(fields)
        else:
            raise TypeError(f"args[{name!r}] is {type(value).__name__}: expected a number or a NumPy array")
    return scalars, buffers


def _ptx(dispatcher, values, capability):
    import numba
    from numba import cuda
    options = dispatcher.targetoptions
    try:
        types = tuple(numba.typeof(v) for v in values.values())
        ptx, _ = cuda.compile_ptx(dispatcher.py_func, types, cc=capability, fastmath=bool(options.get("fastmath")), abi="numba")
    except numba.core.errors.NumbaError as e:
        raise SourceError(f"{dispatcher.py_func.__name__}: Numba does not compile it: {e}") from None
    except Exception as e:  # NVVM refuses what it does not know, such as a target, by errors of its own
        raise Error(f"{dispatcher.py_func.__name__}: Numba does not compile it for sm_{capability[0]}{capability[1]}: {e}") from None
    symbol = re.search(r"\.entry\s+([^\s(]+)", ptx)[1]
    return ptx.replace(symbol, dispatcher.py_func.__name__)  # its own name in place of one that holds all types


def forecast_function(dispatcher, args, *, device, grid, block, shared=None, assume=None, cache="cold", **analysis):
    """What forecast() says of a launch of a function of @cuda.jit; a list where several devices are named."""
    values = _in_order(dispatcher.py_func, args)
    scalars, buffers = parameters_of(values)
    found = []
    for name in _kinds.names("device", device):
        ptx = _ptx(dispatcher, values, divmod(_architecture_of(name), 10))
        source = SourceText(f"{dispatcher.py_func.__name__}.ptx", ptx, "ptx")
        found.append(Forecaster(source, device=name, **analysis)(grid, block, shared=shared, args=scalars, buffers=buffers, assume=assume,
                                                                 cache=cache))
    return found[0] if isinstance(device, str) else found
