"""CUDA tensors as inputs and results of graphs, without a copy through the host.

A `Session` connects a device with CUDA. `Session.import_tensor` and `Session.export_tensor` declare in a graph what
comes from CUDA and what goes there; `Device.run` does the rest:

>>> with rgraph.Device() as device, rgraph.cuda.Session(device) as cuda:
...     g = rgraph.Graph()
...     photo = cuda.import_tensor(g, "photo", tensor)
...     out = rgraph.passes.blur(g, "blur", photo, radius=8)
...     cuda.export_tensor(g, "blurred", out)
...     blurred = torch.from_dlpack(device.run(g)["blurred"])

The driver of CUDA (`libcuda.so.1`) is loaded by the first session; nothing of it is needed to build or install
rgraph. torch, cupy and jax take results through DLPack, and this module asks them for no more than that.
"""

from rgraph.cuda._session import Session
from rgraph.cuda._tensor import Tensor

__all__ = ["Session", "Tensor"]
