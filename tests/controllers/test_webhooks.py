"""Admission webhooks of a reader: when they are asked, what they may answer, and Kubernetes' words when they do not."""

import pytest
from manifests import ZONE, claim, node, pod, storage_class

from kvolsched import Cluster
from kvolsched.core.results import ApplyRefused

REPLICAS = {
    "apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": "web"},
    "spec": {"replicas": 2, "selector": {"matchLabels": {"app": "web"}}, "template": {
        "metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "app", "image": "pause"}]}}},
}  # fmt: skip
POST = 'failed to call webhook: Post "https://policy.default.svc:443/validate?timeout=10s": '


def allow(_new, _old):
    """Allow everything."""
    return True


def said(act, *args):
    """Return what kubectl prints of a refusal, "" if there is none."""
    try:
        act(*args)
    except ApplyRefused as refused:
        return "\n".join(refused.lines)
    return ""


@pytest.fixture
def cluster():
    """Return a cluster of two nodes in two zones."""
    return Cluster.from_manifests([node("n1", "a"), node("n2", "b")])


@pytest.mark.parametrize(("answer", "words"), [
    ("no latest tags", 'admission webhook "policy.example.com" denied the request: no latest tags'),
    (False, 'admission webhook "policy.example.com" denied the request without explanation'),
])
@pytest.mark.parametrize("which", ["mutate", "validate"])
def test_a_refusal_in_kubernetes_words(cluster, which, answer, words):
    """A webhook that refuses makes the write Forbidden, code 403, with its reason if it has one."""
    c = cluster.with_webhook(**{which: lambda _new, _old: answer})
    assert f"Error from server (Forbidden): {words}" == said(c.apply, pod())
    assert "pod/app" not in c
    assert {403: 1} == c.requests().count(by="code")


@pytest.mark.parametrize("answer", [None, True])
def test_what_allows(cluster, answer):
    """None and True leave the write as it is."""
    c = cluster.with_webhook(mutate=lambda _new, _old: answer, validate=lambda _new, _old: answer)
    assert "" == said(c.apply, pod())
    assert {} == dict(c["pod/app"].metadata.labels)


def test_a_mutation_is_a_merge_patch_a_manifest_or_an_object(cluster):
    """A mutating webhook answers with what changes, with a whole manifest, or with an object."""
    patch = {"spec": {"nodeSelector": {ZONE: "b"}}}
    whole = pod(nodeSelector={ZONE: "b"})
    made = Cluster.from_manifests([whole])["pod/app"]
    for answer in (patch, whole, made):
        c = cluster.with_webhook(mutate=lambda _new, _old, answer=answer: answer)
        c.apply(pod())
        c.run()
        assert "n2" == c["pod/app"].spec.node_name


def test_mutating_ones_are_asked_by_name_before_validation_and_validating_ones_after(cluster):
    """Each mutating webhook sees what the one before made; what they made is validated; validating ones see the whole."""
    order = []

    def step(word):
        def mutate(new, _old):
            order.append((word, dict(new.metadata.labels)))
            return {"metadata": {"labels": {word: "yes"}}}
        return mutate

    def last(new, old):
        order.append(("last", new.spec.restart_policy, old))
        return True

    c = cluster.with_webhook(mutate=step("second"), name="b.example.com")
    c = c.with_webhook(mutate=step("first"), validate=last, name="a.example.com")
    c.apply(pod())
    assert [("first", {}), ("second", {"first": "yes"}), ("last", "Always", None)] == order
    wrong = cluster.with_webhook(mutate=lambda _new, _old: {"spec": {"nodeSelector": {"a b": "c"}}}, validate=step("asked"))
    assert said(wrong.apply, pod()).startswith('The Pod "app" is invalid: spec.nodeSelector: Invalid value: "a b"')
    assert 3 == len(order)


def test_only_its_kinds_and_verbs(cluster):
    """It is asked about its kinds and operations alone; a status update, a binding and an Event are none of them."""
    asked = []

    def validate(new, old):
        asked.append(("create" if old is None else "delete" if new is None else "update", (new or old).kind))

    c = cluster.with_webhook(validate=validate, kinds=["po", "pvc"], verbs=["create", "update", "delete"])
    c.apply(pod("app", "data"), claim(), storage_class())
    c.run("pod/app Running")
    c.apply(pod("app", "data", labels={"x": "y"}))
    c.delete("pod/app")
    c.run()
    assert [("create", "Pod"), ("create", "PersistentVolumeClaim")] == asked[:2]
    assert ("update", "Pod") in asked
    assert ("delete", "Pod") in asked
    assert {"Pod", "PersistentVolumeClaim"} == {kind for _, kind in asked}


def test_an_error_of_the_function_is_a_failed_call_with_its_line(cluster):
    """An exception is an error on the webhook's server, told with the line of the function; no traceback."""
    def labelled(new, _old):
        wanted = "team"
        return new.metadata.labels[wanted] == "ops"

    c = cluster.with_webhook(validate=labelled)
    assert (
        'Error from server (InternalError): Internal error occurred: failed calling webhook "policy.example.com": '
        "failed to call webhook: an error on the server (\"KeyError: 'team' (line 3 of labelled)\") has prevented the "
        "request from succeeding"
    ) == said(c.apply, pod())
    assert {500: 1} == c.requests().count()


@pytest.mark.parametrize(("which", "answer", "words"), [
    ("mutate", {"spec": {"nonsense": 1}}, "spec.nonsense: unknown field"),
    ("mutate", 42, "42"),
    ("mutate", pod("other"), "it names another object than the request"),
    ("validate", 42, "42 is neither True, False nor a reason"),
])
def test_an_answer_without_sense_is_a_failed_call(cluster, which, answer, words):
    """What is no object, or another one, is an invalid response; with the failure policy Ignore it changes nothing."""
    hook = {which: lambda _new, _old: answer}
    told = said(cluster.with_webhook(**hook).apply, pod())
    assert 'failed calling webhook "policy.example.com": received invalid webhook response: ' in told
    assert words in told
    assert "" == said(cluster.with_webhook(**hook, on_failure="Ignore").apply, pod())


def test_absent_and_back(cluster):
    """While a webhook is out, connections are refused: writes fail, or pass if its failure policy is Ignore."""
    for policy, words in (("Fail", POST + "dial tcp 10.96.0.100:443: connect: connection refused"), ("Ignore", "")):
        c = cluster.with_webhook(validate=allow, on_failure=policy)
        c.apply(REPLICAS)
        c.outage("policy.example.com", 5)
        assert ("" if not words else
                f'Error from server (InternalError): Internal error occurred: failed calling webhook "policy.example.com": {words}'
                ) == said(c.apply, pod())
        c.run()
        assert ["Running"] * 2 == [each.status.phase for each in c.objects("pods") if each.metadata.name.startswith("web")]
        assert (c.now >= 5) == (policy == "Fail")


def test_a_slow_one_keeps_only_its_caller_waiting(cluster):
    """A write waits for the answer; meanwhile others act, and the caller's component sees on, but writes nothing."""
    c = cluster.with_webhook(validate=allow, slow=3)
    c.apply(REPLICAS)
    c.run()
    created = c.requests(verb="POST", resource="pods", by="replicaset-controller", subresource="")
    assert [3.0, 6.0] == [each.time for each in created]
    first = created[0].name
    bound = c.requests(subresource="binding", name=first)[0]
    assert bound.time < created[1].time
    assert "sent, the answer takes 3 s" in repr(c.goto(2))


def test_too_slow_is_a_timeout(cluster):
    """After its timeout a call fails with Kubernetes' words; a command waits as long, and time passes for everybody."""
    c = cluster.with_webhook(validate=allow, slow=30)
    c.apply(REPLICAS)
    assert said(c.apply, pod()).endswith(POST + "context deadline exceeded")
    assert 10.0 == c.now
    assert [10.0, 10.0] == [each.time for each in c.requests(code=500)]
    failing = c.requests(by="replicaset-controller", reason="InternalError")
    assert failing[0].message.endswith("context deadline exceeded")
    c.back(c.world.step_number)
    assert (0.0, 0) == (c.now, len(c.requests()))


@pytest.mark.parametrize(("options", "words"), [
    ({"name": "policy"}, "webhook name: 'policy': should be a domain with at least three segments separated by dots"),
    ({"on_failure": "Maybe"}, "webhook policy.example.com: on_failure: 'Maybe' is none of Fail, Ignore"),
    ({"verbs": "patch"}, "webhook policy.example.com: verbs: 'patch' is none of create, update, delete"),
    ({"timeout": 31}, "webhook policy.example.com: timeout: 31: must be between 1 and 30 seconds"),
    ({"slow": -1}, "webhook policy.example.com: slow: -1: must not be negative"),
    ({"kinds": []}, "webhook policy.example.com: kinds: name at least one, such as 'pods'"),
    ({"validate": None}, "webhook policy.example.com: give it a function `mutate`, `validate` or both"),
])
def test_a_wrong_webhook_is_refused(cluster, options, words):
    """One clear error names the webhook, the field, the rule and the value."""
    with pytest.raises(ValueError, match=words.replace("(", r"\(")):
        cluster.with_webhook(**{"validate": allow, **options})
    with pytest.raises(KeyError, match="unknown kind 'unicorns'"):
        cluster.with_webhook(validate=allow, kinds="unicorns")
    with pytest.raises(ValueError, match="Duplicate value"):
        cluster.with_webhook(validate=allow).with_webhook(validate=allow)


def test_the_original_is_as_before(cluster):
    """A cluster with a webhook is a fork: the original asks nobody."""
    cluster.with_webhook(validate=lambda _new, _old: False)
    assert "" == said(cluster.apply, pod())


def test_an_explorer_searches_over_it(cluster):
    """Every order of turns is searched under a slow webhook that refuses one node: the pods still run, in every order."""
    def gate(new, old):
        return None if old is not None else {"spec": {"nodeSelector": {ZONE: "b"}}}

    c = cluster.with_webhook(mutate=gate, slow=2)
    c.apply({**REPLICAS, "spec": {**REPLICAS["spec"], "replicas": 1}})
    found = c.explore(progress=False)
    assert found.exhausted
    assert not found
    assert {True} == {"on n2" in end.words for end in found.outcomes}
