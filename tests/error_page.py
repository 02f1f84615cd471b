"""The page of error codes: its entries and the output of their examples, written by `python tests/error_page.py`."""

import contextlib
import os
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import rgraph as rg

PAGE = Path(__file__).resolve().parent.parent / "python" / "rgraph" / "errors.md"
ENTRY = re.compile(
    r"^\((rg-e\d+)\)=\n## (RG-E\d+): (.+)\n(?P<body>(?:(?!^\(rg-e)[\s\S])*)",
    re.MULTILINE,
)
EXAMPLE = re.compile(r"(?:<!-- (.*?) -->\n)?(?:```python\n(.*?)```\n)?```text\n(.*?)```\n", re.DOTALL)


@dataclass(frozen=True)
class Entry:
    """What the page says of one code."""

    anchor: str
    code: str
    title: str
    needs: str
    example: str | None
    says: str
    repair: str


def entries() -> dict[str, Entry]:
    """All entries, by code."""
    found = {}
    for match in ENTRY.finditer(PAGE.read_text(encoding="utf-8")):
        anchor, code, title = match[1], match[2], match[3]
        example = EXAMPLE.search(match["body"])
        assert example, f"{code} has no example"
        repair = match["body"].partition("**Repair.**")[2].strip()
        found[code] = Entry(anchor, code, title, example[1] or "", example[2], example[3].rstrip(), repair)
    return found


def matches(says: str, raised_text: str) -> bool:
    """Whether a message is what the page shows, where `…` is anything."""
    return re.fullmatch(".*".join(re.escape(part) for part in says.split("…")), raised_text, re.DOTALL) is not None


def raised(entry: Entry, **names: object) -> rg.RgError:
    """The error that an entry's example raises."""
    assert entry.example
    code = compile(entry.example, "film.py", "exec")
    try:
        exec(code, {"rg": rg, "np": np, "os": os, "__name__": "film"} | names)
    except rg.RgError as error:
        return error
    raise AssertionError(f"the example of {entry.code} raises nothing")


def main() -> None:
    """Writes what the examples say into the page, where it says nothing yet or says it without `…`."""
    text = PAGE.read_text(encoding="utf-8")
    device: dict[str, object] = {}
    with contextlib.suppress(rg.DeviceError):
        device["device"] = rg.Device()
    for entry in entries().values():
        if entry.needs not in ("", "device") or "…" in entry.says or (entry.needs and not device):
            continue
        try:
            raised_text = str(raised(entry, **device))
        except Exception as error:
            print(f"{entry.code}: {type(error).__name__}: {error}")
            continue
        body = f"```python\n{entry.example}```\n```text\n"
        start = text.index(body, text.index(f"({entry.anchor})=")) + len(body)
        text = text[:start] + raised_text + "\n" + text[text.index("```", start) :]
        if not raised_text.startswith(entry.code):
            print(f"{entry.code} says {raised_text}")
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
