"""The table of families of recorded cases, and the function that plays files of them.

One line for each family; a family that is not in the table is refused by name, never skipped.
"""

from collections.abc import Collection, Iterable, Mapping
from functools import partial
from pathlib import Path

from tqdm import tqdm

from kvolsched.rules.named import revision_named
from kvolsched.rules.revision import Revision

from . import api_server, bind, design_loop, kubectl, provisioning, verdicts, volume_controller, wakeups
from .agreement import Agreement, Family, Recorded, read
from .traces import TRACES, Traces

SCHEDULER = Family(verdicts.ASPECTS, verdicts.answer, verdicts.expected)
# To cases whose objects are as a user writes them: defaults are filled in first.
AS_WRITTEN = partial(verdicts.answer, read_object=verdicts.from_plain_with_defaults)
FAMILIES: Mapping[str, Family | Traces] = {
    **dict.fromkeys(("fit", "spread", "static", "dynamic", "bound", "limits"), SCHEDULER),
    **dict.fromkeys(("interpod", "preempt", "disrupt", "wide", "wide2", "mixed"), SCHEDULER),
    "wild": Family(verdicts.ASPECTS, AS_WRITTEN, verdicts.expected),
    "odd": Family(verdicts.ODD_ASPECTS, verdicts.odd_answer, verdicts.odd_expected),
    "api": Family(api_server.ASPECTS, api_server.answer, api_server.expected),
    "apply": Family(api_server.APPLY_ASPECTS, api_server.apply_answer, api_server.apply_expected),
    **dict.fromkeys(
        ("pod-create", "pod-update"), Family(api_server.POD_ASPECTS, api_server.pod_answer, api_server.pod_expected)
    ),
    "refusals": Family(api_server.PROBED, api_server.probe_answer, api_server.probe_expected),
    "topology": Family(provisioning.TOPOLOGY_ASPECTS, provisioning.topology_answer),
    "capacity": Family(provisioning.CAPACITY_ASPECTS, provisioning.capacity_answer),
    "bind": Family(bind.ASPECTS, bind.answer),
    "pv-controller": Family(volume_controller.ASPECTS, volume_controller.answer),
    "design-bind": Family(bind.DESIGN_ASPECTS, bind.design_answer, bind.design_expected, "design"),
    "design-controller": Family(volume_controller.ASPECTS, volume_controller.answer, revision="design"),
    "design-loop": Family(design_loop.ASPECTS, design_loop.answer, design_loop.expected, "design"),
    "design-spread": Family(verdicts.SPREAD_ASPECTS, verdicts.spread_answer, verdicts.spread_expected, "design"),
    "kubectl": Family(kubectl.ASPECTS, kubectl.answer, kubectl.expected),
    "wakeups": Family(wakeups.ASPECTS, wakeups.answer, wakeups.expected),
    "traces": TRACES,
}


def conform(
    files: Iterable[Path | str], revision: str | Revision = "", aspects: Collection[str] = (), *,
    progress: bool = False
) -> Agreement:
    """Play the cases of these files and return the agreement; an interrupt ends the run and keeps the counts so far.

    Args:
        files: files or directories of recorded cases.
        revision: the rules that answer; "": those of each family (`design` for recordings of 1.11 and 1.16).
        aspects: the aspects to compare; none: all aspects of a family.
        progress: show a progress bar after one second.

    Raises:
        ValueError: a file contains no cases, a family is unknown, or no family has a requested aspect.
        KeyError: there is no such revision.
    """
    cases = [case for file in files for case in read(Path(file))]
    families = dict.fromkeys(case.family for case in cases)
    unknown = sorted(set(families) - set(FAMILIES))
    if unknown:
        raise ValueError(f"no answer is implemented for family {', '.join(unknown)}; known: {', '.join(FAMILIES)}")
    known = list(dict.fromkeys(aspect for family in families for aspect in FAMILIES[family].aspects))
    strange = sorted(set(aspects) - set(known))
    if strange:
        raise ValueError(f"unknown aspect {', '.join(strange)}; these families have {', '.join(known) or 'none'}")
    rules = {family: revision_named(revision or FAMILIES[family].revision) for family in families}
    agreement = Agreement()
    try:
        for recorded in tqdm(cases, unit=" cases", leave=False, delay=1.0, disable=not progress):
            compare(recorded, rules[recorded.family], agreement, aspects)
    except KeyboardInterrupt:
        agreement.interrupted = True
    return agreement


def compare(recorded: Recorded, revision: Revision, agreement: Agreement, aspects: Collection[str] = ()) -> None:
    """Play one case and count its agreement in these aspects; none: in all.

    Raises:
        ValueError: the case contains no recorded answer; the message names the case.
    """
    family = FAMILIES[recorded.family]
    try:
        for aspect, expected, actual in family.compare(recorded.case, revision):
            if not aspects or aspect in aspects:
                agreement.note(recorded.family, recorded.id, aspect, expected, actual)
    except ValueError as error:
        raise ValueError(f"{recorded.id}: {error}") from None
