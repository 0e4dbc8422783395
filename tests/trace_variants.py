"""Which of the recorded runs of a trace agree with ours, where they varied."""

from kvolsched.measure.conform import traces


def variants_shown(case, revision, luck):
    """Return, for everything that varied, the recorded runs that agree with ours: `objects pod/app` -> {1, 3}.

    Where several renamings agree equally well, a run counts if it agrees under any of them.
    """
    every = list(traces.compare_all_renamings(case, revision, luck))
    least = min(map(traces._differences, every))
    best = [aspects for aspects in every if traces._differences(aspects) == least]
    found = {}
    for what, by_run in recorded_variants(case).items():
        aspect, _, name = what.partition(" ")
        ours = [aspects[aspect][1].get(name, [] if aspect == "events" else None) for aspects in best]
        found[what] = {run for run, one in by_run.items() if one in ours}
    return found


def recorded_variants(case):
    """Return everything that varied between the recorded runs: `objects pod/app` -> run -> variant."""
    found = {}
    for name, variants in case["varies"].get("objects", {}).items():
        known = [variant for variant in variants if "changes" in variant]
        found[f"objects {name}"] = {run: traces._changes(variant["changes"]) for variant in known for run in variant["runs"]}
    for name in case["varies"].get("events", {}):
        found[f"events {name}"] = dict(enumerate(traces._events(case)[name], 1))
    for name in case["varies"].get("final", {}):
        found[f"final {name}"] = dict(enumerate(traces._finals(case)[name], 1))
    return found
