"""Looks for the luck under which our loop shows what real runs showed: prints the table of test_traces.py anew.

To be run by hand after a change of the loop, with the traces whose row no longer holds: `python tests/seek_luck.py NAME…`.
"""

import sys

from test_traces import CATALOGUE, VARYING, case, groups

from kvolsched.conform.traces import shown
from kvolsched.revision import upstream


def luck_for(name):
    """Return the fewest first pieces of luck that together show every variant, and what none of them shows."""
    missing, found = groups(name), []
    for luck in CATALOGUE:
        ours = shown(case(name), upstream(), luck)
        left = [(what, runs) for what, runs in missing if not runs <= ours[what]]
        if len(left) < len(missing):
            found.append(luck)
            missing = left
        if not missing:
            break
    return found, missing


for name in sys.argv[1:] or VARYING:
    print(f"    {name!r}: {luck_for(name)},", flush=True)
