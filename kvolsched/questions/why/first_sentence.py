"""The first sentence of an answer: what changed or is wrong, then the number, then what would let the pod in.

It is read off the evidence of the demands that together exclude every node; each kind of evidence says what is wrong
with a node in its own words. A volume, a class or a selector that leaves few nodes comes first, then what these lack;
of nodes that differ each demand names its own.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from operator import and_
from typing import Any

import attrs

from ...api import volumes
from ...api.kinds.node import HOSTNAME_LABEL, ZONE_LABELS, kind_of_domain
from ...api.kinds.selector import NodeSelector, NodeSelectorTerm
from ...api.words import counted, first_of, listed, one_of
from ...scheduler.columns.column import Mask
from ...scheduler.columns.pod_counts import AffinityTerm
from ...scheduler.framework.evidence import Evidence, LabelMissing, LimitExceeded, RequestExceeds, VolumeOutOfReach
from ...scheduler.framework.judgement import Judgement
from ...scheduler.plugins.inter_pod_affinity.rule import NoPodWanted, TermNeedsLabel
from ...scheduler.plugins.node_affinity import LabelDiffers, TermsUnmatched
from ...scheduler.plugins.pod_topology_spread.skew import Skew, SkewExceeds
from ...scheduler.plugins.taint_toleration import NotTolerated
from ...scheduler.plugins.volume_binding.evidence import (
    CapacityExceeded,
    NothingProvisioned,
    OtherNodeSelected,
    PoolsExceeded,
    TopologyNotAllowed,
)
from ...scheduler.plugins.volume_zone import OtherZone
from ...scheduler.requests import PODS, format_amount, pod_requests
from ..near_names import near_misses, nodes_labelled_for, right_keys
from . import claim_problems
from .answer import Finding, Holding
from .demands import Demand, mask_of, nearest_node
from .table import evidence_on, sample

NOBODY_THERE = ", and no node is there"
MOST_NAMED = 3  # nodes, domains and values that a sentence names
MOST_PARTS = 3  # demands of which a sentence says what they exclude
SLIP = 10  # times what the largest node has: who asks for that has most likely mistaken the unit
SMALLER_UNIT = {"cpu": 1000, "memory": 1 << 10, "ephemeral-storage": 1 << 10}  # how many times smaller the next unit is
PLURALS = {"is": "are", "has": "have", "does": "do", "lacks": "lack", "fails:": "fail:", "publishes": "publish",
           "takes": "take"}
# What sort of things is wrong, by evidence that says more than the sort of its demand.
KINDS = {CapacityExceeded: "capacity", PoolsExceeded: "capacity", LimitExceeded: "volume limit"}
UNBOUND, WAITS_FOR_NO_POD = ("unbound claim",), "yet, and its class does not wait for a pod"
ORDINALS = {0: "one", 1: "a second", 2: "a third", 3: "a fourth"}


@attrs.frozen
class PodPlace:
    """Where a `volume`, a `class` or a `selector` keeps the pod.

    Args:
        kind: which of them, or `gone node`.
        words: how a sentence begins with it.
        there: the nodes that are there, beside those on which nothing of it fails.
        nowhere: how the sentence ends if no node is there.
        host: whether it is a single node.
    """

    kind: str
    words: str
    there: Mask | bool = attrs.field(default=False, eq=False)
    nowhere: str = NOBODY_THERE
    host: bool = False


@attrs.frozen
class FirstSentence:
    """The first sentence about a pod that no node takes.

    Args:
        judgement: the plugins' verdicts.
        core: the demands that together exclude every node.
        found: all demands that fail on some node.
        holdings: who holds what is short.
    """

    judgement: Judgement
    core: tuple[Demand, ...]
    found: tuple[Demand, ...]
    holdings: tuple[Holding, ...]
    _known: dict[tuple[Demand, str], Evidence | None] = attrs.field(factory=dict, init=False, repr=False)

    def findings(self) -> tuple[Finding, ...]:
        """Return the parts of the first sentence."""
        judgement = self.judgement
        if judgement.rejected_by is not None:
            return (self._before_filtering(judgement.rejected_by.message),)
        placed = {demand: place for demand in self.core if (place := self._place(demand)) is not None}
        others = [demand for demand in self.core if demand not in placed]
        if placed:
            return tuple(self._placed(placed))
        if len(others) == 1:
            return (self._everywhere(others[0]),)
        spread = [demand for demand in others if isinstance(self._evidence(demand), SkewExceeds)]
        rest = [demand for demand in others if demand not in spread]
        if len(spread) == 1 and rest:
            return *self._each(rest, ~spread[0].fails), self._keeps_out(spread[0])
        return tuple(self._each(others, others[0].fails | True))

    def _before_filtering(self, message: str) -> Finding:
        """Return for which claim the pod is rejected before any node is looked at, else the plugin's own words."""
        pod, seen = self.judgement.pod, self.judgement.seen
        for name, claim in claim_problems.claims_of(pod, seen):
            if claim is None or claim_problems.should_be_bound(claim, seen) or f'"{name}"' in message:
                found = claim_problems.finding_of_claims(pod, [name], seen)
                named = claim.spec.volume_name if claim is not None else ""
                what = f"to volume {named} yet, which it names" if named else WAITS_FOR_NO_POD
                return found or Finding(UNBOUND, f"claim {name} is not bound {what}")
        return Finding(("before filtering",), message)

    def _place(self, demand: Demand) -> PodPlace | None:
        """Return where a demand keeps the pod: by its volume, by the topologies of a class, by what it selects."""
        seen, claim = self.judgement.seen, f"claim {demand.about}"
        match self._evidence(demand):
            case VolumeOutOfReach(required=required):
                key, values = _values_of(required)
                there = self._judged(seen.nodes.mask(required))
                if lacking := self._lacked_by_all(required, key):
                    nowhere = f", and no node has {('it', 'both', 'all')[min(len(lacking), 3) - 1]}"
                    return PodPlace("volume", f"the volume of {claim} needs {listed(lacking)}", there, nowhere)
                if key != HOSTNAME_LABEL:
                    where = f"in {_zone(values)}" if key in ZONE_LABELS else f"where {required}"
                    return PodPlace("volume", f"the volume of {claim} is {where}", there)
                missing = [name for name in values if seen.node(name) is None]
                if not missing:
                    words = f"the volume of {claim} is on {one_of(values)}"
                    return PodPlace("volume", words, there, host=len(values) == 1)
                nowhere = f", and {listed(missing)} {'are' if len(missing) > 1 else 'is'} gone (no such node)"
                return PodPlace("gone node", f"the data of {claim} is on the disk of {one_of(values)}", there, nowhere)
            case OtherZone(key=key, values=values):
                labels = seen.nodes.labels(key)
                there = self._judged(sum(labels.codes.array == labels.code(value) for value in values) > 0)
                return PodPlace("volume", f"the volume of {claim} is in {_zone(values)}", there)
            case TopologyNotAllowed(allowed=allowed):
                parts = [part for term in allowed for part in term.match_label_expressions]
                known = all(self._is_label(part.key) for part in parts)
                end = NOBODY_THERE if known else ", and no node has that label"
                mine: Any = seen.claim(self.judgement.pod.metadata.namespace, demand.about)
                name = volumes.class_of_claim(mine)
                where = " or ".join(f"{part.key}={one_of(part.values)}" for part in parts)
                storage_class: Any = seen.storage_class(name)
                there = mask_of({node.metadata.name for node in seen.all_nodes()
                                 if volumes.topology_allows(storage_class, node)}, self.judgement)
                return PodPlace("class", f"class {name} of {claim} allows only {where}", there, end)
            case OtherNodeSelected(selected=selected):
                gone = ", which is gone," if seen.node(selected) is None else ""
                words = f"the scheduler selected {selected}{gone} for {claim}"
                return PodPlace("selected node", words, mask_of({selected}, self.judgement), "", host=True)
            case LabelDiffers(key=key, wanted=wanted):
                end = self._what_there_is(key, [wanted])
                return PodPlace("selector", f"the pod selects {key}={wanted}", nowhere=end, host=key == HOSTNAME_LABEL)
            case TermsUnmatched(terms=terms):
                key, values = _values_of(terms)
                wanted = f"{key}={one_of(values)}" if values and terms.only_requirement is not None else str(terms)
                return PodPlace("selector", f"the pod requires {wanted}", nowhere=self._what_there_is(key, values))
        return None

    def _lacked_by_all(self, required: NodeSelector, place: str) -> list[str]:
        """Return what no node has, or none has together, of what a volume asks for; [] if nobody is at its place."""
        terms, nodes = required.node_selector_terms, self.judgement.seen.nodes
        parts = terms[0].match_expressions if len(terms) == 1 else ()
        if len(parts) < 2 or self._judged(nodes.mask(required)).any():
            return []
        alone = (NodeSelector(node_selector_terms=(NodeSelectorTerm(match_expressions=(part,)),)) for part in parts)
        lacking = [part for part, each in zip(parts, alone, strict=True) if not self._judged(nodes.mask(each)).any()]
        if place in [part.key for part in lacking]:
            return []
        return [f"the label {part.key}={one_of(part.values)}" if part.operator == "In" else str(part)
                for part in lacking or parts]

    def _judged(self, mask: Mask) -> Mask:
        """Return a mask by row in the order of the judged nodes."""
        judged: Mask = mask[self.judgement.seen.nodes.live.array]
        return judged

    def _is_label(self, key: str) -> bool:
        """Say whether some node has a label key."""
        return bool((self.judgement.seen.nodes.labels(key).codes.array >= 0).any())

    def _what_there_is(self, key: str, wanted: Sequence[str]) -> str:
        """Return that no node has such a label, and which values there are: a near miss, or the first few."""
        labels = self.judgement.seen.nodes.labels(key)
        there = sorted(labels.values[code] for code in set(labels.codes.array.tolist()) if code >= 0)
        near = dict.fromkeys(value for each in wanted for value in near_misses(each, there))
        if near:
            have = [(self._names_in(self._judged(labels.codes.array == labels.code(value))), value) for value in near]
            told = [f"{_names(names)} {'has' if len(names) == 1 else 'have'} {value}" for names, value in have]
            return f", and no node has it; {', '.join(told[:MOST_NAMED])}"
        if there:
            return f", and no node has it; nodes have {first_of(there, MOST_NAMED)}"
        keys = right_keys(key, self.judgement.seen.all_nodes())
        return f", and no node has that label{f'; nodes have {first_of(keys, MOST_NAMED)}' if keys else ''}"

    def _placed(self, placed: Mapping[Demand, PodPlace]) -> Iterator[Finding]:
        """Yield where the pod must be, and what the nodes there lack."""
        places = [*placed.values()]
        kinds = tuple(place.kind for place in places)
        words = listed([place.words for place in places])
        there = reduce(and_, (each.there | ~demand.fails for demand, each in placed.items()))
        parts = [*self._each(self.core, there)]
        if not parts:
            yield Finding(kinds, f"{words}{places[0].nowhere if len(places) == 1 else ': no node meets both'}")
            return
        nodes = self._names_in(there)
        first, *rest = parts
        said = f"{'; ' if first.kinds == ('spread',) else ': '}{first.words}"
        if first.predicate and len(nodes) == 1:
            said = f", {'which' if places[0].host else f'whose only node {nodes[0]}'} {first.predicate}"
        yield Finding((*kinds, *first.kinds), f"{words}{said}")
        yield from rest

    def _each(self, demands: Sequence[Demand], among: Mask) -> Iterator[Finding]:
        """Yield what each demand excludes of some nodes: first by their own state, which may be mended."""
        left, apart = among, []
        states = [demand for demand in demands if self._until(demand)]
        for demand in (*(each for each in demands if each not in states), *states):
            if (mine := demand.fails & left).any():
                apart.append((demand, self._names_in(mine)))
                left = left & ~mine
        apart.sort(key=lambda pair: pair[0] not in states)
        for demand, nodes in apart[:MOST_PARTS]:
            yield self._on(demand, nodes)
        if len(apart) > MOST_PARTS:
            more = sum(len(nodes) for _, nodes in apart[MOST_PARTS:])
            yield Finding((), f"{counted(more, 'node')} more lack{'s' * (more == 1)} something else")
        if not states or len(apart) == 1:
            return
        until = self._until(states[0])
        lacking = sum(demand.fails for demand in self.found if self._until(demand) != until)
        alone = self._names_in(among & (lacking == 0))
        if len(alone) == 1:
            yield Finding((), f"once {until}, {alone[0]} takes the pod")

    def _on(self, demand: Demand, nodes: Sequence[str]) -> Finding:
        """Return what some nodes lack: all of them alike, or the nearest, as an example."""
        near = nearest_node(self.judgement, demand, nodes, self.found)
        evidence = self._evidence(demand, near)
        kinds = (KINDS.get(type(evidence), demand.sort),)
        if evidence is None:
            title = demand.title  # that of a reason begins with a name
            title = title if demand.sort in ("objection", "reason") else title[:1].lower() + title[1:]
            return Finding(kinds, f"{title} on {_names(nodes)}")
        if isinstance(evidence, SkewExceeds):
            return Finding(kinds, _too_skewed(evidence.skew))
        verb, rest = evidence.of_node()
        if isinstance(evidence, LabelMissing) and demand.sort == "spread":
            rest += ", over which the pod must be spread"
        key = evidence.taint.key if isinstance(evidence, NotTolerated) else ""
        if key in pod_requests(self.judgement.pod.spec).amounts and self.judgement.seen.node_info(near).total.get(key):
            verb, rest = "has", f"{key}, but the pod does not tolerate its {evidence.subject}"
        if verb == "fails:" and len(nodes) == len(self.judgement.nodes):
            return Finding(kinds, rest)
        if len(nodes) == 1:
            return Finding(kinds, f"{self._subject(nodes)} {verb} {rest}", f"{verb} {rest}")
        if isinstance(evidence, RequestExceeds) and demand.about != PODS:
            free, asked = (format_amount(demand.about, amount) for amount in (max(0, evidence.free), evidence.asked))
            info, few = self.judgement.seen.node_info, len(nodes) <= MOST_NAMED
            tie = few and len({info(name).free(demand.about) for name in nodes}) == 1
            most = "each has" if tie else f"{near} has most left,"
            lack = f"lack {demand.about} ({most} {free} of the {asked} asked for)"
            return Finding(kinds, f"{self._subject(nodes)} {lack}")
        alike = {each.of_node() for name in sample(nodes) if (each := self._evidence(demand, name)) is not None}
        if len(alike) > 1:
            others = counted(len(nodes) - 1, "node").removeprefix("1 ")
            return Finding(kinds, f"{near} {verb} {rest}, and the other {others} alike")
        return Finding(kinds, f"{self._subject(nodes)} {PLURALS.get(verb, verb)} {rest}")

    def _keeps_out(self, spread: Demand) -> Finding:
        """Return how the emptiest domain, whose nodes lack something else, keeps the pod out of the others."""
        key, kind = spread.about, kind_of_domain(spread.about)
        domains: dict[str, str] = {}
        for name in self._names_in(spread.fails):
            node = self.judgement.seen.node(name)
            if node is not None and key in node.metadata.labels:
                domains.setdefault(node.metadata.labels[key], name)
        told = [*domains.values()][: MOST_NAMED if len(domains) <= MOST_NAMED else 1]
        found = (self._evidence(spread, name) for name in told)
        full = [evidence.skew for evidence in found if isinstance(evidence, SkewExceeds)]
        if not full:
            return self._on(spread, self._names_in(spread.fails))
        skew = full[0]
        its = skew.constraint.max_skew == 1 and len(self._names_in(~spread.fails)) == 1
        fewest = f"its {kind}" if its else f"the emptiest {kind}"
        alike = len(full) == len(domains) and len({one.match_num for one in full}) == 1
        each = f" ({skew.match_num}{' each' * (len(domains) > 1)})" if alike else ""
        head = f"{kind}{'s' * (len(domains) > 1)} " if len(domains) <= MOST_NAMED else ""
        others = f"{head}{_names([*domains], kind)}{each}"
        words = f"{fewest}, with {counted(skew.min_match, 'pod')}, keeps {others} from taking"
        return Finding(("spread",), f"{words} {ORDINALS.get(skew.match_num, 'one more')}: {_limit(skew)}")

    def _everywhere(self, demand: Demand) -> Finding:
        """Return what all nodes lack."""
        nodes = self.judgement.nodes
        near = nearest_node(self.judgement, demand, nodes, self.found)
        evidence, seen, pod = self._evidence(demand, near), self.judgement.seen, self.judgement.pod
        found = self._on(demand, nodes)
        match evidence:
            case RequestExceeds() if demand.about != PODS:
                return attrs.evolve(found, words=self._short_of(evidence, near))
            case CapacityExceeded():
                return attrs.evolve(found, words=self._capacity(demand, evidence))
            case NoPodWanted(term=term):
                return attrs.evolve(found, words=f"{found.words}{self._near_labels(term)}")
            case LabelMissing() | TermNeedsLabel():
                if self._is_label(demand.about):
                    return found
                whose = f"the topologyKey of the pod's {'spread' if demand.sort == 'spread' else 'podAffinity'}"
                return attrs.evolve(found, words=f"{whose} is {demand.about}{self._what_there_is(demand.about, ())}")
            case LimitExceeded() if len(nodes) == 1:
                users = [each for each in seen.pods_on(near) if [*each.claim_names()]]
                by = f"; pod {users[0].metadata.namespace}/{users[0].metadata.name} has them" if len(users) == 1 else ""
                return attrs.evolve(found, words=found.words + by)
            case NothingProvisioned() | None if demand.sort == "claim":
                if problem := claim_problems.finding_of_claims(pod, demand.about.split(","), seen):
                    return problem
                unread = "waits for a node, and these rules place no pod before its claims are bound"
                return found if evidence is not None else attrs.evolve(found, words=f"claim {demand.about} {unread}")
        until = evidence.until if evidence is not None else ""
        return attrs.evolve(found, words=f"{found.words}: the pod waits until {until}") if until else found

    def _near_labels(self, term: AffinityTerm) -> str:
        """Return where else the pods of a term are, or which label some have that is nearly the one it selects."""
        seen, selector, about = self.judgement.seen, term.label_selector, sorted(term.namespaces)
        if selector is None:
            return ""
        pods = [self.judgement.pod, *(pod for node in self.judgement.nodes for pod in seen.pods_on(node))]
        for key, value in selector.match_labels.items():
            there = {pod.metadata.labels[key] for pod in pods if key in pod.metadata.labels}
            if value not in there and (near := near_misses(value, sorted(there), longer=True)):
                whose = "the pod itself has" if pods[0].metadata.labels.get(key) == near[0] else "some have"
                return f"; {whose} {key}={near[0]}"
        there = {pod.metadata.namespace for pod in pods if selector.matches(pod.metadata.labels)}
        if not there or not about or not there.isdisjoint(about):
            return ""
        where = f"namespace{'s' * (len(there) > 1)} {listed(sorted(there))}"
        return f"; there are some in {where}, but the term is about {listed(about)}"

    def _short_of(self, evidence: RequestExceeds, near: str) -> str:
        """Return how much of a resource the pod asks for, and what the nearest or the largest node has of it."""
        seen, resource, table = self.judgement.seen, evidence.resource, self.judgement.seen.nodes
        rows = [table.row_of[name] for name in self.judgement.nodes]
        totals = table.total(resource)[rows].tolist()
        most, asked = max(totals), format_amount(resource, evidence.asked)
        largest = min(name for name, total in zip(self.judgement.nodes, totals, strict=True) if total == most)
        words = f"the pod asks for {asked} {resource}"
        if not most:
            meant = nodes_labelled_for(resource, seen.all_nodes())
            even = next((f", not even {name}, labelled {label}" for name, label in sorted(meant.items())), "")
            return f"{words}, and no node has any{even}"
        if most < evidence.asked:
            unit = SMALLER_UNIT.get(resource, 0) if evidence.asked >= SLIP * most else 0
            slip = f"; {format_amount(resource, evidence.asked // unit)} meant?" if unit else ""
            which = f"the only node, {largest}," if len(totals) == 1 else f"the largest node, {largest},"
            which = "each node" if min(totals) == most and len(totals) > 1 else which
            return f"{words}, and {which} has {format_amount(resource, most)}{slip}"
        there, free = (format_amount(resource, amount) for amount in (evidence.allocatable, max(0, evidence.free)))
        held = next((each for each in self.holdings if (each.node, each.resource) == (near, resource)), None)
        by = f", {held.only_holder}" if held is not None and held.only_holder else ""
        left = zip(self.judgement.nodes, table.free(resource)[rows].tolist(), totals, strict=True)
        alike = sorted(name for name, each, total in left if (each, total) == (evidence.free, evidence.allocatable))
        if len(alike) > 1:
            return f"{words}; {_names(alike)} have most left, {free} of {there} each"
        if sum(map(bool, totals)) > 1:
            return f"{words}; {near} has most left, {free} of {there}{by}"
        return f"{words}; {near}, the only node{' with any' * (len(totals) > 1)}, has {free} of {there} left{by}"

    def _capacity(self, demand: Demand, evidence: CapacityExceeded) -> str:
        """Return the largest volume that can be made, and where."""
        rooms: dict[int, list[str]] = {}
        for name in sample(self.judgement.nodes):
            if isinstance(each := self._evidence(demand, name), CapacityExceeded):
                rooms.setdefault(each.largest, []).append(name)
        asked, most = format_amount("memory", evidence.asked), max(rooms)
        storage_class = self.judgement.seen.storage_class(evidence.class_name)
        if most < 0 and not evidence.class_name:
            return f"no pool of the driver serves {evidence.volume}, which asks for {asked}"
        if most < 0:
            driver = storage_class.provisioner if storage_class is not None else "its driver"
            return f"{driver} publishes no capacity for class {evidence.class_name}; {evidence.volume} asks for {asked}"
        whose = f"class {evidence.class_name}" if evidence.class_name else "the driver"
        where = f"has {format_amount('memory', most)} at most, on {_names(rooms[most])}"
        return f"{whose} {where}; {evidence.volume} asks for {asked}"

    def _evidence(self, demand: Demand, node: str = "") -> Evidence | None:
        """Return why a demand fails on a node, or on the first on which it fails."""
        if not node:
            names = zip(self.judgement.nodes, demand.fails.tolist(), strict=True)
            node = min(name for name, fails in names if fails)
        if (demand, node) not in self._known:
            found = evidence_on(demand, self.judgement, node)
            about = (each for each in found if getattr(each, "resource", demand.about) == demand.about)
            self._known[demand, node] = next(about, None)
        return self._known[demand, node]

    def _until(self, demand: Demand) -> str:
        """Return what must come first where a demand is about the state of a node; else ""."""
        evidence = self._evidence(demand) if demand.sort in ("taint", "cordon") else None
        return evidence.until if evidence is not None else ""

    def _names_in(self, mask: Mask) -> list[str]:
        return sorted(name for name, inside in zip(self.judgement.nodes, mask.tolist(), strict=True) if inside)

    def _subject(self, nodes: Sequence[str]) -> str:
        """Return nodes as the subject of a sentence; if they are all there are, it says so."""
        if len(nodes) < len(self.judgement.nodes):
            return _names(nodes)
        few = {1: f"{nodes[0]}, the only node,", 2: f"both nodes, {listed(sorted(nodes))},"}
        return few.get(len(nodes), f"all {len(nodes):,} nodes")


