"""Real graphs made by others: they bake everywhere, check clean, cull exactly, and place no more than is known to do.

They are outside of this repository, in the same folder; without them these tests are skipped.
"""

import re
from pathlib import Path

import pytest

import rgraph

DATA = Path(__file__).resolve().parent.parent.parent / "shared" / "data"
GRAPHS = sorted((DATA / "graphs").glob("*.rgraph.json"))
NAMES = [path.name.removesuffix(".rgraph.json") for path in GRAPHS]
PROFILES = ("minimal", "single_queue", "discrete")

pytestmark = pytest.mark.skipif(not GRAPHS, reason=f"{DATA / 'graphs'} is not there")


def known() -> dict[str, dict[str, int]]:
    """The table of SOURCES.md: by graph, what each column says."""
    header: list[str] = []
    rows = {}
    for line in (DATA / "SOURCES.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if cells[0] == "graph":
            header = cells
        elif header and len(cells) == len(header) and re.fullmatch(r"\d+", cells[1]):
            rows[cells[0]] = {name: int(cell) for name, cell in zip(header[1:], cells[1:], strict=True)}
    return rows


@pytest.fixture(params=GRAPHS, ids=NAMES)
def path(request: pytest.FixtureRequest) -> Path:
    """Each graph file."""
    found: Path = request.param
    return found


@pytest.mark.parametrize("profile", PROFILES)
def test_others_graph_bakes_and_checks_clean(path: Path, profile: str):
    graph = rgraph.Graph.load(path)
    for policy in ("auto", "declared", "overlap", "weighted"):
        plan = graph.bake(profile, policy=policy)
        assert plan.check() == []
        assert plan.interpret() == graph.interpret()


def test_others_graph_is_culled_exactly_to_what_is_needed(path: Path):
    needed = known()[path.name.removesuffix(".rgraph.json")]["needed"]
    for profile in PROFILES:
        plan = rgraph.Graph.load(path).bake(profile)
        assert sum(p.declared is not None for p in plan.passes) == needed


def rounded(size: int) -> int:
    """Up to the alignment of images without a driver."""
    return -(-size // 65536) * 65536


def test_others_graph_of_least_memory_places_at_most_the_known_bytes_on_one_queue(path: Path):
    placed = known()[path.name.removesuffix(".rgraph.json")]["as placed"]
    graph = rgraph.Graph.load(path)
    formats = {name: image.get("format") for name, image in graph.to_dict()["images"].items()}
    for profile in ("minimal", "single_queue"):
        memory = graph.bake(profile, memory="least").memory
        # The table counts depth32float-stencil8 with five bytes per texel, the file format with eight.
        more = sum(
            placement.size - rounded(placement.size * 5 // 8)
            for placement in memory.placements
            if formats.get(placement.resource) == "depth32float-stencil8"
        )
        assert memory.total <= placed + more


def test_every_graph_has_its_row_in_the_table():
    assert set(known()) == set(NAMES)
