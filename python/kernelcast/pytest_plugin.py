"""A pytest fixture that fails a test when a kernel's forecast gets slower.

    def test_saxpy(assert_not_slower):
        assert_not_slower("saxpy.cu", device="h100", base="HEAD", tolerance=0.05, grid=4096, block=256, args={"n": 1 << 20})
"""
import pytest

from . import _gate


@pytest.fixture
def assert_not_slower():
    """The function kernelcast.assert_not_slower."""
    return _gate.assert_not_slower
