"""What a report says of when things happened."""

import numpy as np
import pytest

import rgraph as rg
from gpu.shaders import SCALE


def chain(length: int = 4) -> rg.Graph:
    """Passes that follow each other, with an upload before them."""
    g = rg.Graph("chain")
    last = g.import_array("src", np.arange(1 << 16, dtype=np.uint32), as_buffer=True)
    for at in range(length):
        made = g.buffer(f"b{at}", 4 << 16)
        g.compute(f"pass {at}", SCALE, src=last, dst=made, params={"factor": 3, "offset": 1})
        last = made
    g.root(last)
    return g


def test_the_timeline_says_when_each_pass_ran(device: rg.Device):
    report = device.run(chain(), measure="passes").report
    spans = report.timeline
    assert all(isinstance(span, rg.PassSpan) for span in spans)
    assert sorted(span.name for span in spans) == [f"pass {at}" for at in range(4)]
    assert {span.queue for span in spans} == {"graphics"}
    assert min(span.begin_us for span in spans) == 0.0
    assert [span.begin_us for span in spans] == sorted(span.begin_us for span in spans)
    for span in spans:
        assert span.end_us - span.begin_us == pytest.approx(report.pass_us[span.name])
    assert max(span.end_us for span in spans) == pytest.approx(report.gpu_us)


def test_host_spans_say_what_the_host_did(device: rg.Device):
    compiled = device.compile(chain())
    compiled.run().wait()
    frame = compiled.run()
    frame.wait()
    spans = frame.report.host_spans
    assert all(isinstance(span, rg.HostSpan) for span in spans)
    names = [span.name for span in spans]
    assert [names.count(name) for name in ("upload", "record", "submit")] == [1, 1, 1]
    assert names.index("upload") < names.index("record") < names.index("submit")
    assert "wait" in names
    assert [span.begin_us for span in spans] == sorted(span.begin_us for span in spans)
    assert all(span.begin_us <= span.end_us for span in spans)
    as_values = frame.report.to_dict()
    assert as_values["host"] == [span._asdict() for span in spans]
    assert as_values["calibrated"] == frame.report.calibrated
    by_name = {span.name: span for span in spans}
    for name in ("upload", "record", "submit"):
        assert by_name[name].end_us - by_name[name].begin_us == pytest.approx(as_values[f"{name}_us"], abs=0.5)


def test_host_spans_are_on_the_clock_that_the_report_says(device: rg.Device):
    frame = device.run(chain(), measure="batches")
    frame.wait()
    report = frame.report
    waited = max(span.end_us for span in report.host_spans)
    submit = next(span for span in report.host_spans if span.name == "submit")
    if report.calibrated:
        # The first pass begins after the submit has, and the last one ends before the wait for it does.
        assert submit.begin_us < 0.0
        assert report.gpu_us < waited + 100.0
    else:
        assert report.host_spans[0].begin_us == 0.0
        assert submit.begin_us > 0.0


def test_cpu_passes_are_host_spans(device: rg.Device):
    g = rg.Graph("with the host")
    src = g.import_array("src", np.arange(64, dtype=np.uint32), as_buffer=True)
    made, seen = g.buffer("made", 256), g.buffer("seen", 256)
    g.compute("scale", SCALE, src=src, dst=made, params={"factor": 3, "offset": 1})
    g.cpu("look", lambda views: views["seen"].__setitem__(slice(None), views["made"]), reads=made, writes=seen)
    g.root(seen)
    report = device.run(g, measure="passes").report
    assert [span.name for span in report.timeline] == ["scale"]
    look = next(span for span in report.host_spans if span.name == "look")
    assert look.end_us - look.begin_us == pytest.approx(report.pass_us["look"])
    if report.calibrated:
        assert look.begin_us > 0.0
