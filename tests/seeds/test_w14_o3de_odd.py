"""W14: single templates of O3DE, and odd ones: each bakes, or a note says what was not imported."""

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
    for note_text in ('a second request is called "A": taken as A.2', "a request has no name: taken as unnamed.2"):
        assert note_text in text
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


def odd(folder: Path, **changed: object) -> list[str]:
    """The notes of a pipeline of two passes in which some keys of the leaf's template are others."""
    own = image("Own", "R8_UNORM", ("Parent", "Result"))
    values: dict[str, object] = {
        "PassData": COMPUTE,
        "Slots": [slot("Out", "Output", "RenderTarget", LoadStoreAction={"LoadAction": "Clear"})],
        "ImageAttachments": [own],
        "Connections": connected(Out=("This", "Own")),
    }
    template(folder, "Leaf", **values | {key: value for key, value in changed.items() if key in values})
    requests = [request("A", "Leaf"), request("B", "Leaf")]
    top: dict[str, object] = {
        "Slots": [slot("Result", "Output", "")],
        "PassRequests": requests,
        "Connections": connected(Result=("A", "Out")),
    }
    path = template(folder, "Top", **top | {key[3:]: value for key, value in changed.items() if key.startswith("Top")})
    made = o3de(path, size=(64, 36))
    made.graph.to_json()
    return [note.removeprefix(str(folder)) for note in made.notes]


def own(**more: object) -> list[object]:
    return [image("Own", "R8_UNORM", ("Parent", "Result")) | more]


CONNECTION = {"LocalSlot": "Out", "AttachmentRef": {"Pass": "This", "Attachment": "Own"}}


@pytest.mark.parametrize(
    ("changed", "note_text"),
    [
        ({"Slots": 7}, "Leaf.pass:7: Slots is 7, not a list: left out"),
        ({"Slots": [7]}, "Leaf.pass:7: Slots[0] is 7, not an object: left out"),
        ({"Slots": [{"Name": "Out"}]}, "Leaf.pass:13: Slots[0] has no SlotType"),
        ({"Slots": [slot("Out", "Outputs", "")]}, "Slots[0].SlotType is 'Outputs', not one of Input, Output and Input"),
        ({"Slots": [slot("Out", "Output", "Target")]}, "Slots[0].ScopeAttachmentUsage is 'Target', not one of"),
        ({"Slots": [slot("Out", "Output", "", LoadStoreAction=[])]}, "Slots[0].LoadStoreAction is [], not an object"),
        (
            {"Slots": [slot("Out", "Output", "", LoadStoreAction={"LoadAction": "Clean"})]},
            "Slots[0].LoadStoreAction.LoadAction is 'Clean', not one of Clear, Load, DontCare and None",
        ),
        (
            {"Slots": [slot("Out", "Output", "", LoadStoreAction={"ClearValue": {"Value": ["x"]}})]},
            "ClearValue.Value[0] is 'x', not a finite number",
        ),
        ({"Slots": [slot("Out", "Output", "", ImageViewDesc={"MipSliceMin": None})]}, "MipSliceMin is None, not a fin"),
        ({"ImageAttachments": {"Own": 1}}, "ImageAttachments is {'Own': 1}, not a list: left out"),
        ({"ImageAttachments": [None]}, "ImageAttachments[0] is None, not an object: left out"),
        ({"ImageAttachments": [{"ImageDescriptor": {}}]}, "ImageAttachments[0] has no Name"),
        ({"ImageAttachments": own(Name=3)}, "ImageAttachments[0].Name is 3, not a text: not imported"),
        ({"ImageAttachments": own(Lifetime="Forever")}, "Lifetime is 'Forever', not one of Transient and Imported"),
        ({"ImageAttachments": own(GenerateFullMipChain=1)}, "GenerateFullMipChain is 1, not true or false"),
        ({"ImageAttachments": own(SizeSource="Parent")}, "SizeSource is 'Parent', not an object: left out"),
        ({"ImageAttachments": own(SizeSource={"Source": {}})}, "SizeSource.Source has no Pass"),
        (
            {"ImageAttachments": own(SizeSource={"Multipliers": {"WidthMultiplier": -2}})},
            "Multipliers.WidthMultiplier is -2, not a number above 0",
        ),
        ({"ImageAttachments": own(FormatSource="Own")}, "FormatSource is 'Own', not an object: left out"),
        (
            {"ImageAttachments": own(SizeSource=None, ImageDescriptor={"Size": {"Width": 10**400}})},
            "ImageDescriptor.Size.Width is 1000000000000000000000000000000000000000…, not a number above 0",
        ),
        ({"ImageAttachments": own(ImageDescriptor={"Format": "R7_UNORM"})}, 'has the unknown format "R7_UNORM"'),
        ({"ImageAttachments": own(ImageDescriptor={"MipLevels": "many"})}, "MipLevels is 'many', not a number above 0"),
        ({"Connections": True}, "Connections is True, not a list: left out"),
        ({"Connections": [{}]}, "Connections[0] has no LocalSlot"),
        ({"Connections": [{"LocalSlot": "Out"}]}, "Connections[0] has no AttachmentRef"),
        ({"Connections": [CONNECTION | {"AttachmentRef": "Own"}]}, "Connections[0].AttachmentRef is 'Own', not an obj"),
        ({"Connections": connected(Out=("This", "Other"))}, '"A" has no slot "Other": it is an image of its own'),
        ({"PassData": {"PipelineGlobalConnections": {}}}, "PassData.PipelineGlobalConnections is {}, not a list"),
        ({"TopPassRequests": []}, "Top.pass:7: PassRequests is empty: the template is taken as one pass"),
        ({"TopPassRequests": "Leaf"}, "PassRequests is 'Leaf', not a list: left out"),
        ({"TopPassRequests": [request("A", "Leaf") | {"Enabled": "no"}]}, "PassRequests[0].Enabled is 'no', not true"),
        ({"TopPassRequests": [{"Name": "A", "TemplateName": 5}]}, "PassRequests[0].TemplateName is 5, not a text"),
        ({"TopConnections": connected(Result=("A", "Outer"))}, '"A" has no slot "Outer": it is an image of its own'),
    ],
)
def test_w14_what_is_of_a_wrong_kind_is_noted_with_file_and_line(
    tmp_path: Path, changed: dict[str, object], note_text: str
) -> None:
    assert not [note for note in odd(tmp_path) if "culled" not in note]
    assert [note for note in odd(tmp_path, **changed) if note_text in note], odd(tmp_path, **changed)


def test_w14_a_number_of_too_many_digits_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "Long.pass"
    path.write_text('{"ClassData": {"PassTemplate": {"Name": "Long", "Slots": ' + "9" * 5000 + "}}}")
    with pytest.raises(rg.GraphError, match=r"Long.pass: a number has too many digits"):
        o3de(path)
