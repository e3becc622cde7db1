"""Tests of what runs on a CUDA device: on one, or on kernels that are emulated on the host.

A test module takes `cupy` from here, and has `marks`. Where there is a device, `cupy` is CuPy
itself; elsewhere it is the stand-in, which panmatch finds during a test (see conftest.py).
"""

from __future__ import annotations

from types import ModuleType

import pytest

from tests.device import stand_in
from tests.device.emulator import COMPILER


def _real() -> ModuleType | None:
    try:
        import cupy
    except ImportError:
        return None
    try:
        return cupy if cupy.cuda.runtime.getDeviceCount() > 0 else None
    except cupy.cuda.runtime.CUDARuntimeError:
        return None


REAL = _real()
MODULES = {} if REAL else stand_in.modules()
cupy = REAL or MODULES["cupy"]
needs_device = pytest.mark.skipif(
    REAL is None and COMPILER is None,
    reason="neither a CUDA device with CuPy nor a C++ compiler to emulate one",
)


marks = [needs_device, pytest.mark.usefixtures("on_device")]
