"""The viewer of a running program: `Device.view` and `rgraph watch --serve`.

A server on this machine gives the page and sends it, as server-sent events, what the last frames took. Other machines
cannot reach it, and pages of other sites cannot read it: it answers only to its own name in `Host`. All its threads are
daemons that nothing joins, so that the interpreter ends whenever the program does.
"""

from __future__ import annotations

import json
import threading
import time
from collections import deque
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from rgraph._core import Series
from rgraph._errors import RgError

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

    from rgraph._core import Compiled, Frame, Plan, Report

__all__ = ["LiveView"]

#: Seconds between two messages: what changes faster is shown in the next one.
_PACE = 0.1
#: Seconds between two looks at results that were read back.
_PICTURES = 0.5
#: Longest side of an image whose values a page asks for, in texels: longer ones are shown as means.
_VALUES = 1024
#: Seconds of silence after which a line tells browsers that the server lives.
_ALIVE = 15.0
#: Frames that wait to be looked at; of more, the oldest are left out.
_WAITING = 4
#: Frames that are shown, and times of passes in all of them at most.
_FRAMES, _TIMES = 240, 20_000


class LiveView:
    """A server on this machine that shows the viewer for the graphs that a device runs.

    Parameters
    ----------
    port
        Its port; 0: one that is free.
    """

    def __init__(self, port: int = 0) -> None:
        self._changed = threading.Condition()
        self._waiting: deque[tuple[Compiled, Frame]] = deque(maxlen=_WAITING)
        self._reports: deque[Report] = deque(maxlen=_FRAMES)
        self._plan: Plan | None = None
        self._pictures: dict[str, Any] = {}
        self._version, self._message, self._news = "", "", 0
        self._closed = False
        self._server = _Server(("127.0.0.1", port), _Handler)
        self._server.view = self
        for work in (self._server.serve_forever, self._follow):
            threading.Thread(target=work, name="rgraph view", daemon=True).start()

    @property
    def port(self) -> int:
        """Its port."""
        return int(self._server.server_address[1])

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.port}/"

    def open(self) -> None:
        """Open the page in the browser."""
        import webbrowser

        webbrowser.open(self.url)

    def close(self) -> None:
        """Stop the server; open pages keep their contents. A second call does nothing."""
        with self._changed:
            if self._closed:
                return
            self._closed = True
            self._waiting.clear()
            self._changed.notify_all()
        self._server.shutdown()
        self._server.server_close()

    def __enter__(self) -> Self:
        """Nothing but itself."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Close it."""
        self.close()

    def __repr__(self) -> str:
        """Its address."""
        return f"<LiveView at {self.url}{', closed' if self._closed else ''}>"

    def _ran(self, compiled: Compiled, frame: Frame) -> None:
        """Take a frame that was submitted; called by the thread that ran it, which waits for nothing here."""
        with self._changed:
            if not self._closed:
                self._waiting.append((compiled, frame))
                self._changed.notify_all()

    def _follow(self) -> None:
        """Wait for frames and say what they took. Results are looked at less often, and once more when frames end."""
        pictured, last = 0.0, None
        while True:
            with self._changed:
                pause = None if last is None else _PICTURES
                self._changed.wait_for(lambda: self._waiting or self._closed, pause)
                if self._closed:
                    return
                taken = list(self._waiting)
                self._waiting.clear()
            pictures: dict[str, Any] = {}
            try:
                for compiled, frame in taken:
                    if self._take(compiled.plan, frame.report):
                        pictured = 0.0
                    last = frame
                if last is not None and (not taken or time.monotonic() - pictured > _PICTURES):
                    pictures, pictured, last = _results(last), time.monotonic(), None
            except RgError:
                # The frame failed, and who runs it hears of that; the page shows the frames before.
                last = None
                continue
            finally:
                del taken
            self._say(pictures)
            time.sleep(_PACE)

    def _take(self, plan: Plan, report: Report) -> bool:
        """Take a report; whether it is of another plan than the one before."""
        other = self._plan is None or plan.hash != self._plan.hash
        if other:
            self._plan, self._pictures = plan, {}
            self._reports.clear()
        if report.measure != "off":
            self._reports.append(report)
        while len(self._reports) * len(plan.passes) > _TIMES and len(self._reports) > 2:
            self._reports.popleft()
        return other

    def _say(self, pictures: dict[str, Any]) -> None:
        """Make the message for all pages: a page with other passes restarts, else only times and pictures change."""
        assert self._plan is not None
        self._pictures |= pictures
        series = Series(list(self._reports)) if self._reports else None
        version = f"{id(self):x}-{self._plan.hash}-{series is not None}-{'-'.join(sorted(self._pictures))}"
        from rgraph._preview import data_uri

        shown = json.dumps([[name, data_uri(array)] for name, array in pictures.items()])
        frames = "null" if series is None else series._json()
        with self._changed:
            self._version = version
            self._message = f'{{"version":{json.dumps(version)},"frames":{frames},"images":{shown}}}'
            self._news += 1
            self._changed.notify_all()

    def _page(self, data: bool) -> str | None:
        """The page, or its data; None before the first frame."""
        with self._changed:
            plan, reports, pictures, version = self._plan, list(self._reports), dict(self._pictures), self._version
        if plan is None or not version:
            return None
        return plan._live(version, Series(reports) if reports else None, pictures, data=data)

    def _values(self, name: str) -> str | None:
        """The values of an image as it was read back last; None where there is none."""
        from rgraph._preview import described

        with self._changed:
            array = self._pictures.get(name)
        return None if array is None else json.dumps([described(name, array, size=_VALUES)])

    def _next(self, seen: int) -> tuple[int, str | None]:
        """What is new after a message: its number, and None where it is only time to give a sign of life."""
        with self._changed:
            self._changed.wait_for(lambda: self._news > seen or self._closed, _ALIVE)
            if self._closed:
                raise ConnectionAbortedError
            return self._news, self._message if self._news > seen else None


