"""Documentation: everything public has some, and its examples run."""

import doctest
import inspect

import pytest

import rgraph
from rgraph import _core

CLASSES = [item for item in vars(_core).values() if inspect.isclass(item)]


def members(item: type) -> list[str]:
    """Names of what a class itself makes public."""
    return [name for name in vars(item) if not name.startswith("_")]


@pytest.mark.parametrize("name", rgraph.__all__)
def test_everything_public_says_what_it_is(name: str):
    item = getattr(rgraph, name)
    if name != "__version__":
        assert inspect.getdoc(item)


@pytest.mark.parametrize("item", CLASSES, ids=[item.__name__ for item in CLASSES])
def test_methods_say_what_they_do_and_name_every_parameter(item: type):
    for name in members(item):
        member = inspect.getattr_static(item, name)
        doc = inspect.getdoc(member) or ""
        assert doc, name
        function = member.__func__ if isinstance(member, staticmethod) else member
        if not callable(function):
            continue
        for parameter in inspect.signature(function).parameters.values():
            if parameter.name != "self" and "Parameters" in doc:
                assert parameter.name in doc, (name, parameter.name)


@pytest.mark.parametrize("item", CLASSES, ids=[item.__name__ for item in CLASSES])
def test_examples_in_the_documentation_run(item: type):
    for example in doctest.DocTestFinder().find(item, item.__name__, globs={}):
        assert doctest.DocTestRunner().run(example).failed == 0


def test_version_is_the_distributions():
    from importlib.metadata import version

    assert version("rgraph-vulkan") == rgraph.__version__
