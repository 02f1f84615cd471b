"""The fluid demo against laws of what it simulates, and against numpy."""

import numpy as np
import pytest

import rgraph as rg
from rgraph.demo import fluid
from rgraph.demo._shaders import shader

SIZE = (96, 64)
GRID = (48, 32)


def divergence(velocity: np.ndarray) -> np.ndarray:
    """What flows out of each cell of a closed box."""
    x = np.pad(velocity[..., 0], ((0, 0), (0, 1)))
    y = np.pad(velocity[..., 1], ((0, 1), (0, 0)))
    return np.diff(x, axis=1) + np.diff(y, axis=0)


def simulated(device: rg.Device, frames: int, iterations: int) -> rg.Frame:
    g = fluid.build(SIZE, iterations=iterations)
    g.root("stirred", "divergence", "ink")
    simulation = fluid.Simulation(device, g)
    for _ in range(frames - 1):
        simulation.render()
    return simulation.render()


def test_projection_takes_divergence_away_and_more_iterations_take_more(device: rg.Device):
    left = {}
    for iterations in (10, 80):
        frame = simulated(device, 6, iterations)
        before, after = (divergence(np.array(frame[name])) for name in ("stirred", "velocity"))
        np.testing.assert_allclose(np.array(frame["divergence"])[..., 0], before, atol=1e-3)
        # Nothing leaves a closed box, cell for cell summed up.
        assert abs(before.sum()) < 1e-2
        assert abs(after.sum()) < 1e-2
        left[iterations] = np.square(after).mean() / np.square(before).mean()
    assert left[10] < 0.5
    assert left[80] < left[10] / 4


def test_walls_let_nothing_through(device: rg.Device):
    velocity = np.array(simulated(device, 8, 20)["velocity"])
    assert np.abs(velocity).max() > 1.0
    assert (velocity[:, 0, 0] == 0).all()
    assert (velocity[0, :, 1] == 0).all()


def test_an_iteration_is_what_numpy_computes(device: rg.Device):
    random = np.random.default_rng(5)
    pressure, source = (random.normal(size=(24, 40, 1)).astype("f4") for _ in range(2))
    g = rg.Graph("jacobi", size=(40, 24))
    images = {name: g.import_array(name, array) for name, array in (("pressure", pressure), ("divergence", source))}
    result = g.image("result", format="r32float")
    g.compute("jacobi", shader("fluid", "fluid_jacobi"), result=result, **images)
    g.root(result)
    padded = np.pad(pressure[..., 0], 1)
    there = np.pad(np.ones((24, 40), "f4"), 1)
    ways = ((slice(1, -1), slice(0, -2)), (slice(1, -1), slice(2, None)), (slice(0, -2), slice(1, -1)),
            (slice(2, None), slice(1, -1)))  # fmt: skip
    wanted = (sum(padded[way] for way in ways) - source[..., 0]) / sum(there[way] for way in ways)
    np.testing.assert_allclose(np.array(device.run(g)["result"])[..., 0], wanted, rtol=1e-5, atol=1e-6)


def test_ink_without_nozzles_only_moves(device: rg.Device):
    g = fluid.build(SIZE, iterations=40)
    g.root("ink")
    simulation = fluid.Simulation(device, g)
    for _ in range(5):
        frame = simulation.render()
    before = np.array(frame["ink"]).astype(float)
    for _ in range(5):
        frame = simulation.render(ink=0.0)
    after = np.array(frame["ink"]).astype(float)
    assert before[..., 3].max() > 0.2
    assert np.abs(after - before).max() > 0.05
    # MacCormack's method invents no ink, and loses little.
    assert after.max() <= before.max() * 1.001
    assert after[..., 3].sum() == pytest.approx(before[..., 3].sum(), rel=0.15)


def test_a_frame_is_hundreds_of_passes_and_a_picture(device: rg.Device):
    frame = simulated(device, 10, 160)
    assert len(fluid.build(SIZE, iterations=160).bake("single_queue").passes) > 170
    picture = np.asarray(frame["picture"])
    assert picture.shape == (64, 96, 4)
    assert picture[..., :3].max() > 150
    assert (picture[..., 3] == 255).all()


def test_iterations_take_turns_and_are_even():
    with pytest.raises(ValueError, match="iterations is 7"):
        fluid.build(SIZE, iterations=7)
