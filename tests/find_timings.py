"""Find the timings under which our loop shows every recorded variant, and print rows of the table of test_traces.py.

Run by hand after a change of the loop, with the traces whose rows no longer hold: `python tests/find_timings.py NAME…`.
"""

import sys

from measure.test_traces import CATALOGUE, VARYING, case, groups
from trace_variants import variants_shown

from kvolsched.rules.named import upstream


def timings_for(name):
    """Return (the first timings that together show every variant, the variants that none shows)."""
    missing, found = groups(name), []
    for timing in CATALOGUE:
        ours = variants_shown(case(name), upstream(), timing)
        left = [(what, runs) for what, runs in missing if not runs <= ours[what]]
        if len(left) < len(missing):
            found.append(timing)
            missing = left
        if not missing:
            break
    return found, missing


for name in sys.argv[1:] or VARYING:
    print(f"    {name!r}: {timings_for(name)},", flush=True)
