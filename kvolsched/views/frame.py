"""The tables that views read, and nothing else.

A `Frame` is one place of one run as plain rows: ints, floats, strings, booleans and
tuples, sorted by key, with no object of the engine in it. Views are pure functions of
a frame; whoever fills one (`fill.py`, or a test by hand) decides nothing about looks.
Words stand here as people read them; every state is one of the words listed below, and
a view may draw no other.

A `ref` names one thing on the screen. Objects: ``pod/web-0``, ``pvc/data-web-0``,
``pv/volume-1``, ``node/node-a``, ``sc/standard``; with the namespace when it is not
``default``: ``pod/shop/web-0``. Seen only in views: ``zone/Z``, ``verdict/NODE/PLUGIN``,
``mark/STEP/ACTOR``, ``domain/KEY/VALUE``, ``pool/NAME``.
"""

from __future__ import annotations

from attrs import field, frozen

from kvolsched.views.ledger_rows import CapacityLedger, CapacityRow, ObjectStory, ObjectStoryRow, SkewLedger, SkewRow

__all__ = [
    "CHANGE_OPS",
    "CLAIM_STATES",
    "ERROR",
    "FAMILIES",
    "MARK_KINDS",
    "NODE_VERDICTS",
    "NOTHING",
    "NOT_ASKED",
    "PASS",
    "POD_STATES",
    "QUEUE_STATES",
    "REJECT",
    "UNRESOLVABLE",
    "VOLUME_STATES",
    "CapacityLedger",
    "CapacityRow",
    "CellDetail",
    "ChangeRow",
    "ClaimRow",
    "ClassRow",
    "Cursor",
    "EventRow",
    "Frame",
    "Head",
    "Lane",
    "Mark",
    "NextActor",
    "NodeRow",
    "ObjectStory",
    "ObjectStoryRow",
    "PluginHead",
    "PodRow",
    "ScoreRow",
    "SkewLedger",
    "SkewRow",
    "VerdictRow",
    "Verdicts",
    "VolumeRow",
]

POD_STATES = ("pending", "gated", "assumed", "bound", "running", "terminating", "succeeded", "failed")
QUEUE_STATES = ("", "active", "back-off", "unschedulable", "gated", "waiting for volumes", "binding")
CLAIM_STATES = (
    "pending",
    "waits for first consumer",
    "assumed",
    "selected node",
    "bound",
    "lost",
    "terminating",
)
VOLUME_STATES = ("available", "assumed", "reserved", "bound", "released", "failed", "pending", "terminating")
NODE_VERDICTS = ("not judged", "fits", "chosen", "rejected", "not asked")
FAMILIES = ("node", "resources", "storage", "spread")
CHANGE_OPS = ("+", "~", "-")
MARK_KINDS = ("write", "refused", "note", "crash")

PASS, NOTHING, REJECT, UNRESOLVABLE, ERROR, NOT_ASKED = "p", "-", "x", "u", "e", "."
"""Codes of one verdict cell: passes, nothing to ask, rejects, rejects and removing pods
cannot help, error, not asked (PreFilter said so, or the node fell out before)."""


@frozen
class Head:
    """What stands above everything: where we are, who acted, and one sentence about it."""

    scenario: str = ""
    """Name of the scenario."""
    revision: str = "upstream"
    """Rules in force: upstream, design or draft."""
    branch: str = "main"
    """Branch of the log that is shown."""
    step: int = 0
    """Place on the timeline, counted in steps (in turns when gear is turns)."""
    steps_known: int = 0
    """Last step known on this branch, visited before or now."""
    gear: str = "steps"
    """Unit of `step`: steps or turns."""
    time: float = 0.0
    """Simulated time, seconds."""
    actor: str = ""
    """Who made this step, as people call it; empty at step 0."""
    actor_id: str = ""
    """Key of that actor among the lanes."""
    sentence: str = ""
    """What happened, one sentence that names objects and rule."""
    hot: tuple[str, ...] = ()
    """Refs that this step changed, sorted."""
    focus: str = ""
    """Ref of the pod that the verdicts are about; empty when there is none."""


@frozen
class NextActor:
    """Who may act now, and what that would do; the default first, then in lane order."""

    actor: str
    """Key of the actor, what `step(actor)` takes."""
    label: str
    """Its name as people read it."""
    component: str
    """Process it belongs to."""
    words: str
    """What it would do, without a subject: "annotate pvc/data-web-0 selected-node=node-a"."""
    default: bool = False
    """Whether a plain step chooses it."""
    changes_nothing: bool = False
    """Whether its turn would leave the world as it is."""


