"""Tests of the designs' rows run on the device of the tests in `gpu`."""

from gpu.conftest import device, own_device, session_device

__all__ = ["device", "own_device", "session_device"]
