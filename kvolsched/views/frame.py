"""The rows that pictures read: a `Frame` is the present place of one run as plain tables.

Rows hold ints, floats, strings, booleans and tuples, sorted by key, and no object of the engine. Pictures are pure
functions of a frame; `fill`, or a test, fills one and decides nothing about looks. Words stand here as people read
them; every state is one of the words listed below, and a picture may draw no other.

A `ref` names one thing on the screen. Objects: ``pod/web-0``, ``pvc/data-web-0``, ``pv/volume-1``, ``node/node-a``,
``sc/standard``; with the namespace when it is not ``default``: ``pod/shop/web-0``. Only in views: ``zone/Z``,
``verdict/NODE/PLUGIN``, ``mark/STEP/ACTOR``, ``domain/KEY/VALUE``, ``pool/NAME``.
"""

from attrs import field, frozen

from kvolsched.api.notebook_output import ShownAsYaml
from kvolsched.questions.series import Timeline

POD_STATES = ("pending", "gated", "assumed", "bound", "running", "terminating", "succeeded", "failed")
QUEUE_STATES = ("", "active", "back-off", "unschedulable", "gated", "waiting for volumes", "binding")
CLAIM_STATES = ("pending", "waits for first consumer", "assumed", "selected node", "bound", "lost", "terminating")
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
    """The headline of a frame: the place in the run, who acted, and one sentence about it."""

    scenario: str  # Name of the scenario
    revision: str  # Name of the rules: upstream, design or draft
    branch: str  # Branch of the log that is shown
    step: int  # Number of the present step (of the turn when gear is turns)
    steps_known: int  # Last step known on this branch
    gear: str  # Unit of `step`: steps or turns
    time: float  # Simulated time, seconds
    actor: str  # Display name of the actor of this step; empty at step 0
    actor_id: str  # Key of that actor among the lanes
    sentence: str  # What happened: one sentence that names objects and rule
    hot: tuple[str, ...]  # Refs that this step changed, sorted
    focus: str  # Ref of the pod that the verdicts are about; empty when there is none
    not_read: str  # What bears on placement and is not modelled, in one line
    of_pair: tuple[str, ...] = ()  # Of a pair: whose are the steps, the clock, those who may act next


@frozen
class NextActor:
    """One actor that may act now, what it would look at, and, if that is told, what it would do."""

    actor: str  # Key of the actor, what `step(actor)` takes
    label: str  # Its name as people read it
    component: str  # Component it belongs to
    words: str  # What it would do, without a subject: "annotate pvc/data-web-0 selected-node=node-a"; not told: ""
    default: bool = False  # Whether a plain step chooses it
    changes_nothing: bool = False  # Whether its turn would change nothing, if that is told
    about: str = ""  # What it would look at: "my-pod", "my-pod in 5 s"
    wait: str = ""  # When, if later: "in 5 s: "


@frozen
class NodeRow:
    """A node in the API, with the last verdict on it for the pod in focus."""

    ref: str  # node/NAME
    name: str  # Name of the node
    topology: tuple[tuple[str, str], ...]  # Its labels, (key, value), sorted
    cpu_used: int  # Requested by pods bound to it in the API, millicores
    cpu: int  # Allocatable, millicores
    memory_used: int  # Requested by pods bound to it, bytes
    memory: int  # Allocatable, bytes
    pods_used: int  # Pods bound to it
    pods: int  # Allocatable, pods
    ready: bool  # Condition Ready
    unschedulable: bool  # Cordoned
    taints: tuple[str, ...]  # Taints as kubectl writes them: "key=value:NoSchedule"
    verdict: str  # One of NODE_VERDICTS
    first: int  # Index into Verdicts.plugins of the plugin that rejects first; -1: none
    reason: str  # Its reasons in words, joined by ", "
    resolvable: bool  # Whether removing pods could help
    score: int  # Total score; -1: not scored


@frozen
class PodRow:
    """A pod in the API, with what the scheduler's cache and queue have of it."""

    ref: str  # pod/NAME or pod/NAMESPACE/NAME
    name: str  # Name of the pod
    namespace: str  # Its namespace
    node: str  # spec.nodeName; empty: none
    assumed_node: str  # Its node in the scheduler's cache, not yet in the API
    nominated_node: str  # status.nominatedNodeName
    state: str  # One of POD_STATES, by the API (assumed: pending in the API, assumed in the cache)
    gates: tuple[str, ...]  # Scheduling gates that remain
    in_focus: bool  # Whether it has claims or is judged: drawn as a block with its claims, other pods as chips
    claims: tuple[str, ...]  # Refs of its claims, in the order of spec.volumes
    cpu: int  # Request, millicores
    memory: int  # Request, bytes
    queue: str  # One of QUEUE_STATES: its part of the scheduling queue; empty: not queued
    wait: float  # Seconds of back-off left; 0: none


