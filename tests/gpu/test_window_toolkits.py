"""The examples with other programs' widgets: a graph in a window of Qt, a panel of Dear ImGui over a graph."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import rgraph as rg

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def program(text: str, **environment: str) -> str:
    """Runs a program that begins with `import` of an example; what it prints."""
    code = f"import sys; sys.path.insert(0, {str(EXAMPLES)!r})\n" + textwrap.dedent(text)
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", code],
        capture_output=True,
        text=True,
        env=os.environ | environment,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert "Validation" not in done.stderr
    return done.stdout


def test_a_widget_of_qt_shows_a_graph_that_a_slider_of_qt_moves(device: rg.Device):
    del device
    printed = program(
        """
        import qt_widget as example

        def frames(count):
            until = example.viewer.frames + count
            while example.viewer.frames < until:
                assert example.viewer.error is None
                example.app.processEvents()

        def seen():
            picture = example.canvas.grab().toImage()
            return [picture.pixelColor(x, 90).red() for x in (60, 160, 260)]

        frames(3)
        print(seen())
        example.slider.setValue(60)
        frames(3)
        print(seen())
        example.window.resize(700, 500)
        frames(2)
        print(seen())
        example.window.close()
        example.viewer.close()
        example.app.processEvents()
        print(example.viewer.closed, example.viewer.device.messages)
        """,
        QT_QPA_PLATFORM="offscreen",
    )
    assert printed.splitlines() == ["[26, 255, 26]", "[255, 26, 26]", "[255, 26, 26]", "True []"]


def test_a_panel_of_imgui_lies_over_a_graph_and_moves_it(device: rg.Device):
    del device
    printed = program(
        """
        import numpy as np
        import imgui_panel as example

        canvas = example.viewer.canvas

        def look():
            picture = np.array(canvas.draw())[:, :, :3]
            # Blue title, white letters, and the light's edge at 90 texels.
            title = picture[21:38, 22:258].astype(int)
            print(title[2, 150].argmax(), int(title.max()) > 240, picture[180, 440 + 90, 0] > 200)

        def pointer(kind, x, y):
            event = {"event_type": kind, "x": x, "y": y, "button": 1, "buttons": (1,), "modifiers": (), "touches": {}}
            canvas.submit_event(event | {"ntouches": 0, "time_stamp": 0.0})
            # What a loop does between frames: handlers are called.
            canvas._process_events()
            for _ in range(2):
                canvas.draw()

        for _ in range(2):
            canvas.draw()
        look()
        for kind, x in (("pointer_move", 100), ("pointer_down", 100), ("pointer_move", 182), ("pointer_up", 182)):
            pointer(kind, x, 57)
        assert example.state["radius"] > 140, example.state
        look()
        assert example.viewer.error is None
        canvas.close()
        print(example.viewer.device.messages)
        """,
        RENDERCANVAS_BACKEND="offscreen",
    )
    assert printed.splitlines() == ["2 True False", "2 True True", "[]"]
