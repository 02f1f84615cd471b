"""A GPU of several is lost: one error, soon, and the others go on.

A loader of our own stands between rgraph and the system's: it hands out the system's functions, but those that submit
and wait return `VK_ERROR_DEVICE_LOST` once the test says so.
"""

import ctypes
import os
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

import rgraph as rg
from gpu.test_devices import halves, joined, texels

LOADER = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef void (*Function)(void);
typedef Function (*Find)(void *, const char *);

int lost = 0;
int refused = 0;

static Find of_instance, of_device;
static int32_t (*submit)(void *, uint32_t, const void *, uint64_t);
static int32_t (*wait)(void *, const void *, uint64_t);
static int32_t (*value)(void *, uint64_t, uint64_t *);

static int gone(void) {
    if (lost) __atomic_add_fetch(&refused, 1, __ATOMIC_RELAXED);
    return lost;
}
static int32_t lossy_submit(void *q, uint32_t n, const void *s, uint64_t f) { return gone() ? -4 : submit(q, n, s, f); }
static int32_t lossy_wait(void *d, const void *i, uint64_t t) { return gone() ? -4 : wait(d, i, t); }
static int32_t lossy_value(void *d, uint64_t s, uint64_t *v) { return gone() ? -4 : value(d, s, v); }

static Function device_function(void *device, const char *name) {
    Function found = of_device(device, name);
    if (!found) return found;
    if (!strcmp(name, "vkQueueSubmit2")) { submit = (void *)found; return (Function)lossy_submit; }
    if (!strcmp(name, "vkWaitSemaphores")) { wait = (void *)found; return (Function)lossy_wait; }
    if (!strcmp(name, "vkGetSemaphoreCounterValue")) { value = (void *)found; return (Function)lossy_value; }
    return found;
}

Function vkGetInstanceProcAddr(void *instance, const char *name) {
    if (!of_instance) {
        void *system = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
        if (!system) return NULL;
        of_instance = (Find)dlsym(system, "vkGetInstanceProcAddr");
    }
    Function found = of_instance(instance, name);
    if (found && !strcmp(name, "vkGetDeviceProcAddr")) { of_device = (Find)found; return (Function)device_function; }
    return found;
}
"""


class Lossy:
    """A device whose driver can lose it."""

    def __init__(self, path: Path) -> None:
        self._library = ctypes.CDLL(str(path))
        self.device = rg.Device(loader=path, validate=False)

    def lose(self) -> None:
        ctypes.c_int.in_dll(self._library, "lost").value = 1

    @property
    def refused(self) -> int:
        """Calls that returned the error."""
        return ctypes.c_int.in_dll(self._library, "refused").value


@pytest.fixture
def lossy(tmp_path: Path, own_device: rg.Device) -> Iterator[Lossy]:
    """A device that can be lost; built by the C compiler that rgraph itself is built with."""
    del own_device
    compiler = shutil.which("cc")
    if compiler is None:
        if os.environ.get("RGRAPH_REQUIRE_DEVICE") == "1":
            pytest.fail("no C compiler: install gcc or clang")
        pytest.skip("no C compiler")
    (tmp_path / "lossy.c").write_text(LOADER)
    library = tmp_path / "liblossy.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", str(library), str(tmp_path / "lossy.c"), "-ldl"], check=True)
    made = Lossy(library)
    yield made
    made.device.close()


def soon(function: Callable[[], object]) -> BaseException | None:
    """The exception of a call that ends within ten seconds."""
    raised: list[BaseException] = []

    def call() -> None:
        try:
            function()
        except Exception as error:
            raised.append(error)

    thread = threading.Thread(target=call, daemon=True)
    thread.start()
    thread.join(10)
    assert not thread.is_alive(), "it hangs"
    return raised[0] if raised else None


def code(error: BaseException | None) -> str | None:
    """The code of a device's error; `None`: there was none."""
    if error is None:
        return None
    assert isinstance(error, rg.DeviceError)
    return error.code


@pytest.mark.parametrize("position", [0, 1])
def test_a_lost_gpu_is_one_error_and_the_other_goes_on(lossy: Lossy, own_device: rg.Device, position: int):
    both = [own_device, own_device]
    both[position] = lossy.device
    with rg.Devices(both) as gpus:
        compiled = gpus.compile(halves())
        assert np.array_equal(texels(compiled.run()["out"]), joined())
        lossy.lose()
        error = soon(compiled.run)
        assert code(error) == "RG-E120"
        assert "ERROR_DEVICE_LOST" in str(error)
        refused = lossy.refused
        assert refused > 0
        # Later runs are refused before they ask the driver.
        again = soon(compiled.run)
        assert code(again) == "RG-E120"
        assert lossy.refused == refused
        assert soon(own_device.wait_idle) is None
        alone = own_device.run(halves(0, 0))
        assert np.array_equal(texels(alone["out"]), joined())


def test_a_lost_gpu_does_not_keep_a_frame_waiting(lossy: Lossy, own_device: rg.Device):
    with rg.Devices([own_device, lossy.device]) as gpus:
        compiled = gpus.compile(halves())
        frame = compiled.run()
        lossy.lose()
        error = soon(lambda: np.asarray(frame["out"]))
        # The frame may be done already; else reading it says what happened.
        assert code(error) in {None, "RG-E120"}
        assert isinstance(soon(compiled.run), rg.DeviceError)
    assert soon(lossy.device.close) is None
