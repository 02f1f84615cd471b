"""`rgraph run`, `bench`, `view` and `watch`: good, with findings, called wrongly, without a device."""

import contextlib
import json
import os
import re
import signal
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path

import numpy as np
import pytest

import clitool
import rgraph as rg
from clitool import run

NONE = '"film" has no image or buffer'
WRITTEN = "arrays are written to .png, .npy, .exr, .jpg, .jpeg, .tif, .tiff, .bmp, .webp"
READ = f"film.py: {WRITTEN.replace('written to', 'read from')}\n  help: convert it to one of these"
IMAGE = '--input: "src" is an image or buffer, not a file\n  help: --input src=FILE'
HTML = "x.txt: the viewer is written to .html\n  help: name a file that ends in .html"
PICTURE = np.random.default_rng(1).integers(0, 255, (4, 8, 4), np.uint8)


@pytest.fixture(scope="module", autouse=True)
def driver() -> None:
    """Nothing of this runs without a device."""
    try:
        usable = any(not one.missing for one in rg.devices())
    except rg.DeviceError:
        usable = False
    if not usable:
        if os.environ.get("RGRAPH_REQUIRE_DEVICE") == "1":
            pytest.fail("no usable device")
        pytest.skip("no usable device")


@pytest.fixture
def film(tmp_path: Path) -> Path:
    """A folder with a graph in a Python file and its input."""
    (tmp_path / "film.py").write_text(clitool.FILM)
    np.save(tmp_path / "in.npy", PICTURE)
    return tmp_path


def halved(times: int) -> np.ndarray:
    """What the film's passes make of the picture, within a step."""
    return PICTURE / 2**times


def test_run_lists_results_without_writing(film: Path):
    done = run("run", "film.py", "--input", "src=in.npy", cwd=film)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "  dst    rgba8unorm  8 × 4\n  words  buffer      64 bytes\n"
    assert re.fullmatch(r"film on .+: 1 frame; -o FILE writes the results\n", done.stderr)
    assert sorted(one.name for one in film.iterdir() if one.is_file()) == ["film.py", "in.npy"]


def test_run_writes_a_folder(film: Path):
    done = run("run", "film.py:made", "--input", "src=in.npy", "-o", "out", "-q", cwd=film)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "  dst    rgba8unorm  8 × 4     out/dst.png\n  words  buffer      64 bytes  out/words.npy\n"
    assert not done.stderr
    assert np.load(film / "out" / "words.npy").view(np.uint32).tolist() == [7] * 16
    again = run("run", "film.py", "--input", "src=out/dst.png", "--output", "dst=twice.npy", "-q", cwd=film)
    assert again.returncode == 0, again.stderr
    assert np.abs(np.load(film / "twice.npy") - halved(4)).max() <= 1.5


def test_run_shows_anything_on_the_way(film: Path):
    done = run("run", "film.py", "--input", "src=in.npy", "--show", "mid", "-o", "mid.npy", cwd=film)
    assert done.returncode == 0, done.stderr
    assert np.abs(np.load(film / "mid.npy") - halved(1)).max() <= 0.51
    done = run("run", "film.py", "--input", "src=in.npy", "-o", "mid2.npy", cwd=film, RGRAPH_SHOW="mid")
    assert (film / "mid2.npy").read_bytes() == (film / "mid.npy").read_bytes()


def test_run_many_frames_writes_each_or_the_last(film: Path):
    done = run("run", "film.py", "--input", "src=in.npy", "--frames", "3", "--output", "dst=f/{frame:03}.png", cwd=film)
    assert done.returncode == 0, done.stderr
    assert sorted(one.name for one in (film / "f").iterdir()) == ["000.png", "001.png", "002.png"]
    assert re.fullmatch(r"film on .+: 3 frames, \d+\.\d/s\n", done.stderr)


def test_run_sets_parameters(film: Path):
    values = ["--set", "halve.scale=1", "--set", "halve.offset=0"]
    done = run("run", "film.py", "--input", "src=in.npy", *values, "--output", "dst=x.npy", cwd=film)
    assert done.returncode == 0, done.stderr
    assert np.abs(np.load(film / "x.npy") - halved(1)).max() <= 0.51


