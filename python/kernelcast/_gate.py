"""Whether the forecast of a file is slower than that of its state in a revision of its git repository."""
import os
from pathlib import Path

from . import _kinds
from ._errors import UsageError
from ._program import check
from ._sources import SourceText


def base_of(path, revision):
    """The file as it was in a revision of its git repository: its text. UsageError where git has none."""
    import subprocess
    path = Path(path).resolve()
    done = subprocess.run(["git", "-C", str(path.parent), "show", f"{revision}:./{path.name}"], capture_output=True, text=True, check=False)
    if done.returncode:
        raise UsageError(f"{path.name} in {revision}: {done.stderr.strip() or 'git shows no such file'}")
    return done.stdout


def assert_not_slower(path, *, device, base="HEAD", tolerance=0.05, **launch):
    """Raises AssertionError where the forecast of `path` is slower than that of its revision `base` by more than `tolerance` (0.05: 5 %).
    Returns the answer of `check`. Launch keywords as for kernelcast.forecast."""
    if not isinstance(path, (str, os.PathLike)):
        _kinds.refuse("path", path, "a path")
    tolerance = _kinds.real("tolerance", tolerance)
    name = _kinds.text("base", base).replace("/", "-")
    old = SourceText(f"{name}-{Path(path).name}", base_of(path, base))
    answer = check(old, Path(path), device=device, max_slowdown=f"{tolerance * 100:g}%", **launch)
    if answer.gate == "fail":
        lines = [f"{c.kernel} on {c.device}: {c.base_time_s:.4g} s -> {c.new_time_s:.4g} s, {c.ratio:.3f} times (90 %: {c.ratio_interval[0]:.3f} to "
                 f"{c.ratio_interval[1]:.3f})" for c in answer.checks if c.gate == "fail"]
        raise AssertionError(f"{path} is slower than in {base} by more than {tolerance:.0%}:\n" + "\n".join(lines))
    return answer
