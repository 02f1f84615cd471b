"""Still pictures: names whole and apart, every view, every width, hostile names."""

import re
from xml.etree import ElementTree

import pytest

import rgraph as rg

from .test_stack import engine

SVG = "{http://www.w3.org/2000/svg}"
VIEWS = ("plan", "timeline", "resources", "memory", "matrix")

# What stands outside of the picture, and names that lie on each other. Turned text has a box of its own after turning.
STANDS = """() => {
  const picture = document.querySelector('svg');
  const [width, height] = ['width', 'height'].map((side) => Number(picture.getAttribute(side)));
  const box = (text) => [text.textContent, text.getBoundingClientRect()];
  const boxes = (which) => [...picture.querySelectorAll(which)].map(box);
  const leaves = ([, box]) => box.left < -1 || box.top < -1 || box.right > width + 1 || box.bottom > height + 1;
  const meet = (a, b) => a.left + 2 < b.right && b.left + 2 < a.right && a.top + 2 < b.bottom && b.top + 2 < a.bottom;
  const turned = boxes('text[transform*="90"]');
  const over = turned.flatMap(([name, box], at) => turned.slice(at + 1).filter(([, its]) => meet(box, its))
    .map(([other]) => [name, other]));
  return { outside: boxes('text').filter(leaves).map(([name]) => name), over };
}"""


@pytest.fixture
def drawn(browser):
    """Draw a picture, and say what lies outside of it or on something else."""
    page = browser.new_page(viewport={"width": 1600, "height": 900})

    def drawn(picture: str) -> dict[str, list]:
        page.set_content(f"<!doctype html><style>body{{margin:0}}</style>{picture}")
        return page.evaluate(STANDS)

    yield drawn
    page.close()


def words(picture: str) -> list[str]:
    return [text.text or "" for text in ElementTree.fromstring(picture).iter(SVG + "text")]


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("width", [1000, 1400])
def test_names_are_whole_apart_and_inside(drawn, frame: rg.Plan, view: str, width: int):
    for plan in (frame, engine()):
        picture = plan.to_svg(view=view, width=width)
        assert f'width="{width}"' in picture
        shown = words(picture)
        if view in ("plan", "timeline", "resources", "matrix"):
            assert set(plan.pass_names) <= set(shown)
        if view in ("plan", "resources", "matrix"):
            lasting = {one["name"] for one in plan.to_dict()["resources"] if one.get("lifetime")}
            assert lasting <= set(shown)
        assert drawn(picture) == {"outside": [], "over": []}


def test_memory_names_every_placement_in_its_block_or_in_the_key(frame: rg.Plan):
    shown = " · ".join(words(frame.to_svg(view="memory")))
    values = frame.to_dict()
    names = {one["id"]: one["name"] for one in values["resources"]}
    placed = [names[one["resource"]] for one in values["memory"]["placements"]]
    assert placed
    for name in placed:
        assert re.search(rf"(^|·| ){re.escape(name)}( |$)", shown), name


def test_pictures_follow_their_bounds(frame: rg.Plan):
    assert 'width="320"' in frame.to_svg(width=1)
    with pytest.raises(rg.GraphError, match='did you mean "timeline"'):
        frame.to_svg(view="timelin")


def test_picture_is_well_formed_and_names_everything(frame: rg.Plan):
    picture = ElementTree.fromstring(frame.to_svg())
    assert {element.tag for element in picture.iter()} <= {
        SVG + tag for tag in ("svg", "title", "style", "rect", "text", "line", "path")
    }
    text = " ".join(element.text or "" for element in picture.iter())
    for name in [*frame.pass_names, *frame.culled, "graphics", "compute"]:
        assert name in text, name
    underlined = [one.text for one in picture.iter(SVG + "text") if one.get("text-decoration") == "underline"]
    assert underlined == ["screen"]
    struck = [one.text for one in picture.iter(SVG + "text") if one.get("text-decoration") == "line-through"]
    assert struck == list(frame.culled)
    attributes = {name for element in picture.iter() for name in element.attrib}
    assert not any(name.startswith("on") or "href" in name for name in attributes)


def test_pictures_of_hostile_names_are_well_formed():
    graph = rg.Graph("</svg><script>&\"'", size=(8, 8))
    image = graph.image("<b>&amp;\u0001", format="rgba8unorm")
    graph.add_pass('"><script>', weight_us=1000).color(image)
    graph.root(image)
    picture = graph.bake().to_svg()
    assert "<script" not in picture
    ElementTree.fromstring(picture)


def test_pictures_of_large_plans_stay_small():
    graph = rg.Graph("large", size=(8, 8))
    before = None
    for at in range(3000):
        image = graph.image(f"image{at}", format="rgba8unorm")
        made = graph.add_pass(f"pass{at}", weight_us=1).color(image)
        if before is not None:
            made.sampled(before)
        before = image
    graph.root(before)
    picture = graph.bake().to_svg()
    assert len(picture) < 500_000
    assert re.search(r"and \d+ more passes, \d+ more resources", picture)
