"""Names in files from somebody else: those that a server makes up, and namespaces where there is none."""

from kvolsched import Cluster

JOB = """
apiVersion: v1
kind: Pod
metadata: {generateName: job-}
spec: {containers: [{name: c, image: x}]}
"""
NODE = "apiVersion: v1\nkind: Node\nmetadata: {name: n1, namespace: oops}\n"


def names(**more):
    """The names of three pods of one generateName."""
    return [pod.metadata.name for pod in Cluster.from_manifests("---".join([JOB] * 3), **more).objects("pods")]


def test_names_are_made_up_as_a_server_does():
    """Objects never collapse into one; names are equal in every run of a seed."""
    made = names()

    assert 3 == len(set(made))
    assert all(name.startswith("job-") and len(name) == 9 for name in made)
    assert made == names()
    assert set(made).isdisjoint(names(seed=1))


def test_a_namespace_of_a_kind_without_any_is_cleared():
    """Loaded and applied alike, as the API server does; it is not refused."""
    loaded, applied = Cluster.from_manifests(NODE), Cluster()
    applied.apply(NODE)

    assert ["", ""] == [cluster["node/n1"].metadata.namespace for cluster in (loaded, applied)]
