"""The errors of filters: one on one node ends the pass, whatever the other nodes say (`findNodesThatPassFilters`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..columns.arrays import Mask
from .verdict import Code, FilterColumn

if TYPE_CHECKING:
    from .profile import Profile


def failing_columns(columns: Sequence[FilterColumn], profile: Profile) -> list[FilterColumn]:
    """Return the columns with an error; only plugins that may fail are asked, as most passes have no error."""
    return [
        column for column in columns
        if column.place in profile.fallible and column.codes is not None and not column.rejects_none
        and any(column.legend(code)[1] is Code.ERROR for code in np.flatnonzero(np.bincount(column.codes)).tolist())
    ]  # fmt: skip


def error_of_filters(failing: Sequence[FilterColumn], masks: Sequence[Mask], profile: Profile) -> str:
    """Return the error of which kube-scheduler tells, or "" if none was met.

    Args:
        failing: the columns with an error.
        masks: by column, the rows that are filtered and that no earlier plugin rejects.
        profile: the plugins, and the words of their release.
    """
    messages = Counter[str]()
    for column, mask in zip(failing, masks, strict=True):
        assert column.codes is not None
        numbers = np.bincount(column.codes[mask])
        for code in np.flatnonzero(numbers).tolist():
            reasons, status = column.legend(code)
            if status is Code.ERROR:
                before = profile.words.filter_error.format(profile.filter_names[column.place])
                messages[before + ", ".join(reasons)] += int(numbers[code])
    if not profile.words.counts_errors:
        return min(messages, default="")
    words = [f"{message} (repeated {count} times)" if count > 1 else message
             for message, count in sorted(messages.items())]  # fmt: skip
    return words[0] if len(words) == 1 else f"[{', '.join(words)}]" if words else ""
