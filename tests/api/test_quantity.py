"""Quantities are exact: judged against fractions, and against what the API server stores."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvolsched.api.kinds import quantity

SUFFIXES = {"n": Fraction(1, 10**9), "u": Fraction(1, 10**6), "m": Fraction(1, 1000), "": 1, "k": 10**3, "M": 10**6,
            "G": 10**9, "T": 10**12, "P": 10**15, "E": 10**18, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40,
            "Pi": 2**50, "Ei": 2**60, "e3": 1000, "E-2": Fraction(1, 100), "e+1": 10}  # fmt: skip
NUMBERS = st.tuples(st.sampled_from(["", "+", "-"]), st.integers(0, 10**15), st.none() | st.integers(0, 10**6))


@given(NUMBERS, st.sampled_from(sorted(SUFFIXES)))
def test_a_quantity_is_the_fraction_it_spells(number, suffix):
    """Digits times suffix, exactly; whole units and thousandths are rounded up."""
    sign, whole, part = number
    text = f"{sign}{whole}{'' if part is None else f'.{part}'}{suffix}"
    expected = min(Fraction(f"{whole}.{part or 0}") * SUFFIXES[suffix], 2**63 - 1) * (-1 if sign == "-" else 1)
    assert expected == quantity.parse(text)
    assert 0 <= quantity.value(text) - expected < 1
    assert 0 <= quantity.milli(text) - expected * 1000 < 1


@given(NUMBERS, st.sampled_from(sorted(SUFFIXES)))
def test_the_canonical_text_is_the_same_number(number, suffix):
    """Canonical texts are settled, and equal the number up to a nano, away from zero."""
    sign, whole, part = number
    text = f"{sign}{whole}{'' if part is None else f'.{part}'}{suffix}"
    canonical = quantity.canonical(text)
    assert canonical == quantity.canonical(canonical)
    off = abs(quantity.parse(canonical)) - abs(quantity.parse(text))
    assert 0 <= off < Fraction(1, 10**9)


@pytest.mark.parametrize(
    ("text", "canonical"),
    [("1024Mi", "1Gi"), ("1000m", "1"), ("0.5", "500m"), ("1500m", "1500m"), ("1e3", "1e3"), ("1000", "1k"),
     ("1024", "1024"), ("1536Mi", "1536Mi"), ("0", "0"), ("0Gi", "0"), ("-1Gi", "-1Gi"), ("100Gi", "100Gi"), (".5Gi", "512Mi")],
)  # fmt: skip
def test_what_the_api_server_stores(text, canonical):
    """The canonical form of common quantities."""
    assert canonical == quantity.canonical(text)


@pytest.mark.parametrize("text", ["10E", "8Ei", "1e99", "9" * 64])
def test_no_quantity_is_larger_than_an_int64(text):
    """A greater number is kept as the largest whole one of 64 bits, of either sign, and its text is read again."""
    assert str(2**63 - 1) == quantity.canonical(text) == quantity.canonical(quantity.canonical(text))
    assert f"-{2**63 - 1}" == quantity.canonical(f"-{text}"[:64])


@pytest.mark.parametrize("text", ["", "1x", "Gi", "1 Gi", "1gi", "--1", "1e", ".", "0x10", "1_000", "१", "9" * 65])
def test_what_is_no_quantity(text):
    """Other texts are refused, in the API server's words."""
    with pytest.raises(ValueError, match="quantities must match the regular expression"):
        quantity.parse(text)


@given(st.integers(0, 2**63 - 1))
def test_bytes_have_a_canonical_text(number):
    """A number of bytes as a quantity is that number again."""
    assert number == quantity.value(quantity.of_bytes(number))
