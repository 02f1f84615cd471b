"""Reading files that other files name, within limits: a preset of a stranger opens few files, of few kinds."""

from __future__ import annotations

import os
from pathlib import Path

from rgraph.importers._mistake import Place, refuse

__all__ = ["PICTURES", "TEXTS", "Reader"]

#: Kinds of files that are read outside of the folder of the first file.
TEXTS = (".slang", ".slangp", ".inc", ".h", ".hpp", ".glsl", ".vert", ".frag", ".params", ".txt", ".fxh", ".pass")
PICTURES = (".png", ".jpg", ".jpeg", ".bmp", ".tga", ".webp")
_MOST_FILES = 4096
_MOST_TEXT = 1 << 20
_MOST_PICTURE = 64 << 20
_MOST_BYTES = 256 << 20


class Reader:
    """Opens the files of one import.

    Names are relative to the file that has them, and `..` may lead outside of the first file's folder, since
    collections of shaders share their includes that way. Out there only the usual suffixes are read (`TEXTS`,
    `PICTURES`). Absolute names, links that lead outside with another suffix, pipes and devices are refused.

    Parameters
    ----------
    first
        The file that the user named.
    root
        The folder that nothing may leave; None: as above.
    """

    def __init__(self, first: Path, root: Path | None = None) -> None:
        self.files: list[str] = []
        self._folder = first.resolve().parent
        self._root = None if root is None else root.resolve()
        self._bytes = 0
        self._texts: dict[Path, str] = {}

    def beside(self, of: str, name: str, place: Place) -> Path:
        """The file that a name means.

        Parameters
        ----------
        of
            The file that has the name.
        name
            The name; a backslash counts as a slash.
        place
            The line that has it.
        """
        name = name.replace("\\", "/")
        if "\0" in name or not name.strip():
            refuse("a file without a name", "name a file relative to this one", place)
        if name.startswith("/") or (len(name) > 1 and name[1] == ":"):
            refuse(f'the absolute path "{name}" is not read', "name the file relative to this one", place)
        return Path(os.path.normpath(Path(of).parent / name))

    def _refused(self, path: Path, suffixes: tuple[str, ...]) -> str | None:
        """Why a file is not read; None: it is."""
        real = path.resolve()
        if self._root is not None and not real.is_relative_to(self._root):
            return f'"{path}" is outside of the folder {self._root}'
        if not real.is_relative_to(self._folder) and real.suffix.lower() not in suffixes:
            return f'"{path}" is outside of the folder of the first file, and of an unusual kind'
        if not real.is_file():
            return f'there is no file "{path}"' if not real.exists() else f'"{path}" is a folder, a pipe or a device'
        if len(self.files) >= _MOST_FILES:
            return f"more than {_MOST_FILES} files are named"
        return None

    def data(self, path: Path, place: Place | None, suffixes: tuple[str, ...], most: int = _MOST_PICTURE) -> bytes:
        """Read a file's bytes.

        Parameters
        ----------
        path
            The file.
        place
            The line that names it.
        suffixes
            What is read outside of the first file's folder.
        most
            Limit of its length in bytes.

        Raises
        ------
        GraphError
            RG-E222 if it is not there, too long, or not to be read.
        """
        why = self._refused(path, suffixes)
        if why is not None:
            refuse(why, "use a file that exists below the folder of the first one", place)
        try:
            with path.open("rb") as file:
                data = file.read(most + 1)
        except OSError as error:
            refuse(f'"{path}" cannot be read: {error.strerror}', "check its permissions", place)
        self._bytes += len(data)
        if len(data) > most or self._bytes > _MOST_BYTES:
            limit = most if len(data) > most else _MOST_BYTES
            refuse(f'"{path}" is too long: at most {limit} bytes are read', "use a smaller file", place)
        if str(path) not in self.files:
            self.files.append(str(path))
        return data

    def exists(self, path: Path) -> bool:
        """Whether a text is there and may be read."""
        return self._refused(path, TEXTS) is None

    def text(self, path: Path, place: Place | None) -> str:
        """Read a text: UTF-8, else Windows' western code page, as older files have it.

        Parameters
        ----------
        path
            The file.
        place
            The line that names it.
        """
        if path not in self._texts:
            data = self.data(path, place, TEXTS, _MOST_TEXT)
            try:
                text = data.decode("utf-8-sig")
            except UnicodeDecodeError:
                text = data.decode("cp1252", errors="replace")
            self._texts[path] = text.replace("\r\n", "\n").replace("\r", "\n")
        return self._texts[path]
