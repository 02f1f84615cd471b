"""`Device.borrow`: rgraph on the device of a program that uses Vulkan by the `vulkan` package."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import vulkan as vk
from vulkan import ffi

import rgraph as rg

INVERT = """
@group(0) @binding(0) var<storage, read> src: array<u32>;
@group(0) @binding(1) var<storage, read_write> dst: array<u32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) { dst[id.x] = ~src[id.x]; }"""
SIZE = 1024
LAYER = "VK_LAYER_KHRONOS_validation"
FOREVER = 2**64 - 1


def integer(handle: Any) -> int:
    """A handle as rgraph takes it."""
    return int(ffi.cast("uint64_t", handle))


class Engine:
    """A program with instance, device, queue, timeline and fence of its own, under the layer where there is one."""

    def __init__(self) -> None:
        self.messages: list[str] = []
        layers = [one.layerName for one in vk.vkEnumerateInstanceLayerProperties()]
        app = vk.VkApplicationInfo(apiVersion=vk.VK_MAKE_VERSION(1, 3, 0))
        info = vk.VkInstanceCreateInfo(
            pApplicationInfo=app,
            ppEnabledLayerNames=[LAYER] if LAYER in layers else [],
            ppEnabledExtensionNames=["VK_EXT_debug_utils"],
        )
        self.instance = vk.vkCreateInstance(info, None)
        create = vk.vkGetInstanceProcAddr(self.instance, "vkCreateDebugUtilsMessengerEXT")
        messenger = vk.VkDebugUtilsMessengerCreateInfoEXT(
            messageSeverity=vk.VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT
            | vk.VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT,
            messageType=vk.VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT,
            pfnUserCallback=self._message,
        )
        self.messenger = create(self.instance, messenger, None)
        self.physical = vk.vkEnumeratePhysicalDevices(self.instance)[0]
        newer = vk.VkPhysicalDeviceVulkan13Features(
            synchronization2=True, dynamicRendering=True, maintenance4=True, shaderZeroInitializeWorkgroupMemory=True
        )
        older = vk.VkPhysicalDeviceVulkan12Features(pNext=newer, timelineSemaphore=True)
        # The package copies structs into arrays, and what they point to goes with the originals: they must live.
        queue = vk.VkDeviceQueueCreateInfo(queueFamilyIndex=0, queueCount=1, pQueuePriorities=[1.0])
        enabled = vk.VkPhysicalDeviceFeatures(samplerAnisotropy=True)
        device = vk.VkDeviceCreateInfo(pNext=older, pQueueCreateInfos=[queue], pEnabledFeatures=enabled)
        self.device = vk.vkCreateDevice(self.physical, device, None)
        self.queue = vk.vkGetDeviceQueue(self.device, 0, 0)
        kind = vk.VkSemaphoreTypeCreateInfo(semaphoreType=vk.VK_SEMAPHORE_TYPE_TIMELINE, initialValue=0)
        self.timeline = vk.vkCreateSemaphore(self.device, vk.VkSemaphoreCreateInfo(pNext=kind), None)
        self.binary = vk.vkCreateSemaphore(self.device, vk.VkSemaphoreCreateInfo(), None)
        self.fence = vk.vkCreateFence(self.device, vk.VkFenceCreateInfo(), None)
        self.pool = vk.vkCreateCommandPool(self.device, vk.VkCommandPoolCreateInfo(queueFamilyIndex=0), None)
        self.buffers: list[tuple[Any, Any]] = []

    def _message(self, severity: int, kinds: int, data: Any, user: Any) -> int:
        self.messages.append(ffi.string(data.pMessage).decode())
        return 0

    def buffer(self) -> tuple[Any, np.ndarray]:
        """A buffer in memory that the host maps, and its numbers."""
        usage = vk.VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | vk.VK_BUFFER_USAGE_TRANSFER_DST_BIT
        buffer = vk.vkCreateBuffer(self.device, vk.VkBufferCreateInfo(size=SIZE, usage=usage), None)
        need = vk.vkGetBufferMemoryRequirements(self.device, buffer)
        types = vk.vkGetPhysicalDeviceMemoryProperties(self.physical).memoryTypes
        wanted = vk.VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | vk.VK_MEMORY_PROPERTY_HOST_COHERENT_BIT
        fits = [
            n for n, one in enumerate(types) if need.memoryTypeBits >> n & 1 and one.propertyFlags & wanted == wanted
        ]
        info = vk.VkMemoryAllocateInfo(allocationSize=need.size, memoryTypeIndex=fits[0])
        memory = vk.vkAllocateMemory(self.device, info, None)
        vk.vkBindBufferMemory(self.device, buffer, memory, 0)
        self.buffers.append((buffer, memory))
        return buffer, np.frombuffer(vk.vkMapMemory(self.device, memory, 0, SIZE, 0), np.uint32)

    def fill(self, buffer: Any, word: int, **semaphores: Any) -> None:
        """Submit a fill of a buffer."""
        info = vk.VkCommandBufferAllocateInfo(commandPool=self.pool, commandBufferCount=1)
        commands = vk.vkAllocateCommandBuffers(self.device, info)[0]
        vk.vkBeginCommandBuffer(commands, vk.VkCommandBufferBeginInfo())
        vk.vkCmdFillBuffer(commands, buffer, 0, SIZE, word)
        vk.vkEndCommandBuffer(commands)
        vk.vkQueueSubmit(self.queue, 1, [vk.VkSubmitInfo(pCommandBuffers=[commands], **semaphores)], None)

    def borrowed(self, **options: Any) -> rg.Device:
        """The device in rgraph."""
        handles = [integer(handle) for handle in (self.instance, self.physical, self.device)]
        return rg.Device.borrow(*handles, [(0, integer(self.queue))], labels=True, **options)

    def close(self) -> None:
        """Destroy everything; whatever rgraph left behind is a message of the layer."""
        vk.vkDeviceWaitIdle(self.device)
        for buffer, memory in self.buffers:
            vk.vkDestroyBuffer(self.device, buffer, None)
            vk.vkFreeMemory(self.device, memory, None)
        for semaphore in (self.timeline, self.binary):
            vk.vkDestroySemaphore(self.device, semaphore, None)
        vk.vkDestroyFence(self.device, self.fence, None)
        vk.vkDestroyCommandPool(self.device, self.pool, None)
        vk.vkDestroyDevice(self.device, None)
        vk.vkGetInstanceProcAddr(self.instance, "vkDestroyDebugUtilsMessengerEXT")(self.instance, self.messenger, None)
        vk.vkDestroyInstance(self.instance, None)


@pytest.fixture
def engine(session_device: rg.Device) -> Iterator[Engine]:
    del session_device
    engine = Engine()
    yield engine
    engine.close()
    assert engine.messages == []


def inverting() -> rg.Graph:
    """A graph that writes the inverse of imported buffer "src" to imported buffer "dst"."""
    g = rg.Graph("inverting")
    src, dst = g.import_buffer("src", SIZE), g.import_buffer("dst", SIZE)
    g.compute("invert", INVERT, groups=SIZE // 256, src=src, dst=dst)
    g.root(dst)
    return g


def test_a_graph_runs_between_submissions_of_the_vulkan_package(engine: Engine):
    (src, _), (dst, seen) = engine.buffer(), engine.buffer()
    with engine.borrowed() as device:
        inputs = {
            name: device.borrow_resource(name, integer(buffer), SIZE) for name, buffer in (("src", src), ("dst", dst))
        }
        compiled = device.compile(inverting())
        timeline = integer(engine.timeline)
        for turn in range(3):
            begin, end = 2 * turn + 1, 2 * turn + 2
            values = vk.VkTimelineSemaphoreSubmitInfo(pSignalSemaphoreValues=[begin])
            engine.fill(src, turn + 7, pNext=values, pSignalSemaphores=[engine.timeline])
            compiled.run(
                inputs=inputs,
                read=[],
                wait=[(timeline, begin, "src")],
                signal=[(timeline, end)],
                fence=integer(engine.fence),
            )
            vk.vkWaitForFences(engine.device, 1, [engine.fence], True, FOREVER)
            vk.vkResetFences(engine.device, 1, [engine.fence])
            assert vk.vkGetSemaphoreCounterValue(engine.device, engine.timeline) == end
            assert (seen == ~np.uint32(turn + 7)).all()
        # A binary semaphore is waited for once per signal.
        engine.fill(src, 99, pSignalSemaphores=[engine.binary])
        compiled.run(inputs=inputs, read=[], wait=[(integer(engine.binary), None)]).wait()
        assert (seen == ~np.uint32(99)).all()


def test_what_cannot_be_borrowed_is_one_clear_error(engine: Engine):
    for options, message in (
        ({"features": ["samplerAnisotropie"]}, 'RG-E225 .*"?samplerAnisotropie'),
        ({"extensions": ["VK_KHR\0"]}, "RG-E225 the name of an extension holds a zero byte"),
    ):
        with pytest.raises(rg.GraphError, match=message):
            engine.borrowed(**options)
    with pytest.raises(rg.GraphError, match="a handle of 0 is none"):
        rg.Device.borrow(0, 0, 0, [(0, 0)])
    handles = [integer(one) for one in (engine.instance, engine.physical, engine.device)]
    foreign: Any
    for foreign, message in (
        (engine.device, r'int\(ffi.cast\("uint64_t", handle\)\), not'),
        (type("GPUDevice", (), {"__module__": "wgpu.backends"})(), "wgpu-py has no handles of Vulkan"),
    ):
        with pytest.raises(TypeError, match=message):
            rg.Device.borrow(*handles[:2], foreign, [(0, integer(engine.queue))])
    with pytest.raises(rg.DeviceError, match="RG-E103"):
        rg.Device.borrow(
            *(integer(one) for one in (engine.instance, engine.physical, engine.device)), [(99, integer(engine.queue))]
        )
    with engine.borrowed(features=["samplerAnisotropy"]) as device:
        with pytest.raises(rg.GraphError, match="a fence of 0 is none"):
            device.run(inverting(), fence=0)
        with pytest.raises(
            rg.DeviceError, match=r"RG-E102 .* cannot share memory: it has no VK_KHR_external_memory_fd"
        ):
            device.shared_memory("frames", 4096)
    with pytest.raises(rg.DeviceError, match="RG-E130"):
        device.run(inverting())
