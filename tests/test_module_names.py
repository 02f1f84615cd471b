"""Names that the module has not say where they are."""

import pytest

import rgraph as rg


def test_names_of_methods_that_are_looked_for_in_the_module_say_whose_they_are() -> None:
    for name, owner in (
        ("root", "Module"),
        ("clone", "Graph"),
        ("capture", "Device"),
        ("semaphore", "Device"),
        ("mip", "Image"),
    ):
        with pytest.raises(AttributeError, match=rf"^module 'rgraph' has no attribute '{name}'; it is {owner}.{name}$"):
            getattr(rg, name)
    with pytest.raises(AttributeError, match=r"^module 'rgraph' has no attribute 'grapf'$") as caught:
        getattr(rg, "grapf")  # noqa: B009
    assert (caught.value.name, caught.value.obj) == ("grapf", rg)
