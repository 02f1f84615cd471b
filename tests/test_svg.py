"""Still pictures: no arrow of a timeline runs over a name."""

import random
import re
from itertools import pairwise

import pytest

import rgraph as rg

NAME = re.compile(r'<text x="([\d.]+)" y="([\d.]+)" font-size="11"(.*?)>(.*?)</text>')
ARROW = re.compile(r'<path d="(M[^"]*)" fill="none" class="rg-wait"')
BOX = re.compile(r'<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="34"')
#: Least width of a letter of the small size, in pixels; the picture leaves as much as the widest font needs.
LETTER = 4.5


def engine(passes: int) -> rg.Plan:
    """A frame on three queues with long names and many waits."""
    chance = random.Random(passes)
    graph = rg.Graph("engine", size=(256, 256))
    images: list[rg.Image] = []
    for at in range(passes):
        image = graph.image(f"image{at}", format="rgba8unorm")
        queue = chance.choice(("graphics", "graphics", "async_compute", "transfer"))
        name = f"Lighting.DiffuseProbeGrid.Blend{at}"
        made = graph.add_pass(name, queue=queue, weight_us=chance.choice((4, 9, 20, 200)))
        sources = chance.sample(images[-6:], min(len(images), 2))
        if queue == "transfer":
            made = made.transfer_dst(image)
            for source in sources:
                made.transfer_src(source)
        else:
            made = made.storage_write(image) if queue == "async_compute" else made.color(image)
            for source in sources:
                made.sampled(source)
        images.append(image)
    graph.root(*images[-6:])
    return graph.bake("discrete")


def points(path: str) -> list[tuple[float, float]]:
    numbers = [float(one) for one in re.findall(r"-?[\d.]+", path)]
    return list(zip(numbers[::2], numbers[1::2], strict=True))


@pytest.mark.parametrize(("passes", "width"), [(12, 1000), (40, 1400), (90, 1400), (90, 600)])
def test_arrows_of_a_timeline_run_over_no_name(passes: int, width: int):
    picture = engine(passes).to_svg(view="timeline", width=width)
    arrows = [points(path) for path in ARROW.findall(picture)]
    assert arrows
    names = []
    for x, y, more, text in NAME.findall(picture):
        left, top, long = float(x), float(y), len(text) * LETTER
        turned = "rotate(90" in more
        names.append((left, top, left + 7, top + long) if turned else (left, top - 7, left + long, top))
    assert names
    boxes = [tuple(map(float, box)) for box in BOX.findall(picture)]
    for arrow in arrows:
        for (x1, y1), (x2, y2) in pairwise(arrow):
            for left, top, right, bottom in names:
                apart = max(x1, x2) < left or min(x1, x2) > right or max(y1, y2) < top or min(y1, y2) > bottom
                assert apart, (arrow, left, top, right, bottom)
        # It begins and ends at the edge of a box; boxes closer than a pixel are one.
        for x, y in (arrow[0], arrow[-1]):
            assert any(
                left - 2 <= x <= left + width + 2 and min(abs(y - top), abs(y - top - 34)) < 0.2
                for left, top, width in boxes
            ), (x, y)
