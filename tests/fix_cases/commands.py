"""Cases of changes as kubectl's lines, as a diff, and made in a cluster: `edit.py` of `questions/fix`."""

from itertools import combinations

from attrs import evolve

from fix_cases.cards import part
from fix_cases.whole import _flat
from kvolsched import Cluster, make
from kvolsched.api.kinds.meta import Frozen, evolve_parts
from kvolsched.api.text.manifest import from_plain, to_plain
from kvolsched.core.results import ApplyRefused
from kvolsched.make import claim, node, pod, stateful_set, storage_class, volume
from kvolsched.questions.fix import Edit, ObjectChange, edits_without
from kvolsched.questions.fix.edit import (
    OutsideAct,
    all_changes,
    as_created,
    carry_out,
    combined,
    commands,
    manifest_diff,
    merge_changes,
    rebased,
    undo,
    without_unneeded,
    worst,
)

RACK = make.RACK
THERE = [
    node("n1", "a", labels={"disk": "hdd", RACK: "r"}, taints=["closed", "b=c:NoExecute"], annotations={"note": "x"}),
    pod("app", labels={"app": "web"}, annotations={"a/b~c": "1"}, nodeSelector={"disk": "ssd"}), claim("data"), volume("disk", bound="data"),
    storage_class("late"), make.deployment("web", 2), make.csi_node("n1", 2), stateful_set("db", 1)]  # fmt: skip


def change(ref, become, *, again=False):
    """Return the change of an object of the small cluster."""
    old = Cluster.from_manifests(THERE)[ref]
    return ObjectChange(old, become(old) if become else None, recreate=again)


def made(manifest):
    """Return what a manifest makes."""
    return ObjectChange(None, from_plain(manifest))


def labels(**more):
    """Return a change of labels and annotations: texts that are `None` go."""
    def become(old):
        kept = {field: getattr(old.metadata, field).merged(texts) for field, texts in more.items()}
        return evolve_parts(old, metadata=kept)
    return become


def typed(*changes):
    """Return the lines that make changes, the lines that take them back, and the diff."""
    return "\n".join([*commands(changes), "back:", undo(changes), "diff:", manifest_diff(changes)])


def spec(**fields):
    """Return a change of a spec."""
    return part(spec=fields)


def template(old):
    """Return a workload whose template asks for nothing."""
    return evolve_parts(old, spec={"template": evolve_parts(old.spec.template, metadata={"labels": old.spec.template.metadata.labels.with_(x="y")})})


KEEP = volume("keep", bound="other", policy="Delete")
POLICY = spec(persistent_volume_reclaim_policy="Delete")
TYPED = {
    "type: labels of a node: new, other, none": lambda: typed(change("node/n1", labels(labels={"z": "1", "disk": "ssd", RACK: None}))),
    "type: a new label": lambda: typed(change("node/n1", labels(labels={"z": "1"}))),
    "type: an annotation": lambda: typed(change("node/n1", labels(annotations={"note": "y", "more": "z"}))),
    "type: labels and annotations": lambda: typed(change("node/n1", labels(labels={"z": "1"}, annotations={"note": None}))),
    "type: a label of a pod, with its spec": lambda: typed(change("pod/app", lambda old: spec(priority=5)(labels(labels={"z": "1"})(old)))),
    "type: taints": lambda: typed(change("node/n1", lambda old: evolve_parts(old, spec={"taints": (
        *old.spec.taints[1:], evolve(old.spec.taints[0], key="new"))}))),
    "type: a cordon, and back": lambda: typed(change("node/n1", spec(unschedulable=True, taints=()))),
    "type: an uncordon": lambda: "\n".join(commands([ObjectChange(each.new, each.old) for each in [change("node/n1", spec(unschedulable=True))]])),
    "type: a cordon, a taint, a label and an annotation": lambda: typed(change("node/n1", lambda old: spec(unschedulable=True, taints=())(
        labels(labels={"z": "1"}, annotations={"note": "y"})(old)))),
    "type: what a node has": lambda: typed(change("node/n1", lambda old: evolve_parts(old, status={"allocatable": Frozen({"cpu": "9"})}))),
    "type: replicas": lambda: typed(change("deploy/web", spec(replicas=1)), change("sts/db", spec(replicas=3))),
    "type: replicas and more": lambda: typed(change("deploy/web", lambda old: template(spec(replicas=1)(old)))),
    "type: a template of a set": lambda: typed(change("sts/db", template)),
    "type: nothing": lambda: typed(change("pod/app", lambda old: old)) + "".join(commands([])) + undo([]),
    "type: made, changed, gone, and made anew, volumes first": lambda: typed(
        made(claim("more")), change("pvc/data", spec(volume_name="disk")), change("pod/app", None), change("sc/late", lambda old: evolve(
            old, provisioner="x.example.com"), again=True), change("pv/disk", POLICY), made(volume("second")), made(node("n2"))),
    "type: made alone, in and without a namespace": lambda: typed(made(claim("more")), made(volume("second")), made(storage_class("new"))),
    "type: a volume made anew": lambda: typed(change("pv/disk", POLICY, again=True)),
    "type: a claim and a pod made anew": lambda: typed(
        change("deploy/web", spec(replicas=1)), change("pvc/data", spec(volume_name="disk"), again=True),
        change("pod/app", spec(priority=5), again=True)),
    "type: keys with strokes and tildes": lambda: typed(change("pod/app", lambda old: spec(node_selector=Frozen({RACK: "r~1"}))(
        labels(annotations={"a/b~c": "2", "d~e": "f"})(old)))),
    "type: lists that grow, shrink and change": lambda: "\n".join(line for specs in (
        {"access_modes": ("ReadWriteOnce", "ReadWriteMany")}, {"access_modes": ()}, {"access_modes": ("ReadOnlyMany",)},
        {"access_modes": ("ReadOnlyMany", "ReadWriteOnce")}) for line in commands([change("pvc/data", spec(**specs))])),
    "type: equal lines once, eight at most": lambda: "\n".join(commands(
        [change("pod/app", None), change("pod/app", None), *(made(claim(f"c{number}")) for number in range(8))])),
}  # fmt: skip


