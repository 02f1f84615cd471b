"""Rows S5, W9, G20 and their kin: what asks for nothing is refused, not taken for something."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import rgraph as rg
from rgraph.importers import slangp
from seeds.test_hostile import filled, small
from seeds.test_w14_importers import PLAIN, preset, shader


def draws(**options: object) -> None:
    g = rg.Graph(size=(8, 8))
    g.raster(
        "draw",
        "@fragment fn main() -> @location(0) vec4<f32> { return vec4<f32>(1.0); }",
        color=g.image("out", format="rgba8unorm"),
        **options,
    )


NOTHING: dict[str, tuple[str, Callable[[rg.Device], object]]] = {
    "a class": ("RG-E219", lambda device: small(unit="")),
    "a class of a draw": ("RG-E219", lambda device: draws(unit="")),
    "a flag": ("RG-E219", lambda device: small(conditional="")),
    "a flag of a draw": ("RG-E219", lambda device: draws(conditional="")),
    "seeds": ("RG-E213", lambda device: device.chaos(filled(), seeds=0)),
    "frames of a trial": ("RG-E213", lambda device: device.chaos(filled(), frames=0)),
    "batches": ("RG-E213", lambda device: small().bake(max_batches=0)),
    "frames of a capture": ("RG-E213", lambda device: device.capture("never.rcapture", frames=0)),
}


@pytest.mark.parametrize("what", NOTHING)
def test_what_asks_for_nothing_is_refused(device: rg.Device, what: str) -> None:
    code, ask = NOTHING[what]
    with pytest.raises(rg.GraphError) as caught:
        ask(device)
    assert caught.value.code == code, str(caught.value)
    assert caught.value.hint


def test_a_preset_runs_at_least_one_frame(device: rg.Device, tmp_path: Path) -> None:
    shader(tmp_path, "plain", PLAIN)
    made = slangp(preset(tmp_path, "shaders = 1", "shader0 = plain.slang"), size=(4, 4))
    for frames in (0, -1):
        with pytest.raises(rg.GraphError, match=f"RG-E213 {frames} frames"):
            made.run(device, frames=frames)


UNNAMED: dict[str, Callable[[rg.Graph], object]] = {
    "an extension point": lambda g: g.extension_point(""),
    "an extension": lambda g: g.extend(""),
    "a pass in a module": lambda g: g.module("outer").add_pass("", side_effects=True),
    "a buffer in a module": lambda g: g.module("outer").buffer("", 64),
}


@pytest.mark.parametrize("what", UNNAMED)
def test_what_is_declared_has_a_name(what: str) -> None:
    def declared(g: rg.Graph) -> None:
        UNNAMED[what](g)
        g.bake()

    with pytest.raises(rg.GraphError, match=r"RG-E219 an? .* has an empty name") as caught:
        declared(small())
    assert ('within "outer"' in str(caught.value)) == (" in a module" in what)
    assert "give it a name" in caught.value.hint


@pytest.mark.parametrize("key", ["module", "extension_point", "extend"])
def test_parts_of_a_file_have_names(key: str) -> None:
    with pytest.raises(rg.GraphError, match="RG-E219"):
        rg.Graph.from_dict({"rgraph": 1, "passes": [{key: ""}]})


def test_layers_need_no_names_of_their_own_within_modules() -> None:
    g = rg.Graph("layers", size=(8, 8))
    part = g.module("part")
    out = part.image("out", format="rgba8unorm")
    shader = "@fragment fn main() -> @location(0) vec4<f32> { return vec4<f32>(1.0); }"
    part.layer("scene", out, clear=(0, 0, 0, 0)).draw("draw", shader, key=3)
    g.root(out)
    assert g.bake().pass_names


def test_a_flag_of_a_file_is_named_too() -> None:
    for key in ("unit", "conditional"):
        text = '{"rgraph": 1, "passes": [{"name": "a", "queue": "compute", "side_effects": true, "KEY": ""}]}'
        with pytest.raises(rg.GraphError, match="RG-E219"):
            rg.Graph.from_json(text.replace("KEY", key))
