"""Types of the package. Times are seconds, sizes bytes, grids blocks, blocks threads."""
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any, Callable, Literal

__version__: str

class Error(Exception): ...
class SourceError(Error): ...
class UsageError(SourceError): ...
class LimitError(Error): ...

_Sizes = int | Sequence[int]
_Names = str | Iterable[str]
_Path = str | PathLike[str]

@dataclass(frozen=True)
class Bound:
    name: str
    time_s: float | None
    why: str

@dataclass(frozen=True)
class Assumption:
    what: str
    value: str
    replace: str

@dataclass
class Forecast:
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
    _native: object
    @property
    def bounds(self) -> list[Bound]: ...
    @property
    def assumptions(self) -> list[Assumption]: ...
    @property
    def failure(self) -> str: ...
    def to_dict(self) -> dict[str, Any]: ...
    def to_json(self) -> str: ...
    def _repr_html_(self) -> str: ...

class Answer(dict[str, Any]):
    def __getattr__(self, name: str) -> Any: ...
    def to_json(self) -> str: ...

class Forecaster:
    def __init__(self, source: Any, *, device: _Names, kernel: str = "", model: _Names = "kernelcast", lang: str = "",
                 defines: Mapping[str, Any] | None = None, include_dirs: Iterable[_Path] = (), std: str = "", fast_math: bool = False,
                 execute: bool = True, compile_seconds: float = 30.0, device_dir: _Path = "",
                 tensor_maps: Mapping[str, tuple[Sequence[int], int]] | None = None, clock: float | str | None = None,
                 power_limit: float | str | None = None) -> None: ...
    def __call__(self, grid: _Sizes | None = None, block: _Sizes | None = None, *, global_size: _Sizes | None = None,
                 shared: int | None = None, args: Mapping[str, Any] | None = None, buffers: Mapping[str, Any] | None = None,
                 assume: Mapping[str, float] | None = None, cache: Literal["cold", "warm"] = "cold") -> Any: ...

def forecast(source: Any, *, device: _Names, grid: _Sizes | Callable[[dict[str, Any]], _Sizes] | None = None, block: _Sizes | None = None,
             global_size: _Sizes | None = None, shared: int | None = None, args: Mapping[str, Any] | Sequence[Any] | None = None,
             buffers: Mapping[str, Any] | None = None, assume: Mapping[str, float] | None = None,
             cache: Literal["cold", "warm"] = "cold", **analysis: Any) -> Any: ...
def frame(forecasts: Forecast | Iterable[Forecast]) -> Any: ...
def explain(source: Any, *, lang: str = "", **launch: Any) -> Answer: ...
def advise(source: Any, *, lang: str = "", **launch: Any) -> Answer: ...
def tune(source: Any, *, lang: str = "", problem: _Sizes | None = None, tile: Any = None, params: Mapping[str, Iterable[Any]] | None = None,
         constraints: _Names = (), top: int | Literal["all"] | None = None, **launch: Any) -> Answer: ...
def check(base: Any, new: Any, *, device: _Names, max_slowdown: str | float = "5%", lang: str = "", **launch: Any) -> Answer: ...
def offload(source: Any, *, cpu: str, gpu: str, lang: str = "", **launch: Any) -> Answer: ...
def devices(name: str | None = None) -> Answer: ...
def assert_not_slower(path: _Path, *, device: _Names, base: str = "HEAD", tolerance: float = 0.05, **launch: Any) -> Answer: ...
