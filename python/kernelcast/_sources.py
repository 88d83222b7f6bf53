"""What callers have to text, language and a name: paths, text, sources of PyTorch extensions, kernels of Triton, Numba and CuPy."""
import inspect
import os
from dataclasses import dataclass, field
from pathlib import Path

from . import _kinds

_endings = {"cuda": ".cu", "opencl": ".cl", "hip": ".hip", "c": ".c", "cxx": ".cpp", "ptx": ".ptx", "llvm-ir": ".ll"}


@dataclass
class SourceText:
    """A translation unit. `block` (threads) and `shared_bytes` are what its compiler fixed, None where the caller decides."""
    path: str
    text: str
    language: str = ""
    kernel: str = ""
    block: int | None = None
    shared_bytes: int | None = None
    options: tuple = field(default_factory=tuple)


def _triton(kernel):
    asm, meta = kernel.asm, kernel.metadata
    get = meta.get if isinstance(meta, dict) else lambda name, other=None: getattr(meta, name, other)
    if "ptx" not in asm:
        raise TypeError("the Triton kernel has no PTX: compile it for an NVIDIA target")
    ptx = asm["ptx"]
    text = ptx.decode() if isinstance(ptx, bytes) else ptx
    ctas = get("num_ctas", 1) or 1
    if ctas > 1:
        from ._errors import LimitError
        raise LimitError(f"num_ctas is {ctas}: clusters of several blocks are not modelled; compile the kernel with num_ctas=1")
    return SourceText("triton.ptx", text, "ptx", get("name", ""), get("num_warps") * 32, get("shared"))


def _numba(kernel):
    texts = kernel.inspect_asm()
    if isinstance(texts, dict):
        if len(texts) != 1:
            raise TypeError(f"the Numba kernel is compiled for {len(texts)} signatures: give the PTX of one, from inspect_asm(signature)")
        (texts,) = texts.values()
    return SourceText("numba.ptx", texts, "ptx")


# What torch.utils.cpp_extension.load_inline writes above its cuda_sources.
_inline_headers = "#include <torch/types.h>\n#include <cuda.h>\n#include <cuda_runtime.h>\n"


def is_triton_function(source):
    """Whether it is a triton.jit function, perhaps below an autotuner or heuristics."""
    while not hasattr(source, "cache_key") and hasattr(source, "fn"):
        source = source.fn
    return hasattr(source, "cache_key") and hasattr(source, "arg_names")


def is_numba_launch(source, args):
    """Whether `source` is a function of @cuda.jit and `args` are all of its arguments, in order or by its own names."""
    function = getattr(source, "py_func", None)
    if function is None or not hasattr(source, "targetoptions") or args is None:
        return False
    return isinstance(args, (list, tuple)) or any(name in args for name in inspect.signature(function).parameters)


def read_source(source, language=""):
    """SourceText of a path, of text, or of a compiled kernel. TypeError for anything else, with what is taken."""
    _kinds.text("lang", language)
    if isinstance(source, SourceText):
        return source
    if isinstance(source, os.PathLike) or (isinstance(source, str) and "\n" not in source and "{" not in source):
        path = Path(source)
        return SourceText(str(path), path.read_text(encoding="utf-8", errors="surrogateescape"), language)
    if isinstance(source, str):
        chosen = language or ("ptx" if ".version" in source and ".target" in source else "cuda")
        return SourceText("source" + _endings.get(chosen, ".cu"), source, chosen)
    if isinstance(source, (list, tuple)) and source and all(isinstance(s, str) for s in source):  # load_inline's cuda_sources
        return SourceText("inline.cu", _inline_headers + "\n".join(source), language or "cuda")
    if is_triton_function(source):
        raise TypeError("source is a triton.jit function: give it to forecast() with all of its arguments as args, or compile it with "
                        "kernelcast.triton.compile_to_ptx()")
    if hasattr(source, "asm") and hasattr(source, "metadata"):
        return _triton(source)
    if hasattr(source, "inspect_asm"):
        if getattr(source, "overloads", None) == {}:
            raise TypeError("source is a numba.cuda.jit function that is not compiled: give it to forecast() with all of its arguments as args")
        return _numba(source)
    if hasattr(source, "code") and hasattr(source, "name") and isinstance(source.code, str):  # cupy.RawKernel
        return SourceText("rawkernel.cu", source.code, "cuda", source.name)
    raise TypeError(f"source is {type(source).__name__}: expected a path, source text, a list of texts as load_inline takes them, a Triton kernel, "
                    "a compiled Numba kernel or a cupy.RawKernel")
