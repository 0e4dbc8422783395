"""The start of a cluster under other rules: its objects, what its user set up before anybody acted, what is left out.

A write of the user is made again as it was asked for; one that changed an object becomes a patch of what it changed, so
that it does not carry the fields of another run.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import attrs

from ..api.dials import EveryComponent, dials_of
from ..api.kinds.meta import evolve_parts
from ..api.kinds.pod import PodStatus
from ..api.text.convert import to_plain
from ..controllers import persistent_volume
from ..controllers.admission import PROTECTION_FINALIZERS
from ..rules.named import stands_for
from ..rules.registry import TODAY
from ..rules.revision import Revision
from ..rules.unread_fields import unread_by_pods
from ..scheduler.loop.scheduling_cycle import SCHEDULER
from ..world.apiserver import CommittedWrite, RefusedWrite, Write, key_of, uid_of
from ..world.component import WORLD, Component
from ..world.history import Turn
from ..world.log import Key
from ..world.manifest_patch import ManifestPatch
from .core import USER, AnyCluster, ClusterCore
from .refusals import Refusals, dropped_fields

MOST_ACTS = 3  # acts that a sentence names


def under(
    cluster: AnyCluster, found: Revision, name: str, asked: str, *, replay: bool, again: Iterable[str],
    added: Sequence[Component],
) -> AnyCluster:  # fmt: skip
    """Return a new cluster with the objects of another's start and other rules; see `Cluster.under`."""
    world = cluster.world
    other = type(cluster)(
        found, seed=world.seed, components=_known_dials(cluster.components, found),
        name=name or ", ".join(part for part in (cluster.name, found.name) if part),
    )  # fmt: skip
    objects = world.visit(world.history.place_of(0), lambda: list(world.log.objects.values()))
    objects.sort(key=lambda obj: obj.metadata.resource_version)  # as they came
    fresh = {cluster.world.find_key(reference, "pod", ever=True) for reference in again}
    drop = cluster.first_rules.unknown_fields.dropped_from
    loaded = cluster.loaded_manifests.objects if cluster.loaded_manifests is not None else ()
    whole = {key_of(obj): obj for obj in loaded if drop(obj) is not obj}  # other rules may know the dropped fields
    plain = (_without_additions(whole.get(key_of(obj), obj), cluster.first_rules) for obj in objects)
    other._load(  # those that are to be judged again as they were before the scheduler saw them
        evolve_parts(attrs.evolve(obj, status=PodStatus(phase="Pending")), spec={"node_name": ""})
        if key_of(obj) in fresh else obj for obj in plain
    )
    other.loaded_manifests, other._not_read = cluster.loaded_manifests, cluster._not_read  # noqa: SLF001
    other._refusals = Refusals(cluster._refusals.objects, other.world.server)  # noqa: SLF001
    if added:
        other.world.add_components(added)
    first, later = _acts(cluster)
    refused = [words for act in first for words in _make_again(cluster, other, act)]
    other.world.reset_history()
    repeated = [act for act in later if not act.fault] if replay else []
    refused += _replay(cluster, other, repeated)
    other.remarks = tuple(_remarks(cluster, other, asked, [act for act in later if act not in repeated], refused))
    return other


def _without_additions(obj: Any, rules: Revision) -> Any:
    """Return an object without what loading it under rules added: they differ in finalizers, which no other removes."""
    if obj.metadata.uid != uid_of(key_of(obj), 0):
        return obj
    meta: dict[str, Any] = {"uid": ""}
    if rules.protects_in_use and obj.kind in PROTECTION_FINALIZERS:
        added = PROTECTION_FINALIZERS[obj.kind]
        meta["finalizers"] = tuple(name for name in obj.metadata.finalizers if name != added)
    return evolve_parts(obj, metadata=meta)


def _known_dials(dials: Mapping[str, Mapping[str, Any]], rules: Revision) -> dict[str, Mapping[str, Any]]:
    """Return the dials without those that a component has only under other rules."""
    options = {SCHEDULER: rules.flow, persistent_volume.NAME: rules.binder}
    known = {name: {*dials_of(EveryComponent), *dials_of(type(found))} for name, found in options.items()}
    return {name: {word: value for word, value in each.items() if word in known.get(name, each)}
            for name, each in dials.items()}  # fmt: skip


def _acts(cluster: ClusterCore) -> tuple[list[Turn], list[Turn]]:
    """Return the turns of the user up to now: those before anybody else acted, and the later ones with all faults."""
    first: list[Turn] = []
    later: list[Turn] = []
    begun = False
    for turn in cluster.world.turns:
        if turn.quiet or turn.end > cluster.world.place:
            continue
        by_user = turn.component == USER
        if by_user or turn.fault:
            (later if begun or turn.fault else first).append(turn)
        begun = begun or not by_user
    return first, later


