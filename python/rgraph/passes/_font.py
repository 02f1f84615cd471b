"""A font of 5 × 12 dots, made for rgraph: ASCII, and the letters of Latin-1 that are one with an accent.

A glyph is seven rows from the top of capitals to the baseline, and up to two below it. A row is a digit of base 32,
its highest bit on the left: "4" is a dot in the middle, "v" a full row. Accents use two rows above.
"""

from __future__ import annotations

import unicodedata
from array import array

__all__ = ["CELL", "glyphs", "table"]

CELL = (6, 12)
"""Width and height of a cell in dots: the glyph, and one column between."""

_ROWS = {
    " ": "0000000", "!": "4444404", '"': "aaa0000", "#": "aavavaa", "$": "4fke5u4", "%": "op248j3", "&": "cik8lid",
    "'": "4480000", "(": "2488842", ")": "8422248", "*": "04lel40", "+": "044v440", ",": "0000044" "8", "-": "000v000",
    ".": "00000cc", "/": "11248gg", "0": "ehjlphe", "1": "4c4444e", "2": "eh1248v", "3": "v2421he", "4": "26aiv22",
    "5": "vgu11he", "6": "68guhhe", "7": "v124888", "8": "ehhehhe", "9": "ehhf12c", ":": "0cc0cc0", ";": "0cc0c48",
    "<": "248g842", "=": "00v0v00", ">": "8421248", "?": "eh12404", "@": "eh1dlle", "A": "ehhhvhh", "B": "uhhuhhu",
    "C": "ehggghe", "D": "sihhhis", "E": "vggug" "gv", "F": "vgguggg", "G": "ehgnhhf", "H": "hhhvhhh", "I": "e44444e",
    "J": "72222ic", "K": "hikokih", "L": "ggggggv", "M": "hrllhhh", "N": "hhpljhh", "O": "ehhhhhe", "P": "uhhuggg",
    "Q": "ehhhlid", "R": "uhhukih", "S": "fgge11u", "T": "v444444", "U": "hhhhhhe", "V": "hhhhha4", "W": "hhhllla",
    "X": "hha4ahh", "Y": "hhha444", "Z": "v1248gv", "[": "e88888e", "\\": "gg84211", "]": "e22222e", "^": "4ah0000",
    "_": "000000v", "`": "8420000", "a": "00e1fhf", "b": "ggmphhu", "c": "00egghe", "d": "11djhhf", "e": "00ehvge",
    "f": "698s888", "g": "00fhhhf" "1e", "h": "ggmphhh", "i": "40c444e", "j": "2062222" "ic", "k": "ggikoki",
    "l": "c44444e", "m": "00qllhh", "n": "00mphhh", "o": "00ehhhe", "p": "00uhhhu" "gg", "q": "00fhhhf" "11",
    "r": "00mpggg", "s": "00ege1u", "t": "88s8896", "u": "00hhhjd", "v": "00hhha4", "w": "00hhlla", "x": "00ha4ah",
    "y": "00hhhhf" "1e", "z": "00v248v", "{": "2448442", "|": "4444444", "}": "8442448", "~": "008l200",
    "¡": "4044444", "£": "698s88v", "«": "05aka50", "°": "6996000", "±": "44v440v", "²": "c248e00", "³": "c242c00",
    "µ": "00hhhpm" "gg", "·": "000c000", "»": "0ka5ak0", "¿": "4048ghe", "Æ": "fkkukkn", "×": "0ha4ah0", "Ø": "fhjlphu",
    "ß": "ehhmhhm", "æ": "00q5fkb", "÷": "040v040", "ø": "00fjlpu",
}  # fmt: skip
# Combining characters: the two rows above, or below the baseline.
_ACCENTS = {"\u0300": "84", "\u0301": "24", "\u0302": "4a", "\u0303": "dm", "\u0308": "a0", "\u030a": "66"}
_CEDILLA = "\u0327"
_DOTLESS = "00c444e"
_UNKNOWN = "vhhhhhv"


def _rows(character: str) -> list[int]:
    """Twelve rows of five bits."""
    parts = unicodedata.normalize("NFD", character)
    base = _ROWS.get(character)
    if base is None and len(parts) == 2 and parts[0] in _ROWS:
        body = _DOTLESS if parts[0] == "i" else _ROWS[parts[0]]
        if parts[1] == _CEDILLA:
            base = body[:7] + "48"
        elif parts[1] in _ACCENTS:
            # Right above small letters; above capitals a row is left free only where there is room.
            above = _ACCENTS[parts[1]]
            low = body.startswith("00")
            rows = [0, 0, 0, *(int(row, 32) for row in body.ljust(9, "0"))]
            first = 2 if low else 0
            rows[first : first + 2] = [int(row, 32) for row in above]
            return rows
    base = _UNKNOWN if base is None else base
    return [0, 0, 0, *(int(row, 32) for row in base.ljust(9, "0"))]


def table() -> array[int]:
    """Two 32-bit words for each of 256 characters: bit 5 · row + column from the upper left corner."""
    words = array("I")
    for code in range(256):
        bits = 0
        if code > 32 and code != 160:
            for row, dots in enumerate(_rows(chr(code))):
                for column in range(5):
                    bits |= (dots >> (4 - column) & 1) << (5 * row + column)
        words.extend((bits & 0xFFFFFFFF, bits >> 32))
    return words


def glyphs(text: str, length: int | None = None) -> array[int]:
    r"""Encode text for `passes.text`: one 32-bit word per character.

    Parameters
    ----------
    text
        Any text; `\n` begins a line, `\t` continues at the next multiple of four. Missing glyphs are boxes.
    length
        Number of words; default: one per character. A longer text is cut off, missing characters are not drawn.

    Returns
    -------
    array
        Words of 8 bits of character (0: nothing is drawn), 12 bits of column, 12 bits of line.
    """
    words = array("I")
    column = line = 0
    for character in text:
        code = ord(character) if ord(character) < 256 else 127
        if character == "\n":
            column, line, code = 0, line + 1, 0
        elif character == "\t":
            column, code = column + 4 - column % 4, 0
        words.append(code | min(column, 4095) << 8 | min(line, 4095) << 20)
        if character not in "\n\t":
            column += 1
    length = max(len(words), 1) if length is None else length
    del words[length:]
    words.extend([0] * (length - len(words)))
    return words
