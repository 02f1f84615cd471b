"""Programs run in processes of their own, again and again where a race may decide how they end."""

import os
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

REPEATS = int(os.environ.get("RGRAPH_LIFE_REPEATS", "6"))
"""How often a race is run: 50 before a release."""

SECONDS = 60.0
"""After which a program counts as hung; the slowest takes a few, on a machine that does other things too."""

ALARMING = ("panicked", "not initialized", "fatal", "Fatal", "FATAL", "already borrowed", "RG-E901", "Traceback (most")


@dataclass(frozen=True)
class Ended:
    """How a program ended."""

    code: int
    out: str
    err: str


def run(program: str, *, timeout: float = SECONDS) -> Ended:
    """Run a Python program in a process of its own."""
    child = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    return Ended(child.returncode, child.stdout, child.stderr)


def repeat(program: str, repeats: int = REPEATS) -> list[Ended]:
    """Run it several times, two at once so that they disturb each other."""
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(lambda _: run(program), range(repeats)))


def ends(program: str, code: int, out: str, *, repeats: int = REPEATS, interrupted: bool = False) -> None:
    """Assert that the program ends each time as it should, with nothing alarming on its standard error.

    ``interrupted`` says that a traceback of KeyboardInterrupt is as it should be.
    """
    for ended in repeat(program, repeats):
        assert (ended.code, ended.out) == (code, out), ended
        err = ended.err
        if interrupted:
            assert err.rstrip().endswith("KeyboardInterrupt"), err
            err = err.replace("Traceback (most", "", 1)
        assert not any(word in err for word in ALARMING), ended.err
