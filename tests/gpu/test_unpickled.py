"""What belongs to a device is not pickled; the error names what is."""

import json
import pickle

import numpy as np
import pytest

import rgraph as rg


def test_what_belongs_to_a_device_names_what_can_be_pickled_instead(device: rg.Device):
    g = rg.Graph("cleared")
    image = g.image("image", (4, 4), "rgba8unorm")
    g.clear("clear", image, (1, 0, 0, 1))
    g.root(image)
    compiled = device.compile(g)
    frame = compiled.run(measure="passes")
    report = frame.report
    buffer = device.buffer("kept", 16)
    helps = {
        device: "rgraph.Device()",
        compiled: "device.compile(plan, of=graph)",
        frame: "dict(frame.items())",
        report: "report.to_dict()",
        buffer: "numpy.array(resource.read())",
    }
    for value, help in helps.items():
        name = type(value).__name__
        with pytest.raises(TypeError, match=f"cannot pickle or copy 'rgraph.{name}' object\n  help: ") as error:
            pickle.dumps(value)
        assert help in str(error.value)
    # The helps hold.
    results = pickle.loads(pickle.dumps(dict(frame.items())))
    assert (results["image"] == np.array(frame["image"])).all()
    graph, plan = pickle.loads(pickle.dumps((g, compiled.plan)))
    assert (np.array(device.compile(plan, of=graph).run()["image"]) == results["image"]).all()
    kept = pickle.loads(pickle.dumps(report.to_dict()))
    assert json.loads(json.dumps(kept)) == json.loads(json.dumps(report.to_dict()))
    assert g.bake(weights=kept) == g.bake(weights=report)
    assert pickle.loads(pickle.dumps(np.array(buffer.read()))).nbytes == 16