def test_run_counts_frames(film: Path):
    values = ["--set", "again.scale=0", "--set", "again.offset=@time", "--frames", "31"]
    done = run("run", "film.py", "--input", "src=in.npy", *values, "--output", "dst=x.npy", cwd=film)
    assert done.returncode == 0, done.stderr
    assert np.unique(np.load(film / "x.npy")).tolist() == [128]


def test_run_reports_as_text_and_as_json(film: Path):
    done = run("run", "film.py", "--input", "src=in.npy", "--report", cwd=film)
    assert done.returncode == 0
    assert "µs on the GPU" in done.stdout
    done = run("run", "film.py", "--input", "src=in.npy", "-o", "out", "--json", cwd=film)
    values = json.loads(done.stdout)
    assert values["graph"] == "film"
    assert values["results"][0] == {
        "name": "dst",
        "format": "rgba8unorm",
        "shape": [4, 8, 4],
        "file": str(Path("out", "dst.png")),
    }
    assert {one["pass"] for one in values["report"]["passes"]} == {"halve", "again", "fill"}


def test_run_writes_the_viewer_with_pictures(film: Path):
    done = run("run", "film.py", "--input", "src=in.npy", "--view", "run.html", cwd=film)
    assert done.returncode == 0, done.stderr
    page = (film / "run.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert page.count("data:image/png;base64,") >= 3


def test_run_writes_the_viewer_with_pictures_where_an_image_modifies_another(tmp_path: Path):
    graph = rg.Graph("over", size=(16, 8))
    base, other = (graph.image(name, format="rgba8unorm") for name in ("base", "other"))
    over = graph.image("over", modifies=base)
    graph.clear("below", base, (1.0, 0.0, 0.0, 1.0))
    graph.clear("beside", other, (0.0, 1.0, 0.0, 1.0))
    graph.copy("above", other, over)
    graph.root(over)
    graph.save(tmp_path / "over.rgraph.json")
    done = run("run", "over.rgraph.json", "--view", "run.html", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "lacks pictures" not in done.stderr
    page = (tmp_path / "run.html").read_text(encoding="utf-8")
    data = json.loads(page.split('id="data">')[1].split("</script>")[0])
    assert {one[0] for one in data["images"]} == {"other", "over"}, "base is the memory of over"


def test_run_writes_a_trace(film: Path):
    done = run("run", "film.py", "--input", "src=in.npy", "--trace", "run.trace.json", cwd=film)
    assert done.returncode == 0, done.stderr
    names = [
        one.get("name") for one in json.loads((film / "run.trace.json").read_text(encoding="utf-8"))["traceEvents"]
    ]
    assert {"halve", "again", "fill"} <= set(names)


def test_run_writes_exr(film: Path):
    openexr = pytest.importorskip("OpenEXR")
    done = run("run", "film.py", "--input", "src=in.npy", "--output", "dst=x.exr", cwd=film)
    assert done.returncode == 0, done.stderr
    with openexr.File(str(film / "x.exr")) as file:
        pixels = file.channels()["RGBA"].pixels
    assert pixels.shape == (4, 8, 4)
    assert np.abs(pixels[..., 3] - PICTURE[..., 3] / 4 / 255).max() < 3e-3


HIDDEN = """
import rgraph as rg

state = {"gain": 1}


def noon(views):
    state["gain"] = 2
    views["sky"][:] = bytes(64)


def shine(views):
    views["sun"][:] = bytes([state["gain"]]) * 64


def dusk(views):
    state["gain"] = 3
    views["moon"][:] = bytes(64)


graph = rg.Graph("evening")
for name, function in (("sky", noon), ("sun", shine), ("moon", dusk)):
    buffer = graph.buffer(name, 64)
    graph.cpu(function.__name__, function, writes=buffer)
    graph.root(buffer)
"""


def test_chaos_run_of_a_graph_that_declares_all_finds_nothing(film: Path):
    done = run("run", "film.py", "--input", "src=in.npy", "--chaos", "2", cwd=film)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "  again                 1 of 1 equal"
    assert "  order                 4 of 4 equal" in lines
    assert lines[-1] == "no finding: all results are equal"
    assert re.fullmatch(r"film on .+: 20 frames\n", done.stderr)


def test_chaos_run_names_the_pass_and_ends_with_status_1(tmp_path: Path):
    (tmp_path / "evening.py").write_text(HIDDEN)
    done = run("run", "evening.py", "--chaos", "10", cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    assert "differs (seed 1)" in done.stdout
    assert 'RG-E226 pass "shine" computes something else before "noon"' in done.stdout
    done = run("run", "evening.py", "--chaos", "10", "--json", cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    (finding,) = json.loads(done.stdout)["findings"]
    assert (finding["change"], finding["pass_name"], finding["other"]) == ("order", "shine", "noon")


def test_run_under_the_validation_layer_is_silent(film: Path):
    done = run("run", "film.py", "--input", "src=in.npy", "--validate", cwd=film)
    if "RG-E106" in done.stderr:
        assert done.returncode == 3
        pytest.skip("the validation layer is not installed")
    assert done.returncode == 0, done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["run", "film.py"], 2, 'imported "src" has no contents\n  help: --input src=FILE'),
        (["run", "flim.py"], 2, 'flim.py: no such file\n  help: did you mean "film.py"?'),
        (["run", "film.py:grap"], 2, 'film.py: there is no "grap"\n  help: did you mean "graph"?'),
        (["run", "film.py:rg"], 2, 'film.py: "rg" is no graph, and makes none\n  help: name one: FILE.py:NAME'),
        (["run", "film.py", "--input", "scr=in.npy"], 2, f'--input: {NONE} "scr"\n  help: did you mean "src"?'),
        (["run", "film.py", "--input", "src"], 2, IMAGE),
        (["run", "IN", "--input", "src=no.png"], 2, '--input: "src" is given twice\n  help: leave one of them out'),
        (["run", "IN", "-o", ""], 2, "the name of a file is empty\n  help: give -o a file or a folder"),
        (["run", "IN", "--view", "x.txt"], 2, HTML),
        (["run", "film.py", "--input", "src=no.png"], 2, "no.png: no such file"),
        (["run", "film.py", "--input", "src=film.py"], 2, READ),
        (["run", "IN", "--show", "mib"], 2, '"film" has no image or buffer "mib" to show\n  help: did you mean "mid"?'),
        (["run", "IN", "--set", "scale=1"], 2, '--set: "scale" names no pass\n  help: use PASS.NAME=VALUE'),
        (["run", "IN", "--set", "half.scale=1"], 2, '--set: "film" has no pass "half"\n  help: did you mean "halve"?'),
        (["run", "IN", "--flag", "x=on"], 2, '--flag: "film" has no flag "x"'),
        (["run", "IN", "-o", "x.png"], 2, "x.png: there are 2 results\n  help: give a folder, or --output NAME=FILE"),
        (["run", "IN", "--output", "dst=x.gif"], 2, f"x.gif: {WRITTEN}"),
        (["run", "IN", "--output", "dts=x.png"], 2, '--output: "dts" is no result\n  help: did you mean "dst"?'),
        (["run", "IN", "--output", "dst=x{n}.png"], 2, "x{n}.png: only {frame} is allowed in braces"),
        (["run", "IN", "--frames", "0"], 2, '--frames: "0" is not a whole number above 0\n  help: rgraph run --help'),
        (["run", "IN", "--set", "halve.scal=1"], 1, "RG-E306 "),
        (["run", "IN", "--device", "name:nobody"], 3, 'RG-E103 no device is "name:nobody"'),
        (["bench", "IN", "--device", "99"], 3, 'RG-E103 no device is "99"'),
        (["watch", "-"], 2, "standard input cannot be watched\n  help: give a file"),
        (["watch", "film.py"], 2, 'imported "src" has no contents\n  help: --input src=FILE'),
        (["view", "film.py", "-o", "x.png"], 2, "x.png: the viewer is written to .html, a picture to .svg"),
        (["view", "film.py", "--graph", "film.py"], 2, "--graph is for plan files; plans are called .rplan.json"),
    ],
)  # fmt: skip
def test_wrong_calls(arguments: list[str], status: int, message: str, film: Path):
    at = arguments.index("IN") if "IN" in arguments else None
    if at is not None:
        arguments = [*arguments[:at], "film.py", "--input", "src=in.npy", *arguments[at + 1 :]]
    done = run(*arguments, cwd=film)
    assert done.returncode == status, done.stderr
    begin = done.stderr.index("rgraph: ")
    assert done.stderr[begin:].startswith(f"rgraph: {message}")
    if status == 2:
        assert done.stderr[begin:] == f"rgraph: {message}\n"
    assert "Traceback" not in done.stderr


def test_python_file_that_fails_is_told_with_its_place(film: Path):
    (film / "bad.py").write_text("import rgraph\n\nx = 1 / 0\n")
    done = run("run", "bad.py", cwd=film)
    assert done.returncode == 2
    assert done.stderr == "rgraph: bad.py:3: ZeroDivisionError: division by zero\n"
    shown = run("run", "bad.py", "--debug", cwd=film)
    assert "Traceback (most recent call last)" in shown.stderr


def test_bench_measures_each_pass(film: Path):
    done = run("bench", "film.py", "--input", "src=in.npy", "--frames", "8", "--warmup", "1", cwd=film)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].split() == ["pass", "queue", "median", "µs", "p95", "µs", "share"]
    assert {line.split()[0] for line in lines[1:4]} == {"halve", "again", "fill"}
    assert [line.split()[0] for line in lines[5:]] == ["frame", "CPU", "through", "weights"]
    assert re.match(r"  weights   (the same plan|another plan)", lines[-1])
    assert max(map(len, lines)) <= 80


