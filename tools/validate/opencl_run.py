"""Runs OpenCL kernels on this machine's first OpenCL device and times them: libOpenCL.so.1 by ctypes."""

import ctypes
import time

NAMES = ["clGetPlatformIDs", "clGetDeviceIDs", "clGetDeviceInfo", "clCreateContext", "clCreateCommandQueue", "clCreateProgramWithSource",
         "clBuildProgram", "clGetProgramBuildInfo", "clCreateKernel", "clCreateBuffer", "clSetKernelArg", "clEnqueueNDRangeKernel", "clFinish"]
ALL_DEVICES, DEVICE_NAME, BUILD_LOG = 0xFFFFFFFF, 0x102B, 0x1183
READ_WRITE, COPY = 1, 32


class OpenclError(Exception):
    pass


class Opencl:
    """One device, one queue."""

    def __init__(self):
        try:
            self.library = ctypes.CDLL("libOpenCL.so.1")
        except OSError as e:
            raise OpenclError(str(e)) from e
        for name in NAMES:
            function = getattr(self.library, name)
            function.restype = ctypes.c_void_p if name.startswith("clCreate") else ctypes.c_int
        platform, self.device = ctypes.c_void_p(), ctypes.c_void_p()
        if self.library.clGetPlatformIDs(1, ctypes.byref(platform), None) != 0:
            raise OpenclError("no OpenCL platform")
        self.check("clGetDeviceIDs", platform, ctypes.c_ulong(ALL_DEVICES), 1, ctypes.byref(self.device), None)
        text = ctypes.create_string_buffer(256)
        self.check("clGetDeviceInfo", self.device, DEVICE_NAME, ctypes.c_size_t(256), text, None)
        self.name = text.value.decode()
        self.context = self.make("clCreateContext", None, 1, ctypes.byref(self.device), None, None)
        self.queue = self.make("clCreateCommandQueue", self.context, self.device, ctypes.c_ulong(0))

    def check(self, name, *arguments):
        status = getattr(self.library, name)(*arguments)
        if status != 0:
            raise OpenclError(f"{name} failed with status {status}")

    def make(self, name, *arguments):
        status = ctypes.c_int()
        made = getattr(self.library, name)(*arguments, ctypes.byref(status))
        if status.value != 0:
            raise OpenclError(f"{name} failed with status {status.value}")
        return ctypes.c_void_p(made)

    def program(self, source):
        text = ctypes.c_char_p(source.encode())
        program = self.make("clCreateProgramWithSource", self.context, 1, ctypes.byref(text), None)
        if self.library.clBuildProgram(program, 1, ctypes.byref(self.device), None, None, None) != 0:
            log = ctypes.create_string_buffer(20000)
            self.library.clGetProgramBuildInfo(program, self.device, BUILD_LOG, ctypes.c_size_t(20000), log, None)
            raise OpenclError("the program does not build: " + log.value.decode(errors="replace")[:400])
        return program

    def buffer(self, doubles):
        return self.make("clCreateBuffer", self.context, ctypes.c_ulong(READ_WRITE | COPY), ctypes.c_size_t(ctypes.sizeof(doubles)), doubles)

    def kernel(self, program, name, arguments):
        """`arguments`: buffers, and integers as int."""
        kernel = self.make("clCreateKernel", program, ctypes.c_char_p(name.encode()))
        for i, a in enumerate(arguments):
            value = ctypes.c_int(a) if isinstance(a, int) else a
            self.check("clSetKernelArg", kernel, i, ctypes.c_size_t(ctypes.sizeof(value)), ctypes.byref(value))
        return kernel

    def run(self, kernel, grid, block):
        """Enqueues and waits; seconds."""
        sizes = ctypes.c_size_t * len(block)
        local, all_items = sizes(*block), sizes(*(g * b for g, b in zip(grid, block)))
        begin = time.perf_counter()
        self.check("clEnqueueNDRangeKernel", self.queue, kernel, len(block), None, all_items, local, 0, None, None)
        self.check("clFinish", self.queue)
        return time.perf_counter() - begin
