"""What callers have to text, language and a name: paths, text, and kernels of Triton, Numba and CuPy."""
import os
from dataclasses import dataclass, field
from pathlib import Path

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


def read_source(source, language=""):
    """SourceText of a path, of text, or of a compiled kernel. TypeError for anything else, with what is taken."""
    if isinstance(source, SourceText):
        return source
    if isinstance(source, os.PathLike) or (isinstance(source, str) and "\n" not in source and "{" not in source):
        path = Path(source)
        return SourceText(str(path), path.read_text(encoding="utf-8", errors="surrogateescape"), language)
    if isinstance(source, str):
        chosen = language or ("ptx" if ".version" in source and ".target" in source else "cuda")
        return SourceText("source" + _endings.get(chosen, ".cu"), source, chosen)
    if hasattr(source, "asm") and hasattr(source, "metadata"):
        return _triton(source)
    if hasattr(source, "inspect_asm"):
        return _numba(source)
    if hasattr(source, "code") and hasattr(source, "name") and isinstance(source.code, str):  # cupy.RawKernel
        return SourceText("rawkernel.cu", source.code, "cuda", source.name)
    raise TypeError(f"source is {type(source).__name__}: expected a path, source text, a compiled Triton kernel, a compiled Numba kernel "
                    "or a cupy.RawKernel")
