"""Frames from clusters: the one floor where objects and notes of the engine become the plain rows that pictures read.

It decides nothing about looks and nothing about Kubernetes: `objects` reads states off the objects, `verdicts` judges
again where the pass was made, `history` reads changes and marks off the log. A picture asks for the parts that it
reads: in a large cluster each takes a second. What costs more is in `TABLES`, and no frame has it unasked.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from attrs import evolve

from ...api.text.not_read import not_read_line
from ...api.text.python_gc import infrequent_gc
from ...core.core import ClusterCore
from ...core.results import as_sentence, last_step
from ...world.apiserver import ref
from .. import frame as f
from . import history as fill_history
from . import ledgers as fill_ledgers
from . import objects as fill_objects
from . import over_steps
from . import verdicts as fill_verdicts
from .context import FrameContext, JudgedPass, label_of

PARTS: Mapping[str, Callable[[FrameContext], Any]] = {  # field of the frame -> the function that fills it
    "nodes": fill_objects.nodes,
    "pods": fill_objects.pods,
    "claims": fill_objects.claims,
    "volumes": fill_objects.volumes,
    "classes": fill_objects.classes,
    "verdicts": fill_verdicts.verdicts,
    "events": fill_history.events,
    "lanes": fill_history.lanes,
}
TABLES: Mapping[str, Callable[[FrameContext], Any]] = {  # field of the frame -> the function that fills it
    "skew": partial(fill_ledgers.of_focus, fill_ledgers.skew_at),
    "capacity": partial(fill_ledgers.of_focus, fill_ledgers.capacity_at),
    "story": fill_history.story,
    "series": lambda context: over_steps.series([context.cluster]),
}


LOADED = "The objects are stored; no component has acted on them yet."
"""The sentence of step 0."""


@infrequent_gc()
def frame_of(  # noqa: PLR0913 - named options, each with its default
    cluster: ClusterCore, *, focus: str = "", gear: str = "steps", chips: int | None = None, selected: str = "",
    parts: Iterable[str] = PARTS, tables: Iterable[str] = (), judge: bool = False, judged: JudgedPass | None = None,
    tell: bool = False,
) -> f.Frame:  # fmt: skip
    """Fill a frame from the present place of a cluster.

    Args:
        focus: ref of the pod that the verdicts are about; by default the one that was judged last.
        gear: the unit that the panel steps in.
        chips: how many of those who may act next are tried out (costs a turn each); None for all.
        selected: ref of what is selected; of `verdict/NODE/PLUGIN` the rule's words are filled in.
        parts: those of `PARTS` to fill, beside the head and the changes of the step.
        tables: those of `TABLES` to fill.
        judge: whether a pod in focus that has had no pass is judged now, on a fork.
        tell: whether to say what each of those who may act next would do, before it does.
        judged: the pass that an earlier frame of this cluster judged; it is judged again only if it is another.
    """
    context = FrameContext(cluster, focus, selected, judge=judge, judged=judged)
    changes = fill_history.changes(context)
    frame = f.Frame(
        head=_head(context, gear, changes), next=_next(context, gear, chips, tell=tell), changes=changes,
        **{name: PARTS[name](context) for name in parts},
    )
    return with_details(frame, context, tables)


def with_details(frame: f.Frame, context: FrameContext, tables: Iterable[str]) -> f.Frame:
    """Return a frame with the words of the selected verdict, if one is selected, and with these of `TABLES` filled."""
    if context.selected.startswith("verdict/"):
        frame = evolve(frame, verdicts=evolve(frame.verdicts, cell=fill_verdicts.selected_cell(context)))
    return evolve(frame, **{name: TABLES[name](context) for name in tables})


def _head(context: FrameContext, gear: str, changes: tuple[f.ChangeRow, ...]) -> f.Head:
    acting = [turn for turn in context.turns if not turn.quiet]
    last = acting[-1] if acting else None
    return f.Head(
        scenario=context.cluster.name,
        revision=context.cluster.revision.name,
        branch=context.world.branch,
        step=context.step,
        steps_known=context.world.known_steps,
        gear=gear,
        time=context.world.now,
        actor=label_of(last.actor or last.component) if last else "",
        actor_id=(last.actor or last.component) if last else "",
        sentence=last_step(context.cluster.world).words or ("" if context.step else LOADED),
        hot=tuple(sorted({row.ref for row in changes})),
        focus=ref(context.focus) if context.focus is not None else "",
        not_read=not_read_line(context.cluster.not_read),
    )


def _next(context: FrameContext, gear: str, most: int | None, *, tell: bool) -> tuple[f.NextActor, ...]:
    if most == 0:
        return ()
    rows = []
    known = fill_history.known_next(context.cluster)
    for place, trial in enumerate(context.world.preview(most, most)):
        wait, cause = trial.time - context.world.now, fill_history.name_of_cause(trial.cause)
        rows.append(
            f.NextActor(actor=f"{trial.actor}|{trial.cause}", label=label_of(trial.actor), component=trial.component,
                        words=as_sentence(trial.words or f"look at {trial.cause}"), default=place == 0,
                        changes_nothing=trial.quiet, about=f"{cause} in {wait:g} s" if wait > 0 else cause,
                        wait=f"in {wait:g} s: " if wait > 0 else "")
        )
    if known is not None and (gear == "steps" or known.actor == fill_history.REPEATED):  # Step goes on as before
        again = next((row for row in rows if row.actor == known.actor), known)
        others = [evolve(row, default=False) for row in rows if row.actor != known.actor]
        rows = [evolve(again, default=True), *others]
    if not tell:
        secret = [row.actor != fill_history.REPEATED for row in rows]  # what a user did before is none
        rows = [evolve(row, words="", wait="", changes_nothing=False) if hide else row
                for row, hide in zip(rows, secret, strict=True)]  # fmt: skip
    return tuple(rows)