@frozen
class ClaimRow:
    """A PersistentVolumeClaim in the API, with what the scheduler's cache has of it."""

    ref: str  # pvc/NAME or pvc/NAMESPACE/NAME
    name: str  # Name of the claim
    class_name: str  # StorageClass; empty: none
    mode: str  # Binding mode of that class: Immediate or WaitForFirstConsumer
    size: str  # Request as written: 100Gi
    state: str  # One of CLAIM_STATES
    selected_node: str  # Annotation volume.kubernetes.io/selected-node
    assumed_node: str  # Selected node in the scheduler's cache, not yet in the API
    volume: str  # spec.volumeName; empty: none
    assumed_volume: str  # Volume that the scheduler has assumed for it
    pods: tuple[str, ...]  # Refs of the pods that use it, sorted


@frozen
class VolumeRow:
    """A PersistentVolume, and the nodes that reach it."""

    ref: str  # pv/NAME
    name: str  # Name of the volume
    class_name: str  # StorageClass; empty: none
    size: str  # Capacity as written: 100Gi
    state: str  # One of VOLUME_STATES
    reach: str  # From its node affinity: "node:N", "zone:Z", "zones:Z1,Z2", "all" or "nowhere"
    claim: str  # spec.claimRef as a ref; empty: none
    assumed_claim: str  # Ref of the claim that the scheduler has assumed for it


@frozen
class ClassRow:
    """A StorageClass."""

    ref: str  # sc/NAME
    name: str  # Name of the class
    mode: str  # volumeBindingMode
    topologies: str  # allowedTopologies in words: "zone a, b" or "any"
    provisioner: str  # Its provisioner


@frozen
class PluginHead:
    """A column of the verdict matrix."""

    name: str  # Name of the plugin
    letter: str  # One letter, distinct within the profile
    family: str  # One of FAMILIES: decides the colour


@frozen
class VerdictRow:
    """The verdicts of all plugins on one node, for one pod in one pass."""

    node: str  # Name of the node
    codes: str  # One code a plugin, in profile order: PASS, NOTHING, REJECT, UNRESOLVABLE, ERROR, NOT_ASKED
    first: int  # Index of the plugin that rejects first; -1: none
    chosen: bool  # Whether the pass chose this node


@frozen
class ScoreRow:
    """One plugin's score of one node."""

    node: str  # Name of the node
    plugin: str  # Name of the plugin
    raw: int  # Score that the plugin returned
    normalised: int  # 0 to 100
    weight: int  # Weight of the plugin in the profile
    total: int  # normalised × weight


@frozen
class CellDetail:
    """The words of a rule for the selected cell of the matrix."""

    node: str  # Name of the node
    plugin: str  # Name of the plugin
    code: str  # The cell's code, as in VerdictRow.codes
    reasons: tuple[str, ...] = ()  # Reasons of the rule, in its order
    evidence: tuple[str, ...] = ()  # Both sides of each comparison: "requests.cpu 500m > allocatable 4000m − ..."


@frozen
class Verdicts:
    """The last pass over the pod in focus, judged again where it was made. Not to be confused with their widget."""

    pod: str = ""  # Ref of the pod; empty: nothing judged
    number: int = 0  # Number of the pass of this pod, from 1; 0: none yet
    plugins: tuple[PluginHead, ...] = ()  # Columns in profile order
    rows: tuple[VerdictRow, ...] = ()  # One row a node, sorted by node
    scores: tuple[ScoreRow, ...] = ()  # Sorted by node, then profile order
    prefilter: str = ""  # Message of the PreFilter that rejected the whole pod; then every code is NOT_ASKED
    prefilter_plugin: str = ""  # Name of the plugin that rejected it
    rules_changed: bool = False  # Whether judging again gives other codes than the pass did
    cell: CellDetail | None = None  # Detail of the selected cell


@frozen
class ChangeRow:
    """One change that this step wrote, tried to write or noted."""

    kind: str  # api or note
    component: str  # Component that wrote it or whose note it is: kube-scheduler
    op: str  # One of CHANGE_OPS
    ref: str  # Object it is about
    field: str  # Path in the object ("spec.claimRef") or name of the note ("queue")
    old: str  # Value before, in words; empty: none
    new: str  # Value after, in words; empty: none
    outcome: str = "done"  # done, or the refusal: Conflict, NotFound, AlreadyExists, Invalid, Forbidden
    message: str = ""  # Words of the refusal


