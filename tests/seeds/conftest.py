"""Tests of the designs' rows run on the device of the tests in `gpu`, or behind a loader that pretends."""

import pytest

import rgraph as rg
from gpu.conftest import device, own_device, session_device
from seeds.interposed import Interposer, built

__all__ = ["device", "interposer", "own_device", "session_device"]


@pytest.fixture(scope="session")
def interposer(session_device: rg.Device, tmp_path_factory: pytest.TempPathFactory) -> Interposer:
    """The loader that pretends; where there is no device at all, there is none behind it."""
    del session_device
    return built(tmp_path_factory.mktemp("interposer"))
