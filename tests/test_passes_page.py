"""The page of ready-made passes lists each of them, and its example is planned and checked."""

import passes_page
import rgraph as rg
from rgraph import passes


def test_the_page_is_what_the_functions_say():
    assert passes_page.PAGE.read_text(encoding="utf-8") == passes_page.page(), "python tests/passes_page.py writes it"


def test_every_public_function_is_on_the_page_once():
    listed = [name for names in passes_page.GROUPS.values() for name in names]
    assert sorted(listed) == sorted(passes.__all__)
    assert all(f".. autofunction:: rgraph.passes.{name}\n" in passes_page.page() for name in passes.__all__)


def test_its_example_can_be_planned():
    code = passes_page.HEAD.split("```python\n")[1].split("```")[0]
    names: dict[str, object] = {}
    exec(compile(code, "passes.md", "exec"), names)
    graph = names["g"]
    assert isinstance(graph, rg.Graph)
    plan = graph.bake()
    assert plan.check() == []
    assert {name.split("/")[0] for name in plan.pass_names} == {"bloom", "exposure", "tone", "label"}
