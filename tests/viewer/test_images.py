"""The view of images: their values, mips and layers, range and channels, before and after."""

import math
import re

import numpy as np
import pytest

import rgraph as rg

SHOWN = "[...document.querySelector('#view-images canvas').getContext('2d').getImageData({x}, {y}, 1, 1).data]"


def plan() -> rg.Plan:
    graph = rg.Graph("images", size=(16, 8))
    hdr, ids = graph.image("hdr", format="rgba16float"), graph.image("ids", format="r32uint")
    graph.add_pass("light", queue="compute").storage_write(hdr).storage_write(ids)
    graph.add_pass("show", queue="compute", side_effects=True).storage_read(hdr).storage_read(ids)
    return graph.bake("single_queue")


def hdr(scale: float = 1.0) -> np.ndarray:
    ramp = np.linspace(0.0, 8.0, 16 * 8 * 4, dtype=np.float16).reshape(8, 16, 4)
    return (ramp * np.float16(scale)).astype(np.float16)


class Looked:
    """One image, looked at closely."""

    def __init__(self, opened, name: str) -> None:
        self.page = opened.page
        self.opened = opened
        self.page.get_by_role("button", name=f"{name}: look closer").click()
        self.read()

    def value(self, x: int, y: int) -> list[float]:
        """The numbers shown for a texel."""
        canvas = self.page.locator("#view-images canvas")
        box = canvas.bounding_box()
        width, height = canvas.evaluate("one => [one.width, one.height]")
        self.page.mouse.move(box["x"] + (x + 0.5) * box["width"] / width, box["y"] + (y + 0.5) * box["height"] / height)
        text = self.page.locator("#view-images .note.value").inner_text()
        found = re.match(r"\((\d+), (\d+)\) +(.*?)(?: {2}·.*)?$", text)
        assert found, text
        return [float(one) for one in found[3].split()]

    def shown(self, x: int, y: int) -> list[int]:
        return self.page.evaluate(SHOWN.format(x=x, y=y))

    def choose(self, label: str) -> None:
        self.page.locator("#view-images").get_by_label(label, exact=True).check()
        self.read()

    def read(self) -> None:
        """Wait until the values that were chosen are there."""
        self.page.locator("#view-images .stage:not([aria-busy])").wait_for()


def test_values_are_those_of_the_array(show):
    array = hdr()
    looked = Looked(show(plan().to_html(images={"hdr": array}), fragment="#view=images"), "hdr")
    for x, y in ((0, 0), (5, 3), (15, 7)):
        shown = looked.value(x, y)
        assert shown == pytest.approx([float(one) for one in array[y, x]], rel=1e-3)
    looked.choose("A")
    grey = looked.shown(15, 7)
    assert grey[0] == grey[1] == grey[2] == 255, "alpha has a channel of its own"


def test_large_integers_keep_five_digits(show):
    array = np.array([[0, 70_000], [4_000_000_000, 12]], np.uint32)
    looked = Looked(show(plan().to_html(images={"ids": array}), fragment="#view=images"), "ids")
    assert looked.value(1, 0) == [pytest.approx(70_000, rel=2e-5)]
    assert looked.value(0, 1) == [pytest.approx(4e9, rel=2e-5)]
    assert looked.value(1, 1) == [12]


def test_mips_and_layers_are_chosen(show):
    mips = [np.full((2, 8 >> level, 16 >> level, 4), level + 1.0, np.float32) for level in range(3)]
    mips[0][1] = 9.0
    looked = Looked(show(plan().to_html(images={"hdr": mips}), fragment="#view=images"), "hdr")
    assert looked.value(3, 3)[0] == 1
    looked.page.locator("#view-images").get_by_role("group", name="Layer").get_by_label("1").check()
    looked.read()
    assert looked.value(3, 3)[0] == 9
    looked.page.locator("#view-images").get_by_role("group", name="Mip").get_by_label("2").check()
    looked.read()
    assert looked.page.locator("#view-images canvas").evaluate("one => [one.width, one.height]") == [4, 2]
    assert looked.value(1, 1)[0] == 3


