"""Clusters that chance makes, or takes of those that people posted, that were recorded, of incidents and scenarios."""

import gzip
import json
import random
from functools import cache
from pathlib import Path

import fault_runs
import random_acts
from shown_cases import MESSAGES
from waiting_pods import DUMPS, POSTED

import kvolsched
from kvolsched import Cluster, make
from kvolsched.questions.near_names import KEYS_TODAY

ROOT = Path(__file__).parent
RULES = ("upstream", "upstream", "design", "draft")
RECORDED = ("bound", "disrupt", "dynamic", "fit", "interpod", "limits", "mixed", "odd", "preempt", "spread", "static", "wide",
            "wide2", "wild")  # fmt: skip


@cache
def recorded(family):
    """Return the recorded clusters of a family."""
    with gzip.open(ROOT / "conformance" / f"{family}.jsonl.gz", "rt") as file:
        return file.read().splitlines()


def of_record(rng):
    """Return a recorded cluster with the pod that waits there; later releases' rules are not asked of it."""
    return Cluster.from_manifests(recorded_case(rng), lenient=True), rng.choice((0, 0, 3, 60))


def recorded_case(rng):
    """Return the objects of a recorded cluster, the pod that waits last."""
    case = json.loads(rng.choice(recorded(rng.choice(RECORDED))))
    return [*case["objects"], case["pod"]]


def of_people(rng):
    """Return what somebody posted."""
    path = rng.choice(sorted(POSTED.glob("*.yaml")))
    return Cluster.from_manifests(path, revision=rng.choice(RULES[:3])), rng.choice((0, 5, 400))


def of_incident(rng):
    """Return an incident, played."""
    return kvolsched.incident(rng.choice(sorted(each.name for each in kvolsched.incidents()))).play(), 0


def of_scenario(rng):
    """Return a scenario under some rules."""
    name, steps = rng.choice(sorted(kvolsched.scenarios())), rng.choice((1, 4, 9, 30, 400))
    try:
        return kvolsched.scenario(name, *rng.choice(((rng.choice(RULES),), ()))), steps
    except ValueError:  # its dials are those of other rules
        return kvolsched.scenario(name), steps


def of_chance(rng):
    """Return a random cluster after some random acts."""
    cluster = fault_runs.cluster(rng)
    for number in range(rng.randint(1, 12)):
        cluster = acted(cluster, random.Random(f"{rng.random()} {number}"))
    return cluster, rng.choice((0, 2, 30))


def acted(cluster, rng):
    """Return a cluster after a random act, which may be refused."""
    act = rng.choice((*fault_runs.SORTS, random_acts.of_fields, random_acts.of_rules, random_acts.of_parts))(cluster, rng)
    try:
        found = act()
    except fault_runs.REFUSALS:
        return cluster
    return found if isinstance(found, Cluster) else cluster


def of_many(rng):
    """Return a cluster of many nodes in zones, some of which are full, closed or without labels."""
    zones, marks = rng.randint(1, 30), [{}, {"disk": "ssd"}, {"disk": "ssd", "gpu": "yes"}]
    count = rng.choice((7, 20, 50, 130))
    nodes = [make.node(f"n-{n:03d}", f"zone-{n % zones:02d}" if rng.random() < 0.95 else "", labels=rng.choice(marks), cpu=rng.choice("1248"),
                       taints=rng.choice(([], [], [], ["old"], ["old", "gpu"])), unschedulable=rng.random() < 0.1,
                       ready=rng.choice(("True", "True", "True", "False"))) for n in range(count)]  # fmt: skip
    web, rule = {"labels": {"app": "web"}}, make.spread(rng.choice((make.HOST, make.ZONE)), app="web", soft=rng.random() < 0.3)
    pods = [make.pod(f"w-{n}", running_on=f"n-{rng.randrange(count):03d}", cpu=rng.choice(("100m", "700m")), **web)
            for n in range(rng.randint(0, 2 * count))]  # fmt: skip
    rules = [{}, {"topologySpreadConstraints": [rule]}, {"affinity": make.apart(app="web")}, {"nodeSelector": marks[2]},
             {"topologySpreadConstraints": [rule | {"maxSkew": 2, "minDomains": 3}, make.spread(app="web")]}]  # fmt: skip
    new = [make.pod(f"next-{n}", *rng.choice(((), ("data",), ("data", "more"))), cpu=rng.choice(("1", "3", "9")), **rng.choice(rules), **web)
           for n in range(rng.randint(1, 4))]
    storage = [make.storage_class("late", make.DRIVER), make.claim("data", "10Gi", "late")]
    return Cluster.from_manifests([*nodes, *pods, *new, *storage]), rng.choice((0, 3, 12, 60))