def cluster_after(*changes, acts=()):
    """Return what differs in the small cluster once changes are made, or why they are refused."""
    cluster = Cluster.from_manifests([pod("app", labels={"app": "web"}, nodeSelector={"disk": "ssd"}) if each["kind"] == "Pod" else each
                                      for each in [*THERE, KEEP]])  # fmt: skip
    before = dict(cluster.world.log.objects)
    try:
        carry_out(cluster, [each(cluster) for each in changes], acts)
    except (ApplyRefused, KeyError) as error:
        return f"{type(error).__name__}: {str(error.args[0])[:120]}"
    after = cluster.world.log.objects
    lines = []
    for key in sorted({*before, *after}, key=str):
        old, new = (_flat(to_plain(each[key])) if key in each and not isinstance(each[key], Frozen) else {} for each in (before, after))
        gone = " is gone" if key not in after else " is made" if key not in before else ""
        if gone:
            lines.append(f"{key.kind} {key.name}{gone}")
        elif old != new:
            lines += [f"{key.kind} {key.name} {path}: {old.get(path)} -> {new.get(path)}" for path in {**old, **new}
                      if old.get(path) != new.get(path) and "Version" not in path and "generation" not in path and "Timestamp" not in path]  # fmt: skip
    return "\n".join(lines)


def on(ref, become, *, again=False):
    """Return what makes the change of an object of a cluster."""
    return lambda cluster: ObjectChange(cluster[ref], become(cluster[ref]) if become else None, recreate=again)


CARRIED = {
    "do: labels, spec and status of a node": lambda: cluster_after(on("node/n1", lambda old: evolve_parts(
        labels(labels={"disk": "ssd", "z": "1"}, annotations={"note": None})(spec(taints=())(old)), status={"allocatable": Frozen({"cpu": "9"})}))),
    "do: what has changed meanwhile stays": lambda: cluster_after(_later),
    "do: made, gone and made anew": lambda: cluster_after(
        lambda _cluster: made(claim("more")), on("pvc/data", None), on("pod/app", spec(node_selector=Frozen()), again=True),
        lambda _cluster: made(pod("new", "more")), on("pv/keep", spec(persistent_volume_reclaim_policy="Retain"))),
    "do: an object is not there": lambda: cluster_after(
        lambda _cluster: ObjectChange(from_plain(claim("gone")), from_plain(claim("gone", "5Gi")))),
    "do: an act first": lambda: cluster_after(on("pod/app", labels(labels={"x": "y"})), acts=[
        OutsideAct("a node comes", lambda cluster: cluster.apply(node("n9"))), OutsideAct("nothing happens")]),
    "do: refused": lambda: cluster_after(on("pod/app", spec(node_selector=Frozen()))),
    "do: as it is created": lambda: "\n".join(
        f"{each.kind}: {', '.join(f'{key}={value}' for key, value in _flat(to_plain(as_created(each))).items())}" for each in _served()),
}  # fmt: skip


