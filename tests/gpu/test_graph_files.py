"""Graphs from files compute what the graphs compute that they were saved from."""

from pathlib import Path

import pytest

import rgraph as rg
from test_graph_files_work import COUNT, whole

np = pytest.importorskip("numpy")


def test_every_kind_of_work_renders_the_same_pixels_after_saving(device: rg.Device, tmp_path: Path):
    g = whole()
    g.save(tmp_path / "frame.rgraph.json")
    h = rg.Graph.load(tmp_path / "frame.rgraph.json")
    expected, found = device.run(g), device.run(h)
    assert expected.keys() == found.keys()
    for name in expected:
        assert found[name].tobytes() == expected[name].tobytes(), name
    assert np.any(expected["target"].numpy())


def test_arrays_are_written_beside_the_file_and_pictures_are_uploaded(device: rg.Device, tmp_path: Path):
    rng = np.random.default_rng(1)
    picture = rng.integers(0, 256, (5, 7, 4), "u1")
    g = rg.Graph("photo", size=(7, 5))
    source = g.import_array("in/source", picture, srgb=True)
    table = g.import_array("table", rng.random((3, 4), "f4"), as_buffer=True)
    out, rest = g.image("out", (7, 5), "rgba8unorm-srgb"), g.buffer("rest", 48)
    g.copy("copy", source, out)
    g.copy("rest", table, rest)
    g.root(out, rest)
    g.save(tmp_path / "photo.rgraph.json")
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "photo.in-source.npy",
        "photo.rgraph.json",
        "photo.table.npy",
    ]
    h = rg.Graph.load(tmp_path / "photo.rgraph.json")
    assert [Path(file).name for file in h.files] == ["photo.rgraph.json", "photo.in-source.npy", "photo.table.npy"]
    frame = device.run(h)
    assert np.array_equal(frame["out"].numpy(), picture)
    assert frame["rest"].tobytes() == device.run(g)["rest"].tobytes()
    other = picture[::-1].copy()
    assert np.array_equal(device.run(h, inputs={"in/source": other})["out"].numpy(), other)
    assert np.array_equal(device.run(h.clone())["out"].numpy(), picture)
    h.save(tmp_path / "again.rgraph.json")
    assert (tmp_path / "again.rgraph.json").read_text() == (tmp_path / "photo.rgraph.json").read_text()


def test_data_of_a_file_is_changed_by_parameters(device: rg.Device):
    shader = "struct P { by: u32 } var<immediate> p: P;" + COUNT.replace("= id.x;", "= id.x * p.by;")
    values = {
        "rgraph": 1,
        "buffers": {"counts": {"size": 256}},
        "passes": [
            {
                "name": "count",
                "compute": {"shader": {"wgsl": shader}, "bindings": {"counts": "counts"}, "push": {"by": 2}},
            }
        ],
        "roots": ["counts"],
    }
    g = rg.Graph.from_dict(values)
    assert device.run(g)["counts"].view("u4").tolist() == [2 * n for n in range(64)]
    assert device.run(g, params={"count": {"by": 5}})["counts"].view("u4").tolist() == [5 * n for n in range(64)]


def test_several_draws_of_one_pass_are_steps_of_it(device: rg.Device, tmp_path: Path):
    flat = "struct P { c: vec4<f32> } var<immediate> p: P; @fragment fn fs() -> @location(0) vec4<f32> { return p.c; }"
    g = rg.Graph(size=(8, 4))
    out = g.image("out", format="rgba8unorm")
    first = g.raster("draws", flat, color=out, push={"c": [1, 0, 0, 1]})
    first.draw(flat, push={"c": [0, 0, 1, 1]}, viewport=(4, 0, 4, 4))
    g.root(out)
    g.save(tmp_path / "draws.rgraph.json")
    h = rg.Graph.load(tmp_path / "draws.rgraph.json")
    assert h.to_json() == g.to_json()
    pixels = device.run(h)["out"].numpy()
    assert pixels[0, 0].tolist() == [255, 0, 0, 255]
    assert pixels[0, 7].tolist() == [0, 0, 255, 255]
    steps = [{"raster": {"shader": {"wgsl": flat}, "push": {"c": [1, 0, 0, 1]}, "color": "out"}},
             {"raster": {"shader": {"wgsl": flat}, "push": {"c": [0, 0, 1, 1]}, "viewport": [4, 0, 4, 4]}}]  # fmt: skip
    by_hand = rg.Graph.from_dict(g.to_dict() | {"passes": [{"name": "draws", "steps": steps}]})
    assert by_hand.bake() == g.bake()
    assert device.run(by_hand)["out"].tobytes() == device.run(g)["out"].tobytes()


@pytest.mark.parametrize("mode", [None, "sample_zero"])
def test_a_depth_target_is_resolved_as_a_file_says(device: rg.Device, mode: str | None):
    shader = """
    @vertex fn corner(@builtin(vertex_index) at: u32) -> @builtin(position) vec4<f32> {
        return vec4(f32(at & 1u) * 4.0 - 1.0, f32(at & 2u) * 2.0 - 1.0, 0.25, 1.0);
    }
    @fragment fn paint() -> @location(0) vec4<f32> { return vec4(0.5); }"""
    depth = {"resource": "depths", "clear": 1, "resolve": "depth"}
    draw = {
        "shader": {"wgsl": shader},
        "color": [{"resource": "samples", "clear": [0, 0, 0, 1], "resolve": "color"}],
        "depth": depth | ({"resolve_mode": mode} if mode else {}),
        "depth_test": "less",
    }
    values = {
        "rgraph": 1,
        "reference_size": [4, 4],
        "images": {
            "samples": {"format": "rgba32float", "samples": 4},
            "depths": {"format": "depth32float", "samples": 4},
            "color": {"format": "rgba32float"},
            "depth": {"format": "depth32float"},
        },
        "passes": [{"name": "draw", "raster": draw}],
        "roots": ["color", "depth"],
    }
    g = rg.Graph.from_dict(values)
    resolves = [one for one in g.to_dict()["passes"][0]["accesses"] if one["usage"] == "resolve_attachment"]
    assert [(one["resource"], one["resolves"]) for one in resolves] == [("color", "samples"), ("depth", "depths")]
    frame = device.run(g)
    assert np.all(frame["depth"].numpy() == 0.25)
    assert np.all(frame["color"].numpy() == 0.5)
    with pytest.raises(rg.GraphError, match="middle"):
        rg.Graph.from_dict(
            values | {"passes": [{"name": "draw", "raster": draw | {"depth": depth | {"resolve_mode": "middle"}}}]}
        )
