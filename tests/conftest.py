"""What tests share: where things are, and how much hypothesis tries."""

import os
import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# A shell that starts the tests in its background has interrupts ignored, and some tests are about them.
signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile(
    "rgraph",
    max_examples=200,
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    print_blob=True,
)
settings.register_profile("long", settings.get_profile("rgraph"), max_examples=5000, derandomize=False)
settings.load_profile(os.environ.get("RGRAPH_HYPOTHESIS", "rgraph"))


@pytest.fixture(scope="session")
def root() -> Path:
    """Top folder of the repository."""
    return Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def deferred(root: Path) -> Path:
    """A whole frame's graph file."""
    return root / "examples" / "deferred.rgraph.json"