@frozen
class EventRow:
    """One Event object."""

    step: int  # Step that created or last repeated it
    time: float  # Its first time, seconds
    type: str  # Normal or Warning
    reason: str  # Its reason: FailedScheduling
    ref: str  # Object it is about
    message: str  # Its message
    count: int  # Number of its occurrences
    last: float  # Its last time, seconds


@frozen
class Mark:
    """The mark on a lane for what an actor did in one step."""

    step: int  # The step
    kind: str  # One of MARK_KINDS
    verb: str = ""  # create, patch, update, status, bind, delete, event; or the note's name
    ref: str = ""  # Object it was about
    outcome: str = "done"  # done or the refusal


@frozen
class Cursor:
    """How far a component has seen one kind."""

    kind: str  # Kind watched: Pod
    position: int  # Step up to which it has seen everything of this kind
    pending: int  # Changes of this kind not yet seen


@frozen
class Lane:
    """One actor's row on the timeline."""

    actor: str  # Key of the actor
    component: str  # Component it belongs to
    label: str  # Its name as people read it: "scheduler · pass"
    marks: tuple[Mark, ...]  # Sorted by step; those after Head.step are known from an earlier visit
    cursors: tuple[Cursor, ...] = ()  # One a kind watched, sorted by kind; empty: watches nothing (the user)


# -- the tables that are filled only where a picture asks for them: skew, capacity, the story of an object ------------


@frozen
class Stop:
    """A filter that keeps a pod off nodes of a domain."""

    plugin: str
    nodes: int  # Nodes that it is the first to reject
    reason: str  # In Kubernetes' words, without "node(s)"
    family: str  # One of FAMILIES
    resolvable: bool  # Whether removing pods could help
    by_constraint: bool  # Whether it is the plugin that judges the constraint


@frozen
class Landing:
    """Whether a pod may land in a domain, by all filters."""

    fitting: int  # Nodes that pass every filter
    stops: tuple[Stop, ...]  # Why the others do not; first the one that decides


@frozen
class Points:
    """What one plugin gives to a node."""

    plugin: str
    letter: str
    family: str  # One of FAMILIES
    points: int  # Score × weight
    short: str  # Its name on a bar


@frozen
class BestNode:
    """The node of a domain with the most points, and how spreading ranks it."""

    node: str
    raw: int
    score: int  # 0 to 100
    weight: int
    parts: tuple[Points, ...]  # Spreading first; plugins that give no points are left out
    total: int
    chosen: bool

    @property
    def points(self) -> int:
        """What spreading gives."""
        return self.score * self.weight


@frozen
class SkewRow:
    """One domain of a spread constraint."""

    domain: str  # Value of the topology key; "(no label)" for nodes without it
    nodes: int  # Nodes in it
    counted: int  # Matching pods that count
    not_counted: tuple[tuple[int, str], ...]  # Matching pods that do not, (how many, why)
    left_out: str  # Why this is no domain for the pod; empty: it is one
    skew_if_placed: int  # counted + self − minimum
    fits: bool  # Whether the constraint allows the pod here
    landing: Landing | None  # Whether all filters do; None: not judged
    best: BestNode | None  # Of a soft constraint, when the nodes are scored
    sum: str  # As the rule writes it: "3 + 1 − 0 = 4 > 1"


@frozen(repr=False)
class SkewLedger(ShownAsYaml):
    """One spread constraint of a pod, domain by domain, at one moment."""

    pod: str  # Ref of the pod
    key: str  # topologyKey
    max_skew: int  # maxSkew
    min_domains: int  # minDomains; 0: not given
    when: str  # whenUnsatisfiable
    selector: str  # Label selector in words
    self_match: int  # 1 if the pod matches its own selector, else 0
    minimum: int  # Global minimum as the rule uses it
    minimum_domain: str  # A domain that has it; empty when minDomains forces it to 0
    limit: int  # How many pods a domain may have with this one
    rows: tuple[SkewRow, ...]  # Sorted by domain; those left out last
    subject: str  # How the pod is called
    place: str  # Node that the pod is on, which is not counted
    moment: str  # "now: step 1, t = 0 s, rules upstream"
    answer: str = ""  # The answer in a few words: "Nobody may take it."
    sentence: str = ""  # And why
    open: bool = field(kw_only=True)  # Whether the pod may land anywhere
    notes: tuple[tuple[str, str], ...] = ()  # Further (head, words)
    plugin: str = field(kw_only=True)  # That judges it
    together: str = ""  # What all hard constraints allow, if there are several; in the last ledger


