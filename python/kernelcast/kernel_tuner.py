"""Kernel Tuner with a forecast: configurations are measured in the order of their forecasts, which measurements correct as they come.

    from kernel_tuner.strategies.wrapper import OptAlgWrapper
    first = kernelcast.kernel_tuner.ForecastFirst(forecasts)
    kernel_tuner.tune_kernel(..., strategy=OptAlgWrapper(first), strategy_options={"max_fevals": 20})

`forecasts_of` asks `kernelcast tune` for the forecasts of a space; any function from a configuration to seconds will do.
"""
import math
from collections import defaultdict

from ._errors import UsageError
from ._program import tune

__all__ = ["ForecastFirst", "forecasts_of"]


def forecasts_of(source, *, device, problem, block, tune_params, tile=None, constraints=(), **launch):
    """{configuration: (seconds, limiter)} of a space, configurations as tuples in the order of `tune_params`.

    `block` and `tile` name parameters as `kernelcast tune` does ("block_size_x,block_size_y"); `problem`: sizes in elements. Configurations that
    cannot run are left out.
    """
    answer = tune(source, device=device, problem=problem, block=block, tile=tile, params=tune_params, constraints=constraints, top="all", **launch)
    names = list(tune_params)
    found = {}
    for best in answer.best:
        values = tuple(_number(best.params[name]) for name in names)
        found[values] = (best.time_s, best.limiter)
    return found


def _number(value):
    if isinstance(value, str):
        try:
            return int(value)
        except ValueError:
            return value
    return value


class ForecastFirst:
    """An optimization algorithm for Kernel Tuner's OptAlgWrapper.

    `forecasts`: {configuration: (seconds, limiter)} or {configuration: seconds}. The next configuration is always the one whose forecast,
    times the ratio of measured to forecast times seen so far at the same limiter, is least. The ratio is the geometric mean of the measured
    ones and one ratio of 1 (of all limiters together, where a limiter was not met), so that one odd measurement does not turn the order.
    Configurations without a forecast come last, in the space's own order.
    """

    costfunc_kwargs = {"scaling": False, "snap": False}
    constraint_aware = True

    def __init__(self, forecasts):
        if not forecasts:
            raise UsageError("forecasts is empty: no configuration can run")
        self._forecasts = {tuple(c): (f if isinstance(f, tuple) else (f, "")) for c, f in forecasts.items()}

    def order(self, configurations):
        """A generator: yields configurations, and takes the measured seconds of each by send() (None where it failed)."""
        left = {tuple(c): self._forecasts[tuple(c)] for c in configurations if tuple(c) in self._forecasts}
        unknown = [tuple(c) for c in configurations if tuple(c) not in self._forecasts]
        logs = defaultdict(list)
        while left:
            everything = [x for some in logs.values() for x in some]
            common = sum(everything) / len(everything) if everything else 0.0
            shift = {limiter: (sum(some) + common) / (len(some) + 1) for limiter, some in logs.items()}
            best = min(left, key=lambda c: math.log(left[c][0]) + shift.get(left[c][1], common))
            seconds, limiter = left.pop(best)
            measured = yield best
            if measured is not None and math.isfinite(measured) and measured > 0:
                logs[limiter].append(math.log(measured / seconds))
        for configuration in unknown:
            yield configuration

    def __call__(self, func, searchspace):
        best, least = None, math.inf
        order = self.order(searchspace.list)
        configuration = next(order, None)
        while configuration is not None:
            value = func(configuration)  # raises when the budget is spent
            good = isinstance(value, (int, float)) and value < 1e300
            if good and value < least:
                best, least = configuration, value
            try:
                configuration = order.send(value * 1e-3 if good else None)  # Kernel Tuner's times are milliseconds
            except StopIteration:
                configuration = None
        return best, least
