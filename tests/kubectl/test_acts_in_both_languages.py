"""A method of the cluster and kubectl's command of the same word are one act: same objects, steps, requests, refusal."""

import pytest

from kvolsched import ApplyRefused, Cluster, make
from kvolsched.core.user_commands import ActRefused

TAINT = "node n1 already has k taint(s) with same effect(s) and --overwrite is false"
ALONE = 'unable to drain node "n1" due to error: cannot delete Pods that declare no controller (use --force to override): default/web-0'
ACTS = [  # method and its arguments, kubectl's words, what both say: lines, or a refusal
    (("cordon", "n1"), "cordon n1", "node/n1 cordoned"),
    (("cordon", "n2"), "cordon n2", "node/n2 already cordoned"),
    (("uncordon", "n2"), "uncordon n2", "node/n2 uncordoned"),
    (("uncordon", "n1"), "uncordon n1", "node/n1 already uncordoned"),
    (("taint", "n1", "k:NoSchedule"), "taint node n1 k:NoSchedule", "node/n1 tainted"),
    (("taint", "n1", "k=v:NoSchedule", "x=y:NoExecute"), "taint nodes n1 k=v:NoSchedule x=y:NoExecute", "node/n1 tainted"),
    (("taint", "n2", "k-"), "taint node n2 k-", "node/n2 untainted"),
    (("taint", "n2", "k=w:NoSchedule", "--overwrite"), "taint node n2 k=w:NoSchedule --overwrite", "node/n2 modified"),
    (("taint", "n2", "k=w:NoSchedule"), "taint node n2 k=w:NoSchedule", ActRefused(TAINT.replace("n1", "n2"))),
    (("taint", "n1", "k-"), "taint node n1 k-", ActRefused('taint "k" not found')),
    (("taint", "n1", "k=v"), "taint node n1 k=v", ActRefused("invalid taint spec: k=v")),
    (("scale", "deploy/web", 3), "scale deploy web --replicas=3", "deployment.apps/web scaled"),
    (("scale", "pod/web-0", 3), "scale pod web-0 --replicas=3", ActRefused("pod/web-0 has no replicas", words=(
        "Error from server (NotFound): the server could not find the requested resource"))),
    (("scale", "deploy/web", -1), "scale deploy web --replicas=-1", ActRefused("0 or greater, not -1", words=(
        "error: The --replicas=COUNT flag is required, and COUNT must be greater than or equal to 0"))),
    (("label", "pod/web-0", "a=b", "app-"), "label pod web-0 a=b app-", "pod/web-0 labeled"),
    (("label", "pod/web-0", "app-"), "label pod web-0 app-", "pod/web-0 unlabeled"),
    (("label", "pod/web-0", "zz-"), "label pod web-0 zz-", 'label "zz" not found.\npod/web-0 not labeled'),
    (("label", "pod/web-0", "app=web"), "label pod web-0 app=web", "pod/web-0 not labeled"),
    (("label", "pod/web-0", "app=x"), "label pod web-0 app=x", ActRefused(
        "'app' already has a value (web), and --overwrite is false")),
    (("label", "pod/web-0", "app=x", "--overwrite"), "label pod web-0 app=x --overwrite", "pod/web-0 labeled"),
    (("label", "pod/web-0", "a=b", "a-"), "label pod web-0 a=b a-", ActRefused(
        "can not both modify and remove a label in the same command")),
    (("label", "pod/web-0"), "label pod web-0", ActRefused("at least one label update is required")),
    (("annotate", "pod/web-0", "a=b"), "annotate pod web-0 a=b", "pod/web-0 annotated"),
    (("annotate", "pod/web-0", "note-", "zz-"), "annotate pod web-0 note- zz-", "pod/web-0 annotated"),
    (("annotate", "pod/web-0", "note=x"), "annotate pod web-0 note=x", ActRefused(
        "--overwrite is false but found the following declared annotation(s): 'note' already has a value (one)")),
    (("annotate", "pod/web-0", "a=b", "a-"), "annotate pod web-0 a=b a-", ActRefused(
        "can not both modify and remove the following annotation(s) in the same command: a")),
    (("drain", "n1", "--force"), "drain n1 --force", (
        "node/n1 cordoned\nWarning: deleting Pods that declare no controller: default/web-0\n"
        "evicting pod default/web-0\npod/web-0 evicted\nnode/n1 drained")),
    (("drain", "n2"), "drain n2", "node/n2 already cordoned\nnode/n2 drained"),
    (("drain", "n1"), "drain n1", ActRefused(ALONE)),
    (("delete", "pod/web-0"), "delete pod web-0", 'pod "web-0" deleted from default namespace'),
    (("delete", "pod/web-0", "node/n1"), "delete pod/web-0 node/n1", (
        'pod "web-0" deleted from default namespace\nnode "n1" deleted')),
    (("rollout_restart", "deploy/web"), "rollout restart deploy/web", "deployment.apps/web restarted"),
    (("rollout_restart", "pod/web-0"), "rollout restart pod web-0", ActRefused('pods "web-0" restarting is not supported')),
    (("patch", "n1", "metadata: {labels: {a: b}}", "strategic"), "patch node n1 -p 'metadata: {labels: {a: b}}'", "node/n1 patched"),
]  # fmt: skip
SLOW = {"validate": lambda _new, _old: True, "slow": 2.0}
DENIES = {"validate": lambda _new, _old: "not today"}
EVERYTHING = {"kinds": ("nodes", "pods", "deployments"), "verbs": ("create", "update", "delete")}


