"""Frames in coroutines."""

from __future__ import annotations

import asyncio

from rgraph._core import Frame


async def finished(frame: Frame) -> Frame:
    """A frame that is done: a thread waits for it, and the event loop goes on."""
    if not frame.done:
        await asyncio.get_running_loop().run_in_executor(None, frame.wait)
    return frame
