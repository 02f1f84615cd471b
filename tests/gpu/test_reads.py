"""What is read back: parts of roots, intermediates, and frames as dicts and in coroutines."""

import asyncio

import numpy as np
import pytest

import rgraph as rg
from gpu.shaders import SCALE

COPY = """
@group(0) @binding(0) var src: texture_2d<f32>;
@group(0) @binding(1) var dst: texture_storage_2d<rgba8unorm, write>;
@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) { textureStore(dst, id.xy, textureLoad(src, id.xy, 0)); }
"""


def scaled(values: np.ndarray) -> tuple[rg.Graph, rg.Buffer, rg.Buffer]:
    """Twice the values, and four times: the first is no root."""
    g = rg.Graph("scaled")
    src = g.import_array("src", values, as_buffer=True)
    twice, four = g.buffer("twice", values.nbytes), g.buffer("four", values.nbytes)
    g.compute("double", SCALE, src=src, dst=twice, params={"factor": 2, "offset": 0})
    g.compute("again", SCALE, src=twice, dst=four, params={"factor": 2, "offset": 0})
    g.root(four)
    return g, twice, four


def pyramid() -> tuple[rg.Graph, rg.Image, np.ndarray]:
    """An image with mips and layers, each of a colour of its own."""
    g = rg.Graph("pyramid")
    image = g.image("image", (8, 4), "rgba8unorm", mips=3, layers=2)
    colours = np.zeros((3, 2, 4))
    for mip in range(3):
        for layer in range(2):
            # No colour is half-way between two texel values: devices may round those either way.
            colours[mip, layer] = (mip * 0.4, layer, 0, 1)
            g.clear(f"clear {mip} {layer}", image.mip(mip).layer(layer), tuple(colours[mip, layer]))
    g.root(image)
    return g, image, np.round(colours * 255)


def test_some_bytes_of_a_buffer_are_read(device: rg.Device):
    values = np.arange(1000, dtype=np.uint32)
    g, _, four = scaled(values)
    part = four[40:80]
    frame = device.run(g, read=part)
    assert frame[part].tolist() == (values[10:20] * 4).tolist()
    assert frame["four"].nbytes == 40
    assert frame[four].tolist() == frame[part].tolist()
    frame = device.run(g, read=[four[0:8], four[4:12], four[3:5]])
    assert frame[four[4:12]].tolist() == [4, 8]
    assert (frame[four[3:5]].dtype, frame[four[3:5]].shape) == ("uint8", (2,))
    with pytest.raises(rg.GraphError, match="bytes 3990 to 4001"):
        device.run(g, read=four[3990:4001])
    with pytest.raises(rg.GraphError, match="was not read back"):
        frame[four[0:4]]


def test_mips_and_layers_of_an_image_are_read(device: rg.Device):
    g, image, colours = pyramid()
    compiled = device.compile(g)
    parts = [image.mip(mip) for mip in range(3)]
    for _ in range(3):
        frame = compiled.run(read=parts)
        for mip, part in enumerate(parts):
            assert frame[part].shape == (2, 4 >> mip, 8 >> mip, 4)
            np.testing.assert_array_equal(frame[part][:, 0, 0], colours[mip])
    frame = compiled.run(read=[image.mip(1).layer(1), image.layer(0)])
    assert frame[image.mip(1).layer(1)].shape == (2, 4, 4)
    np.testing.assert_array_equal(frame[image.mip(1).layer(1)][0, 0], colours[1, 1])
    np.testing.assert_array_equal(frame[image.layer(0)][0, 0], colours[0, 0])
    np.testing.assert_array_equal(np.asarray(compiled.run()["image"])[:, 0, 0], colours[0])


def test_parts_that_are_no_part_are_refused(device: rg.Device):
    g, image, _ = pyramid()
    for part, words in (
        (image.mips(0, 2), "mips 0 to 2"),
        (image.mip(3), "mip 3 and layers 0 to 2"),
        (image.layer(2), "layers 2 to 3"),
        (image.aspects("color"), "aspects of an image"),
        ([image, image.layer(1)], "overlap"),
    ):
        with pytest.raises(rg.GraphError, match=words):
            device.run(g, read=part)
    assert device.run(g, read=image.mip(2))["image"].shape == (2, 1, 2, 4)


def test_an_intermediate_is_read_by_naming_it(device: rg.Device):
    values = np.arange(100, dtype=np.uint32)
    g, twice, _ = scaled(values)
    assert device.run(g).keys() == ["four"]
    for read in (twice, "twice", [twice], twice[0:40]):
        frame = device.run(g, read=read)
        assert frame.keys() == ["twice"]
    assert frame["twice"].tolist() == (values[:10] * 2).tolist()
    assert device.run(g, read=["twice", "four"])["four"].tolist() == (values * 4).tolist()
    assert g.bake().pass_names == ["double", "again"]
    assert g.to_dict()["roots"] == ["four"], "the graph itself has no further root"
    with pytest.raises(rg.GraphError, match="not a root"):
        device.compile(g).run(read=twice)
    g.buffer("state", 16, persistent=True)
    with pytest.raises(rg.GraphError, match='"state" lives from frame to frame') as caught:
        device.run(g, read=twice)
    assert caught.value.hint == 'make it a root of the graph: g.root("twice")'


