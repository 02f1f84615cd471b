"""Measured times that were saved as JSON: of a report, of a series, or of what `rgraph run --json` prints."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from rgraph._core import Series
from rgraph.cli import UsageError
from rgraph.cli._files import load_values

__all__ = ["saved_times"]


def _series(values: dict[str, Any]) -> Series:
    """The frames of a saved series."""
    frames: list[Any] = []
    for at, (run, gpu_us) in enumerate(zip(values["runs"], values["gpu_us"], strict=True)):
        timeline = [
            {
                "name": one["pass"],
                "queue": one["queue"],
                "group": one["group"],
                "begin_us": one["begin_by_frame"][at],
                "end_us": one["begin_by_frame"][at] + one["us_by_frame"][at],
            }
            for one in values["passes"]
            if one["us_by_frame"][at] is not None
        ]
        frames.append(SimpleNamespace(timeline=timeline, run=run, gpu_us=gpu_us))
    return Series(frames)


def _report(values: dict[str, Any]) -> SimpleNamespace:
    """The times of a saved report."""
    timeline = [
        {
            "name": one["pass"],
            "queue": one["queue"],
            "group": one["group"],
            "begin_us": one["start_us"],
            "end_us": one["start_us"] + one["us"],
        }
        for one in values["passes"]
        if one["us"] is not None
    ]
    spans = [SimpleNamespace(**one) for one in values.get("host", [])]
    return SimpleNamespace(
        timeline=timeline, host_spans=spans, calibrated=values.get("calibrated", False), measure=values["measure"]
    )


def saved_times(path: str) -> Any:
    """Times for `Plan.to_html(report=)`.

    Parameters
    ----------
    path
        A JSON file: `Report.to_dict()`, `Series.to_dict()`, or the output of `rgraph run --json`.

    Raises
    ------
    UsageError
        If the file has no times of passes.
    """
    values = load_values(path)
    if isinstance(values, dict) and isinstance(values.get("report"), dict):
        values = values["report"].get("series") or values["report"]
    try:
        times = _series(values) if "runs" in values else _report(values)
        if isinstance(times, Series) or times.timeline:
            return times
    except (KeyError, TypeError, ValueError, IndexError):
        pass
    raise UsageError(
        f"{path}: no times of passes",
        "save json.dumps(report.to_dict()) of a run with measure=, or `rgraph run GRAPH --json --measure batches`",
    )
