"""W14: single templates of O3DE, and odd ones: each bakes, or a note says what was not taken over."""

from __future__ import annotations

from pathlib import Path

import pytest

import rgraph as rg
from rgraph.importers import o3de
from seeds.test_w14_o3de import connected, image, request, slot, template

COMPUTE = {"$type": "ComputePassData"}


def test_w14_a_template_without_requests_is_a_pass_of_its_name_whose_outputs_are_roots(tmp_path: Path):
    views = {"MipSliceMin": 0, "MipSliceMax": 12}
    path = template(
        tmp_path,
        "Downsample",
        PassData=COMPUTE,
        Slots=[slot("In", "Input", "Shader"), slot("Out", "Output", "Shader", ImageViewDesc=views)],
        ImageAttachments=[image("Mips", "R16G16_FLOAT", ("This", "In"), "0.5", GenerateFullMipChain=True)],
        Connections=connected(Out=("This", "Mips")),
    )
    made = o3de(path, size=(64, 36))
    assert made.notes == ()
    assert made.graph.bake().pass_names == ["Downsample"]
    values = made.graph.to_dict()
    assert values["roots"] == ["Mips"]
    # The view names more mips than 32x18 texels have.
    assert values["passes"][0]["accesses"][1]["mips"] == [0, 6]


def test_w14_outputs_of_a_parent_are_roots_though_a_child_has_the_image(tmp_path: Path):
    template(
        tmp_path,
        "Leaf",
        Slots=[slot("Out", "Output", "RenderTarget")],
        ImageAttachments=[
            {"Name": "Own", "ImageDescriptor": {"Format": "R8_UNORM", "Size": {"Width": 8, "Height": 8}}}
        ],
        Connections=connected(Out=("This", "Own")),
    )
    path = template(
        tmp_path,
        "Top",
        Slots=[slot("Result", "Output", "")],
        PassRequests=[request("A", "Leaf"), request("B", "Leaf")],
        Connections=connected(Result=("A", "Out")),
    )
    made = o3de(path, size=(16, 16))
    assert made.graph.to_dict()["roots"] == ["A.Own"]
    assert made.graph.bake().pass_names == ["A"]
    assert [note for note in made.notes if "culled: B" in note]


def test_w14_requests_and_slots_without_a_name_of_their_own_are_noted(tmp_path: Path):
    template(tmp_path, "Leaf", PassData=COMPUTE, Slots=[{"SlotType": "Output"}])
    path = template(tmp_path, "Top", PassRequests=[request("A", "Leaf"), request("A", "Leaf"), request("", "Leaf")])
    made = o3de(path)
    assert sorted(made.graph.bake().pass_names) == ["A", "A.2", "unnamed.2"]
    text = "\n".join(made.notes)
    for said in ('a second request is called "A": taken as A.2', "a request has no name: taken as unnamed.2"):
        assert said in text
    assert 'a slot of "A" has no name: left out' in text


@pytest.mark.parametrize("width", [1e9, 1e30, "1e300"])
def test_w14_sizes_that_no_image_has_are_noted(tmp_path: Path, width: object):
    given = {"Size": {"Width": width, "Height": -3}, "Format": "R8_UNORM", "ArraySize": 1e12}
    path = template(
        tmp_path,
        "Huge",
        Slots=[slot("Out", "Output", "RenderTarget")],
        ImageAttachments=[{"Name": "Own", "ImageDescriptor": given}],
        Connections=connected(Out=("This", "Own")),
    )
    made = o3de(path)
    assert isinstance(made.graph, rg.Graph)
    assert made.graph.to_dict()["images"]["Own"]["size"] == [65536, 1]
    assert [note for note in made.notes if '"Own" is longer than 65536 texels: taken as 65536' in note]
    assert [note for note in made.notes if "does not bake as it is: RG-E212" in note]


@pytest.mark.parametrize("odd", [True, "R8_UNORM", 7, ["R8_UNORM"], {"Size": True, "MultisampleState": [4]}, None])
def test_w14_a_descriptor_that_is_no_object_is_noted(tmp_path: Path, odd: object) -> None:
    path = template(
        tmp_path,
        "Odd",
        Slots=[slot("Out", "Output", "RenderTarget", LoadStoreAction={"LoadAction": "Clear", "ClearValue": odd})],
        ImageAttachments=[{"Name": "Own", "ImageDescriptor": odd}],
        Connections=connected(Out=("This", "Own")),
    )
    made = o3de(path, size=(64, 36))
    assert made.graph.bake().pass_names == ["Odd"]
    assert [note for note in made.notes if '"Own" has no format: taken as rgba8unorm' in note]
