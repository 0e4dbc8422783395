"""Check manifests before they are applied: whether their pods would get a node, and again without a zone.

The manifests are applied to the cluster of a dump, which then runs to its end under kube-scheduler's rules. Nodes that
are left out stop on a fork of that end. Every answer is the loop's own; this module only counts it.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import attrs

from ..api.kinds.node import HOSTNAME_LABEL, ZONE_LABEL
from ..api.kinds.pod import Pod
from ..api.notebook_output import PrintedAnswer
from ..api.text.fault import ManifestError
from ..api.words import hanging_indent
from ..api.workloads import WORKLOADS
from ..cluster import Cluster
from ..core.node_faults import chosen_nodes, stopped_nodes
from ..core.refusals import remarks_on_loading
from ..core.results import ApplyRefused
from ..core.user_commands import read_for_apply
from ..questions.why import Why
from ..questions.why.asking import is_managed_by
from ..questions.why.on_node import LastEvents
from ..rules.revision import Revision
from ..world.apiserver import key_for, key_of, ref
from ..world.log import Key

SHORT_KEYS = {"zone": ZONE_LABEL, "region": "topology.kubernetes.io/region", "host": HOSTNAME_LABEL}
MAX_SECONDS = 86_400.0  # simulated; of a large zone, nodes are tainted one in 10 s, so its pods are moved for hours
MAX_EXPLAINED = 3  # pods without a node that are explained in full


class UnreadableCheck(ValueError):
    """Raised when the dump or the manifests cannot be read, or the API server refuses the manifests; says why."""


@attrs.frozen
class CheckedPod:
    """A pod of the manifests: its name, its node, and why it has none."""

    name: str
    node: str
    why: Why | None = None

    def as_data(self) -> dict[str, Any]:
        """Return the pod as plain data; the certificate is a minimal set of demands that exclude every node."""
        if self.why is None:
            return {"pod": self.name, "node": self.node}
        demands = [{"plugin": d.plugin, "demand": d.words, "nodes": d.nodes} for d in self.why.demands]
        return {"pod": self.name, "node": "", "reason": self.why.line, "sentence": self.why.sentence,
                "certificate": demands}  # fmt: skip


@attrs.frozen
class CheckedPlacement:
    """Where the pods of the manifests are at the end of a run."""

    without: str  # the selector of the nodes that stopped before; "" for none
    pods: tuple[CheckedPod, ...]  # those that are not being deleted, by name
    lacking: tuple[str, ...] = ()  # what lacks pods though none of them waits for a node, in words
    displaced: tuple[str, ...] = ()  # pods of others that lost their node
    unfinished: str = ""  # why the run stopped before its end; "" if it did not

    @property
    def fits(self) -> bool:
        """Whether every pod has a node, and none lacks."""
        return not self.lacking and all(pod.node for pod in self.pods)

    def as_data(self) -> dict[str, Any]:
        """Return the placement as plain data."""
        return {"without": self.without, "fits": self.fits, "pods": [pod.as_data() for pod in self.pods],
                "lacking": list(self.lacking), "displaced": list(self.displaced),
                "unfinished": self.unfinished}  # fmt: skip

    def lines(self) -> list[str]:
        """Return the placement as lines: the counts, then why pods have no node."""
        waiting = [pod for pod in self.pods if pod.why is not None]
        placed, count = len(self.pods) - len(waiting), len(self.pods)
        where = f"without {self.without}" if self.without else "now"
        have = f"{placed} of {_pods(count)} {'has' if count == 1 else 'have'} a node" if count else "no pod is left"
        lines = [f"{where}: {'fits' if self.fits else 'does not fit'}: {have}"]
        lines += [f"  {hanging_indent([line], 4)}" for line in self.lacking]
        for number, pod in enumerate(waiting):
            if number < MAX_EXPLAINED:
                lines += ["", *(f"  {line}".rstrip() for line in repr(pod.why).split("\n"))]
            else:
                lines += ["", f"  {len(waiting) - number} more wait; --json has them all"]
                break
        if self.displaced:
            lines.append(f"  {hanging_indent(['displaced for them: ' + ', '.join(self.displaced)], 4)}")
        return [*lines, f"  {self.unfinished}"] if self.unfinished else lines


@attrs.frozen(repr=False)
class ClusterCheck(PrintedAnswer):
    """What became of the manifests' pods: with all nodes, then without each selection of nodes."""

    rules: str
    placements: tuple[CheckedPlacement, ...]
    left_out: tuple[str, ...] = ()
    """What of the cluster's dump was skipped or would be refused, and what is not read: a line each."""

    @property
    def fits(self) -> bool:
        """Whether every pod has a node in every placement."""
        return all(placement.fits for placement in self.placements)

    @property
    def exit_code(self) -> int:
        """The exit code of the command: 0 if every pod has a node, else 1."""
        return 0 if self.fits else 1

    def as_data(self) -> dict[str, Any]:
        """Return the answer as plain data, as `kvolsched check --json` prints it.

        >>> from kvolsched import check, make
        >>> check([make.pod("app")], [make.node("n1")]).as_data()["placements"][0]["pods"]
        [{'pod': 'default/app', 'node': 'n1'}]
        """
        placements = [placement.as_data() for placement in self.placements]
        left_out = {"left_out": list(self.left_out)} if self.left_out else {}
        return {"fits": self.fits, "rules": self.rules, "placements": placements, **left_out}

    def __repr__(self) -> str:
        parts = ["\n".join(placement.lines()) for placement in self.placements]
        return "\n\n".join([*parts, *(["\n".join(self.left_out)] if self.left_out else [])])


