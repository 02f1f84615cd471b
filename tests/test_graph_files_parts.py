"""Graph files of several parts: options, conditions, modules, extension points, includes, pictures."""

import json
import struct
import zlib
from pathlib import Path

import pytest

import rgraph as rg

IMAGE = {"format": "rgba8unorm"}


def draw(name: str, target: str, *reads: str, **more: object) -> dict:
    accesses = [{"resource": read, "usage": "sampled"} for read in reads]
    return {"name": name, "accesses": [*accesses, {"resource": target, "usage": "color_attachment"}], **more}


def names(g: rg.Graph) -> list[str]:
    return [p["name"] for p in g.to_dict()["passes"]]


def write(folder: Path, **files: object) -> Path:
    for name, values in files.items():
        path = folder / f"{name}.rgraph.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps({"rgraph": 1, **values}))
    return folder / f"{next(iter(files))}.rgraph.json"


CONDITIONS = [
    ("debug", False),
    ({"option": "debug"}, False),
    ({"not": "debug"}, True),
    ("quality", True),
    ({"option": "quality", "at_least": 2}, True),
    ({"option": "quality", "at_least": 3}, False),
    ({"option": "quality", "at_most": 1.5}, False),
    ({"option": "quality", "is": 2}, True),
    ({"option": "mode", "is": "fast"}, True),
    ({"option": "mode", "is": "slow"}, False),
    ({"all": ["quality", {"not": "debug"}]}, True),
    ({"all": ["quality", "debug"]}, False),
    ({"any": ["quality", "debug"]}, True),
    ({"any": []}, False),
    (False, False),
]


@pytest.mark.parametrize(("condition", "holds"), CONDITIONS)
def test_conditions_say_which_passes_there_are(condition: object, holds: bool):
    values = {"rgraph": 1, "options": {"debug": False, "quality": 2, "mode": "fast"}}
    values["images"] = {"a": IMAGE, "b": IMAGE | {"if": condition}}
    values["passes"] = [draw("draw", "a"), draw("view", "a", **{"if": condition})]
    g = rg.Graph.from_dict(values)
    assert names(g) == (["draw", "view"] if holds else ["draw"])
    assert [r.name for r in g.resources] == (["a", "b"] if holds else ["a"])


def test_options_stand_for_numbers_wherever_they_are_asked():
    values = {
        "rgraph": 1,
        "options": {"width": 64, "layers": 2, "format": "rgba8unorm", "stay": True, "word": 7},
        "reference_size": [{"option": "width"}, 32],
        "images": {
            "a": {"format": {"option": "format"}, "layers": {"option": "layers"}, "persistent": {"option": "stay"}}
        },
        "buffers": {"n": {"size": 64}},
        "passes": [{"name": "fill", "fill": {"buffer": "n", "word": {"option": "word"}}}],
    }
    g = rg.Graph.from_dict(values)
    assert g.size == (64, 32)
    g = rg.Graph.from_dict(values, options={"width": 128, "layers": 3, "format": "r8unorm", "stay": False, "word": 9})
    declaration = g.to_dict()
    assert g.size == (128, 32)
    assert declaration["images"]["a"] == {"format": "r8unorm", "layers": 3}
    assert declaration["passes"][0]["fill"]["word"] == 9
    assert "options" not in declaration


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"debgu": True}, 'no option "debgu".*\n.*did you mean "debug"'),
        ({"debug": 1}, "its default is false"),
        ({"quality": "high"}, 'is "high", but its default is 2'),
    ],
)
def test_options_that_the_file_does_not_have_are_refused(options: dict, says: str):
    values = {"rgraph": 1, "options": {"debug": False, "quality": 2}}
    with pytest.raises(rg.GraphError, match=says):
        rg.Graph.from_dict(values, options=options)
    with pytest.raises(TypeError, match='option "x" must be'):
        rg.Graph.from_dict(values, options={"x": None})


def test_an_option_that_nothing_declares_is_named():
    with pytest.raises(rg.GraphError, match=r'images.a.layers names option "lyers".*\n.*did you mean "layers"'):
        rg.Graph.from_dict({"rgraph": 1, "options": {"layers": 2}, "images": {"a": {"layers": {"option": "lyers"}}}})
    with pytest.raises(rg.GraphError, match=r'passes\[0\].if names option "x"'):
        rg.Graph.from_dict({"rgraph": 1, "passes": [{"name": "p", "if": "x"}]})


