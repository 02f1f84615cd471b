"""What tests on a device share: one device, watched by the validation layer where that is installed.

Without a driver they are skipped with the reason, unless RGRAPH_REQUIRE_DEVICE=1 says that there must be one.
"""

import os
from collections.abc import Iterator

import pytest

import rgraph as rg


def opened(**options: object) -> rg.Device:
    """A device, with the validation layer if there is one."""
    try:
        return rg.Device(**{"validate": True} | options)
    except rg.DeviceError as error:
        if error.code != "RG-E106" or os.environ.get("RGRAPH_REQUIRE_LAYER") == "1":
            raise
        return rg.Device(**options)


@pytest.fixture(scope="session")
def session_device() -> Iterator[rg.Device]:
    """The device of all tests."""
    try:
        device = opened()
    except rg.DeviceError as error:
        if os.environ.get("RGRAPH_REQUIRE_DEVICE") == "1":
            raise
        pytest.skip(f"no device: {str(error).splitlines()[0]}")
    yield device
    device.close()


@pytest.fixture
def device(session_device: rg.Device) -> Iterator[rg.Device]:
    """The device; no test may make the driver or a layer complain."""
    before = len(session_device.messages)
    yield session_device
    session_device.wait_idle()
    assert session_device.messages[before:] == []


@pytest.fixture
def own_device(session_device: rg.Device) -> Iterator[rg.Device]:
    """Another device, which the test may close."""
    del session_device
    device = opened()
    yield device
    assert device.messages == []
    device.close()