WISHED = ("disk", "rack", make.HOST, make.ZONE, "size")


def some_terms(most, rng):
    """Return node selector terms with every operator."""
    return [{"matchExpressions": [some_part(rng) for _ in range(rng.randint(1, 2))]} for _ in range(rng.randint(1, most))]


def some_part(rng):
    """Return one expression of a term."""
    operator = rng.choice(("In", "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"))
    values = {"Exists": [], "DoesNotExist": [], "Gt": ["3"], "Lt": ["3"]}.get(operator, rng.sample(["a", "b", "n0", "n9", "ssd"], 2))
    return {"key": rng.choice(WISHED), "operator": operator, **({"values": values} if values else {})}


def some_volume(name, claim, rng):
    """Return a volume that some nodes reach, perhaps reserved."""
    found = make.volume(name)
    found["spec"] |= {"nodeAffinity": {"required": {"nodeSelectorTerms": some_terms(2, rng)}}} if rng.random() < 0.8 else {}
    found["spec"] |= {"claimRef": {"namespace": "default", "name": claim}} if rng.random() < 0.5 else {}
    return found


def wishing_pod(number, rng):
    """Return a pod with many wishes, or of an owner that is gone."""
    made = make.pod(f"p{number}", *rng.sample(["c0", "c1", "c2", "none"], rng.choice((0, 0, 1, 2))), cpu=rng.choice(("100m", "3", "9")),
                    labels={"app": rng.choice(("web", "db"))}, gates=("a/b", "c/d")[:rng.choice((0, 0, 0, 1, 2))])
    spec = made["spec"]
    if rng.random() < 0.6:
        spec["affinity"] = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": some_terms(3, rng)}}}
    if rng.random() < 0.3:
        spec["affinity"] = {**spec.get("affinity", {}), **make.apart(app=rng.choice(("web", "db")))}
    if rng.random() < 0.5:
        spec["nodeSelector"] = {key: rng.choice(("ssd", "r1", "a")) for key in rng.sample(WISHED, rng.randint(1, 4))}
        spec["nodeSelector"] |= {f"k{n}": "v" for n in range(rng.choice((0,) * 15 + (12,)))}
        spec["nodeSelector"] |= rng.choice(({}, {}, {}, {"node-role.kubernetes.io/worker": ""}, {rng.choice(sorted(KEYS_TODAY)): "small"}))
    if rng.random() < 0.3:
        spec["topologySpreadConstraints"] = [make.spread(key, app="web") for key in rng.sample(WISHED, rng.randint(1, 3))]
    if rng.random() < 0.3:
        made["metadata"]["ownerReferences"] = [{"apiVersion": "apps/v1", "kind": rng.choice(("ReplicaSet", "StatefulSet", "Job")), "name": "gone",
                                                "uid": "u1", "controller": True}]  # fmt: skip
    return made


