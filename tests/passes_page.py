"""The page of ready-made passes: one line for each; `python tests/passes_page.py` writes it again."""

import inspect
from pathlib import Path

from rgraph import passes

PAGE = Path(__file__).resolve().parent.parent / "docs" / "reference" / "passes.md"
GROUPS = {
    "Copies and conversions": ("clear", "copy", "blit", "upload", "download", "generate_mips", "resolve"),
    "Pictures": ("full_screen", "blur", "bloom", "tone_map", "temporal", "text"),
    "Numbers": ("histogram", "exposure", "prefix_sum", "reduce", "statistics"),
    "Helpers": ("gaussian", "glyphs"),
}
HEAD = """# Ready-made passes

`rgraph.passes` declares the passes that most frames need, one call each, with the public interface only. A function
takes a graph or module, a name, images or buffers (handles, parts such as `image.mip(1)`, or names), then options.

- Passes and intermediate resources are called `NAME/STEP`.
- Without an optional `target`, the function makes and returns a new image or buffer `NAME`; with it, it returns the
  last pass.
- `queue="async_compute"` moves a pass to the async compute queue if compute can write the format of the target.
- A wrong call raises a `GraphError` with both sides and a fix, and leaves the graph unchanged.

```python
import numpy as np
import rgraph as rg
from rgraph import passes

g = rg.Graph("look")
photo = g.import_array("photo", np.full((90, 160, 4), 0.5, np.float32))
bright = passes.bloom(g, "bloom", photo)
light = passes.exposure(g, "exposure", bright)
shown = passes.tone_map(g, "tone", bright, operator="agx", exposure=light)
passes.text(g, "label", "one frame", shown)
g.root(shown)
```
"""


def summary(name: str) -> str:
    """The first paragraph of a function's documentation, in one line."""
    paragraph = inspect.getdoc(getattr(passes, name)).split("\n\n")[0]
    return " ".join(paragraph.split())


def page() -> str:
    """All of the page."""
    parts = [HEAD]
    for group, names in GROUPS.items():
        lines = [f"\n## {group}\n\n| function | does |\n| --- | --- |\n"]
        lines += [f"| `{name}` | {summary(name)} |\n" for name in names]
        lines.append("\n```{eval-rst}\n")
        lines += [f".. autofunction:: rgraph.passes.{name}\n" for name in names]
        lines.append("```\n")
        parts += lines
    return "".join(parts)


if __name__ == "__main__":
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(page(), encoding="utf-8")
