"""W14: pipelines of O3DE become graphs that bake; what was guessed or left out is listed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import rgraph as rg
from rgraph.cli import main
from rgraph.importers import o3de


def reference(of: str, name: str) -> dict[str, Any]:
    return {"Pass": of, "Attachment": name}


def connected(**slots: tuple[str, str]) -> list[dict[str, Any]]:
    return [{"LocalSlot": slot, "AttachmentRef": reference(*target)} for slot, target in slots.items()]


def slot(name: str, kind: str, usage: str, **more: Any) -> dict[str, Any]:
    return {"Name": name, "SlotType": kind, "ScopeAttachmentUsage": usage, **more}


def request(name: str, template: str, **slots: tuple[str, str]) -> dict[str, Any]:
    return {"Name": name, "TemplateName": template, "Connections": connected(**slots)}


def template(folder: Path, name: str, **values: Any) -> Path:
    """A .pass file with a comment and a comma too many, as the engine's have them."""
    data = {"PassTemplate": {"Name": name, **values}}
    text = json.dumps(
        {"Type": "JsonSerialization", "Version": 1, "ClassName": "PassAsset", "ClassData": data}, indent=4
    )
    text = text.replace("{", '{ // a comment with "quotes"', 1).replace("\n}", ",\n}")
    path = folder / f"{name}.pass"
    path.write_text(text)
    return path


CLEAR = {"LoadAction": "Clear", "ClearValue": {"Value": ["0.5", 0.25, 0.0, 1.0]}}


def image(name: str, form: str, source: tuple[str, str], by: str = "1.0", **more: Any) -> dict[str, Any]:
    multipliers = {"WidthMultiplier": by, "HeightMultiplier": by}
    size = {"Source": reference(*source), "Multipliers": multipliers}
    return {"Name": name, "SizeSource": size, "ImageDescriptor": {"Format": form}, **more}