def check(
    manifests: Any, cluster: Any, *, without: Iterable[str] = (), revision: str | Revision = "upstream"
) -> ClusterCheck:
    """Say whether the pods of manifests would get a node in a cluster, and again when nodes stop.

    Args:
        manifests: a file, a directory, a text or plain data, or a list of these: pods, workloads, and what they need.
        cluster: the cluster's objects, in the same forms: what `kubectl get -o yaml` wrote.
        without: label selectors of nodes. For each, its nodes stop after the pods have theirs, and the question is
            where the pods that are made again go. `zone=a` is short for `topology.kubernetes.io/zone=a`, and `zone`
            (or `region`, `host`) alone asks for each of them in turn.
        revision: the rules.

    Raises:
        UnreadableCheck: the dump or the manifests cannot be read or are refused, or nothing in them makes a pod. It is
            a ValueError.
        UnknownName: a selector chooses no node. It is a KeyError.

    >>> from kvolsched import check, make
    >>> nodes = [make.node("n1", "a", cpu="2"), make.node("n2", "b", cpu="1")]
    >>> found = check([make.deployment(replicas=2, cpu="1")], nodes, without=["zone=a"])
    >>> [placement.fits for placement in found.placements]
    [True, False]
    >>> check([make.pod("app", cpu="1")], nodes)
    now: fits: 1 of 1 pod has a node
    """
    sources, dump = _sources(manifests), _sources(cluster)
    try:
        found = Cluster.from_manifests(*dump, revision=revision)
        if not found.loaded_manifests:
            raise UnreadableCheck("the cluster has no object")
        mine = [key_of(obj) for obj in read_for_apply(sources).objects]
        before = _placed(found)
        found.apply(*sources)
    except (ManifestError, ApplyRefused, OSError) as why:
        raise UnreadableCheck(str(why)) from None
    mine = [key for key in mine if key.kind == "Pod" or key.kind in WORKLOADS]
    if not mine:
        raise UnreadableCheck("nothing in the manifests makes a pod: give pods or workloads such as a Deployment")
    selectors = [selector for each in without for selector in _selectors(each, found)]
    for each in selectors:
        chosen_nodes(found.world.log, [each])  # refuses what chooses none before anything runs
    unfinished = _run_on(found)
    first = _placement(found, mine, "", before, unfinished)
    placements = (first, *(_without(found, mine, each) for each in selectors))
    remarks = (*found.remarks, *remarks_on_loading(found.refusals(), found.not_read, found.world.log.objects))
    return ClusterCheck(found.revision.name, placements, remarks)


def _sources(given: Any) -> list[Any]:
    several = isinstance(given, Sequence) and not isinstance(given, str | bytes) and not isinstance(given, Mapping)
    return list(given) if several else [given]


def _selectors(text: str, cluster: Cluster) -> list[str]:
    """Return a selector with its short key in full; a short key alone is a selector for each value that nodes have."""
    key, equals, value = text.partition("=")
    full = SHORT_KEYS.get(key.strip(), key)
    if equals or full == key:
        return [f"{full}{equals}{value}"]
    labels = [node.metadata.labels for node in cluster.objects("nodes")]
    return [f"{full}={value}" for value in sorted({each[full] for each in labels if full in each})] or [full]


def _run_on(cluster: Cluster) -> str:
    """Run a cluster to its end, and say why it stopped before, if it did."""
    run = cluster.run(seconds=MAX_SECONDS)
    return "" if run.idle else f"the run stopped before its end: {run.ended}"


