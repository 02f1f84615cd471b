"""How processes end, and what runs while rgraph is inside of a call: no device is needed."""

import itertools
import signal
import subprocess
import sys
import time
import weakref
from pathlib import Path

import pytest

import clitool
import rgraph as rg
from processes import ends
from rgraph import cli


def test_a_watched_code_object_may_declare_when_it_goes():
    g = rg.Graph()
    refs = []
    watched = 100  # more than are remembered
    numbers = itertools.count()

    def declare(_: object) -> None:
        g.buffer(f"inner{next(numbers)}", 64)

    for number in range(watched):
        code = compile(f"g.buffer('outer{number}', 64)", f"file{number}.py", "exec")
        refs.append(weakref.ref(code, declare))
        exec(code, {"g": g})
        del code
    assert len(g.resources) > watched
    assert all(resource.name for resource in g.resources)


def test_a_namespace_may_declare_when_it_is_asked():
    g = rg.Graph()
    inner: list[rg.Buffer] = []

    class Namespace(dict[str, object]):
        def __getitem__(self, key: str) -> object:
            inner.append(g.buffer(f"inner{len(inner)}", 64))
            return dict.__getitem__(self, key)

    exec(compile("g.buffer('outer', 64)", "namespace.py", "exec"), Namespace(g=g, __name__="namespace"))
    assert len(inner) > 0
    assert {resource.name for resource in g.resources} == {"outer", *(buffer.name for buffer in inner)}


def test_two_threads_are_told_of_a_mistake_while_the_other_declares():
    # The exception of a mistake is made by Python code, where another thread may come to the same graph.
    program = """
import sys, threading
import rgraph as rg

sys.setswitchinterval(1e-6)
g = rg.Graph()
def setup(p):
    try:
        p.uses("missing", "sampled")
    except rg.GraphError:
        pass
g.add_pass("p", setup=setup)
def work():
    for _ in range(100):
        try:
            g.bake()
        except rg.GraphError:
            pass
        len(g.passes)
threads = [threading.Thread(target=work) for _ in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print("end")
"""
    ends(program, 0, "end\n", repeats=2)


@pytest.mark.skipif(sys.platform == "win32", reason="needs fork")
def test_a_forked_child_plans_while_the_parent_does():
    program = """
import os, threading, time, warnings
import rgraph as rg

warnings.simplefilter("ignore", DeprecationWarning)
FILL = '''
@group(0) @binding(0) var<storage, read_write> words: array<u32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) { words[id.x] = id.x; }'''

def declared():
    g = rg.Graph()
    g.compute("fill", FILL, words=g.buffer("w", 256), groups=1)
    g.root("w")
    return g.bake()

stop = False
def work():
    while not stop:
        declared()
threads = [threading.Thread(target=work) for _ in range(2)]
for thread in threads:
    thread.start()
codes = set()
for _ in range(20):
    pid = os.fork()
    if pid == 0:
        declared()
        os._exit(0)
    for _ in range(300):
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            break
        time.sleep(0.1)
    else:
        os.kill(pid, 9)
        _, status = os.waitpid(pid, 0)
    codes.add(os.waitstatus_to_exitcode(status))
stop = True
print(codes)
"""
    ends(program, 0, "{0}\n", repeats=2)


