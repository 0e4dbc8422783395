"""The resource quota controller: it alone puts the limits of a quota in force, and counts anew what was freed.

The API server counts what it admits; this controller counts where objects went, or pods ended, and what was there
before a quota. Mirrors `pkg/controller/resourcequota` (v1.36.2), without its count every five minutes.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from ..api.kinds.kind import KINDS
from ..api.kinds.meta import evolve
from ..api.kinds.policy import ResourceQuota, ResourceQuotaStatus
from ..api.kinds.quantity import parse
from ..api.quotas import NOTHING, calculated, counts, usage_of
from ..world.apiserver import Write
from ..world.component import Component, TurnContext
from ..world.log import Key
from ..world.plan import PlanBuilder, reference_of, report_done, report_refused
from ..world.reconciler import Reconciler
from ..world.view import Exists, Index

NAME = "resourcequota-controller"
KIND = "ResourceQuota"
COUNTED = tuple(kind.name for kind in KINDS if kind.namespaced and kind.name != "Event")


def component() -> Component:
    """Return the resource quota controller."""
    routine = Reconciler(NAME, _quotas_of, sync, report_refused, report_done)
    # Objects that use the same in one namespace are one entry: nothing is counted anew but what changes.
    return Component(NAME, COUNTED, (routine,),
                     lambda _seen: {"uses": Index(COUNTED, lambda obj: [(obj.metadata.namespace, usage_of(obj))])},
                     activation=partial(Exists, KIND))


def _quotas_of(ctx: TurnContext, key: Key, old: Any, new: Any) -> Iterator[str]:
    """Yield a quota whose limits are not in force or count otherwise, or those of which something was freed."""
    is_changed = key.kind == KIND and new is not None and (old is None or old.spec != new.spec)
    if is_changed and _counted(ctx, new) != new.status:
        yield f"{key.namespace}/{key.name}"
    if old is None:
        return
    before, after = usage_of(old), usage_of(new) if new is not None else NOTHING
    freed = {name for name, text in before.amounts.items() if parse(text) > parse(after.amounts.get(name, "0"))}
    for quota in ctx.seen.all(KIND) if freed else ():
        if quota.metadata.namespace == key.namespace and freed & quota.spec.hard.keys() and counts(quota, before):
            yield f"{key.namespace}/{quota.metadata.name}"


def _counted(ctx: TurnContext, quota: ResourceQuota) -> ResourceQuotaStatus:
    uses = ctx.views["uses"].objects.items()
    return calculated(quota, {usage: len(found) for (name, usage), found in uses if name == quota.metadata.namespace})


def sync(ctx: TurnContext, cause: str) -> Sequence[Write]:
    """Write what of one quota is used."""
    quota: ResourceQuota | None = ctx.seen.at(Key(KIND, *cause.split("/")))
    if quota is None:
        return ()
    plan = PlanBuilder(ctx, NAME)
    changed = evolve(quota, status=_counted(ctx, quota))
    plan.update_status(quota, changed, f"resource quota controller counts what is used of {reference_of(quota)}")
    return plan.writes
