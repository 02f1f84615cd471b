"""Drawings for Graphviz: a layout finds no cycle, every node that an arrow names, and equal depths."""

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest

import rgraph as rg

STRING = r'"((?:[^"\\]|\\.)*)"'


@dataclass
class Drawing:
    """The statements of a drawing."""

    nodes: dict[str, str]
    arrows: list[tuple[str, str, str]]
    ranks: list[list[str]]


def parsed(text: str) -> Drawing:
    """Read the part of the language that drawings use; anything else is an error."""
    nodes: dict[str, str] = {}
    arrows, ranks = [], []
    assert re.fullmatch(rf"digraph {STRING} \{{", text.split("\n", 1)[0])
    for line in text.splitlines()[1:]:
        line = line.strip()
        if found := re.fullmatch(rf"(\w+) \[label={STRING}.*\];", line):
            assert found[1] not in nodes
            nodes[found[1]] = found[2]
        elif found := re.fullmatch(r"(\w+) -> (\w+)(.*);", line):
            arrows.append((found[1], found[2], found[3]))
        elif found := re.fullmatch(r"\{ rank=same; ((?:\w+; )+)\}", line):
            ranks.append(found[1].rstrip("; ").split("; "))
        else:
            assert re.fullmatch(r"\}|subgraph \w+ \{|(node|edge) \[.*\];|(\w+=[^;]+;? ?)+", line), line
    return Drawing(nodes, arrows, ranks)


def assert_lays_out(drawing: Drawing) -> dict[str, int]:
    """See that every arrow has its nodes and that arrows which place nodes have no cycle; depths by node."""
    below: dict[str, list[str]] = {node: [] for node in drawing.nodes}
    for begin, end, more in drawing.arrows:
        assert {begin, end} <= set(drawing.nodes)
        if "constraint=false" not in more:
            below[begin].append(end)
    above = Counter(end for ends in below.values() for end in ends)
    depths = dict.fromkeys(drawing.nodes, 0)
    ready = [node for node in below if not above[node]]
    seen = 0
    while ready:
        node = ready.pop()
        seen += 1
        for end in below[node]:
            depths[end] = max(depths[end], depths[node] + 1)
            above[end] -= 1
            if not above[end]:
                ready.append(end)
    assert seen == len(drawing.nodes), "the arrows have a cycle"
    for rank in drawing.ranks:
        reached = {node: below[node] for node in rank}
        for node, ends in reached.items():
            further = {end for between in ends for end in below[between]}
            assert not further & set(rank), f"{node} is above others of its rank"
    return depths


def changed_in_place(passes: int) -> rg.Graph:
    """Passes that all read and write one image, as an engine's lighting buffer."""
    graph = rg.Graph("in place", size=(64, 64))
    lit = graph.image("lit", format="rgba16float")
    graph.add_pass("first").color(lit, clear=(0, 0, 0, 0))
    for at in range(passes):
        graph.add_pass(f"p{at}").storage_read_write(lit)
    graph.root(lit)
    return graph


def test_writes_of_one_resource_are_versions_without_a_cycle():
    drawing = parsed(changed_in_place(5).bake().to_dot())
    depths = assert_lays_out(drawing)
    assert [label for label in drawing.nodes.values() if label.startswith("lit")] == [f"lit@{at}" for at in range(1, 7)]
    names = {label: node for node, label in drawing.nodes.items()}
    order = [depths[names[label]] for at in range(5) for label in (f"lit@{at + 1}", f"p{at}")]
    assert order == sorted(set(order)), "versions and passes alternate"


def test_whole_frames_lay_out(deferred: Path):
    for profile in (rg.Profile.discrete(), rg.Profile.single_queue()):
        plan = rg.Graph.load(deferred).bake(profile)
        drawing = parsed(plan.to_dot())
        assert_lays_out(drawing)
        labels = set(drawing.nodes.values())
        assert {*plan.pass_names, *plan.culled} <= labels
        assert drawing.ranks
        for rank in drawing.ranks:
            assert all(node.startswith("p") for node in rank)


def test_merged_passes_have_a_frame_and_queues_have_colours(frame_dot: str):
    assert re.search(r'subgraph cluster_\d+ \{\n +label="render pass \d+"', frame_dot)
    assert len(set(re.findall(r'fillcolor="(#\w+)"', frame_dot))) >= 2


@pytest.fixture(scope="module")
def frame_dot(deferred: Path) -> str:
    return rg.Graph.load(deferred).bake(rg.Profile.discrete()).to_dot()


def test_hostile_names_stay_inside_their_strings():
    graph = rg.Graph('"] } \\', size=(8, 8))
    image = graph.image('a"b\\', format="rgba8unorm")
    graph.add_pass('x" -> y\n;', weight_us=1000).color(image)
    graph.root(image)
    drawing = parsed(graph.bake().to_dot())
    assert len(drawing.nodes) == 2
    assert_lays_out(drawing)
