"""`c.apply` as `kubectl apply`: strict, merged by what was applied last, all or nothing; and what it leaves is sound."""

import copy

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from manifests import pod
from measure.test_conform import RECORDED

from kvolsched.api.kinds.meta import evolve_parts
from kvolsched.api.text.fault import ManifestError
from kvolsched.api.text.manifest import to_plain
from kvolsched.api.validation.validate import validate
from kvolsched.cluster import Cluster
from kvolsched.controllers import admission
from kvolsched.core.results import ApplyRefused
from kvolsched.core.user_commands import LAST_APPLIED
from kvolsched.measure.conform import read

CLASS = """
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: local, labels: {a: "1", b: "1"}}
provisioner: kubernetes.io/no-provisioner
volumeBindingMode: WaitForFirstConsumer
"""
POD = """
apiVersion: v1
kind: Pod
metadata: {name: app}
spec:
  containers: [{name: app, image: "app:1"}]
"""


def test_created_configured_unchanged():
    """Kubectl's three words, a line an object; what was not wanted any more is gone, what others wrote is not."""
    cluster = Cluster()
    assert "storageclass.storage.k8s.io/local created\npod/app created" == repr(cluster.apply(CLASS, POD))
    assert "storageclass.storage.k8s.io/local unchanged" == repr(cluster.apply(CLASS))
    assert 1 == cluster.world.known_steps
    cluster._edit("sc/local", lambda old: with_label(old, "theirs", "yes"))
    assert "storageclass.storage.k8s.io/local configured" == repr(cluster.apply(CLASS.replace('a: "1", ', "")))
    assert {"b": "1", "theirs": "yes"} == cluster["sc/local"].metadata.labels


def with_label(obj, key, value):
    """The object with a label more."""
    return evolve_parts(obj, metadata={"labels": obj.metadata.labels.merged({key: value})})


def test_other_kinds_are_left_out_with_a_word():
    """What is not modelled is not stored, and the answer says so."""
    cluster = Cluster()
    said = cluster.apply("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\n---" + POD)

    assert "pod/app created\nconfigmap/settings left out: its kind is not modelled" == repr(said)


def test_a_replace_says_what_it_leaves_out():
    """As `apply` does: unknown fields and kinds that are not modelled, with a line on what is not read."""
    claim = "apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: gpu}\n---"
    inline = POD + "  volumes: [{name: v, csi: {driver: d, fsSize: 5Gi}}]\n"
    cluster, other = Cluster(), Cluster()
    said = [cluster.apply(claim + inline), other.apply(inline), other.replace(claim + inline)]

    warning, left_out = 'Warning: unknown field "spec.volumes[0].csi.fsSize"', "resourceclaim/gpu left out: its kind is not modelled"
    assert [f"{warning}\npod/app {done}\n{left_out}" for done in ("created", "replaced")] == [repr(each) for each in said[::2]]
    assert said[2].warnings == said[0].warnings == (warning,)
    assert cluster.not_read == other.not_read == {"ResourceClaim": frozenset({"/gpu"})}


def test_nothing_is_applied_while_nobody_answers():
    """Manifests without an object ask nothing of the API server, so its outage refuses nothing."""
    cluster = Cluster()
    cluster.outage(seconds=10)

    assert "" == repr(cluster.apply("---\n# nothing\n"))
    with pytest.raises(ApplyRefused, match="connection"):
        cluster.apply(POD)


def test_the_manifest_is_remembered():
    """In kubectl's annotation, as kubectl writes it: sorted, with the namespace, quantities as they were spelled."""
    cluster = Cluster()
    cluster.apply(POD.replace("image:", "resources: {requests: {cpu: 1000m}}, image:"))

    assert cluster["pod/app"].metadata.annotations[LAST_APPLIED] == (
        '{"apiVersion":"v1","kind":"Pod","metadata":{"annotations":{},"name":"app","namespace":"default"},"spec":'
        '{"containers":[{"image":"app:1","name":"app","resources":{"requests":{"cpu":"1000m"}}}]}}\n'
    )
    assert "1" == cluster["pod/app"].spec.containers[0].resources.requests["cpu"]


def test_what_was_loaded_loses_nothing():
    """Nobody knows what was applied to an object that was found: a manifest adds to it and takes nothing away."""
    cluster = Cluster.from_manifests(CLASS)

    assert "storageclass.storage.k8s.io/local configured" == repr(cluster.apply(CLASS.replace('a: "1", ', "")))
    assert {"a": "1", "b": "1"} == cluster["sc/local"].metadata.labels


def test_a_manifest_taken_from_the_cluster_says_nothing_new():
    """What the server alone writes, versions and times, is not taken for the user's word."""
    cluster = Cluster.from_manifests(CLASS)
    taken = cluster.manifests()
    cluster._edit("sc/local", lambda old: with_label(old, "a", "2"))
    cluster.apply(taken)

    assert "1" == cluster["sc/local"].metadata.labels["a"]


def test_all_faults_at_once_and_nothing_applied():
    """Each refused object is named with all its faults, in kubectl's words; those beside it are not created either."""
    cluster = Cluster.from_manifests(CLASS)
    before = cluster.manifests()
    wrong = POD.replace("name: app}\n", "name: bad, labels: {a b: c}}\n").replace('image: "app:1"', 'image: ""')
    with pytest.raises(ApplyRefused) as caught:
        cluster.apply(POD, wrong, CLASS.replace("WaitForFirstConsumer", "Immediate"), POD.replace("name: app}\n", "name: gold}\n") + "  priorityClassName: gold\n")

    assert before == cluster.manifests()
    assert 0 == cluster.world.known_steps
    assert caught.value.lines == (
        ('The Pod "bad" is invalid: \n* metadata.labels: Invalid value: "a b": name part must consist of alphanumeric '
        "characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  "
        "or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
        "\n* spec.containers[0].image: Required value"),
        'The StorageClass "local" is invalid: volumeBindingMode: Invalid value: "Immediate": field is immutable',
        'Error from server (Forbidden): pods "gold" is forbidden: no PriorityClass with name gold was found',
    )


