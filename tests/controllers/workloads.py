"""A cluster of a few nodes in which workloads are applied, as a user would: manifests in, pods and events out."""

from objects import read

from kvolsched import Cluster

NODES = """
apiVersion: v1
kind: Node
metadata: {name: node-%d, labels: {kubernetes.io/hostname: node-%d, disk: %s}}
status: {allocatable: {cpu: "4", memory: 16Gi, pods: "110"}, conditions: [{type: Ready, status: "True"}]}
"""
TEMPLATE = """
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web, rev: "%s"}}
    spec:
      terminationGracePeriodSeconds: 1
      containers: [{name: app, image: "app:1.0", resources: {requests: {cpu: 500m}}}]
"""


def cluster(*manifests, nodes=2, revision="upstream", **components):
    """Return a cluster of some nodes after these manifests were applied and nothing is left to do."""
    dials = {"kubelet": {"start_delay": 0.2, "stop_delay": 0.2}} | components
    made = Cluster(revision, components=dials)
    made._load(read("---".join(NODES % (n, n, "ssd" if n == 1 else "hdd") for n in range(1, nodes + 1))))
    for manifest in manifests:
        made.apply(manifest)
    made.run(seconds=100)
    return made


def workload(kind, replicas=2, rev="1", name="web", spec=""):
    """Return the manifest of a workload; `spec` is more of its spec, in YAML flow style of one line each."""
    size = "" if kind == "DaemonSet" else f"\n  replicas: {replicas}"
    more = "".join(f"\n  {line}" for line in spec.splitlines() if line)
    return f"apiVersion: apps/v1\nkind: {kind}\nmetadata: {{name: {name}}}\nspec:{size}{more}{TEMPLATE % rev}"


def pods(made, **labels):
    """Return the pods with these labels that are not being deleted, sorted by name."""
    found = [pod for pod in made.objects("pods") if pod.metadata.deletion_timestamp is None]
    return [pod for pod in found if labels.items() <= pod.metadata.labels.items()]


def running(made, **labels):
    """Return how many pods with these labels run."""
    return sum(pod.status.phase == "Running" for pod in pods(made, **labels))


def events(made, kind):
    """Return (reason, message) of the events about objects of a kind, in order."""
    found = [event for event in made.objects("events") if event.involved_object.kind == kind]
    return [(event.reason, event.message) for event in found]


def most_and_least(made, **labels):
    """Return how many of these pods there were at most, and the least that ran after they first all did."""
    alive, most, ready, least = {}, 0, 0, None
    for change in made.world.log.changes:
        if change.key[0] != "Pod":
            continue
        alive.pop(change.key, None)
        pod = change.new
        if pod is not None and pod.metadata.deletion_timestamp is None and labels.items() <= pod.metadata.labels.items():
            alive[change.key] = pod
        most = max(most, len(alive))
        now = sum(one.status.phase == "Running" for one in alive.values())
        ready = max(ready, now)
        if now < ready:
            least = now if least is None else min(least, now)
    return most, ready if least is None else least
