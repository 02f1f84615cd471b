"""The walks of ARCHITECTURE.md: each file that they name exists, so a newcomer can follow them."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def test_every_file_of_the_five_walks_exists():
    text = (ROOT / "ARCHITECTURE.md").read_text()
    walks = text.split("## Five walks")[1].split("\n## ")[0]
    files = re.findall(r"`((?:rust|python)/[^`]+)`", walks)
    assert len(re.findall(r"^\*\*", walks, re.MULTILINE)) == 5
    assert len(files) > 30
    assert not [file for file in files if not (ROOT / file).is_file()]


def test_every_room_of_work_runtime_and_module_is_in_the_tables():
    text = (ROOT / "ARCHITECTURE.md").read_text()
    for crate in ("rgraph-work", "rgraph-vk", "rgraph-py"):
        rooms = [path.name for path in (ROOT / "rust" / crate / "src").iterdir() if path.is_dir()]
        assert rooms
        assert not [room for room in rooms if f"`{room}/`" not in text]


def test_the_table_of_stages_names_every_file_of_theirs_and_no_other():
    text = (ROOT / "ARCHITECTURE.md").read_text()
    rows = text.split("| stage | makes | cost |")[1].split("\n\n")[0].splitlines()[2:]
    named = {name.strip("/").split("/")[-1] for row in rows for name in re.findall(r"`([^`]+)`", row.split("|")[1])}
    stages = ROOT / "rust/rgraph-plan/src/stages"
    found = {path.stem for folder in (stages, stages / "order", stages / "barriers") for path in folder.iterdir()}
    assert named == found - {"mod", "order", "barriers"}


def test_the_table_of_the_runtime_names_every_room_and_file_of_its_crate_and_no_other():
    text = (ROOT / "ARCHITECTURE.md").read_text()
    rows = text.split("| room | contents |")[1].split("\n\n")[0].splitlines()[2:]
    named = {name.strip("/") for row in rows for name in re.findall(r"`([^`]+)`", row.split("|")[1])}
    crate = ROOT / "rust/rgraph-vk"
    found = {path.stem for path in (crate / "src").iterdir()} - {"lib"}
    assert {name for name in named if name not in {"build.rs", "cpp"}} == found
    assert (crate / "build.rs").is_file()
    assert (crate / "cpp").is_dir()
