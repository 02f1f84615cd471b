"""Large frames: plans of 65,536 passes, their files and pages have as many bytes per pass as those of 1,024."""

from pathlib import Path

import pytest

import rgraph as rg


def chained(passes: int) -> rg.Plan:
    """The plan of four chains of passes, joined at the end."""
    g = rg.Graph("large", size=(64, 64))
    last: list[rg.Image | None] = [None] * 4
    for at in range(passes - 1):
        made = g.image(f"i{at}", format="rgba8unorm")
        one = g.add_pass(f"p{at}", queue="compute", weight_us=1.0 + at % 7).storage_write(made)
        before = last[at % 4]
        if before is not None:
            one.sampled(before)
        last[at % 4] = made
    out = g.image("out", format="rgba8unorm")
    join = g.add_pass("join", queue="compute").storage_write(out)
    for end in last:
        assert end is not None
        join.sampled(end)
    g.root(out)
    return g.bake("discrete", effort=0)


@pytest.fixture(scope="module")
def small() -> rg.Plan:
    """Of 1,024 passes."""
    return chained(1024)


@pytest.fixture(scope="module")
def large() -> rg.Plan:
    """Of 65,536 passes."""
    return chained(65_536)


def test_a_plan_of_65536_passes_has_all_of_them_and_as_many_barriers_and_bytes_each(small: rg.Plan, large: rg.Plan):
    assert (len(small.pass_names), len(large.pass_names)) == (1024, 65_536)
    calls = [len(plan.barriers) / len(plan.pass_names) for plan in (small, large)]
    assert calls[1] <= calls[0] * 1.05
    assert large.memory.total <= small.memory.total * 1.05, "the frame is as wide, however long it is"


def test_its_file_and_its_page_grow_by_passes_alone(small: rg.Plan, large: rg.Plan, tmp_path: Path):
    for suffix, most in (("rplan.json", 1.4), ("html", 1.4)):
        each = []
        for plan in (small, large):
            path = tmp_path / f"{len(plan.pass_names)}.{suffix}"
            plan.save(path)
            each.append(path.stat().st_size / len(plan.pass_names))
        assert each[1] <= most * each[0], (suffix, each)
    again = rg.Plan.load(tmp_path / "1024.rplan.json")
    assert again == small
    assert (tmp_path / "65536.html").read_bytes().rstrip().endswith(b"</html>")
    again = rg.Plan.load(tmp_path / "65536.rplan.json")
    assert again == large
