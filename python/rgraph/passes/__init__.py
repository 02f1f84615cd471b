"""Ready-made passes that most frames need, one call each.

Every function takes a `Graph` or `Module` first, then a name, then images or buffers, then options; it declares
passes called `NAME/STEP` (and what lies between them under such names too) and returns the last of them. Where
`target` may be left out, a new image or buffer called `NAME` is made and returned instead. All of it is built upon
the public interface: whatever is done here can be done by hand.
"""

from rgraph.passes._bloom import bloom
from rgraph.passes._blur import blur, gaussian
from rgraph.passes._exposure import exposure, histogram
from rgraph.passes._font import glyphs
from rgraph.passes._mips import generate_mips
from rgraph.passes._reduce import reduce, statistics
from rgraph.passes._resolve import resolve
from rgraph.passes._scan import prefix_sum
from rgraph.passes._screen import full_screen
from rgraph.passes._temporal import temporal
from rgraph.passes._text import text
from rgraph.passes._tone import tone_map
from rgraph.passes._transfers import blit, clear, copy, download, upload

__all__ = [
    "blit",
    "bloom",
    "blur",
    "clear",
    "copy",
    "download",
    "exposure",
    "full_screen",
    "gaussian",
    "generate_mips",
    "glyphs",
    "histogram",
    "prefix_sum",
    "reduce",
    "resolve",
    "statistics",
    "temporal",
    "text",
    "tone_map",
    "upload",
]