@frozen
class CapacityRow:
    """What one pool or topology segment offers to one claim."""

    pool: str  # Name of the pool or segment
    reach: str  # Nodes that reach it, in words: "1 node"
    published: int | None  # CSIStorageCapacity.capacity, bytes; None: nothing published
    largest_volume: int | None  # maximumVolumeSize, bytes; None: not given
    age: float  # Since it was published, seconds
    expired: bool  # Whether it is older than the driver's period
    driver_now: int | None  # Bytes that the driver has now in the simulation; None: unknown
    fits: bool  # Whether the rule accepts it, by what is published
    reason: str  # Why not, in words
    driver_largest: int | None  # Bytes of the largest volume that the driver would make now; None: no limit

    def driver_has_room(self, request: int) -> bool | None:
        """Say whether the driver would make a volume of this size now; None: its room is unknown."""
        if self.driver_now is None:
            return None
        return (self.driver_now if self.driver_largest is None else self.driver_largest) >= request


@frozen(repr=False)
class CapacityLedger(ShownAsYaml):
    """One claim that is to be provisioned, or one inline volume, pool by pool, at one moment."""

    claim: str  # Ref of the claim, or "inline volume NAME"
    class_name: str  # Its class; `<ephemeral>` of an inline volume
    request: int  # Size requested, bytes
    unchecked: str  # Why capacity is not checked ("Driver X does not publish capacity: not checked"); empty: it is
    rows: tuple[CapacityRow, ...]  # Sorted by pool
    moment: str  # "now: step 1, t = 0 s, rules upstream"
    answer: str = ""  # The answer in a few words: "3 pools look large enough and are not."
    sentence: str = ""  # And why
    warns: bool = False  # Whether rule and driver differ


@frozen
class ObjectStoryRow:
    """One change in the life of an object."""

    step: int  # Step of the change
    time: float  # Seconds
    actor: str  # Display name of the actor
    op: str  # One of CHANGE_OPS
    field: str  # Field that changed
    old: str  # Value before, in words
    new: str  # Value after, in words


@frozen
class ObjectStory:
    """Every change in the life of one object."""

    ref: str = ""  # Ref of the object; empty: none is selected
    rows: tuple[ObjectStoryRow, ...] = ()  # In the order in which they were written


@frozen
class SeriesPane:
    """One count of all clusters."""

    measure: str  # "running", "cpu held", the reason of an Event, the name of a function
    lines: tuple[Timeline, ...]  # In the order of the clusters; empty: there is nothing to count
    unit: str  # "pods", "cores", "GiB"; empty: unknown
    reasons: tuple[str, ...]  # Of counted Events
    has_sum: bool  # Whether value × time means something: cores × seconds


@frozen
class SeriesRows:
    """Counts of runs over time, in panes over one axis."""

    clusters: tuple[str, ...]  # Labels; the first is the cluster that was asked
    seeds: tuple[int, ...]
    panes: tuple[SeriesPane, ...]
    until: float  # End of the longest run, seconds
    time: float  # Where the first cluster is, seconds
    step: int  # Where the first cluster is, steps
    is_at_end: bool  # Whether no later step of the first cluster is known
    by_step: bool  # Whether the axis counts steps: asked for, or time stands still


@frozen
class Frame:
    """The present place of one run: all that is drawn."""

    head: Head = Head("", "upstream", "main", 0, 0, "steps", 0.0, "", "", "", (), "", "")  # Place, actor and sentence
    next: tuple[NextActor, ...] = ()  # Actors that may act; the default first, then in lane order; empty: idle
    nodes: tuple[NodeRow, ...] = ()  # Sorted by name
    pods: tuple[PodRow, ...] = ()  # Sorted by (namespace, name)
    claims: tuple[ClaimRow, ...] = ()  # Sorted by ref
    volumes: tuple[VolumeRow, ...] = ()  # Sorted by name
    classes: tuple[ClassRow, ...] = ()  # Sorted by name
    verdicts: Verdicts = field(factory=Verdicts)  # The last pass over the pod in focus
    changes: tuple[ChangeRow, ...] = ()  # Of this step, in the order of the log
    events: tuple[EventRow, ...] = ()  # All known Events, sorted by (step, ref, reason): newest last
    lanes: tuple[Lane, ...] = ()  # In the fixed order of the timeline
    skew: tuple[SkewLedger, ...] = ()  # One a constraint of the pod in focus
    capacity: tuple[CapacityLedger, ...] = ()  # One a claim of the pod in focus that is to be provisioned
    story: ObjectStory = field(factory=ObjectStory)  # Of the object selected, else of the pod in focus
    series: SeriesRows | None = None  # Counts of this run over time
    no_ledger: str = ""  # Why the pod that was asked about has no ledger; empty: it has, or nobody was named
