"""Parse and format Kubernetes quantities such as `100Gi`, `500m`, `1e3`.

Objects hold quantities as canonical text. Mirrors apimachinery `resource.Quantity` (v1.36.2): numbers are exact,
fractions of a requested unit are rounded up.
"""

import re
from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache

_QUANTITY = re.compile(r"([+-]?)([0-9]+\.?[0-9]*|\.[0-9]+)(?:([numkMGTPE]|[KMGTPE]i)|[eE]([+-]?[0-9]{1,2}))?")
_BINARY = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40, "Pi": 2**50, "Ei": 2**60}
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
MAX_LENGTH = 64  # characters of a quantity
MAX_NUMBER = Fraction(2**63 - 1)  # larger numbers become this one


@lru_cache(maxsize=1 << 16)
def parse(text: str) -> Fraction:
    """Return the exact number of a quantity.

    Raises:
        ValueError: the text is no quantity; the message is the API server's.
    """
    match = _QUANTITY.fullmatch(text) if len(text) <= MAX_LENGTH else None
    if match is None:
        raise ValueError(r"quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'")
    sign, digits, suffix, exponent = match.groups()
    number = Fraction(digits if digits[-1] != "." else digits[:-1])
    if suffix in _BINARY:
        number *= _BINARY[suffix]
    else:
        number *= Fraction(10) ** (int(exponent) if exponent is not None else _DECIMAL[suffix or ""])
    number = min(number, MAX_NUMBER)
    return -number if sign == "-" else number


@lru_cache(maxsize=1 << 16)
def value(text: str) -> int:
    """Return a quantity in whole units (bytes, pods), rounded up."""
    return -((-parse(text)) // 1)


@lru_cache(maxsize=1 << 16)
def milli(text: str) -> int:
    """Return a quantity in thousandths (cpu: millicores), rounded up."""
    return -((-parse(text) * 1000) // 1)


@lru_cache(maxsize=1 << 16)
def canonical(text: str) -> str:
    """Return the canonical text of a quantity, as the API server stores it (`1024Mi` is `1Gi`, `1000m` is `1`).

    Raises:
        ValueError: the text is no quantity.
    """
    return in_form_of(text, parse(text))


def in_form_of(text: str, number: Fraction) -> str:
    """Return the canonical text of a number in the form of a quantity: binary, decimal or with an exponent."""
    match = _QUANTITY.fullmatch(text)
    suffix = match.group(3) if match else None
    if suffix in _BINARY and number == number // 1 and abs(number) >= 1024:
        return _binary(int(number))
    if suffix in _BINARY and number == number // 1:
        return str(int(number)) if not number else _decimal(number)
    exponent = match is not None and match.group(4) is not None
    return _decimal(number, exponent=exponent)


def of_bytes(number: int) -> str:
    """Return the canonical binary quantity of a number of bytes."""
    return _binary(number) if abs(number) >= 1024 else str(number)


def total(texts: Iterable[str]) -> str:
    """Return the sum of quantities, in the unit format of the first that is not zero."""
    nonzero = [text for text in texts if parse(text)]
    number = sum(map(parse, nonzero), Fraction(0))
    if nonzero and nonzero[0].endswith("i") and number.denominator == 1:
        return of_bytes(int(number))
    return canonical(f"{-(-number * 10**9 // 1)}n")


def _binary(number: int) -> str:
    suffix = ""
    for name in _BINARY:
        if number % 1024:
            break
        number //= 1024
        suffix = name
    return f"{number}{suffix}"


def _decimal(number: Fraction, *, exponent: bool = False) -> str:
    if not number:
        return "0"
    nano = -((-abs(number) * 10**9) // 1)  # fractions of a nano are rounded away from zero
    power = -9
    while nano % 1000 == 0 and power < 18:
        nano //= 1000
        power += 3
    suffix = f"e{power}" if exponent and power else next(name for name, p in _DECIMAL.items() if p == power)
    return f"{'-' if number < 0 else ''}{nano}{suffix}"