def _without(cluster: Cluster, mine: Sequence[Key], selector: str) -> CheckedPlacement:
    """Stop nodes on a fork, and return where the pods are when it has run to its end."""
    fork = cluster.fork()
    before = _placed(fork)
    fork.stop_nodes(selector)
    unfinished = _run_on(fork)
    stopped = set(stopped_nodes(fork.world.log))
    elsewhere = {pod: node for pod, node in before.items() if node not in stopped}
    return _placement(fork, mine, selector, elsewhere, unfinished)


def _placed(cluster: Cluster) -> dict[str, str]:
    """Return the node of each pod that has one and is not being deleted."""
    return {f"{pod.metadata.namespace}/{pod.metadata.name}": pod.spec.node_name for pod in cluster.objects("pods")
            if pod.holds_node and pod.metadata.deletion_timestamp is None}  # fmt: skip


def _placement(
    cluster: Cluster, mine: Sequence[Key], without: str, before: Mapping[str, str], unfinished: str
) -> CheckedPlacement:
    """Count the pods of the manifests at the end of a run."""
    log, stopped = cluster.world.log, set(stopped_nodes(cluster.world.log))
    pods = {key: obj for key, obj in sorted(log.objects.items()) if key.kind == "Pod" and not obj.terminal}
    owners = {key: _owner(cluster, key, obj, mine) for key, obj in pods.items()}
    checked, lost, answers = [], [], {answer.pod: answer for answer in cluster.why()}
    alive = dict.fromkeys(mine, 0)
    for key, owner in owners.items():
        pod, name = pods[key], f"{key.namespace}/{key.name}"
        if owner is None:
            continue
        if pod.spec.node_name in stopped or pod.metadata.deletion_timestamp is not None:
            if owner.kind != "DaemonSet":
                lost.append((owner, name, pod))
            continue
        alive[owner] += 1
        checked.append(CheckedPod(name, pod.spec.node_name, None if pod.spec.node_name else answers[name]))
    lacking = [_lost(owner, name, pod) for owner, name, pod in lost if alive[owner] < _wanted(cluster, owner)]
    told = {owner for owner, *_ in lost}
    lacking += [_lack(cluster, key, alive[key]) for key in mine
                if alive[key] < _wanted(cluster, key) and key not in told]  # fmt: skip
    for words in LastEvents(log.objects).refused_pods(log.objects) if lacking else ():
        refused = key_for(words.partition(" ")[0])
        lacking += [words] if _owner(cluster, refused, log.objects[refused], mine) is not None else []
    ours = {f"{key.namespace}/{key.name}" for key, owner in owners.items() if owner is not None}
    displaced = sorted(set(before) - set(_placed(cluster)) - ours)
    return CheckedPlacement(without, tuple(checked), tuple(lacking), tuple(displaced), unfinished)


def _owner(cluster: Cluster, key: Key, pod: Any, mine: Sequence[Key]) -> Key | None:
    """Return the object of the manifests that a pod is, or that manages it; None for a pod of others."""
    near = (each for each in mine if each.namespace == key.namespace)
    return next((each for each in near if each == key or is_managed_by(cluster, pod, each)), None)


def _lack(cluster: Cluster, key: Key, alive: int) -> str:
    """Say that an object of the manifests has too few pods, or that its pod has ended and why."""
    obj = cluster.world.log.objects.get(key)
    if isinstance(obj, Pod) and obj.terminal:
        said = f": {obj.status.reason}, {obj.status.message}" if obj.status.message else ""
        return f"{ref(key)} has ended ({obj.status.phase}{said})"
    return f"{ref(key)} has {alive} of {_pods(_wanted(cluster, key))}"


def _wanted(cluster: Cluster, key: Key) -> int:
    """Return how many pods an object of the manifests should have; 0 where the nodes decide."""
    if key.kind == "Pod":
        return 1
    obj: Any = cluster.world.log.objects.get(key)
    wanted = getattr(getattr(obj, "spec", None), "replicas", 0)
    return 1 if wanted is None else int(wanted)


def _lost(owner: Key, name: str, pod: Any) -> str:
    """Return why a pod that is being deleted, or whose node stopped, is not made again."""
    state = "stays Terminating" if pod.metadata.deletion_timestamp is not None else "is"
    again = {"Pod": "nothing makes it again", "StatefulSet": "its StatefulSet makes it again only when it is gone"}
    replaced = again.get(owner.kind, "it is not replaced yet")
    return f"{name} {state} on node {pod.spec.node_name}, which stopped: {replaced}"


def _pods(count: int) -> str:
    return f"{count:,} pod{'' if count == 1 else 's'}"
