"""Shaders in Slang and HLSL, compiled in the process by the compiler in slangpy's wheel.

`pip install "rgraph-vulkan[slang]"` installs it. `compile` makes the SPIR-V of one entry point, which passes take as
their shader; bindings go by the names of the variables, as in every language.
"""

from __future__ import annotations

import ctypes as c
import importlib.util
import threading
from array import array
from collections.abc import Iterable, Mapping
from functools import cache
from os import PathLike
from pathlib import Path
from typing import Any, Literal

from rgraph._errors import ShaderError
from rgraph._keywords import suggests_keywords

__all__ = ["Stage", "compile"]

Stage = Literal["vertex", "hull", "domain", "geometry", "fragment", "compute", "mesh", "amplification"]
"""A stage of a pipeline, as Slang calls it."""

INSTALL = 'pip install "rgraph-vulkan[slang]"'

# Values of slang.h: SlangStage, SlangSourceLanguage, SlangCompileTarget.
_STAGES = {
    "vertex": 1,
    "hull": 2,
    "domain": 3,
    "geometry": 4,
    "fragment": 5,
    "compute": 6,
    "mesh": 13,
    "amplification": 14,
}
_LANGUAGES = {"slang": 1, "hlsl": 2}
_SPIRV = 6

# Functions of slang-deprecated.h: what they return, and what they take.
_FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {
    "spCreateSession": (c.c_void_p, [c.c_char_p]),
    "spFindProfile": (c.c_int, [c.c_void_p, c.c_char_p]),
    "spCreateCompileRequest": (c.c_void_p, [c.c_void_p]),
    "spDestroyCompileRequest": (None, [c.c_void_p]),
    "spSetCodeGenTarget": (None, [c.c_void_p, c.c_int]),
    "spSetTargetProfile": (None, [c.c_void_p, c.c_int, c.c_int]),
    "spProcessCommandLineArguments": (c.c_int, [c.c_void_p, c.POINTER(c.c_char_p), c.c_int]),
    "spAddSearchPath": (None, [c.c_void_p, c.c_char_p]),
    "spAddPreprocessorDefine": (None, [c.c_void_p, c.c_char_p, c.c_char_p]),
    "spAddTranslationUnit": (c.c_int, [c.c_void_p, c.c_int, c.c_char_p]),
    "spAddTranslationUnitSourceString": (None, [c.c_void_p, c.c_int, c.c_char_p, c.c_char_p]),
    "spAddEntryPoint": (c.c_int, [c.c_void_p, c.c_int, c.c_char_p, c.c_int]),
    "spCompile": (c.c_int, [c.c_void_p]),
    "spGetDiagnosticOutput": (c.c_char_p, [c.c_void_p]),
    "spGetEntryPointCode": (c.c_void_p, [c.c_void_p, c.c_int, c.POINTER(c.c_size_t)]),
}

# The entry point keeps its name. HLSL counts registers of each kind by themselves, Vulkan all bindings of a set.
_SHIFTS = [(b"-fvk-b-shift", b"0"), (b"-fvk-t-shift", b"64"), (b"-fvk-s-shift", b"128"), (b"-fvk-u-shift", b"192")]
_OPTIONS = [b"-fvk-use-entrypoint-name", *(word for kind, by in _SHIFTS for word in (kind, by, b"all"))]

_lock = threading.Lock()


@cache
def _library() -> tuple[Any, int]:
    """The compiler and its session, which takes some seconds to begin."""
    found = importlib.util.find_spec("slangpy")
    folder = Path(found.origin).parent if found is not None and found.origin is not None else None
    names = ("libslang-compiler.so*", "libslang-compiler*.dylib", "slang-compiler.dll")
    files = [file for name in names for file in sorted(folder.glob(name))] if folder is not None else []
    if not files:
        raise ImportError(f"Slang's compiler is not installed: {INSTALL}", name="slangpy")
    library = c.CDLL(str(files[0]))
    for name, (result, arguments) in _FUNCTIONS.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library, library.spCreateSession(None)


