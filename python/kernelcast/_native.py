"""The extension module, or an ImportError that says which package is missing."""
import os
import re
from pathlib import Path

# What the module links, by the distribution's package.
_packages = {"libLLVM": "libllvm19", "libclang-cpp": "libclang-cpp19", "libfmt": "libfmt9", "libtbb": "libtbb12", "libnlopt": "libnlopt0"}

try:
    from . import _kernelcast as native
except ImportError as error:
    missing = re.search(f"({'|'.join(_packages)})[^:\\s]*", str(error))
    if missing is None:
        raise
    package = _packages[missing.group(1)]
    raise ImportError(f"kernelcast needs {missing.group(0)}: install the package {package} (Debian, Ubuntu: apt install {package})") from error

__version__ = native.__version__
_here = Path(__file__).resolve().parent


def device_folder():
    """The folder of device files: KERNELCAST_DEVICES, or the one that came with the package."""
    given = os.environ.get("KERNELCAST_DEVICES", "")
    own = _here / "devices"
    return given or (str(own) if own.is_dir() else "")
