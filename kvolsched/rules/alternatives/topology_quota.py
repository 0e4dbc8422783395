"""Other forms of a class's allowedTopologies (S0, rejected): a quota of zones, asked on admission, and a list of whole
topologies in place of values to choose from.
"""

from collections.abc import Mapping
from typing import Any

import attrs

from ...api.kinds.meta import EMPTY, Frozen
from ...api.kinds.storage_class import StorageClass
from ...api.kinds.volume import PersistentVolume, PersistentVolumeClaim
from ...api.volumes import class_of_claim
from ...controllers.admission import AdmissionPlugin, StoredObjects
from ...controllers.admission.plugin import deny_forbidden
from ...scheduler.plugins.volume_binding.releases import provisioned_anywhere
from ...world.log import Key
from ..named import revision_named
from ..revision import Revision
from .building import based_on


@attrs.frozen
class TopologyQuota:
    """Asks, when a claim is created, whether its zone has room under the quota.

    Args:
        hard: topology key and value, such as `topology.kubernetes.io/zone=a` -> how many volumes may be there.
    """

    hard: Frozen = EMPTY

    def __call__(self, _old: PersistentVolumeClaim | None, new: PersistentVolumeClaim, stored: StoredObjects) -> Any:
        """Refuse a claim whose domain is known and full; most claims have none yet."""
        volume = stored.objects.get(Key("PersistentVolume", "", new.spec.volume_name)) if new.spec.volume_name else None
        if volume is None:
            return new  # a claim has no domain before its volume has one
        for domain in sorted(domains_of(volume)):
            limit, used = self._limit(new, domain, stored), self.used(domain, stored)
            if limit is not None and used >= limit:
                where = f"volumes.{domain}"
                numbers = f"requested: {where}=1, used: {where}={used}, limited: {where}={limit}"
                return deny_forbidden(new, f"exceeded quota: topology, {numbers}")
        return new

    def _limit(self, claim: PersistentVolumeClaim, domain: str, stored: StoredObjects) -> int | None:
        """Return the limit of a domain: the quota's, 0 outside the allowedTopologies of the class, or None."""
        if domain in self.hard:
            return int(self.hard[domain])
        storage_class = stored.objects.get(Key("StorageClass", "", class_of_claim(claim)))
        allowed = allowed_domains(storage_class) if storage_class is not None else frozenset[str]()
        key = domain.partition("=")[0]
        return 0 if domain not in allowed and any(each.startswith(f"{key}=") for each in allowed) else None

    @staticmethod
    def used(domain: str, stored: StoredObjects) -> int:
        """Return how many volumes of claims are in a domain."""
        volumes = stored.of_kind("PersistentVolume")
        return sum(volume.spec.claim_ref is not None and domain in domains_of(volume) for volume in volumes)


def domains_of(volume: PersistentVolume) -> frozenset[str]:
    """Return the domains that a volume's node affinity lists, as `key=value`."""
    parts = (part for term in volume.spec.node_terms for part in term.match_expressions if part.operator == "In")
    return frozenset(f"{part.key}={value}" for part in parts for value in part.values)


def allowed_domains(storage_class: StorageClass) -> frozenset[str]:
    """Return the domains that a class's allowedTopologies list, as `key=value`."""
    parts = (part for term in storage_class.allowed_topologies for part in term.match_label_expressions)
    return frozenset(f"{part.key}={value}" for part in parts for value in part.values)


def quota_by_topology(base: str | Revision = "design", *, hard: Mapping[str, int] | None = None) -> Revision:
    """Return rules in which a quota limits the volumes of a zone, and allowedTopologies restrict nothing else.

    The quota of a zone that a class does not allow is 0. S0 (Restricting Topology, Alternatives) rejects it: a quota is
    asked on admission, not in scheduling. A claim that waits has no zone when it is created, so that it passes; the
    scheduler then knows of no limit, and the volume is made in a full zone, or in one that was not allowed.

    Args:
        base: the revision whose other rules hold.
        hard: further limits by domain, such as `{"topology.kubernetes.io/zone=a": 1}`.

    >>> from kvolsched import scenario
    >>> c = scenario("a-zone-not-allowed", "quota_by_topology")
    >>> c.run().ended
    'nothing is left to do'
    >>> c["pod/app"].spec.node_name
    'node-c'
    """
    rules = revision_named(base)
    plugin = attrs.evolve(rules.flow.volume_binding, provisioning=provisioned_anywhere)
    quota = TopologyQuota(Frozen(hard or {}))
    asked = AdmissionPlugin("ResourceQuota", "PersistentVolumeClaim", ("create",), quota, refuses=True)
    return based_on(
        rules, "quota_by_topology", profile=rules.profile.replacing(plugin),
        flow=attrs.evolve(rules.flow, volume_binding=plugin),
        admission_plugins=(*rules.admission_plugins, asked),
        provisioning=attrs.evolve(rules.provisioning, uses_allowed_topologies=False),
    )


def list_of_topologies(base: str | Revision = "design") -> Revision:
    """Return rules in which a class lists whole topologies: each term is that of one volume, all its values together.

    S0 (Restricting Topology, Alternatives) rejects it as verbose: for a volume with two of four zones all six pairs
    must be listed. A list of four values, which says the same in the design, is no topology that such a volume has.

    Args:
        base: the revision whose other rules hold.

    >>> from kvolsched import scenario
    >>> c = scenario("two-zones-of-four", "list_of_topologies")
    >>> c.run("pvc/data Bound", seconds=20).ended
    '20 s of simulated time are over'
    """
    rules = revision_named(base)
    listing = attrs.evolve(rules.provisioning, whole_topologies=True)
    return based_on(rules, "list_of_topologies", provisioning=listing)
