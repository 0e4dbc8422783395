"""Clusters of the documents' tests: load one from manifests, change it as a user, ask which nodes fit and where pods are.

Everything goes through the public API.
"""

from manifests import ZONE

from kvolsched import Cluster
from kvolsched.core.results import ApplyRefused

QUIET = {"kubelet": {"absent": True}}


def cluster(*objects, revision="design", seed=0, **components):
    """Return a cluster that holds these objects from the start."""
    return Cluster.from_manifests(list(objects), revision=revision, seed=seed, components=components)


def fits(of, name):
    """Return the nodes that fit a pod, sorted."""
    return list(of.fits(name))


def scores(of, name, plugin):
    """Return what a plugin gives each node that fits a pod: {node: (raw, normalised, weighted)}."""
    return {node: tuple(found[plugin]) for node, found in of.fits(name).scores.items() if plugin in found}


def where(of, *names):
    """Return the node of each pod, "" for none."""
    return [of[f"pod/{name}"].spec.node_name for name in names]


def zones(of, *names):
    """Return the zone of each pod's node."""
    return [of[f"node/{each}"].metadata.labels[ZONE] if each else "" for each in where(of, *names)]


def message(of, name):
    """Return the message of a pod's condition PodScheduled."""
    return of[f"pod/{name}"].status.condition("PodScheduled").message


def reach(of, name):
    """Return where a claim's volume can be reached: the terms of its node affinity as {key: values}."""
    affinity = of[f"pv/{of[f'pvc/{name}'].spec.volume_name}"].spec.node_affinity
    return [{part.key: list(part.values) for part in term.match_expressions}
            for term in affinity.required.node_selector_terms]


def patch(of, reference, **change):
    """Change an object as a user, by a merge patch of its fields."""
    return of.patch(reference, change)


def refusal(act, *args, **kwargs):
    """Return why the API server refuses an act, "" if it allows it."""
    try:
        act(*args, **kwargs)
    except ApplyRefused as refused:
        return str(refused)
    return ""


def events(of, about, reason=""):
    """Return the messages of the events about an object."""
    return [each.message for each in of.objects("events")
            if each.involved_object.name == about and reason in ("", each.reason)]