@pytest.fixture
def pipeline(tmp_path: Path) -> Path:
    """Depth, light culling, lighting with four samples and a resolve, a post module, a disabled pass, and a copy."""
    (tmp_path / "Passes").mkdir()
    inner = tmp_path / "Passes"
    depth = {"LoadAction": "Clear", "ClearValue": {"Type": "DepthStencil", "Value": [0.0]}}
    msaa = image("Depth", "D32_FLOAT_S8X24_UINT", ("Parent", "PipelineOutput"))
    msaa["ImageDescriptor"]["MultisampleState"] = {"samples": 4}
    template(
        inner,
        "DepthTemplate",
        PassClass="RasterPass",
        Connections=connected(Output=("This", "Depth")),
        Slots=[slot("Output", "Output", "DepthStencil", LoadStoreAction=depth)],
        ImageAttachments=[msaa],
        PassData={
            "$type": "RasterPassData",
            "PipelineGlobalConnections": [{"GlobalName": "MainDepth", "Slot": "Output"}],
        },
    )
    template(
        inner,
        "CullTemplate",
        PassClass="LightCullingPass",
        Slots=[slot("Depth", "Input", "Shader"), slot("Lists", "Output", "Shader")],
        BufferAttachments=[{"Name": "LightLists", "BufferDescriptor": {"m_byteCount": "65536"}}],
        Connections=connected(Depth=("PipelineGlobal", "MainDepth"), Lists=("This", "LightLists")),
        PassData={"$type": "ComputePassData"},
    )
    lighting = image("Lighting", "R16G16B16A16_FLOAT", ("This", "Depth"), MultisampleSource=reference("This", "Depth"))
    template(
        inner,
        "ForwardTemplate",
        PassClass="RasterPass",
        Slots=[
            slot("Lists", "Input", "Shader"),
            slot("Table", "Input", "Shader"),
            slot("Depth", "InputOutput", "DepthStencil"),
            slot("Color", "Output", "RenderTarget", LoadStoreAction=CLEAR),
            slot("Resolved", "Output", "Resolve"),
        ],
        ImageAttachments=[
            lighting,
            image("Plain", "R16G16B16A16_FLOAT", ("This", "Depth")),
            {"Name": "BRDF", "Lifetime": "Imported", "AssetRef": {"FilePath": "BRDF.attimage"}},
        ],
        Connections=connected(Color=("This", "Lighting"), Resolved=("This", "Plain"), Table=("This", "BRDF")),
    )
    half = image("Half", "R11G11B10_FLOAT", ("This", "Input"), "0.5")
    template(
        inner,
        "HalfTemplate",
        PassClass="FullScreenTriangle",
        ImageAttachments=[half],
        Slots=[
            slot("Input", "Input", "Shader"),
            slot("Output", "Output", "RenderTarget", LoadStoreAction={"LoadAction": "DontCare"}),
        ],
        Connections=connected(Output=("This", "Half")),
    )
    template(
        inner,
        "GrainTemplate",
        PassClass="FullScreenTriangle",
        ImageAttachments=[image("Grain", "R8_UNORM", ("This", "Input"))],
        Slots=[slot("Input", "Input", "Shader"), slot("Output", "Output", "RenderTarget")],
        Connections=connected(Output=("This", "Grain")),
        FallbackConnections=[{"Input": "Input", "Output": "Output"}],
    )
    template(
        inner,
        "PostTemplate",
        PassClass="ParentPass",
        Slots=[slot("Input", "Input", "Shader"), slot("Output", "Output", "RenderTarget")],
        Connections=connected(Output=("Grain", "Output")),
        PassRequests=[
            request("Half", "HalfTemplate", Input=("Parent", "Input")),
            request("Grain", "GrainTemplate", Input=("Half", "Output")) | {"Enabled": False},
        ],
    )
    template(
        inner,
        "CopyTemplate",
        PassClass="FullScreenTriangle",
        Slots=[
            slot("Input", "Input", "Shader"),
            slot("Output", "Output", "RenderTarget", LoadStoreAction={"LoadAction": "DontCare"}),
        ],
    )
    return template(
        tmp_path,
        "TestPipeline",
        PassClass="ParentPass",
        Slots=[slot("PipelineOutput", "InputOutput", "RenderTarget")],
        PassRequests=[
            request("Depth", "DepthTemplate"),
            request("Cull", "CullTemplate"),
            request("Forward", "ForwardTemplate", Lists=("Cull", "Lists"), Depth=("Depth", "Output")),
            request("Stray", "HalfTemplate", Input=("Forward", "Resolved")),
            request("Post", "PostTemplate", Input=("Forward", "Resolved")),
            request("Copy", "CopyTemplate", Input=("Post", "Output"), Output=("Parent", "PipelineOutput")),
        ],
    )


def test_w14_a_pipeline_of_o3de_becomes_a_graph_that_bakes(pipeline):
    made = o3de(pipeline, size=(1921, 1080))
    graph = made.graph
    assert graph.name == "TestPipeline"
    assert [one.name for one in graph.passes] == ["Depth", "Cull", "Forward", "Stray", "Post.Half", "Copy"]
    plan = graph.bake()
    assert sorted(plan.pass_names) == ["Copy", "Cull", "Depth", "Forward", "Post.Half"]
    assert plan.check() == []
    values = graph.to_dict()
    images = values["images"]
    assert {name: (one["size"], one["format"], one.get("samples", 1)) for name, one in images.items()} == {
        "Depth.Depth": ([1921, 1080], "depth32float-stencil8", 4),
        "Forward.BRDF": ([1921, 1080], "rgba8unorm", 1),
        "Forward.Lighting": ([1921, 1080], "rgba16float", 4),
        "Forward.Plain": ([1921, 1080], "rgba16float", 1),
        "Stray.Half": ([961, 540], "rg11b10ufloat", 1),
        "Post.Half.Half": ([961, 540], "rg11b10ufloat", 1),
        "PipelineOutput": ([1921, 1080], "rgba8unorm", 1),
    }
    assert values["buffers"]["Cull.LightLists"]["size"] == 65536
    uses = {one["name"]: {use["resource"]: use for use in one["accesses"]} for one in values["passes"]}
    assert {name: {key: use["usage"] for key, use in one.items()} for name, one in uses.items()} == {
        "Depth": {"Depth.Depth": "depth_stencil_attachment"},
        "Cull": {"Depth.Depth": "sampled", "Cull.LightLists": "storage_write"},
        "Forward": {
            "Cull.LightLists": "storage_read",
            "Forward.BRDF": "sampled",
            "Depth.Depth": "depth_stencil_attachment",
            "Forward.Lighting": "color_attachment",
            "Forward.Plain": "resolve_attachment",
        },
        "Stray": {"Forward.Plain": "sampled", "Stray.Half": "color_attachment"},
        "Post.Half": {"Forward.Plain": "sampled", "Post.Half.Half": "color_attachment"},
        # The pass between is disabled: its fallback replaces it.
        "Copy": {"Post.Half.Half": "sampled", "PipelineOutput": "color_attachment"},
    }
    assert uses["Depth"]["Depth.Depth"]["load"] == "clear"
    assert uses["Forward"]["Depth.Depth"]["load"] == "load"
    assert uses["Forward"]["Forward.Lighting"]["clear"] == [0.5, 0.25, 0, 1]
    assert uses["Copy"]["PipelineOutput"]["load"] == "discard"
    assert {one["name"]: one.get("queue", "graphics") for one in values["passes"]}["Cull"] == "compute"


