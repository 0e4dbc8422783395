"""The sentence of the capacity ledger: which pools are large enough, and where rule and driver differ."""

from __future__ import annotations

from collections.abc import Sequence

from ...api.kinds.quantity import of_bytes
from .. import frame as f
from .skew_words import names


def driver_has_room(row: f.CapacityRow, request: int) -> bool | None:
    """Say whether the driver would make a volume of this size now; None: its room is unknown."""
    if row.driver_now is None:
        return None
    return (row.driver_now if row.driver_largest is None else row.driver_largest) >= request


def capacity_answer(ledger: f.CapacityLedger) -> tuple[str, str, bool]:
    """Return the answer in a few words, why, and whether rule and driver differ; empty if nothing is checked."""
    rows, request = ledger.rows, ledger.request
    if ledger.unchecked or not rows:
        return "", "", False
    room = {row.pool: driver_has_room(row, request) for row in rows}
    fitting = [row for row in rows if row.fits]
    stale = [row for row in fitting if room[row.pool] is False]
    unseen = [row for row in rows if not row.fits and room[row.pool]]
    if stale:
        one = len(stale) == 1
        answer = f"{len(stale)} pool{' looks' if one else 's look'} large enough and {'is' if one else 'are'} not."
        sentence = f"The scheduler reads what was published {_ages(stale)} ago; the driver has less room now."
    elif fitting:
        of = len(fitting)
        answer = f"{of} of {len(rows)} pools {'is' if of == 1 else 'are'} large enough."
        sentence = "What the driver has now is unknown." if all(room[row.pool] is None for row in fitting) else (
            "The driver would answer the same.")  # fmt: skip
    else:
        largest = max((_largest(row) for row in rows if row.published is not None), default=None)
        answer = "No pool is large enough."
        sentence = "Nothing is published." if largest is None else (
            f"The largest volume that is published is {of_bytes(largest)}.")  # fmt: skip
    if unseen:
        one = len(unseen) == 1
        sentence += f" {names([row.pool for row in unseen])} {'has' if one else 'have'} the room, but the rule says no."
    return answer, sentence, bool(stale or unseen)


def _largest(row: f.CapacityRow) -> int:
    return min(size for size in (row.published, row.largest_volume) if size is not None)


def _ages(rows: Sequence[f.CapacityRow]) -> str:
    ages = sorted({row.age for row in rows})
    return f"{ages[0]:g} s" if len(ages) == 1 else f"{ages[0]:g} to {ages[-1]:g} s"