def _names(names: Sequence[str], what: str = "node") -> str:
    """Return a few names; of many their number and the first."""
    return listed(names) if len(names) <= MOST_NAMED else f"{len(names):,} {what}s ({names[0]} and others)"


def _limit(skew: Skew) -> str:
    """Return what a constraint allows."""
    domains = skew.constraint.min_domains
    return f"maxSkew {skew.constraint.max_skew}{f', minDomains {domains}' if domains > 1 else ''}"


def _zone(names: Sequence[str]) -> str:
    """Return zones in words: `us-east-1a`, but `zone a`."""
    return f"{'' if any('-' in name for name in names) else 'zone '}{one_of(names)}"


def _too_skewed(skew: Skew) -> str:
    """Return how many pods a domain has and how many the emptiest; or that there are too few domains to count so."""
    kind, selector = kind_of_domain(skew.constraint.topology_key), skew.constraint.stated.label_selector
    here = f"{counted(skew.match_num, 'pod')}{f' with {selector}' if selector is not None else ''}"
    if skew.domains < skew.constraint.min_domains > 1:
        there = f"minDomains asks for {skew.constraint.min_domains} {kind}s and there are {skew.domains}"
        full = f"{kind} {skew.domain} has {here} already, maxSkew {skew.constraint.max_skew}"
        return f"{there}, so the emptiest counts as 0: {full}"
    return f"{kind} {skew.domain} has {here}, the emptiest {kind} has {skew.min_match or 'none'}: {_limit(skew)}"


def _values_of(selector: NodeSelector) -> tuple[str, tuple[str, ...]]:
    """Return the label by which a selector tells places, and its values: host, zone, or the first one; ("", ())."""
    parts = [part for term in selector.node_selector_terms for part in term.match_expressions if part.operator == "In"]
    keys = [part.key for part in parts]
    key = next((key for key in (HOSTNAME_LABEL, *ZONE_LABELS, *keys) if key in keys), "")
    return key, tuple(dict.fromkeys(value for part in parts if part.key == key for value in part.values))
