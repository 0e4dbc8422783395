"""kubectl's output equals that of the real kubectl, byte for byte; and output that no recording shows."""

import json
import re
from datetime import UTC, datetime
from pathlib import Path

import manifests
import pytest

from kvolsched.api.kinds import quantity
from kvolsched.api.kinds.kind import KINDS_BY_NAME, find_kind
from kvolsched.api.text import manifest
from kvolsched.cluster import Cluster
from kvolsched.kubectl import describe, formatting, get
from kvolsched.kubectl.get_command import describe_object, make_table
from kvolsched.kubectl.resource_lookup import find_keys
from kvolsched.measure.conform import read
from kvolsched.measure.conform.kubectl import expected
from kvolsched.world.apiserver import key_of

RECORDED = Path(__file__).parent.parent / "conformance" / "kubectl"
TEXTS = sorted(path.relative_to(RECORDED).as_posix() for path in RECORDED.glob("*/*.txt"))
NOW = datetime(2026, 2, 10, 12, tzinfo=UTC)
SPECIAL = {  # what stands after `get-` in a file's name: the kind, and how it was asked for
    "all-namespaces-pods": ("pods", {"namespace": None}),
    "pods-show-labels": ("pods", {"show_labels": True}),
    "pods-wide": ("pods", {"wide": True}),
}


def list_objects(objects, kind, namespace, now, *, wide=False, show_labels=False):
    """Return the table of all objects of a kind; a namespace of None stands for all."""
    return make_table(objects, kind, find_keys(objects, kind, namespace), namespace, now, wide=wide, show_labels=show_labels)



def world(*objects):
    """Index objects, given plain or typed, by key."""
    typed = [manifest.from_plain(obj) if isinstance(obj, dict) else obj for obj in objects]
    return {key_of(obj): obj for obj in typed}


def recorded(case):
    """Read a recorded cluster: its objects of modelled kinds, and when it was asked."""
    plain = json.loads((RECORDED / case / "objects.json").read_text(encoding="utf-8"))["items"]
    now = json.loads((RECORDED / case / "case.json").read_text(encoding="utf-8"))["now"]
    return world(*(obj for obj in plain if obj["kind"] in KINDS_BY_NAME)), formatting.parse_time(now)


def printed(text):
    """Print what a recorded text shows, by the name of its file."""
    case, _, file = text.partition("/")
    objects, now = recorded(case)
    verb, _, rest = file.removesuffix(".txt").partition("-")
    if verb == "get":
        word, options = SPECIAL.get(rest, (rest, {}))
        return f"{list_objects(objects, find_kind(word), **{'namespace': 'demo', 'now': now, **options})}\n"
    word, _, name = rest.partition("-")
    kind = find_kind(word)
    key = next(key for key in objects if key.kind == kind.name and key.name == name)
    return f"{describe_object(objects, key, now)}\n"


def mended(text, said):
    """Give back the one space that moving the recordings in time took from the ages of pods in `describe node`.

    `40d` stands there in the place of an age of two characters, flush right; kubectl's own table is flush left.
    """
    return re.sub(r"(\(\d+%\) +)40d$", r"\1 40d", said, flags=re.MULTILINE) if "describe-node-" in text else said


@pytest.mark.parametrize("text", TEXTS)
def test_the_text_is_kubectls(text):
    """Every recorded text of a modelled kind is printed byte for byte."""
    expected = mended(text, (RECORDED / text).read_text(encoding="utf-8"))

    assert expected == printed(text)


def test_only_seven_recordings_are_mended():
    """The space is missing where a node has pods, and nowhere else."""
    said = {text: (RECORDED / text).read_text(encoding="utf-8") for text in TEXTS}

    assert len(TEXTS) == 213
    assert sum(mended(text, words) != words for text, words in said.items()) == 7


# -- ages and columns ---------------------------------------------------------------------------


@pytest.mark.parametrize(("seconds", "expected"), [
    (-5, "<invalid>"), (-1.5, "0s"), (0, "0s"), (119.9, "119s"), (120, "2m"), (125, "2m5s"), (599, "9m59s"), (600, "10m"),
    (10_799, "179m"), (10_800, "3h"), (11_520, "3h12m"), (28_800, "8h"), (172_799, "47h"), (172_800, "2d"),
    (176_400, "2d1h"), (691_200, "8d"), (63_071_999, "729d"), (63_072_000, "2y"), (64_022_400, "2y11d"),
    (252_288_000, "8y"), (253_238_400, "8y"),
])
def test_ages_get_coarser_as_they_grow(seconds, expected):
    """Two units up to a bound, then one: kubectl's thresholds."""
    assert expected == formatting.format_duration(seconds)


