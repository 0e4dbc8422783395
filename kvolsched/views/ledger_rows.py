"""Rows of the tables that are filled only where a picture asks for them: skew, capacity, the story of an object.

The law of `frame` holds here too; import these rows from there.
"""

from __future__ import annotations

from attrs import frozen

from ..api.notebook_output import ShownAsYaml


@frozen
class Stop:
    """A filter that keeps a pod off nodes of a domain."""

    plugin: str
    nodes: int  # Nodes that it is the first to reject
    reason: str  # In Kubernetes' words, without "node(s)"
    family: str = "node"  # One of FAMILIES
    resolvable: bool = True  # Whether removing pods could help
    by_constraint: bool = False  # Whether it is the plugin that judges the constraint


@frozen
class Landing:
    """Whether a pod may land in a domain, by all filters."""

    fitting: int  # Nodes that pass every filter
    stops: tuple[Stop, ...] = ()  # Why the others do not; first the one that decides


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
    chosen: bool = False

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
    not_counted: tuple[tuple[int, str], ...] = ()  # Matching pods that do not, (how many, why)
    left_out: str = ""  # Why this is no domain for the pod; empty: it is one
    skew_if_placed: int = 0  # counted + self − minimum
    fits: bool = True  # Whether the constraint allows the pod here
    landing: Landing | None = None  # Whether all filters do; None: not judged
    best: BestNode | None = None  # Of a soft constraint, when the nodes are scored
    sum: str = ""  # As the rule writes it: "3 + 1 − 0 = 4 > 1"


@frozen
class SkewLedger(ShownAsYaml):
    """One spread constraint of a pod, domain by domain, at one moment."""

    pod: str  # Ref of the pod
    key: str  # topologyKey
    max_skew: int  # maxSkew
    min_domains: int = 0  # minDomains; 0: not given
    when: str = "DoNotSchedule"  # whenUnsatisfiable
    selector: str = ""  # Label selector in words
    self_match: int = 1  # 1 if the pod matches its own selector, else 0
    minimum: int = 0  # Global minimum as the rule uses it
    minimum_domain: str = ""  # A domain that has it; empty when minDomains forces it to 0
    limit: int = 0  # How many pods a domain may have with this one
    rows: tuple[SkewRow, ...] = ()  # Sorted by domain; those left out last
    subject: str = ""  # How the pod is called; empty: by its name
    place: str = ""  # Node that the pod is on, which is not counted
    moment: str = ""  # "now: step 1, t = 0 s, rules upstream"
    answer: str = ""  # The answer in a few words: "Nobody may take it."
    sentence: str = ""  # And why
    open: bool = True  # Whether the pod may land anywhere
    notes: tuple[tuple[str, str], ...] = ()  # Further (head, words)
    plugin: str = ""  # That judges it
    together: str = ""  # What all hard constraints allow, if there are several; in the last ledger


@frozen
class CapacityRow:
    """What one pool or topology segment offers to one claim."""

    pool: str  # Name of the pool or segment
    reach: str  # Nodes that reach it, in words: "1 node"
    published: int | None = None  # CSIStorageCapacity.capacity, bytes; None: nothing published
    largest_volume: int | None = None  # maximumVolumeSize, bytes; None: not given
    age: float = 0.0  # Since it was published, seconds
    expired: bool = False  # Whether it is older than the driver's period
    driver_now: int | None = None  # Bytes that the driver has now in the simulation; None: unknown
    fits: bool = False  # Whether the rule accepts it, by what is published
    reason: str = ""  # Why not, in words
    driver_largest: int | None = None  # Bytes of the largest volume that the driver would make now; None: no limit


@frozen
class CapacityLedger(ShownAsYaml):
    """One claim that is to be provisioned, or one inline volume, pool by pool, at one moment."""

    claim: str  # Ref of the claim, or "inline volume NAME"
    class_name: str  # Its class; `<ephemeral>` of an inline volume
    request: int  # Size requested, bytes
    unchecked: str = ""  # Why capacity is not checked ("Driver X does not publish capacity: not checked"); empty: it is
    rows: tuple[CapacityRow, ...] = ()  # Sorted by pool
    moment: str = ""  # "now: step 1, t = 0 s, rules upstream"
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
    old: str = ""  # Value before, in words
    new: str = ""  # Value after, in words


@frozen
class ObjectStory:
    """Every change in the life of one object."""

    ref: str = ""  # Ref of the object; empty: none is selected
    rows: tuple[ObjectStoryRow, ...] = ()  # In the order in which they were written
