"""Sphinx: `make docs` builds these pages, and no warning is let through."""

import sys
from pathlib import Path

import rgraph

sys.path.insert(0, str(Path(__file__).parent))

project = "rgraph"
author = "the authors of rgraph"
copyright = author
release = version = rgraph.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.autosectionlabel", "typed"]
source_suffix = {".md": "markdown"}
# Docstrings write code in single backticks; quotes in them are typed as they stand.
default_role = "code"
smartquotes = False
exclude_patterns = ["_build", "pictures"]

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
autosectionlabel_prefix_document = True

napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
maximum_signature_line_length = 100

html_theme = "furo"
html_title = f"rgraph {release}"
html_static_path: list[str] = []
html_show_copyright = False
html_show_sphinx = False
pygments_style = "friendly"
# A type such as `bytes` is looked for among attributes of that name, too; the link is left out then.
suppress_warnings = ["autosectionlabel.*", "ref.python"]
