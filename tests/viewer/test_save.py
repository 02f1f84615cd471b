"""What is in sight as SVG and PNG: saved by the page itself, offline, with real text and shapes."""

import struct
from pathlib import Path
from xml.etree import ElementTree

import pytest

import rgraph as rg

SVG = "{http://www.w3.org/2000/svg}"


def saved(opened, key: str, tmp_path: Path) -> Path:
    """Press a key and take what the page hands to the browser."""
    with opened.page.expect_download() as download:
        opened.page.keyboard.press(key)
    path = tmp_path / download.value.suggested_filename
    download.value.save_as(path)
    return path


def texts(root: ElementTree.Element) -> list[str]:
    return [one.text for one in root.iter(SVG + "text") if one.text]


VIEWS = ["frame", "timeline", "resources", "memory", "graph", "matrix", "costs", "tables", "images", "diff"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_view_is_saved_as_plain_shapes_and_text(show, rich: str, tmp_path: Path, scheme: str):
    opened = show(rich, scheme=scheme)
    for view in VIEWS:
        opened.view(view)
        opened.settled()
        path = saved(opened, "e", tmp_path)
        assert path.name == f"deferred-{view}.svg"
        root = ElementTree.parse(path).getroot()
        tags = {one.tag.removeprefix(SVG) for one in root.iter()}
        shapes = {"svg", "defs", "g", "clipPath", "pattern", "rect", "line", "path", "polygon", "polyline", "circle"}
        assert tags <= shapes | {"text", "image"}, view
        names = {name for one in root.iter() for name in one.attrib}
        assert not names & {"class", "style", "tabindex", "role"}, view
        assert not any("var(" in value or "light-dark" in value for one in root.iter() for value in one.attrib.values())
        assert len(texts(root)) >= 5, view
        assert view != "images" or "image" in tags
        back = root.findall(SVG + "rect")[0].get("fill")
        assert back == {"light": "#ffffff", "dark": "#12151a"}[scheme]


def test_a_saved_frame_has_every_box_and_name_that_is_in_sight(show, rich: str, tmp_path: Path):
    opened = show(rich)
    boxes = opened.page.locator("#view-frame .timeline .box:not(.culled)")
    root = ElementTree.parse(saved(opened, "e", tmp_path)).getroot()
    edges = {"#2c68c4", "#b96300", "#667180"}
    drawn = [one for one in root.iter(SVG + "rect") if one.get("stroke") in edges and one.get("fill") == "none"]
    merged = opened.page.locator("#view-frame .timeline .box.merged").count()
    assert boxes.count() - merged <= len(drawn)
    shown = set(texts(root))
    for label in boxes.locator(".label .text").all_inner_texts():
        assert label.replace("\xa0", " ") in shown
    assert {"shadow", "Timeline", "Resources", "Memory"} <= shown
    width, height = (float(root.get(side)) for side in ("width", "height"))
    view = opened.page.locator("#view-frame").bounding_box()
    assert abs(width - view["width"]) <= 1
    assert 0 < height <= view["height"] + 60


def test_the_button_saves_a_sharp_png(show, rich: str, tmp_path: Path):
    opened = show(rich)
    page = opened.page
    page.get_by_role("button", name="Save").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="PNG").click()
    path = tmp_path / "frame.png"
    download.value.save_as(path)
    data = path.read_bytes()
    assert data.startswith(b"\x89PNG")
    width, _ = struct.unpack(">II", data[16:24])
    assert width == pytest.approx(2 * page.locator("#view-frame").bounding_box()["width"], abs=3)
    assert len(set(data)) > 100
    assert page.get_by_role("button", name="PNG").is_hidden()


def test_hostile_names_are_text_in_saved_pictures(show, tmp_path: Path):
    graph = rg.Graph("</svg><script>alert(1)</script>/..", size=(8, 8))
    image = graph.image("<b>&amp;", format="rgba8unorm")
    graph.add_pass('"><img src=x>', weight_us=1000).color(image)
    graph.root(image)
    opened = show(graph.bake().to_html())
    path = saved(opened, "e", tmp_path)
    assert "/" not in path.name
    assert "<script" not in path.read_text(encoding="utf-8")
    assert any('"><img' in text for text in texts(ElementTree.parse(path).getroot()))