@frozen
class NodeRow:
    """A node as the API has it, and the last verdict on it for the pod in focus."""

    ref: str
    """node/NAME."""
    name: str
    """Name of the node."""
    topology: tuple[tuple[str, str], ...] = ()
    """Its labels that serve as topology, (key, value), sorted."""
    cpu_used: int = 0
    """Requested by pods bound here (API truth), millicores."""
    cpu: int = 0
    """Allocatable, millicores."""
    memory_used: int = 0
    """Requested by pods bound here, bytes."""
    memory: int = 0
    """Allocatable, bytes."""
    pods_used: int = 0
    """Pods bound here."""
    pods: int = 110
    """Allocatable, pods."""
    ready: bool = True
    """Condition Ready."""
    unschedulable: bool = False
    """Cordoned."""
    taints: tuple[str, ...] = ()
    """Taints as kubectl writes them: "key=value:NoSchedule"."""
    verdict: str = "not judged"
    """One of NODE_VERDICTS."""
    first: int = -1
    """Index into Verdicts.plugins of the plugin that rejects first; -1: none."""
    reason: str = ""
    """Its reasons in words, joined by ", "."""
    resolvable: bool = True
    """Whether removing pods could help; False draws the struck circle."""
    score: int = -1
    """Total score; -1: not scored."""


@frozen
class PodRow:
    """A pod as the API has it, and what the scheduler believes about it."""

    ref: str
    """pod/NAME or pod/NAMESPACE/NAME."""
    name: str
    """Name of the pod."""
    namespace: str = "default"
    """Its namespace."""
    node: str = ""
    """spec.nodeName: the API's truth; empty: none."""
    assumed_node: str = ""
    """Where the scheduler's cache has it while the API does not."""
    nominated_node: str = ""
    """status.nominatedNodeName."""
    state: str = "pending"
    """One of POD_STATES, by the API (assumed: pending in the API, assumed in the cache)."""
    gates: tuple[str, ...] = ()
    """Scheduling gates that remain."""
    in_focus: bool = False
    """Drawn as a block with its claims: the pods the scenario is about; others are chips."""
    claims: tuple[str, ...] = ()
    """Refs of its claims, in the order of spec.volumes."""
    cpu: int = 0
    """Request, millicores."""
    memory: int = 0
    """Request, bytes."""
    queue: str = ""
    """One of QUEUE_STATES: its part of the scheduling queue; empty: not queued."""
    wait: float = 0.0
    """Seconds of back-off left; 0: none."""
    attempts: int = 0
    """Scheduling attempts so far."""


@frozen
class ClaimRow:
    """A PersistentVolumeClaim, and what the caches hold about it."""

    ref: str
    """pvc/NAME or pvc/NAMESPACE/NAME."""
    name: str
    """Name of the claim."""
    class_name: str = ""
    """StorageClass; empty: none."""
    mode: str = ""
    """Binding mode of that class: Immediate or WaitForFirstConsumer."""
    size: str = ""
    """Request as written: 100Gi."""
    state: str = "pending"
    """One of CLAIM_STATES."""
    selected_node: str = ""
    """Annotation volume.kubernetes.io/selected-node."""
    assumed_node: str = ""
    """The same, as yet only in the scheduler's cache."""
    volume: str = ""
    """spec.volumeName; empty: none."""
    assumed_volume: str = ""
    """Volume that the scheduler's cache has matched to it."""
    pods: tuple[str, ...] = ()
    """Refs of the pods that use it, sorted."""


@frozen
class VolumeRow:
    """A PersistentVolume, and from where it can be reached."""

    ref: str
    """pv/NAME."""
    name: str
    """Name of the volume."""
    class_name: str = ""
    """StorageClass; empty: none."""
    size: str = ""
    """Capacity as written: 100Gi."""
    state: str = "available"
    """One of VOLUME_STATES."""
    reach: str = "all"
    """From its node affinity: "node:N", "zone:Z", "zones:Z1,Z2", "all" or "nowhere"."""
    claim: str = ""
    """spec.claimRef as a ref; empty: none."""
    assumed_claim: str = ""
    """Claim the scheduler's cache has matched it to, as a ref."""
    reclaim: str = "Delete"
    """Reclaim policy."""


@frozen
class ClassRow:
    """A StorageClass."""

    ref: str
    """sc/NAME."""
    name: str
    """Name of the class."""
    mode: str = "Immediate"
    """volumeBindingMode."""
    topologies: str = "any"
    """allowedTopologies in words: "zones a, b" or "any"."""
    provisioner: str = ""
    """Its provisioner."""


@frozen
class PluginHead:
    """A column of the verdict matrix."""

    name: str
    """Plugin's name as Kubernetes (or the learner) has it."""
    letter: str
    """One letter, distinct within the profile."""
    family: str
    """One of FAMILIES: decides the colour."""


@frozen
class VerdictRow:
    """What each plugin says about one node, for one pod in one pass."""

    node: str
    """Name of the node."""
    codes: str
    """One code a plugin, in profile order: PASS, NOTHING, REJECT, UNRESOLVABLE, ERROR, NOT_ASKED."""
    first: int = -1
    """Index of the plugin that rejects first; -1: none."""
    chosen: bool = False
    """Whether the pass chose this node."""


@frozen
class ScoreRow:
    """One plugin's score of one node."""

    node: str
    """Name of the node."""
    plugin: str
    """Name of the plugin."""
    raw: int
    """As the plugin gave it."""
    normalised: int
    """0 to 100."""
    weight: int
    """Weight of the plugin in the profile."""
    total: int
    """normalised × weight."""