def test_modules_look_at_their_own_names_first_then_outwards():
    inner = {"module": "inner", "images": {"a": IMAGE}, "passes": [draw("p", "a", "b")]}
    outer = {"module": "outer", "images": {"b": IMAGE}, "passes": [draw("q", "b", "a"), inner], "roots": ["inner/a"]}
    g = rg.Graph.from_dict({"rgraph": 1, "images": {"a": IMAGE}, "passes": [draw("p", "a"), outer]})
    passes = {p["name"]: [access["resource"] for access in p["accesses"]] for p in g.to_dict()["passes"]}
    assert passes == {"p": ["a"], "outer/q": ["a", "outer/b"], "outer/inner/p": ["outer/b", "outer/inner/a"]}
    assert g.bake().pass_names == ["p", "outer/q", "outer/inner/p"]


def test_extensions_stand_at_their_point_in_the_order_of_their_declaration():
    passes = [
        {"extend": "post", "passes": [draw("early", "a", "c")]},
        draw("first", "c"),
        {"extension_point": "post"},
        draw("last", "b", "a", after=["late"]),
        {"extend": "post", "images": {"d": IMAGE}, "passes": [draw("late", "d", "a")]},
    ]
    g = rg.Graph.from_dict(
        {"rgraph": 1, "images": {"a": IMAGE, "b": IMAGE, "c": IMAGE}, "passes": passes, "roots": ["b", "d"]}
    )
    assert names(g) == ["first", "early", "late", "last"]
    assert g.bake().check() == []
    same = rg.Graph.from_json(g.to_json())
    assert same.hash == g.hash
    for wrong, says in [
        (
            [{"extend": "pots", "passes": []}, {"extension_point": "post"}],
            '"pots" is extended.*\n.*did you mean "post"',
        ),
        ([{"extension_point": "post"}, {"extension_point": "post"}], "second extension point"),
        ([{"extend": "post", "passes": [{"extension_point": "post"}]}], "inside itself"),
    ]:
        with pytest.raises(rg.GraphError, match=says):
            rg.Graph.from_dict({"rgraph": 1, "passes": wrong})


BLOOM = {
    "options": {"levels": 2, "soft": True},
    "images": {
        "source": IMAGE,
        "half": {
            "format": "rgba16float",
            "size": {"relative_to": "source", "scale": [0.5, 0.5]},
            "mips": {"option": "levels"},
        },
    },
    "passes": [draw("down", "half", "source"), draw("blur", "half", "source", **{"if": "soft"})],
    "roots": ["half"],
}


def test_a_file_is_included_as_a_module_with_options_and_resources(tmp_path: Path):
    include = {
        "include": "parts/bloom.rgraph.json",
        "as": "glow",
        "with": {"levels": 3},
        "resources": {"source": "lit"},
    }
    path = write(
        tmp_path,
        main={
            "options": {"soft": False},
            "images": {"lit": IMAGE, "out": IMAGE},
            "passes": [
                draw("light", "lit"),
                include | {"with": {"levels": 3, "soft": {"option": "soft"}}},
                draw("end", "out", "glow/half"),
            ],
            "roots": ["out"],
        },
        **{"parts/bloom": BLOOM},
    )
    g = rg.Graph.load(path)
    assert names(g) == ["light", "glow/down", "end"]
    declaration = g.to_dict()
    assert list(declaration["images"]) == ["lit", "out", "glow/half"]
    assert declaration["images"]["glow/half"]["mips"] == 3
    assert declaration["passes"][1]["accesses"][0]["resource"] == "lit"
    assert declaration["roots"] == ["out"]  # an included file's own roots are those of it alone
    assert g.files == [str(path), str(tmp_path / "parts" / "bloom.rgraph.json")]
    assert names(rg.Graph.load(path, options={"soft": True})) == ["light", "glow/down", "glow/blur", "end"]
    assert names(rg.Graph.load(tmp_path / "parts" / "bloom.rgraph.json")) == ["down", "blur"]
    again = rg.Graph.from_json(g.to_json())
    assert again.bake() == g.bake()


def test_a_file_may_be_included_several_times(tmp_path: Path):
    twice = [{"include": "parts/bloom.rgraph.json", "as": name, "resources": {"source": "lit"}} for name in "ab"]
    path = write(
        tmp_path, main={"images": {"lit": IMAGE}, "passes": [draw("light", "lit"), *twice]}, **{"parts/bloom": BLOOM}
    )
    assert names(rg.Graph.load(path)) == ["light", "a/down", "a/blur", "b/down", "b/blur"]