def test_a_known_future_survives_a_refusal():
    """Whoever went back and is refused can still go forward: nothing happened."""
    cluster = Cluster()
    cluster.apply(CLASS)
    cluster.apply(POD)
    cluster.goto(1)
    with pytest.raises(ApplyRefused):
        cluster.apply(CLASS.replace("WaitForFirstConsumer", "Immediate"))
    cluster.goto(2)

    assert "pod/app" in cluster


def test_unknown_fields_and_types_are_refused_before_anything():
    """Reading is strict: every unknown field and wrong type of every document, with line and path."""
    cluster = Cluster()
    with pytest.raises(ManifestError) as caught:
        cluster.apply(POD + "  restartPolice: Never\n---" + CLASS + "allowVolumeExpansion: perhaps\n")

    assert ["spec.restartPolice", "allowVolumeExpansion"] == [fault.path for fault in caught.value.faults]
    assert [] == cluster.objects("pods")


def test_apply_needs_names():
    """A generateName is for create: apply could not find its object again."""
    with pytest.raises(ManifestError, match=r"pod/app-: metadata\.generateName: apply finds objects by their names"):
        Cluster().apply(POD.replace("name: app}\n", "generateName: app-}\n"))


def test_nothing_is_born_dying():
    """A deletion time and its grace, as dumps of terminating pods hold them, are dropped on creation."""
    cluster = Cluster()
    cluster.apply(POD.replace("name: app}\n", 'name: app, deletionTimestamp: "2026-01-01T00:00:00Z", deletionGracePeriodSeconds: 9}\n'))

    assert (None, None) == (cluster["pod/app"].metadata.deletion_timestamp, cluster["pod/app"].metadata.deletion_grace_period_seconds)


def test_too_much_to_remember():
    """Annotations of more than 256 KiB are refused, the remembered manifest included."""
    with pytest.raises(ApplyRefused, match=r"metadata.annotations: Too long: may not be more than 262144 bytes"):
        Cluster().apply({**pod(), "metadata": {"name": "app", "annotations": {"a": "x" * 200_000}}})


# --- properties ------------------------------------------------------------------------------------------------------

MANIFESTS = [recorded.case[place] for recorded in read(RECORDED / "apply.jsonl.gz") for place in ("first", "second")]
MANIFESTS += [recorded.case["new"] for recorded in read(RECORDED / "api.jsonl.gz")]
BY_KIND = {kind: [one for one in MANIFESTS if one["kind"] == kind] for kind in {one["kind"] for one in MANIFESTS}}


def crossed(one, other, keep):
    """A manifest with parts of another of its kind, as a draw decides; deeper parts are crossed themselves."""
    if not isinstance(one, dict) or not isinstance(other, dict):
        return copy.deepcopy(one if keep() else other)
    merged = {}
    for name in sorted({*one, *other}):
        if name in one and name in other:
            merged[name] = crossed(one[name], other[name], keep)
        elif keep():
            merged[name] = copy.deepcopy(one.get(name, other.get(name)))
    return merged


@st.composite
def manifests(draw, count=1):
    """Manifests of one kind and name, right and wrong: crossed from recorded ones."""
    kind = draw(st.sampled_from(sorted(BY_KIND)))
    made = []
    for _ in range(count):
        one, other = draw(st.sampled_from(BY_KIND[kind])), draw(st.sampled_from(BY_KIND[kind]))
        rare = draw(st.integers(0, 2**16))
        bits = iter(range(10**6))
        plain = crossed(one, other, lambda rare=rare, bits=bits: (rare >> next(bits) % 16) & 1 == 0)
        plain |= {"apiVersion": one["apiVersion"], "kind": kind}
        name = "x" if plain.get("metadata", {}).get("name", "").islower() else plain.get("metadata", {}).get("name", "X X")
        plain["metadata"] = {**plain.get("metadata", {}), "name": name}
        made.append(plain)
    return made


def tried(cluster, plain):
    """Apply a manifest; whether that was done."""
    try:
        cluster.apply(plain)
    except (ApplyRefused, ManifestError):
        return False
    return True


def contents(cluster):
    """Everything in a cluster, with the place of its log."""
    return dict(cluster.world.log.objects), dict(cluster.world.log.notes), cluster.world.log.place, cluster.world.known_steps


FEW = settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


@FEW
@given(manifests(2))
def test_applying_twice_is_applying_once(pair):
    """Whatever was there: the second time changes nothing, and what is refused changes nothing at all."""
    cluster = Cluster("upstream")
    for plain in pair:
        before = contents(cluster)
        if not tried(cluster, plain):
            assert before == contents(cluster)
            continue
        objects = dict(cluster.world.log.objects)
        assert tried(cluster, plain)
        assert objects == cluster.world.log.objects


@FEW
@given(manifests(2))
def test_what_is_stored_would_be_stored_again(pair):
    """Every stored object passes validation, and an update that changes nothing leaves it as it is."""
    cluster = Cluster("upstream")
    for plain in pair:
        tried(cluster, plain)
        for stored in cluster.world.log.objects.values():
            assert [] == validate(stored)
            assert stored == admission.DEFAULT_ADMISSION("update", stored, stored, cluster.world.log), to_plain(stored)