def test_before_and_after_are_compared(show):
    page = plan().to_html(images={"hdr": hdr()}, against=plan(), against_images={"hdr": hdr(0.5)})
    looked = Looked(show(page, fragment="#view=images"), "hdr")
    before = looked.value(9, 5)
    looked.choose("After")
    after = looked.value(9, 5)
    assert after == pytest.approx([value / 2 for value in before], rel=2e-3)
    looked.choose("Difference")
    assert looked.value(9, 5) == pytest.approx(
        [value - other for value, other in zip(after, before, strict=True)], rel=4e-3
    )
    assert looked.shown(15, 7)[0] < 128, "what became darker is dark"


def test_images_of_one_plan_only_say_of_which(show):
    def of(names: list[str]) -> rg.Plan:
        graph = rg.Graph("scene", size=(16, 8))
        images = [graph.image(name, format="rgba16float") for name in names]
        for image in images:
            graph.add_pass(f"make_{image.name}", queue="compute").storage_write(image)
        graph.root(*images)
        return graph.bake("single_queue")

    page = of(["hdr", "old"]).to_html(
        images={"hdr": hdr(), "old": hdr()}, against=of(["hdr", "new"]), against_images={"hdr": hdr(), "new": hdr(0.5)}
    )
    opened = show(page, fragment="#view=images")
    texts = opened.page.locator("#view-images .gallery li").all_inner_texts()
    cards = [list(filter(None, text.split("\n"))) for text in texts]
    assert {card[0]: card[-1] for card in cards} == {
        "hdr": "equal",
        "old": "only in the earlier plan",
        "new": "only in the later plan",
    }
    assert next(card[1] for card in cards if card[0] == "new") == "make_new"
    looked = Looked(opened, "new")
    assert looked.value(15, 7) == pytest.approx([float(one) for one in hdr(0.5)[7, 15]], rel=1e-3)
    assert opened.pinned is None, "the page's plan has no such resource"
    opened.page.get_by_role("button", name="All images").click()
    assert opened.page.evaluate("document.activeElement.ariaLabel") == "new: look closer"


def test_images_of_a_later_run_alone_are_shown(show):
    page = plan().to_html(against=plan(), against_images={"hdr": hdr()})
    looked = Looked(show(page, fragment="#view=images"), "hdr")
    assert looked.value(15, 7) == pytest.approx([8.0] * 4, rel=1e-2)


def test_the_range_fits_and_what_is_not_finite_is_magenta(show):
    array = np.zeros((4, 4), np.float32)
    array[:, 1], array[:, 2], array[0, 3] = 100.0, 400.0, math.nan
    looked = Looked(show(plan().to_html(images={"hdr": array}), fragment="#view=images"), "hdr")
    assert looked.shown(3, 0)[:3] == [255, 0, 255]
    looked.page.get_by_role("button", name="Fit range").click()
    assert looked.shown(2, 2)[0] == 255
    assert looked.shown(0, 0)[0] == 0
    linear = 0.25
    assert looked.shown(1, 1)[0] == pytest.approx(255 * (1.055 * linear ** (1 / 2.4) - 0.055), abs=1)
    looked.choose("False colors")
    assert len({tuple(looked.shown(x, 2)) for x in range(3)}) == 3


def test_long_sides_are_means_and_say_so(show):
    array = np.zeros((512, 512), np.uint8)
    array[:, 1::2] = 100
    looked = Looked(show(plan().to_html(images={"hdr": array}), fragment="#view=images"), "hdr")
    looked.page.mouse.move(5, 5)
    assert "512×512, shown as means in 256×256" in looked.page.locator("#view-images .note.value").inner_text()
    assert looked.value(7, 7) == [50]


def test_axe_finds_nothing_where_images_are_compared(show, violations):
    page = plan().to_html(images={"hdr": hdr()}, against=plan(), against_images={"hdr": hdr(0.5)})
    looked = Looked(show(page, fragment="#view=images"), "hdr")
    assert violations(looked.page) == []