def closed(closing: str, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run the command with standard streams closed, as a shell closes them."""
    line = ["sh", "-c", f'exec "$@" {closing}', "sh", *clitool.command(*arguments)]
    return subprocess.run(line, capture_output=True, text=True, check=False, timeout=120, env=clitool.surroundings())


LAYERED = """
import os, signal, sys, threading, time
import rgraph as rg

def layered(passes):
    g = rg.Graph("layered", size=(64, 64))
    images = [g.image(f"i{at}", format="rgba8unorm") for at in range(passes)]
    for at, image in enumerate(images):
        p = g.add_pass(f"p{at}", queue="graphics" if at % 3 else "async_compute")
        for back in (1, 7):
            if at >= back:
                p.sampled(images[at - back])
        (p.color if at % 3 else p.storage_write)(image)
    g.root(images[-1])
    return g

struck = 0.0
def strike():
    global struck
    struck = time.monotonic()
    os.kill(os.getpid(), signal.SIGINT)

def interrupted(work):
    timer = threading.Timer(0.3, strike)
    timer.start()
    try:
        work()
        print("over too early")
    except KeyboardInterrupt:
        late = time.monotonic() - struck
        # 0.2 s, of which a machine that does other things may take some more.
        print("interrupted" if late < 0.5 else f"interrupted after {late} s")
"""
"""A graph of any size, and Ctrl-C 0.3 s into a call."""


@pytest.mark.parametrize(
    "work",
    [
        "layered(120).bake(effort=1_000_000)",
        "layered(120).bake('discrete', policy='weighted', effort=1_000_000)",
        "[big.clone().bake('single_queue') for _ in range(50)]",
        "[some.to_json() for _ in range(1000)]",
        "[rg.Graph.from_json(text) for _ in range(200)]",
        "[plan.check() for _ in range(1000)]",
        "[plan.interpret() for _ in range(1000)]",
        "[big.interpret() for _ in range(1000)]",
    ],
    ids=["search", "weighted", "large", "write", "read", "check", "interpret", "meaning"],
)
def test_planning_obeys_ctrl_c(work: str):
    program = f"""{LAYERED}
big = layered(20_000)
some = layered(4_000)
text = some.to_json()
plan = layered(1_000).bake()
interrupted(lambda: {work})
assert layered(20).bake().check() == []
"""
    ends(program, 0, "interrupted\n", repeats=2)


def test_a_handler_of_a_signal_may_plan_itself():
    program = f"""{LAYERED}
def handle(number, frame):
    assert len(layered(20).bake().pass_names) == 20
    raise ZeroDivisionError
signal.signal(signal.SIGINT, handle)
threading.Timer(0.3, strike).start()
try:
    layered(120).bake(effort=1_000_000)
except ZeroDivisionError:
    print("raised")
"""
    ends(program, 0, "raised\n", repeats=2)


@pytest.mark.parametrize(
    "arguments",
    [
        ["bake", "GRAPH", "--effort", "1000000"],
        ["view", "GRAPH", "--effort", "1000000"],
        ["fuzz", "--seconds", "1000"],
    ],
    ids=["bake", "view", "fuzz"],
)
def test_commands_obey_ctrl_c(arguments: list[str], tmp_path: Path):
    exec(LAYERED, scope := dict[str, object]())
    graph = tmp_path / "layered.rgraph.json"
    scope["layered"](120).save(graph)  # type: ignore[operator]
    call = clitool.command(*(graph if argument == "GRAPH" else argument for argument in arguments))
    child = subprocess.Popen(
        call, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path, env=clitool.surroundings()
    )
    time.sleep(3)
    assert child.poll() is None, child.communicate()
    child.send_signal(signal.SIGINT)
    struck = time.monotonic()
    _, err = child.communicate(timeout=60)
    late = time.monotonic() - struck
    assert (child.returncode, "Traceback" in err) == (130, False), err
    assert late < 1.0, late


CLOSINGS = [">&-", "2>&-", "<&- >&- 2>&-"]
COMMANDS = [name for commands in cli._COMMANDS.values() for name in commands]


def test_commands_work_with_closed_streams_or_say_which(deferred: Path, tmp_path: Path):
    plan, page = tmp_path / "a.rplan.json", tmp_path / "a.html"
    assert closed(">&- 2>&-", "bake", deferred, "-o", plan).returncode == 0
    assert rg.Plan.load(plan) == rg.Graph.load(deferred).bake()
    calls: list[list[str | Path]] = [
        [],
        ["--version"],
        ["nonsense"],
        ["bake", deferred],
        ["explain", "RG-E203"],
        ["view", deferred, "-o", page],
        ["diff", plan, plan],
        ["check", plan, "--graph", deferred],
        ["fuzz", "--seconds", "0.2", "-o", tmp_path],
        ["schema", "graph"],
        *([name, tmp_path / "none.rgraph.json"] for name in ("run", "watch", "bench")),
    ]
    for call in calls:
        usual = closed("", *call)
        for closing in CLOSINGS:
            done = closed(closing, *call)
            assert "fault of rgraph" not in done.stderr + done.stdout, call
            if ">&-" in closing.split() and usual.stdout and usual.returncode == 0:
                assert done.returncode == 2, call
                assert "2>&-" in closing or "standard output is closed" in done.stderr, call
            else:
                assert done.returncode == usual.returncode, (call, done.stderr)
                assert "2>&-" in closing or done.stderr == usual.stderr, call
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")


@pytest.mark.parametrize("name", COMMANDS)
def test_help_is_given_where_standard_output_is_closed(name: str):
    done = closed(">&-", name, "--help")
    assert (done.returncode, "fault of rgraph" in done.stderr) == (0, False), done.stderr


def test_a_closed_standard_input_is_named(deferred: Path):
    calls = [["bake", "-"], ["check", "-", "--graph", deferred], ["view", "-"], ["run", "-"], ["bench", "-"]]
    for call in calls:
        done = closed("<&-", *call)
        assert (done.returncode, "standard input is closed" in done.stderr) == (2, True), done.stderr


def test_a_sub_interpreter_is_refused():
    inner = """
import sys
sys.path[:] = PATH
try:
    import rgraph
except ImportError as error:
    assert "sub-interpreters" in str(error) or "subinterpreters" in str(error), error
else:
    raise AssertionError("rgraph was imported")
"""
    outer = f"""
import sys
interpreters = __import__("_interpreters" if sys.version_info >= (3, 13) else "_xxsubinterpreters")
failed = interpreters.run_string(interpreters.create(), {inner!r}.replace("PATH", repr(sys.path)))
assert failed is None, failed
import rgraph
try:
    rgraph.Graph().find("nothing")
except rgraph.GraphError as error:
    print(error.code)
"""
    ended = subprocess.run([sys.executable, "-c", outer], capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "RG-E202\n", "")
