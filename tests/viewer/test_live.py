"""The viewer of a running program: it follows without reloading, on this machine only, and never holds the program."""

import contextlib
import http.client
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import rgraph as rg


def graph(passes: int, name: str = "live") -> rg.Graph:
    """Clears of an image each: what every device runs."""
    made = rg.Graph(name, size=(16, 16))
    for at in range(passes):
        image = made.image(f"image{at}", format="rgba8unorm")
        made.clear(f"clear{at}", image, (at / 8, 0.5, 0.25, 1.0))
        made.root(image)
    return made


@pytest.fixture(scope="module")
def device() -> Iterator[rg.Device]:
    try:
        made = rg.Device()
    except rg.DeviceError as error:
        pytest.skip(str(error))
    with made:
        yield made


def asked(port: int, path: str = "/", **headers: str) -> tuple[int, str]:
    """Status and text of the answer to a request with other headers than a browser's."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    with contextlib.closing(connection):
        connection.putrequest("GET", path, skip_host="Host" in headers)
        for name, value in headers.items():
            connection.putheader(name.replace("_", "-"), value)
        connection.endheaders()
        answer = connection.getresponse()
        return answer.status, answer.read().decode()


@pytest.fixture
def opened(browser: Any) -> Iterator[Any]:
    """A page that may reach this machine, its messages and its requests."""
    context = browser.new_context(viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
    page = context.new_page()
    page.set_default_timeout(120_000)
    page.messages, page.asked = [], []
    page.on("console", lambda message: page.messages.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: page.messages.append(f"error: {error}"))
    page.on("request", lambda request: page.asked.append(request.url.split("#")[0]))
    yield page
    context.close()


def test_the_page_follows_the_program(device: rg.Device, opened: Any):
    with device.view() as view:
        device.run(graph(3)).wait()
        opened.goto(view.url)
        opened.locator("html[data-ready]").wait_for(state="attached")
        opened.evaluate("globalThis.sameDocument = true; location.hash = '#pin=p%3Aclear1'")
        opened.locator(".card .close").wait_for()
        for _ in range(5):
            device.run(graph(3)).wait()
        opened.locator("#tab-frames").click()
        opened.locator("#view-frames .compared li", has_text=re.compile("^[2-9] frames")).wait_for()
        # Another plan: the page starts again in the same document, with what was pinned and the view.
        device.run(graph(5)).wait()
        opened.locator(".top .figures li", has_text="5 passes").wait_for()
        assert opened.evaluate("globalThis.sameDocument")
        assert opened.locator("#view-frames:not([hidden])").count() == 1
        assert opened.locator(".card h2").inner_text() == "clear1"
        assert opened.locator("#live").inner_text() == "Live"
        opened.locator("#tab-images").click()
        assert opened.locator("#view-images img").count() == 5
    opened.locator("#live", has_text="Program ended").wait_for()
    allowed = {view.url, f"{view.url}events", f"{view.url}data"}
    assert set(opened.asked) <= allowed
    assert [message for message in opened.messages if "ERR_" not in message] == []


def test_a_paused_page_stays_as_it_is(device: rg.Device, opened: Any):
    with device.view() as view:
        device.run(graph(2)).wait()
        opened.goto(view.url)
        opened.locator("html[data-ready]").wait_for(state="attached")
        opened.locator("#live").click()
        assert opened.locator("#live").inner_text() == "Paused"
        device.run(graph(4)).wait()
        opened.wait_for_timeout(600)
        assert opened.locator(".top .figures").inner_text().startswith("2 passes")
        opened.locator("#live").click()
        opened.locator(".top .figures li", has_text="4 passes").wait_for()


def bright(offset: float = 0.0) -> rg.Graph:
    """An image with values that eight bits do not hold, in light brighter than white."""
    made = rg.Graph("bright", size=(16, 8))
    given = made.image("given", format="rgba16float", imported=True)
    image = made.image("folder/hdr", format="rgba16float")
    made.copy("fill", given, image)
    if offset:
        made.clear("change", made.image("other", format="rgba8unorm"), (offset, 0, 0, 1))
        made.root("other")
    made.root(image)
    return made


def test_values_are_those_of_the_array_and_follow_it(device: rg.Device, opened: Any):
    def light(red: float) -> dict[str, np.ndarray]:
        return {"given": np.tile(np.array([red, 2.5, -0.125, 1.0], np.float16), (8, 16, 1))}

    def pointed() -> str:
        box = opened.locator("#view-images canvas").bounding_box()
        opened.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        return opened.locator("#view-images .note.value").inner_text()

    with device.view() as view:
        device.run(bright(), inputs=light(0.3125)).wait()
        opened.goto(f"{view.url}#view=images")
        opened.locator("html[data-ready]").wait_for(state="attached")
        opened.get_by_role("button", name="folder/hdr: look closer").click()
        opened.locator("#view-images canvas[width='16']").wait_for()
        assert pointed().endswith(" 0.3125 2.5 -0.125 1"), "no bytes of a picture"
        exposure = opened.get_by_role("slider", name="Exposure")
        exposure.fill("2")
        for _ in range(3):
            device.run(bright(), inputs=light(0.75)).wait()
        opened.locator("#view-images .note.value", has_text="0.75 2.5 -0.125 1").wait_for()
        assert exposure.input_value() == "2", "the range that was chosen stays"
        # Another plan: the same image is looked at in the page that starts again, in the same range.
        device.run(bright(0.5), inputs=light(7.0)).wait()
        opened.locator(".top .figures li", has_text="2 passes").wait_for()
        opened.locator("#view-images canvas[width='16']").wait_for()
        opened.mouse.move(5, 5)
        assert pointed().endswith(" 7 2.5 -0.125 1")
        assert exposure.input_value() == "2"
        assert asked(view.port, "/values/folder%2Fhdr")[0] == 200
        assert asked(view.port, "/values/nobody")[0] == 404
        assert asked(view.port, "/values/folder%2Fhdr", Host="evil.example")[0] == 403
    assert [message for message in opened.messages if "ERR_" not in message] == []


def test_only_this_machine_is_answered(device: rg.Device):
    with device.view() as view:
        device.run(graph(2)).wait()
        port = view.port
        assert asked(port)[0] == 200
        assert asked(port, Host=f"localhost:{port}")[0] == 200
        for host in ("evil.example", f"evil.example:{port}", "127.0.0.1", f"127.0.0.1:{port + 1}", ""):
            assert asked(port, Host=host)[0] == 403, host
            assert asked(port, "/data", Host=host)[0] == 403, host
        assert asked(port, "/data", Sec_Fetch_Site="cross-site")[0] == 403
        assert asked(port, "/etc/passwd")[0] == 404
        page = asked(port)[1]
        assert "connect-src 'self'" in page
        assert "default-src 'none'" in page
        others = {info[4][0] for info in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)}
        for address in others - {"127.0.0.1"}:
            if not address.startswith("127."):
                with pytest.raises(ConnectionError):
                    socket.create_connection((address, port), timeout=2)
    with pytest.raises(ConnectionError):
        socket.create_connection(("127.0.0.1", port), timeout=2)


def test_a_file_follows_nothing(frame: rg.Plan):
    page = frame.to_html()
    assert "connect-src" not in page
    assert '"live":' not in page.split('id="data">')[1].split("</script>")[0]


def test_the_program_ends_with_a_view_that_is_read():
    program = """
import socket, rgraph as rg
g = rg.Graph("ends", size=(8, 8))
image = g.image("image", format="rgba8unorm")
g.clear("clear", image, (1, 0, 0, 1))
g.root(image)
device = rg.Device()
view = device.view()
for _ in range(20):
    device.run(g)
reader = socket.create_connection(("127.0.0.1", view.port))
reader.sendall(f"GET /events HTTP/1.1\\r\\nHost: 127.0.0.1:{view.port}\\r\\n\\r\\n".encode())
while b"data:" not in reader.recv(65536):
    pass
print("read", flush=True)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "read\n", "")