@suggests_keywords
def compile(
    shader: str | PathLike[str],
    *,
    entry: str = "main",
    stage: Stage = "compute",
    language: Literal["slang", "hlsl"] | None = None,
    defines: Mapping[str, str | int] | None = None,
    folders: Iterable[str | PathLike[str]] = (),
) -> bytes:
    """Compile one entry point of a shader in Slang or HLSL to SPIR-V.

    Only one compilation runs at a time; the first one of a process takes some seconds more.

    Parameters
    ----------
    shader
        The text, or the path of a file; text of one line that ends in `.slang` or `.hlsl` is a path. Modules and
        included files are looked for in the file's folder.
    entry
        The name of the entry point.
    stage
        Its stage.
    language
        The language; by default that of the file's suffix, and Slang of text.
    defines
        Macros with their values.
    folders
        More folders in which modules and included files are looked for.

    Returns
    -------
    bytes
        A SPIR-V module, for `shader=` of passes and for `rgraph.reflect`.

    Raises
    ------
    ImportError
        If slangpy is not installed.
    OSError
        If the file cannot be read.
    ShaderError
        If the shader is wrong, with the compiler's messages.
    """
    path = _path(shader)
    text = str(shader) if path is None else path.read_text(encoding="utf-8")
    if language is None:
        language = "hlsl" if path is not None and path.suffix == ".hlsl" else "slang"
    if language not in _LANGUAGES or stage not in _STAGES:
        raise ValueError(f"language is one of {', '.join(_LANGUAGES)}; stage is one of {', '.join(_STAGES)}")
    name = "shader" if path is None else str(path)
    searched = [str(folder) for folder in (*([] if path is None else [path.parent]), *folders)]
    macros = [(name.encode(), str(value).encode()) for name, value in (defines or {}).items()]
    with _lock:
        library, session = _library()
        request = library.spCreateCompileRequest(session)
        try:
            library.spSetCodeGenTarget(request, _SPIRV)
            library.spSetTargetProfile(request, 0, library.spFindProfile(session, b"spirv_1_5"))
            library.spProcessCommandLineArguments(request, (c.c_char_p * len(_OPTIONS))(*_OPTIONS), len(_OPTIONS))
            for folder in searched:
                library.spAddSearchPath(request, folder.encode())
            for macro, value in macros:
                library.spAddPreprocessorDefine(request, macro, value)
            unit = library.spAddTranslationUnit(request, _LANGUAGES[language], b"shader")
            library.spAddTranslationUnitSourceString(request, unit, name.encode(), text.encode())
            library.spAddEntryPoint(request, unit, entry.encode(), _STAGES[stage])
            failed = library.spCompile(request) < 0
            output = (library.spGetDiagnosticOutput(request) or b"").decode(errors="replace").strip()
            size = c.c_size_t()
            code = None if failed else library.spGetEntryPointCode(request, 0, c.byref(size))
            if code is None:
                hint = "fix it; Slang's compiler says where"
                raise ShaderError(f'RG-E301 shader "{name}":\n{output}\n  help: {hint}', "RG-E301", None, None, hint)
            return _plain(c.string_at(code, size.value))
        finally:
            library.spDestroyCompileRequest(request)


def _plain(code: bytes) -> bytes:
    """The module without the number of its source language, which some validators do not know (OpSource, opcode 3)."""
    words = array("I", code)
    at = 5
    while at < len(words):
        if words[at] & 0xFFFF == 3:
            words[at + 1] = 0
        at += max(words[at] >> 16, 1)
    return words.tobytes()


def _path(shader: str | PathLike[str]) -> Path | None:
    """The file that is meant; text has none."""
    if not isinstance(shader, str):
        return Path(shader)
    return Path(shader) if "\n" not in shader and shader.endswith((".slang", ".hlsl")) else None
