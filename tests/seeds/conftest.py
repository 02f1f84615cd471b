"""Tests of the designs' rows run on the device of the tests in `gpu`."""

from gpu.conftest import device, session_device

__all__ = ["device", "session_device"]
