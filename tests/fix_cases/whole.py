"""Edits of `fix` as text: all that each says, and every field that it changes, a line each."""

from kvolsched import Cluster, make
from kvolsched.api.text.manifest import from_plain, to_plain
from kvolsched.questions.fix import TrialCluster
from kvolsched.questions.why.demands import demands
from kvolsched.rules.named import upstream
from kvolsched.world.apiserver import key_of, ref
from kvolsched.world.log import Key

NAMED = ("apiVersion", "kind", "metadata.name", "metadata.namespace")
SHORT = {"requiredDuringSchedulingIgnoredDuringExecution": "required",
         "preferredDuringSchedulingIgnoredDuringExecution": "preferred"}  # fmt: skip
SAID = ("note", "do", "undo", "restarts", "data", "who")


def trial_of(manifests, pod="app", rules=None):
    """Return the trial cluster of a pod in the namespace `default`."""
    objects = dict(Cluster.from_manifests(manifests).world.log.objects)
    return TrialCluster(objects, Key("Pod", "default", pod), (rules or upstream()).profile)


def raw_trial(manifests, pod="app"):
    """Return the trial cluster of objects as they stand in a file, without what a server fills in."""
    objects = {key_of(each): each for each in map(from_plain, manifests)}
    return TrialCluster(objects, Key("Pod", "default", pod), upstream().profile)


def offered(generator, trial, *nodes, sort=""):
    """Return the edits of a generator for the demands of a sort, tried on these nodes or on all, as text."""
    near = [trial.get("Node", name) for name in nodes] or trial.seen.all_nodes()
    asked = [each for each in demands(trial.judge()) if each.sort == sort or not sort]
    return told(edit for demand in asked for edit in generator(demand, trial, near))


def told(edits):
    """Return edits as text, equal ones once."""
    return "\n\n".join(dict.fromkeys("\n".join(_lines(edit)) for edit in edits))


def _lines(edit):
    yield f"{edit.letter}{edit.cost} {edit.kind}: {edit.words}"
    yield from (f"{name}: {text}" for name in SAID for text in getattr(edit, name).splitlines())
    yield from (f"act: {act.words}" for act in edit.acts if act.words != edit.words)
    yield from ["act"] * any(act.words == edit.words for act in edit.acts)
    yield from (f"{ref(change.key)} {line}" for change in edit.changes for line in _changed(change))
    yield from (f"then {ref(change.key)} {line}" for change in edit.expected for line in _changed(change))


def _changed(change):
    if change.new is None:
        yield "is deleted"
        return
    old, new = (_flat(to_plain(each)) if each is not None else {} for each in (change.old, change.new))
    if change.old is None:
        yield "is made: " + ", ".join(f"{place}={leaf}" for place, leaf in new.items() if place not in NAMED)
        return
    if change.recreate:
        yield "is made anew"
    for place in [*old, *(each for each in new if each not in old)]:
        if old.get(place) != new.get(place):
            yield f"{place}: {old.get(place, 'none')} -> {new.get(place, 'none')}"


def _flat(value, place=""):
    """Return the leaves of plain data by their places."""
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else None
    if not parts:
        return {place: value}
    return {key: leaf for name, part in parts
            for key, leaf in _flat(part, f"{place}.{SHORT.get(name, name)}" if place else str(name)).items()}  # fmt: skip


def selector(*terms):
    """Return a required node affinity: terms of expressions (key, operator, *values); one of `name` is of the field."""
    made = [{"matchExpressions": [_part(*each) for each in term if each[0] != "name"],
             "matchFields": [_part("metadata.name", *each[1:]) for each in term if each[0] == "name"]} for term in terms]  # fmt: skip
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": made}}}


def _part(key, operator, *values):
    return {"key": key, "operator": operator, **({"values": list(values)} if values else {})}


def owned(made, kind, name):
    """Return an object whose controller is this one."""
    group = {"Node": "v1", "Job": "batch/v1"}.get(kind, "apps/v1")
    owner = {"apiVersion": group, "kind": kind, "name": name, "uid": f"uid-{name}", "controller": True}
    return made | {"metadata": made["metadata"] | {"ownerReferences": [owner]}}


def replica_set(name="web-1", of=""):
    """Return a ReplicaSet, perhaps a Deployment's."""
    made = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": name, "namespace": "default", "uid": f"uid-{name}"},
            "spec": {"selector": {"matchLabels": {"app": "web"}}}}  # fmt: skip
    return owned(made, "Deployment", of) if of else made


def deployment(strategy=None):
    """Return the Deployment web with a uid, and the fields of its rolling update."""
    made = make.deployment()
    rolling = {"strategy": {"type": "RollingUpdate", "rollingUpdate": strategy}} if strategy else {}
    return made | {"metadata": made["metadata"] | {"uid": "uid-web", "namespace": "default"}, "spec": made["spec"] | rolling}


def budget(name, allowed, app, namespace="default"):
    """Return a budget of the pods of an app that allows so many disruptions now."""
    return {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": name, "namespace": namespace},
            "spec": {"minAvailable": 1, **({"selector": {"matchLabels": {"app": app}}} if app else {})},
            "status": {"disruptionsAllowed": allowed}}  # fmt: skip


def with_room(made, **room):
    """Return a node that has other amounts."""
    return made | {"status": made["status"] | {"allocatable": made["status"]["allocatable"] | room}}
