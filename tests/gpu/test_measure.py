"""GPU times are measured when they are asked for, and a note names unmeasured ones instead of zeros."""

import numpy as np
import pytest

import rgraph as rg
from gpu.shaders import SCALE


def fan(passes: int = 3) -> rg.Graph:
    """Passes that nothing orders."""
    g = rg.Graph("fan")
    src = g.import_array("src", np.arange(64, dtype=np.uint32), as_buffer=True)
    for at in range(passes):
        made = g.buffer(f"made {at}", 256)
        g.compute(f"scale {at}", SCALE, src=src, dst=made, params={"factor": 3, "offset": 1})
        g.root(made)
    return g


def times(report: rg.Report) -> tuple[str, bool, int]:
    """What was measured, whether the frame has a time, and how many passes have one."""
    return report.measure, report.gpu_us is not None, len(report.pass_us)


def test_nothing_is_measured_unless_it_is_asked_for(device: rg.Device):
    report = device.run(fan()).report
    assert times(report) == ("off", False, 0)
    assert report.timeline == []
    assert "GPU times were not measured" in str(report)
    assert "not measured" in repr(report)
    values = report.to_dict()
    assert (values["measure"], values["gpu_us"], values["passes"]) == ("off", None, [])


def test_statistics_are_counted_without_times(device: rg.Device):
    for one in device.run(fan(), statistics=True).report.to_dict()["passes"]:
        assert one["us"] is None
        assert one["invocations"] > 0


def test_passes_of_one_group_share_its_time(device: rg.Device):
    report = device.run(fan(), measure="batches").report
    assert times(report) == ("batches", True, 3)
    assert {span.group for span in report.timeline} == {3}
    assert sum(report.pass_us.values()) == pytest.approx(report.gpu_us)
    assert "~" in str(report)
    single = device.run(fan(), measure="passes").report
    assert times(single) == ("passes", True, 3)
    assert {span.group for span in single.timeline} == {1}
    assert "~" not in str(single)


def test_the_nearest_word_on_measuring_counts(session_device: rg.Device):
    del session_device
    with rg.Device(measure="passes") as device:
        g = fan()
        assert device.run(g).report.measure == "passes"
        assert device.run(g, measure="off").report.measure == "off"
        compiled = device.compile(g, measure="batches")
        assert compiled.run().report.measure == "batches"
        assert compiled.run(measure="passes").report.measure == "passes"
        assert device.compile(g).run().report.measure == "passes"


def test_one_frame_in_so_many_is_measured(device: rg.Device):
    compiled = device.compile(fan(), measure="batches", sample=3)
    reports = [compiled.run().report for _ in range(16)]
    assert [report.measure != "off" for report in reports] == [at % 3 == 0 for at in range(16)]
    assert sum(report.recorded for report in reports) == 4, "two frames in flight, with times and without"
    assert compiled.run(measure="passes").report.measure == "passes"


def test_what_cannot_be_measured_is_refused(device: rg.Device):
    with pytest.raises(rg.GraphError, match='did you mean "passes"') as refused:
        device.run(fan(), measure="pases")
    assert refused.value.code == "RG-E202"
    with pytest.raises(rg.GraphError, match="one frame in 0") as refused:
        device.compile(fan(), sample=0)
    assert refused.value.code == "RG-E213"
    report = device.run(fan()).report
    with pytest.raises(rg.GraphError, match='run the frame with measure="passes"') as refused:
        device.compile(fan(), weights=report)
    assert refused.value.code == "RG-E225"


def test_a_page_and_a_trace_of_a_frame_without_times_show_modelled_ones(device: rg.Device):
    compiled = device.compile(fan())
    report = compiled.run().report
    assert compiled.plan.to_trace(report) == compiled.plan.to_trace()
    assert compiled.plan.to_html(report=report) == compiled.plan.to_html()
    measured = compiled.run(measure="batches").report
    assert '"group":3' in compiled.plan.to_html(report=measured)
