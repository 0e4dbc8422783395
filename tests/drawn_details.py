"""Clusters of chance whose objects set what is seldom set: each field that a rule, a question or a picture reads."""

from drawn_clusters import RULES, some_terms

from kvolsched import Cluster, make

ZONES, APPS, GPU = ("a", "b", "c"), ("web", "db"), "nvidia.com/gpu"
MODES = ("ReadWriteOnce", "ReadWriteMany", "ReadOnlyMany", "ReadWriteOncePod")
EFFECTS = ("NoSchedule", "NoSchedule", "PreferNoSchedule", "NoExecute")


def maybe(rng, chance, **fields):
    """Return fields, or none of them."""
    return fields if rng.random() < chance else {}


def some_node(name, rng):
    """Return a node with taints of every effect, devices and states, perhaps without a zone."""
    labels = {"disk": rng.choice(("ssd", "hdd")), **maybe(rng, 0.4, rack=rng.choice(("r1", "r2"))), **maybe(rng, 0.3, size=rng.choice("29")),
              **maybe(rng, 0.3, **{"kubernetes.io/arch": rng.choice(("amd64", "arm64"))})}  # fmt: skip
    taints = [{"key": rng.choice(("old", "gpu", "team")), "effect": rng.choice(EFFECTS), **maybe(rng, 0.5, value="x")} for _ in range(rng.choice((0, 0, 1, 2)))]
    made = make.node(name, rng.choice(("", *ZONES, *ZONES)), labels=labels, cpu=rng.choice(("500m", "2", "4")), memory=rng.choice(("1Gi", "8Gi")),
                     pods=rng.choice(("2", "9", "110")), taints=[{"value": "", **each} for each in {each["key"]: each for each in taints}.values()],
                     **maybe(rng, 0.15, ready=rng.choice(("False", "Unknown"))), **maybe(rng, 0.15, unschedulable=True))  # fmt: skip
    more = {**maybe(rng, 0.3, **{GPU: rng.choice("12")}), **maybe(rng, 0.3, **{"ephemeral-storage": "5Gi"})}
    made["status"]["allocatable"] |= more
    made["status"].setdefault("capacity", {}).update(more)
    return made


def some_class(name, rng):
    """Return a class that waits or not, in some zones, of one of three provisioners."""
    return make.storage_class(name, rng.choice((make.DRIVER, make.DRIVER, "kubernetes.io/no-provisioner", "ebs.csi.aws.com")), waits=rng.random() < 0.7,
                              **maybe(rng, 0.3, allowed=[{make.ZONE: rng.sample(ZONES, rng.randint(1, 2))}]), **maybe(rng, 0.3, reclaimPolicy="Retain"),
                              **maybe(rng, 0.3, annotations={"storageclass.kubernetes.io/is-default-class": "true"}))  # fmt: skip


def some_claim(name, rng):
    """Return a claim with a selector, access modes, a source, a volume's name or a node that was selected."""
    made = make.claim(name, rng.choice(("1Gi", "9Gi", "500Gi")), rng.choice(("late", "now", "gone")), accessModes=rng.sample(MODES, rng.choice((1, 1, 2))),
                      **maybe(rng, 0.2, selector={"matchLabels": {"tier": rng.choice(("fast", "slow"))}}), **maybe(rng, 0.2, volumeMode="Block"),
                      **maybe(rng, 0.2, volumeName=rng.choice(("v0", "v1", "none"))), **maybe(rng, 0.15, selected_node=rng.choice(("n0", "n9"))),
                      **maybe(rng, 0.1, dataSource={"kind": "VolumeSnapshot", "name": "s", "apiGroup": "snapshot.storage.k8s.io"}))  # fmt: skip
    if rng.random() < 0.15:
        del made["spec"]["storageClassName"]
    return made


def some_disk(name, rng):
    """Return a volume of every phase, mode and policy, with labels, reachable from some nodes."""
    made = make.volume(name, rng.choice(("1Gi", "10Gi", "900Gi")), rng.choice(("late", "now", "")), policy=rng.choice(("Retain", "Delete")),
                       accessModes=rng.sample(MODES, rng.choice((1, 2))), **maybe(rng, 0.4, claim=rng.choice(("c0", "c1", "old"))),
                       **maybe(rng, 0.5, labels={"tier": rng.choice(("fast", "slow"))}), **maybe(rng, 0.2, volumeMode="Block"),
                       **maybe(rng, 0.3, phase=rng.choice(("Available", "Released", "Failed", "Pending"))),
                       **maybe(rng, 0.3, driver="ebs.csi.aws.com"))  # fmt: skip
    return made | {"spec": made["spec"] | maybe(rng, 0.6, nodeAffinity={"required": {"nodeSelectorTerms": some_terms(2, rng)}})}


def some_constraint(rng):
    """Return a constraint with every field that it may have."""
    soft = rng.random() < 0.3
    return make.spread(rng.choice((make.ZONE, make.HOST, "rack")), rng.randint(1, 2), soft=soft, app=rng.choice(APPS)) | {
        **({} if soft else maybe(rng, 0.3, minDomains=rng.randint(2, 4))), **maybe(rng, 0.3, matchLabelKeys=["version"]),
        **maybe(rng, 0.3, nodeAffinityPolicy=rng.choice(("Honor", "Ignore"))), **maybe(rng, 0.3, nodeTaintsPolicy=rng.choice(("Honor", "Ignore")))}  # fmt: skip


