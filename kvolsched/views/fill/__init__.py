"""A frame from a cluster: the one place where the engine's objects and notes become the plain rows that views read.

It decides nothing about looks and nothing about Kubernetes: states are read off the objects (`fill_objects`), verdicts
are judged again where the pass was made (`fill_verdicts`), changes and marks are read off the log (`fill_history`).
"""

from __future__ import annotations

from ...cluster import Cluster
from ...results import as_sentence
from ...world.apiserver import ref
from .. import frame as f
from . import history as fill_history
from . import ledgers as fill_ledgers
from . import objects as fill_objects
from . import verdicts as fill_verdicts
from .context import FrameContext, label_of


def frame_of(
    cluster: Cluster, *, focus: str = "", gear: str = "steps", chips: bool = True, cell: str = "", ledgers: bool = False
) -> f.Frame:
    """Fill a frame from the present place of a cluster.

    Args:
        focus: ref of the pod that the verdicts are about; by default the one that was judged last.
        gear: the unit that the panel steps in.
        chips: whether to try out what each actor would do next (costs a turn each).
        cell: `verdict/NODE/PLUGIN` whose rule is to be explained.
        ledgers: whether to count for the skew and capacity ledgers (costs a look at every pod).
    """
    here = FrameContext(cluster, focus)
    changes = fill_history.changes(here)
    return f.Frame(
        head=_head(here, gear, changes),
        next=_next(here) if chips else (),
        nodes=fill_objects.nodes(here),
        pods=fill_objects.pods(here),
        claims=fill_objects.claims(here),
        volumes=fill_objects.volumes(here),
        classes=fill_objects.classes(here),
        verdicts=fill_verdicts.verdicts(here, cell),
        changes=changes,
        events=fill_history.events(here),
        lanes=fill_history.lanes(here),
        skew=fill_ledgers.skew(here) if ledgers else (),
        capacity=fill_ledgers.capacity(here) if ledgers else (),
    )


def _head(here: FrameContext, gear: str, changes: tuple[f.ChangeRow, ...]) -> f.Head:
    acting = [turn for turn in here.turns if not turn.quiet]
    last = acting[-1] if acting else None
    return f.Head(
        scenario=here.cluster.name,
        revision=here.cluster.revision.name,
        branch=here.world.branch,
        step=here.step,
        steps_known=here.world.known_steps,
        gear=gear,
        time=here.world.now,
        actor=label_of(last.actor or last.component) if last else "",
        actor_id=(last.actor or last.component) if last else "",
        sentence=here.cluster.here.words or ("" if here.step else "Nothing has happened yet."),
        hot=tuple(sorted({row.ref for row in changes})),
        focus=ref(here.focus) if here.focus is not None else "",
    )


def _next(here: FrameContext) -> tuple[f.NextActor, ...]:
    rows = []
    for place, trial in enumerate(here.cluster.next):
        words = as_sentence(trial.words or f"look at {trial.cause}")
        wait = trial.time - here.world.now
        rows.append(
            f.NextActor(
                actor=f"{trial.actor}|{trial.cause}",
                label=label_of(trial.actor),
                component=trial.component,
                words=f"in {wait:g} s: {words}" if wait > 0 else words,
                default=place == 0,
                changes_nothing=trial.quiet,
            )
        )
    return tuple(rows)