def test_bench_as_json(film: Path):
    arguments = ["bench", "film.py", "--input", "src=in.npy", "--frames", "5", "--warmup", "1", "--json"]
    values = json.loads(run(*arguments, cwd=film).stdout)
    assert values["graph"] == "film"
    assert values["frames"] >= 5
    assert values["frames_per_second"] > 0
    for one in values["passes"]:
        assert 0 < one["median"] <= one["p95"]
    assert values["cpu_us"].keys() == {"record", "submit", "upload"}
    assert values["feedback"]["same_plan"] in (True, False)
    assert "feedback" not in json.loads(run(*arguments, "--no-feedback", cwd=film).stdout)


def test_view_writes_the_page_beside_the_file(film: Path):
    done = run("view", "film.py", cwd=film)
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(r"film\.html  \d+\.\d KiB\n", done.stderr)
    page = (film / "film.html").read_text(encoding="utf-8")
    assert run("view", "film.py", "-o", "-", cwd=film).stdout == page
    run("bake", "film.py", "-o", "film.rplan.json", cwd=film)
    (film / "film.html").unlink()
    assert run("view", "film.rplan.json", "--graph", "film.py", cwd=film).returncode == 0
    assert (film / "film.html").exists()


class Watching:
    """A `rgraph watch` that runs during the test."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.log = folder / "log.txt"
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                clitool.command("watch", "film.py", "--input", "src=in.npy", "--poll", "0.05", *arguments),
                cwd=folder,
                env=clitool.surroundings(),
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    def printed(self) -> list[str]:
        """Lines so far, without the clock."""
        text = self.log.read_text(encoding="utf-8")
        return [re.sub(r"\d\d:\d\d:\d\d", "TIME", line) for line in text.splitlines()]

    def until(self, words: str, times: int = 1) -> None:
        """Wait until a line has these words."""
        end = time.monotonic() + 60
        while sum(words in line for line in self.printed()) < times:
            assert self.process.poll() is None or any(words in line for line in self.printed()), self.printed()
            assert time.monotonic() < end, self.printed()
            time.sleep(0.02)

    def __enter__(self) -> "Watching":
        return self

    def __exit__(self, *error: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()


def test_watch_shows_edits_and_stays_with_the_last_good_one(film: Path):
    source, out = film / "film.py", film / "out.npy"
    with Watching(film, "--output", "dst=out.npy", "--edits", "4") as watching:
        watching.until("shown")
        assert np.abs(np.load(out) - halved(2)).max() <= 1
        source.write_text(clitool.FILM.replace('"scale": 0.5', '"scale": 1.0'))
        watching.until("shown", 2)
        assert np.abs(np.load(out) - halved(0)).max() <= 0.51
        source.write_text(clitool.FILM.replace("textureStore(", "textureStor("))
        watching.until("the last good graph keeps running")
        kept = out.read_bytes()
        # Another file with the same mistake: it is not printed again.
        source.write_text(clitool.FILM.replace("textureStore(", "textureStor(") + "\n")
        time.sleep(0.5)
        assert out.read_bytes() == kept
        source.write_text(clitool.FILM)
        watching.until("fixed")
        assert watching.process.wait(30) == 0
        assert np.abs(np.load(out) - halved(2)).max() <= 1
    printed = watching.printed()
    assert re.fullmatch(r"film.py on .+; Ctrl-C ends it", printed[0])
    assert re.fullmatch(r"TIME  shown after \d+ ms · \d+\.\d\d ms on the GPU · out.npy", printed[1])
    assert sum("RG-E301" in line for line in printed) == 1
    assert "  TIME  the last good graph keeps running" in printed


def test_watch_that_ends_with_a_wrong_edit_is_a_finding(film: Path):
    with Watching(film, "--edits", "1") as watching:
        watching.until("shown")
        (film / "film.py").write_text("graph = 1\n")
        assert watching.process.wait(30) == 1
    assert "  help: it may be made by a function: FILE.py:NAME" in watching.printed()


def test_watch_sees_other_modules_and_inputs(film: Path):
    (film / "film.py").write_text("from made import *\n" + clitool.FILM.replace('"scale": 0.5', '"scale": SCALE'))
    (film / "made.py").write_text("SCALE = 0.5\n")
    with Watching(film, "--output", "dst=out.npy", "--edits", "2") as watching:
        watching.until("shown")
        (film / "made.py").write_text("SCALE = 1.0  # now\n")
        watching.until("shown", 2)
        assert np.abs(np.load(film / "out.npy") - halved(0)).max() <= 0.51
        np.save(film / "in.npy", PICTURE // 2)
        watching.until("shown", 3)
        assert np.abs(np.load(film / "out.npy") - PICTURE // 2).max() <= 0.51
        assert watching.process.wait(30) == 0


def test_watch_goes_on_between_changes(film: Path):
    with Watching(film, "--fps", "200", "--frames", "20", "--output", "dst=f{frame}.npy") as watching:
        assert watching.process.wait(60) == 0
    assert len(list(film.glob("f*.npy"))) == 20


def test_watch_serves_the_viewer(film: Path):
    def data(url: str) -> dict:
        for _ in range(100):
            with (
                contextlib.suppress(urllib.error.HTTPError),
                urllib.request.urlopen(f"{url}data", timeout=10) as answer,
            ):
                return json.load(answer)
            time.sleep(0.05)
        raise AssertionError("no page")

    with Watching(film, "--serve", "--edits", "1") as watching:
        watching.until("shown")
        [url] = re.findall(r"http://127\.0\.0\.1:\d+/", "\n".join(watching.printed()))
        before = data(url)
        assert before["plan"]["meta"]["graph"] == "film"
        assert before["frames"]["run"]
        assert dict(before["images"])["dst"].startswith("data:image/png")
        (film / "film.py").write_text(clitool.FILM.replace('"film"', '"other film"'))
        assert watching.process.wait(30) == 0
    done = run("watch", "film.py", "--input", "src=in.npy", "--serve", "99999", cwd=film)
    assert done.returncode == 2
    assert "--serve 99999: ports go from 0 to 65535\n  help: leave the port out" in done.stderr


@pytest.mark.skipif(os.name != "posix", reason="signals differ elsewhere")
def test_ctrl_c_ends_quietly(film: Path):
    with Watching(film) as watching:
        watching.until("shown")
        watching.process.send_signal(signal.SIGINT)
        assert watching.process.wait(30) == 130
    assert len(watching.printed()) == 2


def test_run_measures_many_frames(film: Path):
    options = ("--frames", "6", "--report", "--view", "all.html")
    done = run("run", "film.py", "--input", "src=in.npy", *options, cwd=film)
    assert done.returncode == 0, done.stderr
    assert re.search(r"^6 frames: .* at the 99th percentile", done.stdout, re.MULTILINE), done.stdout
    page = (film / "all.html").read_text(encoding="utf-8")
    data = json.loads(page.split('id="data">')[1].split("</script>")[0])
    assert len(data["frames"]["run"]) == 6
    done = run("run", "film.py", "--input", "src=in.npy", "--frames", "3", "--json", cwd=film)
    series = json.loads(done.stdout)["report"]["series"]
    assert len(series["gpu_us"]) == 3
    assert {one["pass"] for one in series["passes"]} == {one["name"] for one in data["frames"]["passes"]}
