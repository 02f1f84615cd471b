"""A whole frame of a deferred renderer, in about forty passes; `rgraph.demo.deferred` declares them.

    python examples/deferred.py [WIDTHxHEIGHT] [PICTURE.png]

As a file, without the two passes that are functions, it is deferred/frame.rgraph.json:

    rgraph run deferred/frame.rgraph.json --input constants=deferred/constants.npy --output frame=frame.png
"""

import sys

import rgraph
from rgraph.demo import deferred

width, _, height = (sys.argv[1] if len(sys.argv) > 1 else "1280x720").partition("x")
picture = sys.argv[2] if len(sys.argv) > 2 else "deferred.png"
size = (int(width), int(height))

graph = deferred.build(size)
plan = graph.bake("discrete")
print(f"{len(plan.passes)} passes in {len(plan.batches)} batches on {len(plan.queues)} queues")
print(f"memory {plan.memory.total >> 20} MiB, {plan.memory.without_aliasing >> 20} MiB without aliasing")

try:
    device = rgraph.Device()
except rgraph.DeviceError as error:
    sys.exit(f"planned only: {error}")
with device:
    compiled = device.compile(graph)
    # The eye moves within a texel from frame to frame; sixteen frames make edges smooth.
    for number in range(deferred.STILL_FRAMES):
        constants = deferred.constants(number, size)
        frame = compiled.run(inputs={"constants": constants}, flags={"first": number == 0}, measure="batches")
    frame["frame"].save(picture)
    took = frame.report.gpu_us
    print(f"{picture}: {'' if took is None else f'{took / 1000:.1f} ms per frame on '}{device.info.name}")
    del frame