def _replay(cluster: ClusterCore, other: ClusterCore, acts: Sequence[Turn]) -> list[str]:
    """Make acts again, each once nobody has anything left to do if others had acted since the one before."""
    refused: list[str] = []
    others = [turn.end for turn in cluster.world.turns if turn.component not in (USER, WORLD) and not turn.quiet]
    before = 0
    for act in acts:
        if any(before < end <= act.start for end in others):
            other.run()
        refused += _make_again(cluster, other, act)
        before = act.end
    return refused


def _make_again(cluster: ClusterCore, other: ClusterCore, act: Turn) -> Iterator[str]:
    """Make the writes of an act in another cluster; yield what its API server refuses."""
    for outcome in act.outcomes:
        if isinstance(outcome, RefusedWrite):
            continue
        made = other.world.perform(USER, [_asked_again(cluster, act, outcome)], act.words)[0]
        if isinstance(made, RefusedWrite):
            yield f"refused under these rules: {act.words}: {made.message}"
        elif made.write.key.kind == "StorageClass" and made.stored is not None:
            other._add_provisioners()  # noqa: SLF001 - as apply does


def _asked_again(cluster: ClusterCore, act: Turn, outcome: CommittedWrite) -> Write:
    """Return a write as it can be asked for in another run: what changed an object as a patch of what it changed."""
    write = attrs.evolve(outcome.write, version=0, uid="")
    if write.verb not in ("update", "update_status"):
        return write
    old = cluster.world.visit(act.start, lambda: cluster.world.log.objects.get(write.key))
    change = merge_patch_between(to_plain(old), to_plain(write.new)) if old is not None else to_plain(write.new)
    change.get("metadata", {}).pop("resourceVersion", None)
    status = "status" if write.verb == "update_status" else ""
    return attrs.evolve(write, verb="patch", new=ManifestPatch(change, subresource=status))


def merge_patch_between(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """Return the merge patch (RFC 7386) that makes one plain mapping of another.

    >>> merge_patch_between({"a": 1, "b": {"c": 2, "d": 3}}, {"b": {"c": 4, "d": 3}, "e": [5]})
    {'a': None, 'b': {'c': 4}, 'e': [5]}
    """
    patch: dict[str, Any] = {}
    for key in {**old, **new}:
        before, after = old.get(key), new.get(key)
        if before == after:
            continue
        both = isinstance(before, Mapping) and isinstance(after, Mapping)
        patch[key] = merge_patch_between(before, after) if both else after  # type: ignore[arg-type]
    return patch


def _remarks(cluster: ClusterCore, other: ClusterCore, asked: str, left_out: Sequence[Turn], refused: Sequence[str]
             ) -> Iterator[str]:
    """Yield what a reader must know before comparing the new cluster with the old one."""
    rules, objects = other.first_rules, other.world.log.objects
    if rules == cluster.first_rules:
        there = "upstream" if rules.called != TODAY else "design"
        yield (f"These are the rules that {cluster.name or 'the other cluster'} has already, so both go alike: "
               f'c.under("{there}") has {stands_for(there)}.')  # fmt: skip
    yield from unread_by_pods(rules, objects, cluster.first_rules)
    dropped = dropped_fields(other.loaded_manifests, other.first_rules)
    yield from (words for words in dropped if words not in cluster.remarks)
    yield from _left_out(asked, left_out)
    yield from (f"Not in it, {words}" for words in refused)
    objects = other.world.visit(other.world.history.place_of(0), lambda: dict(other.world.log.objects))
    pods = [key for key in sorted(objects) if key.kind == "Pod"]
    if pods and all(objects[key].spec.node_name for key in pods):
        them = "it" if len(pods) == 1 else "them"
        call = f'c.under("{asked}", again="{pods[0].name}")'
        yield f"{_named(pods)} from the start, so nobody judges {them}: {call} begins with that pod without a node."


def _named(pods: Sequence[Key]) -> str:
    return f"pod/{pods[0].name} has a node" if len(pods) == 1 else f"All {len(pods)} pods have nodes"


def _left_out(asked: str, acts: Sequence[Turn]) -> Iterator[str]:
    """Yield the sentences about acts that are not in the new cluster, and how to have those that can be made again."""
    if again := [act for act in acts if not act.fault]:
        call = f'c.under("{asked}", replay=True)'
        yield f"Not in it: {_listed(again)}. {call} asks for that again, each time once nobody has anything left to do."
    if faults := [act for act in acts if act.fault]:
        yield f"Not in it: {_listed(faults)}. Make it again by hand."


def _listed(acts: Sequence[Turn]) -> str:
    told = list(dict.fromkeys(f"{act.words} (step {act.step})" for act in acts))
    more = f" and {len(told) - MOST_ACTS} more" if len(told) > MOST_ACTS else ""
    return f"{'; '.join(told[:MOST_ACTS])}{more}"
