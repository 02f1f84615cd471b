"""A device behind a loader that pretends memory types and queue families, and logs calls (`interposer.c`)."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import rgraph as rg

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

# VkMemoryPropertyFlagBits and VkQueueFlagBits.
LOCAL, VISIBLE, COHERENT, CACHED = 1, 2, 4, 8
GRAPHICS, COMPUTE, TRANSFER = 7, 6, 4


class Interposer:
    """The loader, and what it logged."""

    def __init__(self, path: Path) -> None:
        self.path, self.library = path, ctypes.CDLL(str(path))
        self.library.interposer_log.restype = ctypes.c_char_p

    def pretend(self, types: Sequence[int] = (), families: Sequence[int] = ()) -> None:
        """Pretend from the next device on; empty: those of the driver."""
        both = [(len(flags), (ctypes.c_uint32 * max(len(flags), 1))(*flags)) for flags in (types, families)]
        self.library.interposer_pretend(*both[0], *both[1])

    @contextmanager
    def sharing(self) -> Iterator[None]:
        """Devices that are opened here share signals of binary semaphores as sync_fd."""
        self.library.interposer_share(1)
        self.log()
        try:
            yield
        finally:
            self.library.interposer_share(0)

    def log(self) -> list[str]:
        """The calls since the last time."""
        lines = self.library.interposer_log().decode().splitlines()
        self.library.interposer_clear()
        return lines

    def images_may_have(self, index: int) -> bool:
        """Whether the driver let the images of the calls since the last time have a pretended memory type."""
        asked = [int(line.split()[1]) for line in self.log() if line.startswith("image ")]
        assert asked, "no image was made"
        return all(bits >> index & 1 for bits in asked)

    @contextmanager
    def device(self, types: Sequence[int] = (), families: Sequence[int] = ()) -> Iterator[rg.Device]:
        """A device of a driver with such memory types and queue families."""
        self.pretend(types, families)
        self.log()
        try:
            with rg.Device(loader=self.path) as device:
                yield device
                device.wait_idle()
                assert device.messages == []
        finally:
            self.pretend()


def built(folder: Path) -> Interposer:
    """The compiled loader; the test is skipped where there is no C compiler."""
    compiler = next((found for name in ("cc", "gcc", "clang") if (found := shutil.which(name))), None)
    if compiler is None:
        assert os.environ.get("RGRAPH_REQUIRE_DEVICE") != "1", "no C compiler"
        pytest.skip("no C compiler")
    source, path = Path(__file__).with_name("interposer.c"), folder / "libinterposer.so"
    arguments = ["-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o", str(path), str(source), "-ldl", "-lpthread"]
    subprocess.run([compiler, *arguments], check=True)
    return Interposer(path)
