"""Profiles: built-in, from files, as values."""

import json
import pickle
from pathlib import Path

import pytest

import rgraph


def test_built_in_profiles_have_one_and_three_queues():
    assert rgraph.Profile.discrete().queues == ["graphics", "compute", "transfer"]
    assert rgraph.Profile.single_queue().queues == ["graphics"]
    assert rgraph.Profile.minimal().queues == ["graphics"]


def test_profile_is_a_value(tmp_path: Path):
    profile = rgraph.Profile.discrete()
    path = tmp_path / "device.rprofile.json"
    profile.save(path)
    for same in (
        rgraph.Profile.load(path),
        rgraph.Profile.from_dict(profile.to_dict()),
        rgraph.Profile.from_json(profile.to_json()),
        rgraph.Profile.from_json(profile.to_json().encode()),
        pickle.loads(pickle.dumps(profile)),
    ):
        assert same == profile
        assert hash(same) == hash(profile)
    assert profile != rgraph.Profile.minimal()


def test_everything_but_the_queues_has_a_default():
    queue = {"name": "all", "family": 0, "capabilities": ["graphics", "compute", "transfer"]}
    profile = rgraph.Profile.from_dict({"rprofile": 1, "queues": [queue]})
    assert profile.to_dict()["image_alignment"] == 65536
    assert profile.to_dict()["submit_us"] == 7


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"rprofile": 2, "queues": []},
        {"rprofile": 1, "queues": []},
        {"rprofile": 1, "queues": [{"name": "q", "family": 0, "capabilities": ["grafics"]}]},
        {"rprofile": 1, "queue": []},
        {"rprofile": 1, "queues": [{"name": "q", "family": -1, "capabilities": []}]},
        [],
        3,
        None,
    ],
)
def test_wrong_profiles_are_refused_or_cannot_be_baked_for(values: object):
    g = rgraph.Graph()
    image = g.image("image", format="rgba8unorm")
    g.add_pass("p").color(image)
    g.root(image)
    with pytest.raises((rgraph.GraphError, TypeError)):
        g.bake(rgraph.Profile.from_dict(values))  # type: ignore[arg-type]


def test_values_that_json_cannot_hold_are_refused():
    with pytest.raises((TypeError, ValueError)):
        rgraph.Profile.from_dict({"rprofile": {1, 2}})
    assert json.loads(rgraph.Profile.minimal().to_json())["name"] == "minimal"
