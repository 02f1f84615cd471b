"""What must be in the wheel and in the source archive: `python tests/package_contents.py WHEEL ARCHIVE`."""

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def tracked() -> list[str]:
    """Files of the repository."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    return listed.stdout.splitlines()


def missing(names: set[str], wanted: list[str]) -> list[str]:
    """Which of the wanted are not there."""
    return [name for name in wanted if name not in names]


def wheel_lacks(wheel: Path) -> list[str]:
    """Files of the Python package that the wheel does not have, and licences."""
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    wanted = [file.removeprefix("python/") for file in tracked() if file.startswith("python/")]
    licences = {Path(name).name for name in names if "/licenses/" in name}
    lacks = missing(names, wanted) + missing(licences, ["LICENSE-APACHE", "LICENSE-MIT", "NOTICE"])
    if not any(name.startswith("rgraph/_core") and name.endswith(".so") for name in names):
        lacks.append("the compiled module")
    return lacks


def archive_lacks(source: Path) -> list[str]:
    """Files that building needs and the source archive does not have."""
    with tarfile.open(source) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    wanted = ["Cargo.lock", "Cargo.toml", "pyproject.toml", "README.md", "LICENSE-MIT", "LICENSE-APACHE", "NOTICE"]
    crates = ("ir", "plan", "files", "report", "check", "glsl", "shader", "work", "vk", "py")
    sources = tuple(f"rust/rgraph-{crate}/src/" for crate in crates)
    wanted += [file for file in tracked() if file.startswith(("python/", *sources))]
    return missing(names, wanted)


def main() -> int:
    """Says what is missing; 0 if nothing is."""
    wheel, source = map(Path, sys.argv[1:3])
    lacks = [f"{wheel.name} lacks {name}" for name in wheel_lacks(wheel)]
    lacks += [f"{source.name} lacks {name}" for name in archive_lacks(source)]
    print(*lacks, sep="\n", end="\n" if lacks else "")
    print(f"{wheel.name}: {wheel.stat().st_size >> 10} KiB; {source.name}: {source.stat().st_size >> 10} KiB")
    return 1 if lacks else 0


if __name__ == "__main__":
    sys.exit(main())