@frozen
class CellDetail:
    """The rule's own words for one cell, made on request for the selected one."""

    node: str
    """Name of the node."""
    plugin: str
    """Name of the plugin."""
    code: str
    """The cell's code, as in VerdictRow.codes."""
    reasons: tuple[str, ...] = ()
    """The rule's reasons, in its order."""
    evidence: tuple[str, ...] = ()
    """Both sides of each comparison: "requests.cpu 500m > allocatable 4000m − requested 3800m = 200m"."""
    rule: str = ""
    """Source line of the rule, shown in the fine gear; empty: not asked for."""


@frozen
class Verdicts:
    """The last pass over the pod in focus, judged again at that place."""

    pod: str = ""
    """Ref of the pod; empty: nothing judged."""
    number: int = 0
    """Which pass of this pod, from 1; 0: none yet."""
    plugins: tuple[PluginHead, ...] = ()
    """Columns in profile order."""
    rows: tuple[VerdictRow, ...] = ()
    """One row a node, sorted by node."""
    scores: tuple[ScoreRow, ...] = ()
    """Sorted by node, then profile order."""
    prefilter: str = ""
    """Words when PreFilter rejected the whole pod; then every code is NOT_ASKED."""
    prefilter_plugin: str = ""
    """Name of the plugin that did."""
    rules_changed: bool = False
    """Whether judging again gives other codes than the pass remembered."""
    cell: CellDetail | None = None
    """Detail of the selected cell."""


@frozen
class ChangeRow:
    """One thing that this step wrote, tried to write or noted."""

    kind: str
    """api or note."""
    component: str
    """Who wrote it or whose note it is: kube-scheduler."""
    op: str
    """One of CHANGE_OPS."""
    ref: str
    """Object it is about."""
    field: str
    """Path in the object ("spec.claimRef") or name of the note ("queue")."""
    old: str = ""
    """Value before, in words; empty: none."""
    new: str = ""
    """Value after, in words; empty: none."""
    outcome: str = "done"
    """done, or the refusal: Conflict, NotFound, AlreadyExists, Invalid, Forbidden."""
    message: str = ""
    """Words of the refusal."""


@frozen
class EventRow:
    """One Event object as it stands at this place."""

    step: int
    """Step that wrote or last raised it."""
    time: float
    """Its first time, seconds."""
    type: str
    """Normal or Warning."""
    reason: str
    """Its reason: FailedScheduling."""
    ref: str
    """Object it is about."""
    message: str
    """Its message."""
    count: int = 1
    """How often it was raised."""
    last: float = 0.0
    """Its last time, seconds."""


@frozen
class Mark:
    """What an actor did in one step."""

    step: int
    """The step."""
    kind: str
    """One of MARK_KINDS."""
    verb: str = ""
    """create, patch, update, status, bind, delete, event; or the note's name."""
    ref: str = ""
    """Object it was about."""
    outcome: str = "done"
    """done or the refusal."""


@frozen
class Cursor:
    """How far a component has seen one kind."""

    kind: str
    """Kind watched: Pod."""
    position: int
    """Step up to which it has seen everything of this kind."""
    pending: int = 0
    """Changes of this kind not yet seen."""


@frozen
class Lane:
    """One actor's row on the timeline."""

    actor: str
    """Key of the actor."""
    component: str
    """Process it belongs to."""
    label: str
    """Its name as people read it: "scheduler · pass"."""
    marks: tuple[Mark, ...] = ()
    """Sorted by step; those after Head.step are known from an earlier visit."""
    cursors: tuple[Cursor, ...] = ()
    """One a kind watched, sorted by kind; empty: watches nothing (the user)."""


@frozen
class Frame:
    """One place of one run: all that is drawn."""

    head: Head = field(factory=Head)
    """Where we are."""
    next: tuple[NextActor, ...] = ()
    """Who may act; the default first, then in lane order; empty: idle."""
    nodes: tuple[NodeRow, ...] = ()
    """Sorted by name."""
    pods: tuple[PodRow, ...] = ()
    """Sorted by (namespace, name)."""
    claims: tuple[ClaimRow, ...] = ()
    """Sorted by ref."""
    volumes: tuple[VolumeRow, ...] = ()
    """Sorted by name."""
    classes: tuple[ClassRow, ...] = ()
    """Sorted by name."""
    verdicts: Verdicts = field(factory=Verdicts)
    """The last pass over the pod in focus."""
    changes: tuple[ChangeRow, ...] = ()
    """Of this step, in the order they were made."""
    events: tuple[EventRow, ...] = ()
    """All known Events, sorted by (step, ref, reason): newest last."""
    lanes: tuple[Lane, ...] = ()
    """In the fixed order of the timeline."""
    skew: tuple[SkewLedger, ...] = ()
    """One a constraint of the pod in focus."""
    capacity: tuple[CapacityLedger, ...] = ()
    """One a claim of the pod in focus that is to be provisioned."""
    story: ObjectStory = field(factory=ObjectStory)
    """Of the object selected, else of the pod in focus."""
