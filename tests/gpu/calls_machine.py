"""A state machine of calls of the Python interface.

Each call works and gives the bytes of a model in numpy, or raises an error of rgraph, a TypeError or a ValueError with
a message. It never crashes, hangs, or gives other bytes.

`python calls_machine.py EXAMPLES STEPS [SEED]` runs it; its last line is `N examples, M calls, F frames compared`.
Steps are written to standard error as they begin, so that a crash shows what led to it.
"""

from __future__ import annotations

import copy
import gc
import pickle
import sys
import threading
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from calls_model import SCALE, STEP, SUM, WORDS, Mine, Model, Op, ramp
from calls_watched import COUNTS, FINE, HANGS, Compiled, Ran, Watched
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test

import rgraph as rg

NUMBER = st.integers(0, 7)
KINDS = st.sampled_from(["scale", "sum", "step", "fill", "copy", "cpu"])
#: What no call takes for a buffer, an array, a graph or a number.
WRONG = (None, 3, -1, "nowhere", b"bytes", 1.5, [], {}, object(), np.zeros(3), float("nan"), 1 << 70, rg.Graph, ...)


class Calls(Watched, RuleBasedStateMachine):
    """Devices, graphs, plans, compiled graphs, frames and buffers; rules pick one of each by number."""

    def __init__(self) -> None:
        super().__init__()
        COUNTS["examples"] += 1
        self.devices: list[rg.Device] = []
        self.graphs: list[tuple[rg.Graph, Model]] = []
        self.plans: list[tuple[rg.Plan, rg.Graph, Model]] = []
        self.compiled: list[Compiled] = []
        self.frames: list[Ran] = []
        self.buffers: list[tuple[rg.DeviceResource, np.ndarray, rg.Device]] = []
        self.stale: list[tuple[rg.Graph, Any]] = []
        self.names = 0
        print("example", file=sys.stderr, flush=True)

    def name(self, kind: str) -> str:
        self.names += 1
        return f"{kind} {self.names}"

    # Devices.

    @initialize()
    def begins(self) -> None:
        self.opens()
        self.declares_graph()
        self.declares_buffer(0, "transient", 2)
        self.declares_pass(0, "scale", 0, 0, 0)
        self.roots(0, 0)

    @rule(at=NUMBER, of=NUMBER, kinds=st.lists(KINDS, min_size=1, max_size=3), a=NUMBER, b=NUMBER, to=NUMBER)
    def declares_compiles_and_runs(self, at: int, of: int, kinds: list[str], a: int, b: int, to: int) -> None:
        for one, kind in enumerate(kinds):
            self.declares_pass(of, kind, a + one, b + 2 * one, to + one)
        self.roots(of, to)
        before = len(self.compiled)
        self.compiles(at, of)
        if len(self.compiled) > before:
            self.runs(before, a, bool(b % 2), bool(to % 2), False)
            self.runs(before, b, False, False, bool(a % 2))

    @rule()
    @precondition(lambda self: len([one for one in self.devices if not one.closed]) < 2)
    def opens(self) -> None:
        self.devices.append(self.call("Device()", rg.Device, must=True))

    @rule(at=NUMBER, how=st.sampled_from(["close", "with", "raise", "drop"]))
    @precondition(lambda self: len(self.devices) > 1)
    def closes(self, at: int, how: str) -> None:
        device = self.devices[at % len(self.devices)]
        closed = device.closed

        def within() -> None:
            with device:
                if how == "raise":
                    raise Mine("left early")

        if how == "close":
            self.call("device.close()", device.close, must=True)
        elif how == "drop":
            self.devices.remove(device)
            self.compiled = [one for one in self.compiled if one.device is not device]
            self.buffers = [one for one in self.buffers if one[2] is not device]
            del device
            gc.collect()
            return
        else:
            error = self.call(f"with device ({how})", within, must=None if closed else how == "with", also=(Mine,))
            if not closed and how == "raise":
                assert isinstance(error, Mine), error
        if not closed or how == "close":
            assert device.closed

    @rule(at=NUMBER)
    def waits(self, at: int) -> None:
        device = self.devices[at % len(self.devices)]
        self.call("wait_idle", device.wait_idle, must=not device.closed)

    def device(self, at: int) -> rg.Device:
        return self.devices[at % len(self.devices)]

    # Declarations.

    @rule()
    @precondition(lambda self: len(self.graphs) < 3)
    def declares_graph(self) -> None:
        name = self.name("graph")
        self.graphs.append((rg.Graph(name), Model(name)))
        self.declares_buffer(len(self.graphs) - 1, "imported", 1)

    @rule(at=NUMBER, kind=st.sampled_from(["transient", "transient", "persistent", "imported"]), number=NUMBER)
    def declares_buffer(self, at: int, kind: str, number: int) -> None:
        graph, model = self.graphs[at % len(self.graphs)]
        name, first = self.name("buffer"), ramp(number)
        if kind == "imported":
            call = lambda: graph.import_array(name, first, as_buffer=True)  # noqa: E731
        else:
            lasting: Any = first if kind == "persistent" else False
            call = lambda: graph.buffer(name, shape=WORDS, dtype="uint32", persistent=lasting)  # noqa: E731
        self.call(f"{kind} {name}", call, must=True)
        model.buffers[name] = (kind, first)

    @rule(at=NUMBER, kind=KINDS, a=NUMBER, b=NUMBER, to=NUMBER)
    def declares_pass(self, at: int, kind: str, a: int, b: int, to: int) -> None:
        graph, model = self.graphs[at % len(self.graphs)]
        known, all_names = model.defined(), list(model.buffers)
        writable = [name for name in all_names if model.buffers[name][0] != "imported"]
        if not known or not writable:
            return
        first, second, target = known[a % len(known)], known[b % len(known)], writable[to % len(writable)]
        name = self.name(kind)
        if kind == "step":
            if target not in known:
                return
            op = Op(name, kind, (target,), target)
            call: Callable[[], Any] = lambda: graph.compute(name, STEP, data=target, groups=1)  # noqa: E731
        elif kind == "fill":
            op = Op(name, kind, (), target, (a * 1000 + b,))
            call = lambda: graph.fill(name, target, op.numbers[0])  # noqa: E731
        else:
            if target in (first, second) or (kind == "sum" and first == second):
                return
            numbers = (a + 2, b)
            op = Op(name, kind, (first, second) if kind == "sum" else (first,), target, numbers)
            if kind == "scale":
                push = {"factor": numbers[0], "add": numbers[1]}
                call = lambda: graph.compute(name, SCALE, src=first, dst=target, push=push, groups=1)  # noqa: E731
            elif kind == "sum":
                call = lambda: graph.compute(name, SUM, a=first, b=second, dst=target, groups=1)  # noqa: E731
            elif kind == "copy":
                call = lambda: graph.copy(name, first, target)  # noqa: E731
            else:
                call = lambda: graph.cpu(name, self.function(model, op), reads=first, writes=target)  # noqa: E731
        made = self.call(f"pass {name}: {op.reads} -> {op.writes}", call, must=True)
        assert made.name == name
        model.ops.append(op)

    def function(self, model: Model, op: Op) -> Callable[[dict[str, memoryview]], None]:
        """What a pass on the CPU does: its work, and what the model asks of it besides."""
        mischief = model.mischief
        kept: list[memoryview] = []

        def work(views: dict[str, memoryview]) -> None:
            wanted = mischief.get(op.name)
            if wanted is not None:
                mischief[op.name] = None
                wanted()
            given = np.frombuffer(views[op.reads[0]], np.uint32)
            np.frombuffer(views[op.writes], np.uint32)[:] = given * np.uint32(op.numbers[0]) + np.uint32(op.numbers[1])
            kept.append(views[op.writes])

        return work

    @rule(at=NUMBER, which=NUMBER, what=st.sampled_from(["raise", "close", "run", "declare", "wrong", "exit"]))
    def plans_mischief(self, at: int, which: int, what: str) -> None:
        graph, model = self.graphs[at % len(self.graphs)]
        functions = [op.name for op in model.ops if op.kind == "cpu"]
        if not functions:
            return

        def do() -> None:
            if what == "raise":
                raise Mine("of a function")
            if what == "exit":
                raise SystemExit("of a function")
            if what == "wrong":
                raise KeyError(what)
            for device in self.devices:
                if what == "close":
                    self.call("close in a function", partial(device.close, timeout=0.2))
                elif what == "run":
                    self.call("run in a function", partial(device.run, graph), also=(Mine, KeyError, SystemExit))
            if what == "declare":
                rg.Graph("within").buffer("b", 64)

        model.mischief[functions[which % len(functions)]] = do

    @rule(at=NUMBER, which=NUMBER)
    def roots(self, at: int, which: int) -> None:
        graph, model = self.graphs[at % len(self.graphs)]
        names = [name for name in model.defined() if model.buffers[name][0] != "imported"]
        if not names:
            return
        name = names[which % len(names)]
        self.call(f"root {name}", lambda: graph.root(name), must=True)
        if name not in model.roots:
            model.roots.append(name)

    @rule(at=NUMBER)
    def removes(self, at: int) -> None:
        graph, model = self.graphs[at % len(self.graphs)]
        if not model.ops:
            return
        op = model.ops[-1]
        handle = next(one for one in graph.passes if one.name == op.name)
        self.call(f"remove {op.name}", lambda: graph.remove(handle), must=True)
        model.ops.pop()
        assert op.name not in [one.name for one in graph.passes]
        self.stale.append((graph, handle))

    @rule(at=NUMBER, which=NUMBER, number=NUMBER)
    def uses_what_is_stale_or_of_another_graph(self, at: int, which: int, number: int) -> None:
        graph, _ = self.graphs[at % len(self.graphs)]
        other, theirs = self.graphs[number % len(self.graphs)]
        before = graph.hash
        if other is not graph and theirs.buffers:
            handle = other.resources[which % len(other.resources)]
            self.call("a buffer of another graph", lambda: graph.fill("stranger", handle, 1), must=False)
        if self.stale:
            of, handle = self.stale[which % len(self.stale)]
            error = self.call("a pass that was removed", lambda: (handle.name, repr(handle), handle.queue))
            assert isinstance(error, (*FINE, tuple))
            self.call("remove again", lambda: of.remove(handle), must=False)
            self.call("access of a removed pass", lambda: handle.uses("nowhere", "sampled"), must=False)
        assert graph.hash == before

    @rule(at=NUMBER, which=st.integers(0, len(WRONG) - 1), call=NUMBER)
    def declares_nonsense(self, at: int, which: int, call: int) -> None:
        graph, _ = self.graphs[at % len(self.graphs)]
        wrong: Any = WRONG[which]
        before = graph.hash
        calls: list[Callable[[], Any]] = [
            lambda: graph.compute("wrong", SCALE, src=wrong, dst=wrong, groups=1),
            lambda: graph.compute("wrong", wrong, groups=1),
            lambda: graph.buffer(wrong, wrong),
            lambda: graph.fill("wrong", wrong, 1),
            lambda: graph.copy("wrong", wrong, wrong),
            lambda: graph.remove(wrong),
            lambda: graph.root(wrong),
            lambda: graph.cpu("wrong", wrong, writes=wrong),
        ]
        error = self.call(f"nonsense {call} of {wrong!r}", calls[call])
        if isinstance(error, FINE):
            assert graph.hash == before, "a refused call changes nothing"
        elif graph.hash != before:
            # Some of it means something, such as an empty list: this graph is given up.
            self.graphs[at % len(self.graphs)] = (rg.Graph("anew"), Model("anew"))

    @rule(at=NUMBER, how=st.sampled_from(["clone", "copy", "deepcopy", "pickle", "json"]))
    def copies(self, at: int, how: str) -> None:
        graph, model = self.graphs[at % len(self.graphs)]
        ways: dict[str, Callable[[], rg.Graph]] = {
            "clone": graph.clone,
            "copy": lambda: copy.copy(graph),
            "deepcopy": lambda: copy.deepcopy(graph),
            "pickle": lambda: pickle.loads(pickle.dumps(graph)),
            "json": lambda: rg.Graph.from_json(graph.to_json()),
        }
        travels = how in ("clone", "copy", "deepcopy") or not model.callbacks()
        again = self.call(how, ways[how], must=True if travels and how != "json" else None)
        if isinstance(again, rg.Graph):
            if how != "json":
                assert again.hash == graph.hash
            if how in ("clone", "copy", "deepcopy"):
                self.graphs[at % len(self.graphs)] = (again, model.taken())

    # Plans, compiled graphs, runs.

    @rule(at=NUMBER)
    def bakes(self, at: int) -> None:
        graph, model = self.graphs[at % len(self.graphs)]
        plan = self.call("bake", lambda: graph.bake("single_queue"), must=True if model.sound() else None)
        if not isinstance(plan, rg.Plan):
            return
        assert plan.check() == []
        again = self.call("pickle of a plan", lambda: pickle.loads(pickle.dumps(plan)), must=True)
        assert again == plan
        assert rg.Plan.from_json(plan.to_json()).hash == plan.hash
        self.plans.append((plan, graph, model.taken()))

    @rule(at=NUMBER, of=NUMBER)
    @precondition(lambda self: self.plans)
    def compiles_a_plan(self, at: int, of: int) -> None:
        plan, graph, model = self.plans[of % len(self.plans)]
        device = self.device(at)
        # What a removed pass did is forgotten; else the plan remembers the declaration as it was.
        here = {one.name for one in graph.passes}
        gone = any(op.name not in here for op in model.ops)
        must = False if device.closed or gone else (True if model.sound() else None)
        done = self.call("compile(plan)", lambda: device.compile(plan), must=must)
        if isinstance(done, rg.Compiled):
            self.compiled.append(Compiled(done, model, device))

    @rule(at=NUMBER, of=NUMBER)
    def compiles(self, at: int, of: int) -> None:
        graph, model = self.graphs[of % len(self.graphs)]
        device = self.device(at)
        must = False if device.closed else (True if model.sound() else None)
        done = self.call("compile", lambda: device.compile(graph), must=must)
        if isinstance(done, rg.Compiled):
            self.compiled.append(Compiled(done, model.taken(), device))

    @rule(of=NUMBER, number=NUMBER, given=st.booleans(), scaled=st.booleans(), into=st.booleans())
    @precondition(lambda self: self.compiled)
    def runs(self, of: int, number: int, given: bool, scaled: bool, into: bool) -> None:
        self.run(self.compiled[of % len(self.compiled)], number, given, scaled, into)

    @rule(at=NUMBER, of=NUMBER, number=NUMBER, given=st.booleans())
    def runs_a_graph(self, at: int, of: int, number: int, given: bool) -> None:
        graph, model = self.graphs[of % len(self.graphs)]
        device = self.device(at)
        if any(kind == "persistent" for kind, _ in model.buffers.values()):
            return
        done = Compiled(graph, model.taken(), device)  # type: ignore[arg-type]
        self.run(done, number, given, False, False)

    def run(self, one: Compiled, number: int, given: bool, scaled: bool, into: bool) -> None:
        """Run what is compiled, or a graph; wait for it, and compare."""
        model, device = one.model, one.device
        imported = [name for name, (kind, _) in model.buffers.items() if kind == "imported"]
        used = {name for op in model.ops for name in op.reads}
        inputs = {name: ramp(100 + number) for name in imported if name in used} if given else {}
        scales = [op for op in model.ops if op.kind == "scale"] if scaled else []
        scale = {op.name: (number + 2, 9) for op in scales}
        arguments: dict[str, Any] = {"inputs": inputs or None}
        if scale:
            arguments["params"] = {name: {"factor": f, "add": a} for name, (f, a) in scale.items()}
        places = {name: np.zeros(WORDS, np.uint32) for name in model.read_back()} if into else {}
        if into:
            arguments["into"] = places
        mischief = any(model.mischief.get(op.name) is not None for op in model.ops)
        state = None if one.state is None else dict(one.state)

        def run() -> rg.Frame:
            frame = (
                one.done.run(**arguments) if isinstance(one.done, rg.Compiled) else device.run(one.done, **arguments)
            )
            frame.wait()
            return frame

        known = model.sound() and state is not None
        # Parameters of a pass that was culled, or inputs of one, may be refused.
        exact = known and not mischief and not given and not scaled
        must = False if device.closed else (True if exact else None)
        frame = self.call(f"run {model.name}", run, must=must, also=(Mine, KeyError, SystemExit))
        if not isinstance(frame, rg.Frame):
            if mischief or not device.closed:
                # What a failed run leaves is the first contents, or those of before where nothing was submitted.
                one.state = None
            return
        if not known:
            return
        assert state is not None
        results = model.run(state, inputs, scale)
        one.state = state
        if into:
            for name, result in results.items():
                assert np.array_equal(places[name], result), name
            COUNTS["frames"] += 1
            return
        self.frames.append(Ran(frame, results))
        self.looks(len(self.frames) - 1)

    @rule(of=NUMBER)
    @precondition(lambda self: self.frames)
    def looks(self, of: int) -> None:
        """Frames stay as they are, whatever was run, closed or declared since."""
        ran = self.frames[of % len(self.frames)]
        print("  look", file=sys.stderr, flush=True)
        for name, result in ran.results.items():
            assert np.array_equal(np.asarray(ran.frame[name]).view(np.uint32).ravel(), result), name
        assert ran.frame.done
        assert ran.frame.report is not None
        COUNTS["frames"] += 1

    @rule(of=NUMBER)
    @precondition(lambda self: self.frames)
    def keeps_a_view_alone(self, of: int) -> None:
        ran = self.frames.pop(of % len(self.frames))
        views = {name: memoryview(ran.frame[name]) for name in ran.results}
        results = ran.results
        del ran
        gc.collect()
        for name, view in views.items():
            assert np.array_equal(np.frombuffer(view, np.uint32), results[name])

    @rule(of=NUMBER, number=NUMBER)
    @precondition(lambda self: self.compiled)
    def sets_and_resets(self, of: int, number: int) -> None:
        one = self.compiled[of % len(self.compiled)]
        if number == 0 or not one.model.first():
            result = self.call("reset", one.done.reset, must=not one.device.closed)
            if result is None:
                one.state = one.model.first()
            return
        name = list(one.model.first())[number % len(one.model.first())]
        result = self.call("set", lambda: one.done.set(name, ramp(number)), must=False if one.device.closed else None)
        if result is None and one.state is not None:
            one.state[name] = ramp(number)
        self.call("set of a wrong shape", lambda: one.done.set(name, np.zeros(3, np.uint32)), must=False)

    @rule(of=NUMBER, which=st.integers(0, len(WRONG) - 1), call=st.integers(0, 6))
    @precondition(lambda self: self.compiled)
    def runs_nonsense(self, of: int, which: int, call: int) -> None:
        one, wrong = self.compiled[of % len(self.compiled)], WRONG[which]
        done, anything = one.done, wrong  # type: Any, Any
        name = next(iter(one.model.buffers))
        calls: list[Callable[[], Any]] = [
            lambda: done.run(inputs=anything),
            lambda: done.run(inputs={name: anything}),
            lambda: done.run(params={anything: anything} if isinstance(anything, (str, int)) else anything),
            lambda: done.run(read=anything),
            lambda: done.run(into=anything),
            lambda: one.device.run(anything),
            lambda: done.set(anything, anything),
        ]
        also = (Mine, KeyError, SystemExit)
        value = self.call(f"nonsense run {call} of {wrong!r}", calls[call], also=also)
        if isinstance(value, rg.Frame):
            self.call("wait", value.wait, also=also)
        one.state = None

    @rule(of=NUMBER, at=NUMBER)
    @precondition(lambda self: self.compiled)
    def closes_while_another_thread_runs(self, of: int, at: int) -> None:
        one = self.compiled[of % len(self.compiled)]
        if len(self.devices) < 2 or one.device.closed or one.model.callbacks():
            return
        wrong: list[BaseException] = []
        state = one.state

        def work() -> None:
            own = None if state is None else dict(state)
            for _ in range(4):
                try:
                    frame = one.done.run()
                    if own is None or not one.model.sound():
                        continue
                    results = one.model.run(own, {}, {})
                    for name, result in results.items():
                        assert np.array_equal(np.asarray(frame[name]).view(np.uint32).ravel(), result), name
                except FINE as error:
                    own = None
                    if not str(error) or isinstance(error, rg.InternalError):
                        wrong.append(error)
                except BaseException as error:
                    wrong.append(error)

        thread = threading.Thread(target=work)
        thread.start()
        self.call("close while another thread runs", one.device.close, must=True)
        thread.join(HANGS)
        assert not thread.is_alive(), "a run on a device that was closed hangs"
        assert not wrong, wrong
        one.state = None

    @rule(of=NUMBER)
    @precondition(lambda self: len(self.compiled) > 2)
    def drops(self, of: int) -> None:
        self.compiled.pop(of % len(self.compiled))
        gc.collect()

    # Buffers of a device.

    @rule(at=NUMBER, number=NUMBER)
    def makes_a_buffer(self, at: int, number: int) -> None:
        device = self.device(at)
        made = self.call("device.buffer", lambda: device.buffer("b", WORDS * 4), must=not device.closed)
        if isinstance(made, rg.DeviceResource):
            self.call("write", lambda: made.write(ramp(number)), must=True)
            self.buffers.append((made, ramp(number), device))

    @rule(of=NUMBER, number=NUMBER)
    @precondition(lambda self: self.buffers)
    def writes_and_reads(self, of: int, number: int) -> None:
        buffer, contents, device = self.buffers[of % len(self.buffers)]
        must = not device.closed
        array = self.call("read", buffer.read, must=must)
        if must:
            assert np.array_equal(np.asarray(array).view(np.uint32).ravel(), contents)
            self.call("write", lambda: buffer.write(ramp(number)), must=True)
            self.buffers[of % len(self.buffers)] = (buffer, ramp(number), device)
            # What was read stays.
            assert np.array_equal(np.asarray(array).view(np.uint32).ravel(), contents)
        self.call("write of other bytes", lambda: buffer.write(np.zeros(3, np.uint8)), must=False)

    @rule(of=NUMBER, which=NUMBER)
    @precondition(lambda self: self.buffers and self.compiled)
    def runs_with_a_buffer(self, of: int, which: int) -> None:
        buffer, contents, device = self.buffers[of % len(self.buffers)]
        one = self.compiled[which % len(self.compiled)]
        imported = [name for name, (kind, _) in one.model.buffers.items() if kind == "imported"]
        if one.model.callbacks() or not imported:
            return
        name, state = imported[0], None if one.state is None else dict(one.state)
        must = False if one.device.closed or one.device is not device else None
        must = must if any(name in op.reads for op in one.model.ops) else None
        frame = self.call("run with a buffer", lambda: one.done.run(inputs={name: buffer}), must=must)
        if not isinstance(frame, rg.Frame):
            one.state = None
        elif state is not None and one.model.sound():
            results = one.model.run(state, {name: contents}, {})
            one.state = state
            self.frames.append(Ran(frame, results))
            frame.wait()
            self.looks(len(self.frames) - 1)

    def teardown(self) -> None:
        for device in self.devices:
            assert device.messages == [], device.messages
            self.call("close at the end", device.close, must=True)
            run, make = partial(device.run, rg.Graph()), partial(device.buffer, "b", 4)
            for call in (device.wait_idle, run, make):
                self.call("after close", call, must=False)
        for at in range(len(self.frames)):
            self.looks(at)


def main(examples: int, steps: int, number: int) -> None:
    """Run the machine."""
    how = settings(
        max_examples=examples,
        stateful_step_count=steps,
        deadline=None,
        database=None,
        print_blob=True,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )
    # A seed is a property of the class.
    seed(number)(Calls)
    run_state_machine_as_test(Calls, settings=how)
    print(f"{COUNTS['examples']} examples, {COUNTS['calls']} calls, {COUNTS['frames']} frames compared")


if __name__ == "__main__":
    main(*(int(argument) for argument in [*sys.argv[1:], "30", "40", "1"][:3]))