def test_includes_that_go_round_are_refused_with_their_chain(tmp_path: Path):
    path = write(tmp_path, a={"passes": [{"include": "b.rgraph.json"}]}, b={"passes": [{"include": "c.rgraph.json"}]},
                 c={"passes": [{"include": "a.rgraph.json"}]})  # fmt: skip
    with pytest.raises(
        rg.GraphError,
        match=r"RG-E204 .*c.rgraph.json:1.*a.rgraph.json → .*b.rgraph.json → .*c.rgraph.json → .*a.rgraph.json",
    ) as caught:
        rg.Graph.load(path)
    assert len(caught.value.files) == 3
    alone = write(tmp_path / "alone", me={"passes": [{"include": "me.rgraph.json"}]})
    with pytest.raises(rg.GraphError, match=r"RG-E204 .*me.rgraph.json → .*me.rgraph.json"):
        rg.Graph.load(alone)


def test_includes_that_multiply_are_refused_in_time(tmp_path: Path):
    files = {
        f"f{n}": {"passes": [{"include": f"f{n + 1}.rgraph.json", "as": name} for name in "ab"]} for n in range(20)
    }
    path = write(tmp_path, **files, f20={})
    with pytest.raises(rg.GraphError, match=r"RG-E223 .*more than 4096 modules"):
        rg.Graph.load(path)


def test_mistakes_of_an_included_file_name_that_file(tmp_path: Path):
    path = write(tmp_path, main={"passes": [{"include": "part.rgraph.json"}]}, part={"images": {"a": {"formt": 1}}})
    with pytest.raises(rg.GraphError, match=r"part.rgraph.json:1: images.a.formt is not a key") as caught:
        rg.Graph.load(path)
    assert len(caught.value.mistakes) == 1
    (tmp_path / "part.rgraph.json").write_text("{")
    with pytest.raises(rg.GraphError, match=r"part.rgraph.json:1: not JSON"):
        rg.Graph.load(path)
    path = write(tmp_path, main={"passes": [{"include": "part.rgraph.json", "with": {"levls": 1}}]}, part=BLOOM)
    with pytest.raises(rg.GraphError, match=r'no option "levls".*\n.*"levels"'):
        rg.Graph.load(path)


def png(width: int, height: int, color: int, depth: int, rows: bytes) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    step = len(rows) // height
    lines = b"".join(b"\0" + rows[y * step : (y + 1) * step] for y in range(height))
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, color, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + header + chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b"")


def test_pictures_say_their_format_and_size(tmp_path: Path):
    np = pytest.importorskip("numpy")
    (tmp_path / "rgb.png").write_bytes(png(3, 2, 2, 8, bytes(range(18))))
    (tmp_path / "grey.png").write_bytes(png(2, 2, 0, 16, bytes(range(8))))
    np.save(tmp_path / "table.npy", np.zeros((4, 8, 2), "f4"))
    (tmp_path / "raw.bin").write_bytes(bytes(64))
    images = {
        name: {"file": file} for name, file in {"rgb": "rgb.png", "grey": "grey.png", "table": "table.npy"}.items()
    }
    images["linear"] = {"file": "rgb.png", "format": "rgba8unorm-srgb"}
    path = write(
        tmp_path, main={"images": images, "buffers": {"raw": {"file": "raw.bin"}, "bytes": {"file": "table.npy"}}}
    )
    g = rg.Graph.load(path)
    declaration = g.to_dict()
    assert declaration["images"]["rgb"] | {"imported": {}} == {"format": "rgba8unorm", "size": [3, 2], "imported": {}}
    assert declaration["images"]["grey"]["format"] == "r16unorm"
    assert declaration["images"]["table"]["format"] == "rg32float"
    assert declaration["images"]["table"]["size"] == [8, 4]
    assert declaration["buffers"]["raw"]["size"] == 64
    assert declaration["buffers"]["bytes"]["size"] == 256
    g.save(tmp_path / "again.rgraph.json")
    again = json.loads((tmp_path / "again.rgraph.json").read_text())
    assert again["images"]["linear"] == {"format": "rgba8unorm-srgb", "size": [3, 2], "imported": {}, "file": "rgb.png"}
    assert rg.Graph.load(tmp_path / "again.rgraph.json").to_json() == g.to_json()
    for image, says in [
        ({"file": "rgb.png", "format": "rgba16float"}, "cannot be rgba16float"),
        ({"file": "rgb.png", "size": [4, 4]}, "leave its size"),
        ({"file": "raw.png"}, "cannot be read"),
        ({"file": "../rgb.png"}, "no plain relative path"),
    ]:
        path = write(tmp_path, bad={"images": {"a": image}})
        with pytest.raises(rg.GraphError, match=says):
            rg.Graph.load(path)
    (tmp_path / "rgb.png").write_bytes(b"\x89PNG\r\n\x1a\nbroken")
    with pytest.raises(rg.GraphError, match=r"RG-E222 .*rgb.png.*PNG"):
        rg.Graph.load(tmp_path / "main.rgraph.json")