def test_a_column_ends_where_a_line_has_no_cell():
    """Columns align over neighbouring lines only; what follows the last tab has no column."""
    lines = ["a\tb", "longer\tc", "alone", "x\ty\tz", "xx\tyyyy\tzz"]
    expected = "a       b\nlonger  c\nalone\nx   y     z\nxx  yyyy  zz"

    assert expected == formatting.align_columns(lines)


def test_no_terminal_is_steered_by_a_manifest():
    """An escape character of a manifest is printed as `^[`, as kubectl does."""
    assert "^[[31mred" == formatting.align_columns(["\x1b[31mred"])


@pytest.mark.parametrize(("texts", "expected"), [
    ((), "0"), (("500m", "1500m"), "2"), (("1Gi", "512Mi"), "1536Mi"), (("0", "1Gi"), "1Gi"), (("1Gi", "1G"), "2073741824"),
    (("100m", "0.5m"), "100500u"),
])
def test_sums_keep_the_manner_of_the_first(texts, expected):
    """A sum of quantities is binary if its first part is, and canonical."""
    assert expected == quantity.total(texts)


# -- words of pods ------------------------------------------------------------------------------


def pod(status=None, metadata=None, **spec):
    """Return a pod that was created a minute before now."""
    plain = manifests.pod("p", uid="u", status=status or {"phase": "Pending"}, **spec)
    return {**plain, "metadata": {**plain["metadata"], "creationTimestamp": "2026-02-10T11:59:00Z", **(metadata or {})}}


def state(restarts=0, **state):
    """Make the status of the container."""
    return {"name": "app", "ready": "running" in state, "restartCount": restarts, "state": state,
            "image": "", "imageID": ""}


GONE = {"deletionTimestamp": "2026-02-10T12:00:00Z", "deletionGracePeriodSeconds": 30}
WAITING = {"type": "PodScheduled", "status": "False", "reason": "SchedulingGated"}