def _results(frame: Frame) -> dict[str, Any]:
    """Pictures of what was read back."""
    from rgraph._core import preview

    found = {}
    for name, array in frame.items():
        shape, kind = getattr(array, "shape", ()), getattr(array, "format", None)
        if kind is not None and len(shape) >= 2:
            memory: Any = array
            preview(memory, kind)
            found[name] = array
    return found


class _Server(ThreadingHTTPServer):
    """A server whose threads nothing waits for."""

    daemon_threads = True
    block_on_close = False
    view: LiveView

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that left is no error."""


_EMPTY = """<!doctype html><html lang="en"><head><meta charset="utf-8"><meta http-equiv="refresh" content="0.5">
<title>rgraph</title></head><body><p>Waiting for the first frame.</p></body></html>"""


class _Handler(BaseHTTPRequestHandler):
    """Answers the page's requests, and nobody else's."""

    server: _Server
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """The page, its data, or its messages."""
        view = self.server.view
        names = {f"{name}:{view.port}" for name in ("127.0.0.1", "localhost")}
        if self.headers.get("Host", "") not in names or self.headers.get("Sec-Fetch-Site", "none") == "cross-site":
            self._answer(403, "text/plain", "not for other sites\n")
        elif self.path == "/":
            self._answer(200, "text/html", view._page(False) or _EMPTY)
        elif self.path == "/data":
            page = view._page(True)
            self._answer(503 if page is None else 200, "application/json", page or "null")
        elif self.path == "/events":
            self._events(view)
        elif self.path.startswith("/values/"):
            found = view._values(unquote(self.path.removeprefix("/values/")))
            self._answer(404 if found is None else 200, "application/json", found or "[]")
        else:
            self._answer(404, "text/plain", "no such page\n")

    def _head(self, status: int, kind: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("X-Frame-Options", "DENY")
        self.send_header("Cross-Origin-Resource-Policy", "same-origin")

    def _answer(self, status: int, kind: str, text: str) -> None:
        body = text.encode()
        self._head(status, kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _events(self, view: LiveView) -> None:
        self._head(200, "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        seen = 0
        while True:
            seen, message = view._next(seen)
            self.wfile.write(b":\n\n" if message is None else f"data: {message}\n\n".encode())
            self.wfile.flush()

    def log_message(self, format: str, *arguments: Any) -> None:
        """Says nothing: the terminal is the program's."""
