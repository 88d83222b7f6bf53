"""Forecast how long a GPU kernel takes, from its source, with no GPU.

    import kernelcast as kc
    f = kc.forecast("saxpy.cu", device="a100", grid=4096, block=256, args={"n": 1 << 20})
    print(f.time_s, f.interval_s, f.limiter)

Times are seconds, sizes bytes, grids blocks, blocks threads. The kernel is never run. All functions are thread-safe; the interpreter
lock is released while they work. Errors are `Error` and its kinds, with the messages of the command line.
"""
from ._errors import Error, LimitError, SourceError, UsageError
from ._forecast import Assumption, Bound, Forecast, Forecaster, forecast, frame
from ._gate import assert_not_slower
from ._program import Answer, advise, check, devices, explain, offload, tune
from ._native import __version__

__all__ = ["Answer", "Assumption", "Bound", "Error", "Forecast", "Forecaster", "LimitError", "SourceError", "UsageError", "advise",
           "assert_not_slower", "check", "devices", "explain", "forecast", "frame", "offload", "tune"]
