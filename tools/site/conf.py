"""Settings of Sphinx for the site."""

import inspect
from typing import Any

import avida

project = "avida"
version = release = avida.__version__
copyright = "the authors of avida"
html_title = f"avida {version}"

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
]
myst_enable_extensions = ["attrs_block", "colon_fence", "html_image"]
myst_heading_anchors = 4
suppress_warnings = ["misc.highlighting_failure"]  # output beside code in one block

default_role = "literal"  # docstrings write names in single backticks
autodoc_typehints = "none"  # the texts say what arguments are
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True, "inherited-members": "int, str, tuple, list, dict"}
add_module_names = False
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_rtype = False
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
python_use_unqualified_type_names = True
toc_object_entries = False

html_theme = "furo"
html_theme_options = {"navigation_with_keys": True}
html_static_path = ["site.css"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_copy_source = False
html_last_updated_fmt = None
pygments_style, pygments_dark_style = "friendly", "monokai"


def class_signature(app: Any, what: str, name: str, value: Any, *_: Any) -> tuple[str, str] | None:
    """That of ``__init__``: readers share a ``__new__`` that takes anything, to say what is wrong with it."""
    if what != "class" or not issubclass(value, avida.readers.Reader):
        return None
    found = inspect.signature(value)
    parameters = [each.replace(annotation=each.empty) for each in found.parameters.values()]
    return str(found.replace(parameters=parameters, return_annotation=found.empty)), ""


def setup(app: Any) -> None:
    app.connect("autodoc-process-signature", class_signature)
