"""NVIDIA's run-time compiler as a library: PTX or machine code of a source, without a GPU."""

import ctypes


class Failed(RuntimeError):
    """The compiler's messages."""


class Nvrtc:
    """`path`: of libnvrtc.so, its builtins beside it."""

    def __init__(self, path):
        self.library = ctypes.CDLL(path)
        version = ctypes.c_int(), ctypes.c_int()
        self.library.nvrtcVersion(*map(ctypes.byref, version))
        self.version = ".".join(str(v.value) for v in version)

    def ptx(self, text, name, flags):
        return self._compiled(text, name, flags, "PTX").rstrip(b"\0").decode()

    def cubin(self, text, name, flags):
        return self._compiled(text, name, flags, "CUBIN")

    def _compiled(self, text, name, flags, what):
        program = ctypes.c_void_p()
        self.library.nvrtcCreateProgram(ctypes.byref(program), text.encode(), name.encode(), 0, None, None)
        try:
            if self.library.nvrtcCompileProgram(program, len(flags), (ctypes.c_char_p * len(flags))(*map(str.encode, flags))):
                raise Failed(self._read(program, "ProgramLog").rstrip(b"\0").decode())
            return self._read(program, what)
        finally:
            self.library.nvrtcDestroyProgram(ctypes.byref(program))

    def _read(self, program, what):
        size = ctypes.c_size_t()
        getattr(self.library, f"nvrtcGet{what}Size")(program, ctypes.byref(size))
        buffer = ctypes.create_string_buffer(size.value)
        getattr(self.library, f"nvrtcGet{what}")(program, buffer)
        return buffer.raw