def _served():
    """Return a pod and two Jobs as a server has them."""
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "pi"}, "spec": {"template": {
        "metadata": {"labels": {"mine": "x"}}, "spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}}}  # fmt: skip
    by_hand = {**job, "metadata": {"name": "own"}, "spec": {**job["spec"], "manualSelector": True, "selector": {"matchLabels": {"mine": "x"}}}}
    cluster = Cluster.from_manifests([node("n1"), pod("app"), job, by_hand])
    cluster.run()
    return [cluster[ref] for ref in ("pod/app", "job/pi", "job/own")]


def _later(cluster):
    """Return a change of labels of an object that somebody else changes before it is made."""
    old = cluster["node/n1"]
    cluster.kubectl("taint node n1 later=x:NoSchedule")
    return ObjectChange(old, labels(labels={"z": "1"})(old))


def edit(words, *changes, expected=(), kind="label truly", cost=1, **more):
    """Return an edit."""
    return Edit(words, cost, tuple(changes), kind, expected=tuple(expected), **more)


def said(edits):
    """Return edits in short: their words and what they change."""
    return "\n".join(f"{each.words}: {_pairs(each.changes)}; then {_pairs(each.expected)}" for each in edits) or "none"


def _pairs(changes):
    return ", ".join(f"{each.key.name} {_labels(each.old)} -> {_labels(each.new)}{' anew' * each.recreate}" for each in changes)


def _labels(obj):
    return None if obj is None else "".join(f"{key}{value}" for key, value in obj.metadata.labels.items()) or "-"


def _app(**texts):
    return from_plain(pod("app", labels=texts))


def _steps():
    """Return edits of one pod, each based on the one before, and one that makes and one that changes another."""
    other = from_plain(pod("other"))
    return (edit("a", ObjectChange(_app(), _app(a="1")), expected=[ObjectChange(other, from_plain(pod("other", labels={"o": "1"})))]),
            edit("make", ObjectChange(None, from_plain(pod("new")))),
            edit("b", ObjectChange(_app(a="1"), _app(a="1", b="2"), recreate=True), ObjectChange(from_plain(pod("new")), from_plain(pod("new", labels={"n": "1"})))),
            edit("new", ObjectChange(from_plain(pod("new", labels={"n": "1"})), None)),
            edit("c", ObjectChange(_app(a="1", b="2"), _app(b="2"))))  # fmt: skip


def _needed(*needs, because=()):
    """Return which of edits are kept where these are needed, and of two the first because the second is made."""
    def suffice(edits):
        asked.append("".join(each.words[0] for each in edits))
        words = {each.words for each in edits}
        return set(needs) <= words and (not because or because[0] in words or because[1] not in words)

    asked = []
    kept = without_unneeded(_steps(), suffice)
    return f"{said(kept)}\nasked: {' '.join(asked)}"


def _rebased():
    """Return what becomes of values that were changed twice."""
    one, two, three = (claim("data", size, accessModes=modes, volumeName=name) for size, modes, name in (
        ("1Gi", ["A", "B"], "x"), ("2Gi", ["A", "C"], "x"), ("1Gi", ["B", "D", "A"], "y")))  # fmt: skip
    values = [from_plain(each) for each in (one, two, three)]
    found = [rebased(*values), rebased(values[0], values[1], values[0]), rebased(None, values[1], values[2])]
    lines = [f"{each.spec.access_modes} {each.spec.resources.requests['storage']} {each.spec.volume_name}" for each in found]
    cpu = [from_plain(pod("p", requests=each, nodeName=on)) for each, on in (({"cpu": "1"}, ""), ({"cpu": "2"}, ""), ({"cpu": "1", "memory": "1Gi"}, "n"))]
    again = rebased(*cpu)
    lines.append(f"{dict(again.spec.containers[0].resources.requests)} {again.spec.node_name}")
    lines += [str(rebased(*each)) for each in ((1, 2, 3), ("a", "b", "a"), (1, 2, "x"), (("a",), ("a", "b"), ("c", "a")), (("a", "b"), ("b",), ("a", "b", "c")))]
    lines += [str(dict(rebased(Frozen({"a": 1, "b": 2}), Frozen({"a": 2, "c": 3}), Frozen({"a": 1, "b": 2, "d": 4}))))]
    return "\n".join(lines)


MERGED = {
    "merge: the changes of all": lambda: _pairs(merge_changes(_steps())),
    "merge: with what is expected": lambda: _pairs(all_changes(_steps())),
    "merge: as one edit": lambda: "\n".join(str(getattr(combined([
        edit("Do a", kind="uncordon", cost=2, do="x", note="y"), edit("Drop B", kind="new claim", letter="E", acts=(OutsideAct("z"),)),
        edit("C it", kind="tolerate")]), name)) for name in ("words", "cost", "kind", "letter", "acts", "do", "note")),
    "merge: one edit, none": lambda: f"{combined([edit('Do a')]).words}|{combined([edit('Do a')]).letter}",
    "merge: without each": lambda: "\n\n".join(said(edits_without(_steps(), number)) for number in range(5)),
    "merge: what is needed": lambda: "\n\n".join(_needed(*those) for those in (("a",), ("c", "b"), ("a", "make", "b", "new", "c"), ("new", "make"))) + f"\n\n{_needed('c', because=('a', 'b'))}",
    "merge: the worst": lambda: " ".join(worst("".join(pair)) for pair in combinations("WABCDEFGHX", 2)) + worst(""),
    "merge: rebased": _rebased,
}  # fmt: skip

COMMANDS = {**TYPED, **CARRIED, **MERGED}