def of_wishes(rng):
    """Return a cluster of pods with many wishes, of owners that are gone, and of claims of odd volumes."""
    zones = "abc"[:rng.randint(1, 3)]
    nodes = [make.node(f"n{n}", rng.choice(zones), labels={key: rng.choice(("ssd", "r1", "4")) for key in rng.sample(WISHED[:2], rng.randint(0, 2))},
                       cpu=rng.choice("124"), taints=rng.sample(["old", "gpu", "lent"], rng.choice((0, 0, 1, 2)))) for n in range(rng.randint(1, 6))]
    for each in rng.sample(nodes, len(nodes) // 2):
        each["metadata"]["labels"] |= {f"node-role.kubernetes.io/{role}": "" for role in rng.sample(["worker", "infra", "edge"], rng.randint(1, 2))}

    claims = [make.claim(name, rng.choice(("1Gi", "50Gi")), rng.choice(("late", "slow", "local")), **rng.choice(({}, {"volumeName": f"v{n}"})))
              for n, name in enumerate(("c0", "c1", "c2")) if rng.random() < 0.8]
    for each in claims:
        if rng.random() < 0.15:
            del each["spec"]["storageClassName"]
    volumes = [some_volume(f"v{n}", f"c{n}", rng) for n in range(3) if rng.random() < 0.7]
    storage = [make.storage_class("late", make.DRIVER, **rng.choice(({}, {"allowed": [{make.ZONE: [rng.choice("abz")]}]}))),
               make.storage_class("local", "kubernetes.io/no-provisioner")]
    for each in rng.sample(nodes, len(nodes) // 2):
        each["metadata"]["labels"] |= dict.fromkeys(rng.sample(sorted(KEYS_TODAY.values()), 2), "small")
    running = [make.pod(f"r{n}", running_on=rng.choice(nodes)["metadata"]["name"], cpu=rng.choice(("100m", "900m")), labels={"app": rng.choice(("web", "db"))})
               for n in range(rng.randint(0, 5))]
    for each in running:
        each["metadata"] |= rng.choice(({}, {}, {"namespace": "kube-system"}, {"annotations": {"kubernetes.io/config.mirror": "x"}}))
    return Cluster.from_manifests([*nodes, *storage, *claims, *volumes, *running, *(wishing_pod(n, rng) for n in range(rng.randint(1, 5)))],
                                  revision=rng.choice(RULES[:3])), rng.choice((0, 3, 40))


def of_disks(rng):
    """Return a cluster with many volumes for a claim, or with a class that makes some."""
    nodes = [make.node(f"n{n}", rng.choice("ab")) for n in range(3)]
    disks = [make.disk(f"disk-{n}", f"n{n % 3}", f"{rng.randint(1, 20)}Gi") for n in range(rng.choice((2, 6, 14)))]
    kind = rng.choice(("local", "late", None, "none"))
    claim = make.claim("data", rng.choice(("1Gi", "9Gi")), kind or "local")
    if kind is None:
        del claim["spec"]["storageClassName"]
    return Cluster.from_manifests([*nodes, *disks, claim, make.storage_class("late", make.DRIVER), make.storage_class("local", "kubernetes.io/no-provisioner"),
                                   make.pod("app", "data", **rng.choice(({}, {"nodeSelector": {make.ZONE: "a"}})))]), rng.choice((0, 0, 2))


def of_dump(rng):
    """Return a recorded dump."""
    return Cluster.from_manifests(DUMPS / rng.choice(("shop.yaml.gz", "storage.yaml.gz"))), rng.choice((0, 0, 5))


def somewhere(source, rng):
    """Return a cluster of one source at a random moment."""
    cluster, steps = source(rng)
    cluster.run(steps=steps, seconds=600.0)
    if rng.random() < 0.25 and cluster.world.step_number:
        cluster.back(rng.randint(1, cluster.world.step_number))
    return cluster


def odd_objects(rng):
    """Return a manifest with annotations and data of every sort, of which names are replaced."""
    texts = ('{"a": {"name": "web"}}', '["web", 7, null]', "{broken", "[1", "7", "true", "", "web-0.shop.svc", "a=b,c=d", '{"kind":"Pod","metadata":{"name":"web"}}')
    noted = {f"example.com/{rng.choice('abc')}{n}": rng.choice(texts) for n in range(4)}
    noted |= {rng.choice(("kubectl.kubernetes.io/last-applied-configuration", "deployment.kubernetes.io/revision", "volume.kubernetes.io/selected-node")): rng.choice(texts)}
    pod = wishing_pod(1, rng)
    pod["metadata"]["annotations"] = noted
    pod["status"] = {"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": rng.choice((*MESSAGES, *texts))}]}
    event = {"apiVersion": "v1", "kind": "Event", "metadata": {"name": "web.1", "namespace": "default"}, "reason": "FailedScheduling", "type": "Warning",
             "message": rng.choice((*MESSAGES, *texts)), "involvedObject": {"kind": "Pod", "name": "p1", "namespace": "default"}}  # fmt: skip
    extra = rng.choice(({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": rng.choice(({"a": "b"}, None, "text", {"k": {"n": [1, None]}}))},
                        {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "data": {"a": "Yg=="}}, {"apiVersion": "x.io/v1", "kind": "Own", "metadata": {"name": "o"},
                         "spec": {"nodeName": "n1", "list": [{"name": "web"}], "status": 7}}, "no mapping"))  # fmt: skip
    return [pod, event, make.node("n1", "a", labels={"team": "blue"}), extra]