@pytest.fixture(scope="module")
def origin():
    """Return a cluster with a pod on n1, a cordoned node with a taint, and a Deployment without pods."""
    return Cluster.from_manifests([
        make.node("n1"), make.node("n2", taints=[{"key": "k", "value": "v", "effect": "NoSchedule"}], unschedulable=True),
        make.pod("web-0", labels={"app": "web"}, annotations={"note": "one"}, running_on="n1"), make.deployment("web", replicas=0),
    ])  # fmt: skip


def called(cluster, method, *words):
    """Call a method with arguments, and flags as kubectl has them; return its answer or its refusal."""
    options = {word[2:]: True for word in words if str(word).startswith("--")}
    try:
        return getattr(cluster, method)(*(word for word in words if not str(word).startswith("--")), **options)
    except (ApplyRefused, ActRefused) as refused:
        return refused


def history(cluster, before):
    """Return what both ways must leave: objects, sentences of the steps, times, and requests."""
    steps = [(step.words, step.time) for step in map(cluster.goto, range(before + 1, cluster.world.known_steps + 1))]
    return cluster.digest(), steps, [(row.verb, row.name, row.subresource, row.code) for row in cluster.requests()]


def both(origin, call, command):
    """Return what an act says in both languages; both leave the same."""
    one, other = origin.fork("c"), origin.fork("c")
    before = origin.world.known_steps
    answer, printed = called(one, *call), other.kubectl(command)

    assert history(one, before) == history(other, before)
    return answer, printed


@pytest.mark.parametrize(("call", "command", "said"), ACTS)
def test_both_say_and_do_the_same(origin, call, command, said):
    """Both print kubectl's lines or refuse for the same reason, and leave the same objects, steps and requests."""
    answer, printed = both(origin, call, command)
    if isinstance(said, ActRefused):
        assert str(said) in str(answer)
        assert (answer.hint, 1) == (printed.hint, printed.code)
        assert said.words in printed.stderr
    else:
        assert said == repr(answer)
        assert (sorted(said.splitlines()), 0) == (sorted((printed.stdout + printed.stderr).splitlines()), printed.code)


@pytest.mark.parametrize("fault", ["outage", "denied"])
@pytest.mark.parametrize(("call", "command"), [(call, command) for call, command, said in ACTS if isinstance(said, str)])
def test_both_meet_the_same_fault(origin, call, command, fault):
    """A server that is out, or a webhook that denies, refuses both in the same words; acts without request succeed."""
    c = origin.fork("c") if fault == "outage" else origin.with_webhook(**DENIES, **EVERYTHING)
    if fault == "outage":
        c.outage(seconds=30)
    answer, printed = both(c, call, command)
    if isinstance(answer, ApplyRefused):
        assert (1, True) == (printed.code, all(line in printed.stderr for line in answer.lines))
    else:
        assert (repr(answer), 0) == (printed.stdout.rstrip("\n"), printed.code)


@pytest.mark.parametrize(("call", "command"), [(call, command) for call, command, said in ACTS if isinstance(said, str)])
def test_both_wait_for_a_slow_webhook(origin, call, command):
    """While a webhook thinks, time passes alike for both; a drain waits for its cordon, then for its evictions."""
    both(origin.with_webhook(**SLOW, **EVERYTHING), call, command)


def test_what_is_found_is_deleted(origin):
    """A name that nothing has is refused after the others are deleted, as in kubectl, and both leave the same."""
    one, other = origin.fork("c"), origin.fork("c")
    with pytest.raises(KeyError, match="no pod/nope; there are: pod/web-0"):
        one.delete("pod/nope", "pod/web-0")
    printed = other.kubectl("delete pod nope web-0")

    assert history(one, 0) == history(other, 0)
    assert ('pod "web-0" deleted from default namespace\n', 'Error from server (NotFound): pods "nope" not found\n') == (
        printed.stdout, printed.stderr)  # fmt: skip


def test_what_was_done_before_a_refusal_is_told(origin):
    """Of two deletions the one that a webhook denies is refused, the other is made, and both languages tell it."""
    c = origin.with_webhook(**DENIES, kinds=("nodes",), verbs=("delete",))
    answer, printed = both(c, ("delete", "node/n1", "pod/web-0"), "delete node/n1 pod/web-0")

    assert 'pod "web-0" deleted from default namespace' == repr(answer.done)
    assert (f"{answer.done}\n", "\n".join(answer.lines) + "\n", 1) == (printed.stdout, printed.stderr, printed.code)


def test_evict_is_the_eviction_of_a_drain(origin):
    """Kubectl has no such command; `evict` sends the request that drain sends for the pod, and meets its refusals."""
    assert 'error: unknown command "evict" for "kubectl"\n' == origin.kubectl("evict web-0").stderr
    for c in (origin, origin.with_webhook(**DENIES, kinds=("pods",), verbs=("delete",))):
        one, other = c.fork("c"), c.fork("c")
        one.cordon("n1")
        answer, drained = called(one, "evict", "web-0"), called(other, "drain", "n1", "--force")

        assert one.digest() == other.digest()
        assert [row.subresource for row in one.requests()] == [row.subresource for row in other.requests()]
        assert getattr(answer, "lines", ())[0] in getattr(drained, "lines", ())


def test_a_drain_cordons_all_nodes_first(origin):
    """Kubectl cordons every node that it is told before it evicts a pod of the first."""
    c = origin.fork("c")
    c.uncordon("n2")
    printed = c.kubectl("drain n1 n2 --force").stdout.splitlines()

    assert ["node/n1 cordoned", "node/n2 cordoned", "evicting pod default/web-0", "pod/web-0 evicted",
            "node/n1 drained", "node/n2 drained"] == printed  # fmt: skip
