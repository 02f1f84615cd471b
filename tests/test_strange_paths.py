"""Devices, pipes, links and files without an end, at every path that a command or a method takes."""

import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import clitool
import rgraph as rg

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs the special files of POSIX")

#: Memory that a process may have: without limits of files, reading a device without an end meets this one.
MEMORY = 4 << 30


@pytest.fixture
def graph(tmp_path: Path) -> Path:
    g = rg.Graph("g", size=(8, 8))
    out = g.image("out", format="rgba8unorm")
    g.clear("clear", out, (0, 0, 0, 1))
    g.root(out)
    g.save(tmp_path / "g.rgraph.json")
    return tmp_path / "g.rgraph.json"


def bounded(*arguments: str | Path, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    import resource

    return subprocess.run(
        clitool.command(*arguments),
        cwd=cwd,
        env=clitool.surroundings(**environment),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY)),
    )


READING: dict[str, Callable[[Path], list[str | Path]]] = {
    "bake": lambda path: ["bake", path],
    "explain": lambda path: ["explain", path, "clear"],
    "view": lambda path: ["view", path],
    "diff": lambda path: ["diff", path, "g.rplan.json"],
    "check": lambda path: ["check", path, "--graph", "g.rgraph.json"],
    "check the graph": lambda path: ["check", "g.rplan.json", "--graph", path],
    "profile": lambda path: ["bake", "g.rgraph.json", "--profile", path],
}


@pytest.mark.parametrize("command", READING)
@pytest.mark.parametrize("node", ["device", "link"])
def test_a_device_without_an_end_is_refused_by_its_kind(graph: Path, command: str, node: str):
    rg.Graph.load(graph).bake().save(graph.with_name("g.rplan.json"))
    path = Path("/dev/zero")
    if node == "link":
        path = graph.with_name("link.json")
        path.symlink_to("/dev/zero")
    done = bounded(*READING[command](path), cwd=graph.parent)
    assert done.returncode == 1, done.stderr
    assert "is a device of characters, not a file" in done.stderr
    assert "fault of rgraph" not in done.stderr


def test_a_pipe_without_an_end_is_read_up_to_the_limit(graph: Path):
    pipe = graph.with_name("pipe")
    os.mkfifo(pipe)
    with subprocess.Popen(["/bin/sh", "-c", f"exec cat /dev/zero > '{pipe}'"]) as writer:
        try:
            done = bounded("bake", pipe, cwd=graph.parent, RGRAPH_MAX_FILE_BYTES="1000000")
        finally:
            writer.kill()
    assert done.returncode == 1
    assert "is longer than 1000000 bytes" in done.stderr
    assert "RGRAPH_MAX_FILE_BYTES" in done.stderr


def test_standard_input_without_an_end_is_read_up_to_the_limit(tmp_path: Path):
    done = clitool.run("bake", "-", cwd=tmp_path, given=b" " * 2_000_000, RGRAPH_MAX_FILE_BYTES="1000000")
    assert done.returncode == 2
    assert "standard input: longer than 1000000 bytes" in done.stderr


def test_a_pipe_with_a_graph_is_read(graph: Path):
    pipe = graph.with_name("pipe")
    os.mkfifo(pipe)
    with subprocess.Popen(["/bin/sh", "-c", f"exec cat '{graph}' > '{pipe}'"]):
        done = bounded("bake", pipe, cwd=graph.parent)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("arguments", [["bake", "pipe"], ["bake", "g.rgraph.json", "-o", "pipe.json"]])
def test_an_interrupt_ends_the_wait_for_the_other_end_of_a_pipe(graph: Path, arguments: list[str]):
    os.mkfifo(graph.with_name(arguments[-1]))
    environment = clitool.surroundings()
    with subprocess.Popen(
        clitool.command(*arguments), cwd=graph.parent, env=environment, stderr=subprocess.PIPE
    ) as done:
        time.sleep(2)
        assert done.poll() is None
        done.send_signal(signal.SIGINT)
        done.wait(60)
        assert done.returncode in (130, -signal.SIGINT)


def kind(path: Path) -> str:
    mode = path.lstat().st_mode
    names = {stat.S_ISLNK: "link", stat.S_ISFIFO: "pipe", stat.S_ISCHR: "device", stat.S_ISREG: "file"}
    return next(name for is_of, name in names.items() if is_of(mode))


def test_outputs_are_written_through_links_and_never_replace_them(graph: Path):
    real, link = graph.with_name("real.html"), graph.with_name("link.html")
    real.write_text("before")
    link.symlink_to("real.html")
    for command in (["view", graph, "-o", link], ["bake", graph, "-o", link]):
        real.write_text("before")
        done = bounded(*command, cwd=graph.parent)
        assert done.returncode == 0, done.stderr
        assert (kind(link), real.read_text()[:9].lower()) == ("link", "<!doctype")
    assert not list(graph.parent.glob(".rgraph*"))


def test_plans_and_graphs_are_written_into_devices_as_they_are(tmp_path: Path):
    g = rg.Graph("g")
    out = g.image("out", (8, 8), "rgba8unorm")
    g.clear("clear", out, (0, 0, 0, 1))
    g.root(out)
    null = tmp_path / "null.json"
    null.symlink_to("/dev/null")
    g.save(null)
    g.bake().save(null)
    assert (kind(null), kind(Path("/dev/null"))) == ("link", "device")


def test_a_shader_at_a_device_is_refused(tmp_path: Path):
    shader = tmp_path / "zero.wgsl"
    shader.symlink_to("/dev/zero")
    g = rg.Graph()
    words = g.buffer("words", 64)
    with pytest.raises(rg.GraphError, match="is a device of characters, not a file") as caught:
        g.compute("c", shader, words=words)
    assert caught.value.code == "RG-E222"
    assert caught.value.hint == "name a file"


def test_a_file_in_the_place_of_a_folder_is_named(graph: Path):
    taken = graph.with_name("taken")
    taken.write_text("a file")
    film = graph.with_name("film.toml")
    for out in ("taken/a.png", "taken/deeper/a.png"):
        film.write_text(f'graph = "{graph.name}"\nframes = 1\n[output]\nout = "{out}"\n')
        for command in (["run", graph, "-o", out], ["render", film, "--workers", "1"]):
            done = bounded(*command, cwd=graph.parent)
            assert done.returncode == 1
            assert "taken: a file, where a folder for results is needed" in done.stderr
            assert "Errno" not in done.stderr
    assert taken.read_text() == "a file"


@pytest.mark.parametrize("limit", ["1e9", "1 GiB", "-1"])
def test_a_limit_of_files_that_is_no_number_is_refused(graph: Path, limit: str):
    done = bounded("bake", graph, cwd=graph.parent, RGRAPH_MAX_FILE_BYTES=limit)
    assert done.returncode == 1
    assert f'RGRAPH_MAX_FILE_BYTES is "{limit}", which is no number of bytes' in done.stderr
    assert "help: set it to a whole number, as 1073741824, or unset it" in done.stderr
