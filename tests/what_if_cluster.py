"""Six pods over three zones, one of them tainted: the cluster that what-if questions are asked of."""

import kvolsched
from kvolsched.make import ZONE, deployment, node, spread

SPREAD = "deploy/web:spec.template.spec.topologySpreadConstraints[0]"
MAX_SKEW, TAINTS_POLICY, REPLICAS = f"{SPREAD}.maxSkew", f"{SPREAD}.nodeTaintsPolicy", "deploy/web:spec.replicas"


def six_pods(zone_label=ZONE):
    """Return the cluster before anything has happened."""
    nodes = [node(f"{zone}1", f"zone-{zone}", taints=["maintenance"] * (zone == "c")) for zone in "abc"]
    web = deployment("web", 6, topologySpreadConstraints=[spread(zone_label, 2, app="web")])
    return kvolsched.Cluster.from_manifests([*nodes, web], name="six-pods")