def test_w14_what_an_engine_does_itself_is_listed(pipeline):
    notes = o3de(pipeline).notes
    assert any('"Post.Grain" is disabled' in one for one in notes)
    assert "passes that contribute to no output are culled: Stray" in notes
    lines = (pipeline.parent / "Passes" / "PostTemplate.pass").read_text().split("\n")
    (disabled,) = [one for one in notes if "is disabled" in one]
    assert '"Grain"' in lines[int(disabled.split(":")[1]) - 1]


def test_w14_templates_that_are_missing_and_cycles_are_said(tmp_path):
    path = template(
        tmp_path,
        "Top",
        Slots=[slot("Out", "Output", "RenderTarget")],
        PassRequests=[request("A", "GoneTemplate", In=("Parent", "Out")), request("B", "OwnTemplate")],
    )
    template(
        tmp_path,
        "OwnTemplate",
        Slots=[
            slot("In", "Input", "Shader"),
            slot("Loop", "Input", "Shader"),
            slot("Free", "Input", "Shader"),
            slot("Lost", "Input", "Shader"),
        ],
        Connections=connected(In=("A", "Result"), Loop=("This", "Loop"), Lost=("Nobody", "Out")),
    )
    made = o3de(path)
    notes = "\n".join(made.notes)
    assert 'the template "GoneTemplate" of pass "A" was not found' in notes
    assert 'slot "Loop" of "B" is connected to itself' in notes
    assert 'slot "Free" of "B" is not connected' in notes
    assert 'refers to the unknown pass "Nobody"' in notes
    assert [one.name for one in made.graph.passes] == ["A", "B"]


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ('{\n  "ClassData": {"a" 1}\n}', ":2", "invalid JSON"),
        ("{}", "", "no PassTemplate"),
        ("[" * 100_000, "", "nests too deep"),
        ('{"ClassData": {"PassTemplate": {"Name": 3}}}', "", "no PassTemplate"),
    ],
)
def test_w14_faults_of_pass_files_name_file_and_line(tmp_path, text, place, words):
    path = tmp_path / "bad.pass"
    path.write_text(text)
    with pytest.raises(rg.GraphError) as caught:
        o3de(path)
    assert caught.value.code == "RG-E222"
    assert str(caught.value).startswith(f"RG-E222 {path}{place}: ")
    assert words in str(caught.value)


def test_w14_a_template_that_requests_itself_is_refused(tmp_path):
    path = template(tmp_path, "Loop", Slots=[], PassRequests=[request("Inner", "Loop")])
    with pytest.raises(rg.GraphError, match="request each other without end"):
        o3de(path)


def test_w14_pass_files_are_imported_from_the_command_line(pipeline, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["import", pipeline.name, "-o", "frame.rgraph.json", "--option", "size=640x480"]) == 0
    assert "passes that contribute to no output are culled: Stray" in capsys.readouterr().out
    assert main(["bake", "frame.rgraph.json", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["graph"] == "TestPipeline"
    assert main(["import", pipeline.name, "--option", "viewport=3x3"]) == 2
    assert "no option viewport" in capsys.readouterr().err
