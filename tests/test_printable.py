"""No character of somebody else's file that a terminal would obey, or hide, is ever printed as it stands."""

import sys
import unicodedata

from kvolsched.notebook_output import printable

HIDDEN = "\x1b[31m\x07\x9b1m\u202e\u200b\ufeff\U000e0041\x7f"
HIDING = [chr(code) for code in range(sys.maxunicode + 1) if unicodedata.category(chr(code)) in ("Cc", "Cf", "Cs", "Zl", "Zp")]


def test_the_characters_are_those_of_unicode():
    """Control and format characters, halves of pairs and line separators are codes; others, line feed and tab stay."""
    stay = {"\n", "\t"}

    assert [] == [char for char in HIDING if (printable(char) == char) != (char in stay)]
    assert "".join(stay) + "é\u00a0…\U0001f600{}" == printable("".join(stay) + "é\u00a0…\U0001f600{}")


def test_python_reads_the_codes_back():
    """What is printed of a character names it."""
    assert HIDING == [char if char in "\n\t" else printable(char).encode().decode("unicode_escape") for char in HIDING]
