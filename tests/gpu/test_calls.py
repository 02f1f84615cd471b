"""Calls of the Python interface in any order, in a process of their own: a crash or a hang is a failure like others.

`RGRAPH_CALLS` is the number of examples of up to 40 steps, `RGRAPH_CALLS_SEED` the seed.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import rgraph as rg
from processes import ALARMING

EXAMPLES = int(os.environ.get("RGRAPH_CALLS", "12"))
SEED = os.environ.get("RGRAPH_CALLS_SEED", "1")
MACHINE = Path(__file__).parent / "calls_machine.py"


def test_calls_in_any_order_give_the_bytes_of_a_model_or_an_error_in_words(session_device: rg.Device):
    del session_device
    done = subprocess.run(
        [sys.executable, str(MACHINE), str(EXAMPLES), "40", SEED],
        capture_output=True,
        text=True,
        timeout=120 + 20 * EXAMPLES,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    words = done.stderr[-8000:]
    assert done.returncode == 0, f"status {done.returncode}\n{words}"
    assert not any(word in done.stderr for word in ALARMING), words
    print(done.stdout)
    examples, calls, frames = (int(count) for count in re.findall(r"\d+", done.stdout.splitlines()[-1]))
    assert examples >= EXAMPLES
    assert calls > 10 * EXAMPLES
    assert frames > EXAMPLES, "frames are compared with the model"
