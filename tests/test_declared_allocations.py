"""What a declared pass allocates, counted by builds with debug assertions: no load of a machine changes it."""

import pytest

import rgraph as rg
from rgraph._core import _counts

SHADER = """
@group(0) @binding(0) var<storage, read_write> data: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) { data[id.x] += 1u; }
"""


def allocations(passes: int) -> int:
    """Allocations of the module while a chain of so many dispatches is declared, its shader known."""
    names = [f"p{at}" for at in range(passes)]
    g = rg.Graph("chain")
    data = g.buffer("data", 256, persistent=True)
    g.compute("first", SHADER, groups=(1, 1, 1), data=data)
    before = _counts()["allocations"]
    for name in names:
        g.compute(name, SHADER, groups=(1, 1, 1), data=data)
    return _counts()["allocations"] - before


@pytest.mark.parametrize("passes", [100, 1024, 16384])
def test_a_dispatch_of_a_known_text_allocates_three_times(passes: int) -> None:
    counted = allocations(passes)
    if not counted:
        pytest.skip("this build has no debug assertions, so it does not count")
    # Its arguments, its bindings and its step. Lists of the graph double as they grow.
    growth = 24 * passes.bit_length()
    assert counted <= 3 * passes + growth, f"{counted / passes:.3f} per pass"


def test_lists_of_a_graph_take_the_memory_of_one_that_is_gone() -> None:
    allocations(1024)
    counted = allocations(1024)
    if not counted:
        pytest.skip("this build has no debug assertions, so it does not count")
    # No list grows any more.
    assert counted <= 3 * 1024 + 8, counted


def test_a_graph_in_the_memory_of_another_one_has_nothing_of_it() -> None:
    g = rg.Graph("first", size=(8, 8))
    image = g.image("image", format="rgba8unorm")
    g.add_pass("draw", conditional="on").color(image, clear=(0, 0, 0, 1))
    g.compute("work", SHADER, groups=(1, 1, 1), data=g.buffer("data", 256))
    g.root(image)
    del g, image
    again = rg.Graph("second")
    assert (again.name, again.size, again.to_json()) == ("second", (1920, 1080), rg.Graph("second").to_json())
    out = again.buffer("image", 64)
    again.fill("draw", out, 1)
    again.root(out)
    assert again.bake().pass_names == ["draw"]
