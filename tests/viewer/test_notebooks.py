"""Rich values in notebooks: light, alive without a kernel, one scrollbar at most."""

import re
from pathlib import Path
from typing import Any

import nbconvert
import nbformat
import pytest

import rgraph as rg

#: What notebooks saved as HTML put around an output.
SAVED = """<!doctype html><html data-ready="1"><head><style>
body {{ margin: 0; font: 14px sans-serif; }}
.jp-Cell {{ display: flex; padding: 5px; }}
.jp-OutputArea-output {{ overflow: auto; width: {width}px; }}
.jp-OutputArea-output table {{ border-collapse: collapse; }}
</style></head><body><p>before</p><div class="jp-Cell">
<div class="jp-RenderedHTMLCommon jp-RenderedHTML jp-OutputArea-output" data-mime-type="text/html">{output}</div>
</div><p>after</p></body></html>"""


def inside(opened: Any) -> Any:
    """The page in the notebook's frame, once it is unpacked."""
    frame = opened.page.frame_locator("iframe")
    frame.locator("html[data-ready]").wait_for()
    opened.requests[:] = [request for request in opened.requests if request != "about:srcdoc"]
    return frame


@pytest.mark.parametrize("width", [620, 860, 1180])
def test_a_plan_has_one_scrollbar_at_most(show, frame: rg.Plan, width: int):
    opened = show(SAVED.format(width=width, output=frame._repr_html_()), height=900)
    page = inside(opened)
    sizes = "(one) => [one.scrollWidth - one.clientWidth, one.scrollHeight - one.clientHeight]"
    assert opened.page.locator(".jp-OutputArea-output").evaluate(sizes) == [0, 0]
    for part in ("html", "body"):
        assert page.locator(part).evaluate(sizes) == [0, 0], part
        assert page.locator(part).evaluate("(one) => getComputedStyle(one).overflowY") in {"visible", "hidden"}, part
    high = opened.page.locator("iframe").bounding_box()["height"]
    assert 460 <= high <= 0.88 * 900
    # The three panes of the frame are in sight.
    for pane in ("timeline", "resources", "memory"):
        assert page.locator(f"#view-frame .pane.{pane}").is_visible()
    page.locator("#view-frame [data-cell][data-key^=p]").first.click()
    assert page.locator(".card .close").is_visible()


def test_a_plan_is_light(frame: rg.Plan):
    output = frame._repr_html_()
    page = frame.to_html()
    assert len(output) < len(page) * 0.45
    assert len(output) < 150_000
    assert not re.search(r"^\s*//", page.rpartition("<script>")[2], re.MULTILINE), "no page carries comments"
    assert output == frame._repr_html_()


def test_hostile_names_are_text_in_notebooks(show):
    graph = rg.Graph("</script><script>document.title='hit'</script>", size=(8, 8))
    image = graph.image("\"'><img src=x onerror=alert(1)>", format="rgba8unorm")
    graph.add_pass("<b>pass</b>").color(image, clear=(0, 0, 0, 1))
    graph.root(image)
    plan = graph.bake("discrete")
    output = "".join([plan._repr_html_(), graph._repr_html_(), image._repr_html_()])
    assert "<b>pass" not in output
    assert "<img" not in output
    opened = show(SAVED.format(width=900, output=output))
    page = inside(opened)
    assert page.locator("h1").inner_text().startswith("</script><script>document.title")
    assert opened.page.title() != "hit"


def test_resources_tell_who_uses_them(deferred: Path):
    graph = rg.Graph.load(deferred)
    [lit] = [one for one in graph.resources if one.name == "lit"]
    output = lit._repr_html_()
    assert "<table>" in output
    assert re.search(r'>lighting</td><td style="text-align:left">\w+</td>', output)


def test_series_are_tables(frame: rg.Plan):
    spans = [{"name": "lighting", "queue": "graphics", "begin_us": 0.0, "end_us": 8.0}]
    output = rg.Series([spans, spans])._repr_html_()
    assert "2 frames" in output
    assert ">lighting</td><td>8.0</td>" in output


def converted(*values: Any) -> str:
    """A notebook whose cells end with values, run once, saved, and made a page by `jupyter nbconvert --to html`."""
    cells = []
    for at, value in enumerate(values, 1):
        bundle = getattr(value, "_repr_mimebundle_", lambda: {})() or {"text/html": value._repr_html_()}
        bundle.setdefault("text/plain", repr(value))
        output = nbformat.v4.new_output("execute_result", data=bundle, execution_count=at)
        cells.append(nbformat.v4.new_code_cell("value", outputs=[output], execution_count=at))
    language = {"language_info": {"name": "python", "pygments_lexer": "python3"}}
    notebook = nbformat.v4.new_notebook(cells=cells, metadata=language)
    nbformat.validate(notebook)
    notebook = nbformat.reads(nbformat.writes(notebook), as_version=4)
    body, _ = nbconvert.HTMLExporter(template_name="basic").from_notebook_node(notebook)
    return f'<!doctype html><html data-ready="1"><body>{body}</body></html>'


def test_converted_notebooks_are_alive_without_a_kernel(show, frame: rg.Plan, deferred: Path):
    spans = [{"name": "lighting", "queue": "graphics", "begin_us": 0.0, "end_us": 8.0}]
    opened = show(converted(frame, rg.Graph.load(deferred), rg.Series([spans, spans])), width=1200, height=900)
    assert opened.page.locator("iframe").count() >= 1
    page = opened.page.frame_locator("iframe >> nth=0")
    page.locator("html[data-ready]").wait_for()
    opened.requests[:] = [request for request in opened.requests if request != "about:srcdoc"]
    page.locator("#tab-memory").click()
    page.locator("#view-memory [data-cell][data-key^=r]").first.click()
    assert page.locator(".card h2").inner_text() == "shadow"
    for part in ("html", "body"):
        over = page.locator(part).evaluate("(one) => one.scrollHeight - one.clientHeight")
        assert over == 0, part
    assert ">lighting</td><td>8.0</td>" in opened.page.content()
