"""An MCP server on standard input and output, for agents that write kernels: `kernelcast mcp` or `python -m kernelcast.mcp`.

Tools: predict, advise, check, devices, judge_time. Each answer has the physical floor and the interval, so that a claimed time can be judged:
below the floor it is impossible. Needs the package mcp (pip install mcp).
"""
import sys

from ._errors import Error
from ._forecast import forecast
from ._program import advise as advise_command
from ._program import check as check_command
from ._program import devices as devices_command
from ._sources import SourceText, _endings

_launch_help = "grid in blocks, block in threads, args and buffers by parameter name (buffers: element counts)"


def _source(text, language):
    return SourceText("kernel" + _endings.get(language, ".cu"), text, language)


def judged(claimed_s, floor_s, interval_s):
    """What a claimed time is: "impossible" below the floor, "below the interval", "plausible" or "above the interval"."""
    if floor_s is not None and claimed_s < floor_s:
        return "impossible"
    if interval_s is None:
        return "unknown"
    return "below the interval" if claimed_s < interval_s[0] else "above the interval" if claimed_s > interval_s[1] else "plausible"


def _summary(f):
    return {"kernel": f.kernel, "device": f.device, "time_s": f.time_s, "interval_s": f.interval_s, "floor_s": f.floor_s, "limiter": f.limiter,
            "bounds": [{"name": b.name, "time_s": b.time_s, "why": b.why} for b in f.bounds],
            "assumptions": [f"{a.what}: {a.value}" for a in f.assumptions], "failure": f.failure or None}


def server():
    """The server with its tools; ImportError names the package where the SDK is missing."""
    try:
        from mcp.server import MCPServer
    except ImportError:
        try:
            from mcp.server.fastmcp import FastMCP as MCPServer  # mcp 1
        except ImportError as error:
            raise ImportError("kernelcast.mcp needs the package mcp: pip install mcp") from error
    app = MCPServer("kernelcast")

    def answered(work):
        try:
            return work()
        except (Error, TypeError) as error:
            return {"error": str(error)}

    @app.tool(description="Forecast a kernel's time on a GPU from its source, without a GPU: time, 90 % interval, physical floor, bounds. "
                          + _launch_help)
    def predict(source: str, device: str, grid: list[int], block: list[int], language: str = "cuda", kernel: str = "",
                args: dict[str, float] | None = None, buffers: dict[str, int] | None = None) -> dict:
        return answered(lambda: _summary(forecast(_source(source, language), device=device, grid=grid, block=block, kernel=kernel,
                                                  args=_whole(args), buffers=buffers)))

    @app.tool(description="What to change in a kernel and what it gains. " + _launch_help)
    def advise(source: str, device: str, grid: list[int], block: list[int], language: str = "cuda", kernel: str = "",
               args: dict[str, float] | None = None, buffers: dict[str, int] | None = None) -> dict:
        return answered(lambda: dict(advise_command(_source(source, language), device=device, grid=grid, block=block, kernel=kernel,
                                                    args=_whole(args), buffers=buffers)))

    @app.tool(description="Compare two versions of a kernel: ratio of their times with its interval. " + _launch_help)
    def check(base: str, new: str, device: str, grid: list[int], block: list[int], language: str = "cuda", kernel: str = "",
              args: dict[str, float] | None = None, buffers: dict[str, int] | None = None, max_slowdown: str = "5%") -> dict:
        return answered(lambda: dict(check_command(_source(base, language), _source(new, language), device=device, grid=grid, block=block,
                                                   kernel=kernel, args=_whole(args), buffers=buffers, max_slowdown=max_slowdown)))

    @app.tool(description="Judge a claimed time in seconds against the forecast: below the physical floor it is impossible. " + _launch_help)
    def judge_time(claimed_s: float, source: str, device: str, grid: list[int], block: list[int], language: str = "cuda", kernel: str = "",
                   args: dict[str, float] | None = None, buffers: dict[str, int] | None = None) -> dict:
        def work():
            f = forecast(_source(source, language), device=device, grid=grid, block=block, kernel=kernel, args=_whole(args), buffers=buffers)
            return {"verdict": judged(claimed_s, f.floor_s, f.interval_s), **_summary(f)}
        return answered(work)

    @app.tool(description="GPUs that can be named: id and name")
    def devices() -> list[dict]:
        return [{"id": d.id, "name": d.name} for d in devices_command().devices]

    return app


def _whole(args):
    """JSON has one kind of number: whole ones are integers."""
    return {name: int(value) if float(value).is_integer() else value for name, value in (args or {}).items()}


def main():
    """The command kernelcast mcp; its exit status."""
    try:
        app = server()
    except ImportError as error:
        sys.stderr.write(f"kernelcast mcp: {error}\n")
        return 2
    app.run()
    return 0


if __name__ == "__main__":
    sys.exit(main())
