"""Clusters in which a pod waits, and who it is: what people posted, incidents, scenarios and dumps."""

from functools import cache
from pathlib import Path

from kvolsched import Cluster, incident, scenario

POSTED, DUMPS = (Path(__file__).parent / folder for folder in ("questions/posted", "conformance/dumps"))


@cache
def cluster_of(name):
    """Return the cluster of a row, run until nothing is left to do."""
    sort, _, rest = name.partition("/")
    if sort == "inc":
        return incident(rest).play()
    if sort == "dump":
        return Cluster.from_manifests(DUMPS / f"{rest}.yaml.gz")
    cluster = scenario(rest) if sort == "scen" else Cluster.from_manifests(POSTED / f"{rest}.yaml")
    cluster.run(steps=3000, seconds=600.0)
    return cluster


def waiting_pod(cluster, name):
    """Return the pod of this name, or the first of this workload that has no node."""
    pods = [pod for pod in cluster.objects("pods") if pod.metadata.name == name or pod.metadata.name.startswith(f"{name}-")]
    pod = next((pod for pod in pods if not pod.spec.node_name), pods[0])
    return f"{pod.metadata.namespace}/{pod.metadata.name}"