@pytest.mark.parametrize(("obj", "expected"), [
    (pod(), ("0/1", "Pending", "0")),
    (pod({"phase": "Pending", "conditions": [WAITING]}), ("0/1", "SchedulingGated", "0")),
    (pod({"phase": "Running"}, GONE), ("0/1", "Terminating", "0")),
    (pod({"phase": "Succeeded"}, GONE), ("0/1", "Succeeded", "0")),
    (pod({"phase": "Running", "reason": "NodeLost"}, GONE), ("0/1", "Unknown", "0")),
    (pod({"phase": "Failed", "reason": "Evicted"}), ("0/1", "Evicted", "0")),
    (pod({"phase": "Pending", "containerStatuses": [state(waiting={"reason": "ImagePullBackOff"})]}),
     ("0/1", "ImagePullBackOff", "0")),
    (pod({"phase": "Running", "containerStatuses": [state(2, running={})]}), ("1/1", "Running", "2")),
    (pod({"phase": "Succeeded", "containerStatuses": [state(terminated={"exitCode": 0, "reason": "Completed"})]}),
     ("0/1", "Completed", "0")),
    (pod({"phase": "Failed", "containerStatuses": [state(terminated={"exitCode": 3})]}), ("0/1", "ExitCode:3", "0")),
    (pod({"phase": "Pending", "initContainerStatuses": [state(running={})]}, initContainers=[{"name": "app"}]),
     ("0/1", "Init:0/1", "0")),
    (pod({"phase": "Pending", "initContainerStatuses": [state(1, terminated={"exitCode": 1, "reason": "Error"})]},
         initContainers=[{"name": "app"}]), ("0/1", "Init:Error", "1")),
    (pod({"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}), ("1/1", "Running", "0")),
])  # fmt: skip
def test_the_words_of_a_pod(obj, expected):
    """READY, STATUS and RESTARTS follow gates, init containers, containers and deletion."""
    assert expected == list_objects(world(obj), find_kind("pod"), "default", NOW).rows[0][1:4]


def test_a_restart_says_how_long_ago_it_was():
    """RESTARTS counts, and adds the age of the last end."""
    status = state(3, running={}) | {"lastState": {"terminated": {"exitCode": 1, "finishedAt": "2026-02-10T11:55:00Z"}}}
    shown = list_objects(world(pod({"phase": "Running", "containerStatuses": [status]})), find_kind("pod"), "default", NOW)

    assert "3 (5m ago)" == shown.rows[0][3]


@pytest.mark.parametrize(("resources", "expected"), [
    ({}, "BestEffort"),
    ({"requests": {"cpu": "1"}}, "Burstable"),
    ({"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"cpu": "1", "memory": "1Gi"}}, "Guaranteed"),
    ({"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"cpu": "2", "memory": "1Gi"}}, "Burstable"),
])
def test_quality_is_computed_where_no_kubelet_says_it(resources, expected):
    """`QoS Class` follows from requests and limits."""
    objects = world(pod(containers=[{"name": "app", "resources": resources}]))

    assert f"QoS Class:        {expected}" in lines(objects, "Pod")


def lines(objects, kind):
    """Describe the only object of a kind."""
    key = next(key for key in objects if key.kind == kind)
    return re.sub(r"(?m)^(QoS Class:) +", r"\1        ", describe_object(objects, key, NOW)).split("\n")


def test_a_terminating_pod_says_since_when():
    """A deleted pod that still runs is Terminating, with its grace."""
    said = lines(world(pod({"phase": "Running"}, {**GONE, "deletionTimestamp": "2026-02-10T11:58:00Z"})), "Pod")

    assert ["Status:                    Terminating (lasts 2m)", "Termination Grace Period:  30s"] == [
        line for line in said if "Termin" in line]


def test_a_generic_ephemeral_volume_is_indented_as_kubectl_does():
    """The nested writer of kubectl indents the values of labels once more."""
    template = {"metadata": {"labels": {"a": "1", "b": "2"}},
                "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "fast",
                         "resources": {"requests": {"storage": "1Gi"}}}}
    objects = world(pod(volumes=[{"name": "scratch", "ephemeral": {"volumeClaimTemplate": template}}]))
    said = lines(objects, "Pod")
    start = said.index("  scratch:")

    assert [
        "    StorageClass:  fast",
        "    Volume:        ",
        "    Labels:            a=1",
        "                       b=2",
        "    Annotations:       <none>",
    ] == said[start + 2:start + 7]


# -- events -------------------------------------------------------------------------------------


def event(name, reason, last=None, source="persistentvolume-controller", **more):
    """Make an Event about the pod."""
    return {
        "apiVersion": "v1", "kind": "Event", "metadata": {"name": name, "namespace": "default", "uid": name},
        "involvedObject": {"kind": "Pod", "namespace": "default", "name": "p", "uid": "u"}, "type": "Normal",
        "reason": reason, "message": reason.lower(), "source": {"component": source}, "firstTimestamp": last,
        "lastTimestamp": last, "count": 1, **more,
    }


def test_describe_shows_the_schedulers_events_first():
    """Events go by the time of the last; the scheduler's have none, so they lead; another pod's uid is another's event."""
    early, late = "2026-02-10T11:00:00Z", "2026-02-10T11:30:00Z"
    series = {"count": 4, "lastObservedTime": "2026-02-10T11:59:50.000000Z"}
    objects = world(
        pod(), event("p.1", "Late", late), event("p.2", "Early", early),
        event("p.3", "Scheduled", source="", reportingComponent="default-scheduler",
              eventTime="2026-02-10T11:59:00.000000Z", series=series),
        event("p.4", "Simulated", late, "default-scheduler"),
        event("p.5", "Other", involvedObject={"kind": "Pod", "namespace": "default", "name": "p", "uid": "older"}),
    )
    said = lines(objects, "Pod")
    shown = [line.split()[1] for line in said[said.index("Events:") + 3:]]

    assert ["Scheduled", "Simulated", "Early", "Late"] == shown
    assert any("10s (x4 over 60s)  default-scheduler" in line for line in said)


def test_a_table_shows_the_first_line_of_a_message():
    """What follows a line break is dots, so that a table stays one."""
    objects = world(event("p.1", "Failed", "2026-02-10T11:59:00Z", message="one\ntwo"))

    assert "one..." == list_objects(objects, find_kind("events"), None, NOW).rows[0][-1]


# -- the other kinds ----------------------------------------------------------------------------

SOME = [
    {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop", "creationTimestamp": "2026-02-10T10:00:00Z"}},
    {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "provisioner": "csi.example.com",
     "metadata": {"name": "fast", "annotations": {"storageclass.kubernetes.io/is-default-class": "true"}},
     "allowedTopologies": [{"matchLabelExpressions": [{"key": "zone", "values": ["a", "b"]}]}]},
    {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n", "labels": {"node-role.kubernetes.io/control-plane": ""}},
     "spec": {"unschedulable": True}, "status": {"addresses": [{"type": "InternalIP", "address": "10.0.0.1"}]}},
    {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "disk", **GONE}, "status": {"phase": "Bound"},
     "spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteMany", "ReadWriteOnce"], "volumeMode": "Block",
              "csi": {"driver": "d", "volumeHandle": "h", "volumeAttributes": {"a": "1", "b": "2"}}}},
]  # fmt: skip


@pytest.mark.parametrize(("kind", "expected"), [
    ("ns", "NAME   STATUS   AGE\nshop   Active   120m"),
    ("sc", ("NAME             PROVISIONER       RECLAIMPOLICY   VOLUMEBINDINGMODE   ALLOWVOLUMEEXPANSION   AGE\n"
           "fast (default)   csi.example.com   Delete          Immediate           false                  <unknown>")),
    ("nodes", ("NAME   STATUS                       ROLES           AGE         VERSION   INTERNAL-IP   EXTERNAL-IP   "
              "OS-IMAGE    KERNEL-VERSION   CONTAINER-RUNTIME\n"
              "n      Unknown,SchedulingDisabled   control-plane   <unknown>             10.0.0.1      <none>        "
              "<unknown>   <unknown>        <unknown>")),
    ("pv", ("NAME   CAPACITY   ACCESS MODES   RECLAIM POLICY   STATUS        CLAIM   STORAGECLASS   VOLUMEATTRIBUTESCLASS"
           "   REASON   AGE         VOLUMEMODE\n"
           "disk   1Gi        RWO,RWX                         Terminating                          <unset>               "
           "           <unknown>   Block")),
])  # fmt: skip
def test_wide_tables(kind, expected):
    """What no recording lists: namespaces, default classes, roles, wide nodes and volumes on their way out."""
    assert expected == repr(list_objects(world(*SOME), find_kind(kind), None, NOW, wide=True))


def test_what_describe_says_of_sources_and_topologies():
    """Attributes of a CSI volume are indented as kubectl does; a class lists its allowed topologies."""
    objects = world(*SOME)

    assert "    VolumeAttributes:      a=1" in lines(objects, "PersistentVolume")
    assert "                           b=2" in lines(objects, "PersistentVolume")
    assert "  Term 0:              zone in [a, b]" in lines(objects, "StorageClass")
    assert "No resource quota." in lines(objects, "Namespace")


def test_quotas_and_limits_are_described_without_events():
    """Kubectl asks for no events of them; what it says of a scope stands behind one space, in a namespace behind two."""
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "few"},
             "spec": {"hard": {"pods": "1"}, "scopes": ["BestEffort"]}}
    limits = {"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "small"},
              "spec": {"limits": [{"type": "Container", "max": {"cpu": "1"}}]}}
    c = Cluster.from_manifests([quota, limits, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default"}}])
    said = [str(describe(c, each)) for each in ("quota/few", "limits/small", "ns/default")]

    assert ["Events" in each for each in said] == [False] * 3
    help_lines = [line for each in said for line in each.splitlines() if "*" in line]
    assert [line.partition("*")[0] for line in help_lines] == [" ", "  "]


def test_kinds_without_a_describer_show_their_fields():
    """An Event is described field by field, under readable labels."""
    said = lines(world(event("p.1", "Failed", "2026-02-10T11:59:00Z")), "Event")

    assert "API Version:  v1" in [re.sub(" +", " ", line).replace(": ", ":  ") for line in said]
    assert "Involved Object:" in said


# -- the face -----------------------------------------------------------------------------------


def test_a_cluster_answers_as_of_its_own_clock():
    """`get` and `describe` read the objects of now, in the namespace asked for, at the simulated time."""
    cluster = Cluster()
    cluster._load([manifest.from_plain(pod(metadata={"creationTimestamp": "2025-12-31T23:00:00Z"}))])

    assert "NAME   READY   STATUS    RESTARTS   AGE\np      0/1     Pending   0          60m" == repr(get(cluster, "po"))
    assert "No resources found in shop namespace." == repr(get(cluster, "pods", "shop"))
    assert "default" == get(cluster, "pods", "shop", all_namespaces=True).rows[0][0]
    assert repr(describe(cluster, "pod/p")).startswith("Name:         p\nNamespace:    default\n")


def test_what_is_not_there_is_refused_by_name():
    """An unknown kind or object is a KeyError that says which there are."""
    cluster = Cluster()

    with pytest.raises(KeyError, match="known: namespaces, nodes"):
        get(cluster, "llamas")
    with pytest.raises(KeyError, match="none of that kind"):
        describe(cluster, "pod/p")


def test_conform_puts_right_what_the_recorder_moved_and_nothing_else():
    """The expected texts are the recorded ones but for seven ages, by the births of the pods alone."""
    changed = 0
    for case in read(RECORDED):
        given = case.case
        for texts in expected(given).values():
            for file, lines in texts.items():
                text = given["expect"][file.removesuffix(".txt")]
                assert mended(f"x/{file}", text).split("\n") == list(lines.values())
                changed += text.split("\n") != list(lines.values())

    assert 7 == changed