def test_a_frame_is_like_a_dict(device: rg.Device):
    values = np.arange(4, dtype=np.uint32)
    g, twice, four = scaled(values)
    g.root(twice)
    frame = device.run(g)
    assert [(name, array.tolist()) for name, array in frame.items()] == [
        ("four", [0, 4, 8, 12]),
        ("twice", [0, 2, 4, 6]),
    ]
    assert [array.name for array in frame.values()] == frame.keys()
    assert dict(frame)["four"] is frame[four]
    assert frame.get("twice") is frame[twice]
    assert frame.get("src") is None
    assert frame.get("nobody", 7) == 7
    assert frame["four"][1:3].tolist() == [4, 8]


def test_a_frame_is_awaited(device: rg.Device):
    g, _, four = scaled(np.arange(4, dtype=np.uint32))
    compiled = device.compile(g)

    async def several() -> list[rg.Frame]:
        async def one() -> rg.Frame:
            return await compiled.run()

        return await asyncio.gather(*[one() for _ in range(4)])

    frames = asyncio.run(several())
    assert [frame[four].tolist() for frame in frames] == [[0, 4, 8, 12]] * 4
    assert all(frame.done for frame in frames)


def test_samplers_and_parts_are_given_as_in_a_graph_file(device: rg.Device):
    shader = """
    @group(0) @binding(0) var src: texture_2d<f32>;
    @group(0) @binding(1) var how: sampler;
    @group(0) @binding(2) var dst: texture_storage_2d<rgba8unorm, write>;
    @compute @workgroup_size(8, 8)
    fn main(@builtin(global_invocation_id) id: vec3<u32>) {
        if (any(id.xy >= textureDimensions(dst))) { return; }
        textureStore(dst, id.xy, textureSampleLevel(src, how, (vec2<f32>(id.xy) + 0.5) / 8.0 + 1.0, 0.0));
    }
    """
    picture = np.random.default_rng(5).integers(0, 255, (8, 8, 4), np.uint8)
    g = rg.Graph()
    src = g.import_array("src", picture)
    repeat = {"filter": "nearest", "address": "repeat"}
    outs = [g.image(f"out{n}", like=src) for n in range(2)]
    g.compute("one", shader, src=src, how=repeat, dst=outs[0])
    g.compute("two", shader, src={"resource": "src", "mip": 0}, how=rg.Sampler(**repeat), dst={"resource": outs[1]})
    g.root(outs)
    for array in device.run(g).values():
        np.testing.assert_array_equal(np.asarray(array), picture)
    with pytest.raises(rg.GraphError, match='no filter called "neerest"'):
        g.compute("three", shader, src=src, how={"filter": "neerest"}, dst=outs[0])
    with pytest.raises(TypeError, match="not int"):
        g.compute("four", COPY, src={"mip": 0, "resource": 3}, dst=outs[0])


def test_several_parts_of_a_resource_have_a_key_each(device: rg.Device):
    g, image, colours = pyramid()
    words = g.buffer("words", 64)
    g.fill("low", words[0:32], 1)
    g.fill("high", words[32:64], 2)
    g.root(words)
    parts = [image.mip(0), image.mip(2).layer(1), image.mip(1).layers(0, 2), words[0:8], words[28:36]]
    frame = device.run(g, read=parts)
    keys = ["image.mip(0)", "image.mip(2).layer(1)", "image.mip(1).layers(0, 2)", "words[0:8]", "words[28:36]"]
    assert frame.keys() == list(frame) == keys
    assert len(frame) == 5
    assert [array.shape for array in frame.values()] == [(2, 4, 8, 4), (1, 2, 4), (2, 2, 4, 4), (8,), (8,)]
    for part, (key, array) in zip(parts, frame.items(), strict=True):
        assert part in frame
        assert key in frame
        assert frame[key] is frame[part] is frame.get(part) is array
    np.testing.assert_array_equal(frame["image.mip(2).layer(1)"][0, 0], colours[2, 1])
    assert frame["words[28:36]"].view("uint32").tolist() == [1, 2]
    assert frame._repr_html_().count("<img") == 3
    # What was not read is not there, whichever way it is asked for.
    for other in (image, image.mip(1), words[0:4], "image", "image.mip(1)"):
        assert other not in frame
        assert frame.get(other, 7) == 7
    with pytest.raises(rg.GraphError, match="was not read back") as caught:
        frame["image"]
    assert "ask for one of the parts" in caught.value.hint
    # One part alone is its resource's result.
    frame = device.run(g, read=image.mip(1))
    assert frame.keys() == ["image"]
    assert (image in frame, image.mip(1) in frame, image.mip(2) in frame) == (True, True, False)
    assert frame.get(image.mip(2)) is None


def test_a_multisampled_image_is_said_to_need_a_resolve(device: rg.Device):
    g = rg.Graph("multisampled", size=(8, 8))
    fine, out = g.image("fine", format="rgba8unorm", samples=4), g.image("out", format="rgba8unorm")
    g.callback("draw", lambda commands: None, color=fine, clear=(1, 0, 0, 1), resolve=out)
    g.root(out, fine)
    assert device.run(g)["out"][0, 0].tolist() == [255, 0, 0, 255]
    with pytest.raises(rg.GraphError) as caught:
        device.run(g)["fine"]
    assert "resolve=" in caught.value.hint
    assert "root" not in caught.value.hint
    with pytest.raises(rg.GraphError, match='"fine" is multisampled, so it cannot be read back') as caught:
        device.run(g, read="fine")
    assert "resolve=" in caught.value.hint
