"""The extension module, or an ImportError that says which package is missing."""
import os
import re
from pathlib import Path

try:
    from . import _kernelcast as native
except ImportError as error:
    missing = re.search(r"(libLLVM|libclang-cpp)[^:\s]*", str(error))
    if missing is None:
        raise
    package = "libclang-cpp19" if missing.group(1) == "libclang-cpp" else "libllvm19"
    raise ImportError(f"kernelcast needs {missing.group(0)}: install the package {package} (Debian, Ubuntu: apt install {package})") from error

__version__ = native.__version__
_here = Path(__file__).resolve().parent


def device_folder():
    """The folder of device files: KERNELCAST_DEVICES, or the one that came with the package."""
    given = os.environ.get("KERNELCAST_DEVICES", "")
    own = _here / "devices"
    return given or (str(own) if own.is_dir() else "")