def some_affinity(rng):
    """Return affinities to nodes and pods, required and preferred."""
    beside = {"labelSelector": {"matchLabels": {"app": rng.choice(APPS)}}, "topologyKey": rng.choice((make.ZONE, make.HOST)),
              **maybe(rng, 0.2, namespaces=["other"]), **maybe(rng, 0.2, namespaceSelector={})}  # fmt: skip
    weighed = [{"weight": rng.choice((1, 50, 100)), "podAffinityTerm": beside}]
    return {**maybe(rng, 0.4, nodeAffinity={
                **maybe(rng, 0.6, requiredDuringSchedulingIgnoredDuringExecution={"nodeSelectorTerms": some_terms(3, rng)}),
                **maybe(rng, 0.5, preferredDuringSchedulingIgnoredDuringExecution=[{"weight": 7, "preference": some_terms(1, rng)[0]}])}),
            **maybe(rng, 0.3, podAffinity=rng.choice(({"requiredDuringSchedulingIgnoredDuringExecution": [beside]},
                                                      {"preferredDuringSchedulingIgnoredDuringExecution": weighed}))),
            **maybe(rng, 0.3, podAntiAffinity=rng.choice(({"requiredDuringSchedulingIgnoredDuringExecution": [beside]},
                                                          {"preferredDuringSchedulingIgnoredDuringExecution": weighed})))}  # fmt: skip


def some_pod(name, rng, **fields):
    """Return a pod that asks for devices, ports, volumes of every sort, places and company."""
    requests = {**maybe(rng, 0.2, **{GPU: "1"}), **maybe(rng, 0.2, **{"ephemeral-storage": "2Gi"}), **maybe(rng, 0.3, memory=rng.choice(("100Mi", "2Gi", "20Gi")))}
    made = make.pod(name, *rng.sample(["c0", "c1", "c2", "none"], rng.choice((0, 1, 1, 2))), cpu=rng.choice(("100m", "1", "3")), requests=requests,
                    labels={"app": rng.choice(APPS), **maybe(rng, 0.5, version=rng.choice("12"))}, **fields)  # fmt: skip
    spec, container = made["spec"], made["spec"]["containers"][0]
    container |= maybe(rng, 0.25, ports=[{"containerPort": 80, "hostPort": rng.choice((80, 8080)), **maybe(rng, 0.3, protocol="UDP")}])
    spec |= {**maybe(rng, 0.4, topologySpreadConstraints=[some_constraint(rng) for _ in range(rng.randint(1, 2))]), **maybe(rng, 0.5, affinity=some_affinity(rng)),
             **maybe(rng, 0.3, nodeSelector={"disk": rng.choice(("ssd", "nvme"))}), **maybe(rng, 0.2, priorityClassName="high"),
             **maybe(rng, 0.2, initContainers=[{"name": "i", "resources": {"requests": {"cpu": "2"}}}]), **maybe(rng, 0.1, preemptionPolicy="Never"),
             **maybe(rng, 0.3, tolerations=[{"key": rng.choice(("old", "gpu")), "operator": "Exists", **maybe(rng, 0.4, effect=rng.choice(EFFECTS))}])}  # fmt: skip
    volumes = spec.setdefault("volumes", [])
    if rng.random() < 0.2:
        volumes.append({"name": "inline", "csi": {"driver": make.DRIVER, "volumeAttributes": {"size": rng.choice(("1Gi", "90Gi", "much"))}}})
    if rng.random() < 0.2:
        asked = {"accessModes": ["ReadWriteOnce"], "storageClassName": "late", "resources": {"requests": {"storage": "2Gi"}}}
        volumes.append({"name": "own", "ephemeral": {"volumeClaimTemplate": {"spec": asked}}})
    return made


def of_details(rng):
    """Return a cluster in which anything may be set."""
    names = [f"n{n}" for n in range(rng.randint(1, 6))]
    nodes = [some_node(name, rng) for name in names]
    driver = make.csi_driver(tracks=rng.choice((True, True, False, None)))
    csi = [make.csi_node(name, rng.choice((None, 1, 2)), topology_keys=rng.choice(((), (make.ZONE,), (make.HOST,)))) for name in rng.sample(names, len(names) // 2)]
    pools = [make.pool(f"pool-{n}", rng.choice((None, "1Gi", "50Gi")), **rng.choice(({"nodes": [rng.choice(names)]}, {"topology": {make.ZONE: [rng.choice(ZONES)]}})))
             for n in range(rng.randint(0, 3))]
    classes = [some_class("late", rng), some_class("now", rng)]
    claims = [some_claim(f"c{n}", rng) for n in range(3) if rng.random() < 0.85]
    volumes = [some_disk(f"v{n}", rng) for n in range(4) if rng.random() < 0.7]
    high = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 1000}
    running = [some_pod(f"r{n}", rng, running_on=rng.choice(names)) for n in range(rng.randint(0, 4))]
    budget = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "web", "namespace": "default"},
              "spec": {"selector": {"matchLabels": {"app": "web"}}, "minAvailable": 1}}  # fmt: skip
    sets = [make.stateful_set("db", 2, "late", cpu="500m"), make.deployment("front", 2, cpu=rng.choice(("100m", "3")))]
    objects = [*nodes, driver, *csi, *pools, *classes, *claims, *volumes, high, *running, *rng.sample([budget, *sets], rng.randint(0, 2)),
               *(some_pod(f"p{n}", rng, gates=rng.choice(((), (), (), ("a/b",)))) for n in range(rng.randint(1, 4)))]  # fmt: skip
    return Cluster.from_manifests(objects, revision=rng.choice(RULES[:3]), lenient=True), rng.choice((0, 2, 9, 40))
