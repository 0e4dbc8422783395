"""How an answer about a waiting pod reads as text, and how kube-scheduler's sentences are explained."""

import pickle

import attrs
import pytest

from kvolsched.api.notebook_output import IN_TERMINAL
from kvolsched.questions.why.answer import (
    DemandRow,
    FailureRow,
    Holding,
    Remark,
    Why,
    missing_in_words,
    node_names_text,
    set_words,
)
from kvolsched.questions.why.sentences import (
    ODD_PHRASES,
    OLDER_PHRASES,
    compare_with_condition,
    explain_sentence,
    forbidden_write,
    translate_older_words,
)

SET_OF_TWO = "These 2 demands together exclude every node; without either one, some node would meet the rest of these:"


@pytest.mark.parametrize(("count", "told"), [
    (0, ""), (1, "n0"), (4, "n0, n1, n2, n3"), (5, "n0, n1, n2, n3, n4"), (6, "n0, n1, n2, n3 and 2 more"), (9, "n0, n1, n2, n3 and 5 more")])
def test_nodes_by_name(count, told):
    """All of a few; of more the first four and how many others, which never is one."""
    assert told == node_names_text([f"n{number}" for number in range(count)])


def test_what_a_set_claims():
    """One demand excludes every node, two or more together; without any of them some node would be left."""
    assert ["This demand alone excludes every node:", SET_OF_TWO,
            "These 3 demands together exclude every node; without any one of them, some node would meet the rest of these:"] == [
        set_words(count) for count in (1, 2, 3)]


@pytest.mark.parametrize(("pods", "more", "holders", "only"), [
    ((), 0, "held by no pod", ""), ((("a/p", "1"),), 0, "held by a/p 1", "pod a/p holds 1"), ((("a/p", "1"), ("b/q", "500m")), 0, "held by a/p 1, b/q 500m", ""),
    ((("a/p", "1"), ("b/q", "500m")), 3, "held by a/p 1, b/q 500m and 3 more", ""),
])  # fmt: skip
def test_who_holds_a_resource(pods, more, holders, only):
    """What is left and asked for, and the pods that hold it; one that alone does can be named in a sentence."""
    found = Holding("n1", "cpu", "2", "4", "1", pods, more)

    assert (f"n1 has 1 of 4 cpu left, the pod asks for 2; {holders}", only) == (str(found), found.only_holder)


def test_a_remark_knows_its_parts():
    """It reads as its head and its words, and has them also after a journey to another process."""
    remark = pickle.loads(pickle.dumps(Remark("what it means", "phrase", "words", "pods")))  # noqa: S301 - our own bytes

    assert ("phrase: what it means", "alone") == (remark, Remark("alone"))
    assert ("what it means", "phrase", "words", "pods") == (remark.words, remark.head, remark.kind, remark.about)
    assert ["The dump has no a, b", "Not read: c", "The dump has no a; Not read: c", ""] == [missing_in_words(each) for each in (
        [Remark("", "", "absent", "a"), Remark("", "", "absent", "b")], [Remark("", "", "unread", "c")],
        [Remark("", "", "unread", "c"), Remark("", "", "absent", "a")], [Remark("", "", "words", "d")])]


def demand(words, nodes, details=(), sort="claim"):
    """Return a demand that fails on so many nodes."""
    return DemandRow("P", sort, "x", words, nodes, 0, tuple(map(Remark, details)), words, words, ())


def row(nodes, clause, reasons=("late",)):
    """Return nodes that are rejected for a reason."""
    return FailureRow(tuple(nodes), "P", reasons, clause, nodes[0])


HOLDING = Holding("n1", "cpu", "2", "4", "1", (("a/p", "1"),), 0)
NOTES = (Remark("not told, it is the same always", "", "words"), Remark("a note"))
BARE = Why("shop/web", "upstream", "fits", "it fits")
FULL = Why("shop/web", "upstream", "unschedulable", "no node takes it", size=3, demands=(demand("one", 3, ["a detail", "another"]), demand("two", 2)),
           also=(demand("three", 1),), rows=(row(["n1"], "1 > 0"), row(["n2", "n3"], "")), holdings=(HOLDING,), sentence="0/3 nodes are available.",
           notes=NOTES, missing=(Remark("", "", "absent", "pods"),), asked_for="deploy/web")  # fmt: skip
END = "\n\n(rules: upstream)"
ROWS = """

What fails first, node by node:
  n1      1 > 0
  n2, n3  late"""


@pytest.mark.parametrize(("answer", "text"), [
    (BARE, "shop/web: it fits"),
    (FULL, f"""deploy/web: shop/web: no node takes it

kube-scheduler's words:
  0/3 nodes are available.

{SET_OF_TWO}
  • one – on every node
      a detail
      another
  • two – on 2 of 3 nodes{ROWS}

Who holds the short resources:
  n1 has 1 of 4 cpu left, the pod asks for 2; held by a/p 1

Also in the way, but not needed to exclude every node:
  • three – on 1 of 3 nodes

- a note

The dump has no pods; `.missing` says what that hides."""),
    (attrs.evolve(BARE, demands=(demand("gone", 0, sort="before filtering"),), size=3), """shop/web: it fits

Known of it:
  • gone – before any node is looked at"""),
    (attrs.evolve(BARE, demands=(demand("gone", 0, ["a detail", "more"], sort="before filtering"),)), """shop/web: it fits

Known of it:
  • a detail
  • more"""),
    (attrs.evolve(BARE, demands=(demand("one", 3),), size=3, rows=(row(["n1"], "1 > 0"), row(["n2", "n3"], ""))), f"shop/web: it fits{ROWS}"),
    (attrs.evolve(BARE, demands=(demand("one", 3, ["a detail"]),), size=3, rows=(row(["n1"], "1 > 0"),)), """shop/web: it fits

This demand alone excludes every node:
  • one – on every node
      a detail"""),
    (attrs.evolve(BARE, headline="it lacks 1 > 0", rows=(row(["n1"], "1 > 0"),)), "shop/web: it lacks 1 > 0"),
    (attrs.evolve(BARE, rows=(row(["n1"], "1 > 0"),)), "shop/web: it fits\n\nWhat fails first, node by node:\n  n1  1 > 0"),
    (attrs.evolve(BARE, headline="n1 is full, pod a/p holds 1", holdings=(HOLDING,)), "shop/web: n1 is full, pod a/p holds 1"),
    (attrs.evolve(BARE, rows=tuple(row([f"n{number}"], "x") for number in range(8))),
     "shop/web: it fits\n\nWhat fails first, node by node:\n" + "\n".join(f"  n{number}  x" for number in range(8))),
    (attrs.evolve(BARE, rows=tuple(row([f"n{number}"], "x") for number in range(10))),
     "shop/web: it fits\n\nWhat fails first, node by node:\n" + "\n".join(f"  n{number}  x" for number in range(8)) + "\n  … and 2 more groups of nodes (`.rows`)"),
    (attrs.evolve(BARE, rows=(row(["n" * 33], "x"), row(["m" * 32], "y"))),
     f"shop/web: it fits\n\nWhat fails first, node by node:\n  {'n' * 33}\n  {'':32}  x\n  {'m' * 32}  y"),
])  # fmt: skip
def test_an_answer_as_text(answer, text):
    """The sentence, then only what it does not tell: what excludes every node, node by node, who holds what, and notes."""
    assert text + END == repr(answer)


def test_in_a_terminal_no_attribute_is_named():
    """There is no Python to type."""
    typed = IN_TERMINAL.set(True)
    try:
        told = repr(attrs.evolve(FULL, rows=tuple(row([f"n{number}"], "x") for number in range(9))))
    finally:
        IN_TERMINAL.reset(typed)

    assert "  … and 1 more group of nodes\n" in told
    assert "\n\nThe dump has no pods.\n" in told
    assert NOTES[:1] == FULL.words


@pytest.mark.parametrize(("sentence", "place"), [
    ('0/1: persistentvolumeclaim "a" not found. not found', 0), ("0/1: x. not found", 1), ("0/1: x. no new claims to deallocate, y", 2),
    ("Preemption is not helpful for scheduling.", 3), ("No preemption victims found for incoming pod", 4), ("not eligible due to preemptionPolicy=Never.", 5),
    ("1 node(s) didn't satisfy plugin(s) [NodeAffinity]", 6), ("1 node(s) didn't find available persistent volumes to bind.", 7), ("1 Too many pods.", 8), ("x", None),
])  # fmt: skip
def test_odd_phrases_are_explained(sentence, place):
    """Each by its own remark, and no sentence by another's."""
    assert ([] if place is None else [ODD_PHRASES[place][1]]) == explain_sentence(sentence, 0, before=False)


def test_what_a_sentence_counts_is_explained():
    """That no node is counted stands first, that others reject some nodes as well last."""
    assert ["The pod was rejected before any node was looked at, so no node is counted.", ODD_PHRASES[8][1],
            "The sentence counts a node for the first plugin that rejects it; more plugins reject 3 of them."] == explain_sentence("1 Too many pods", 3, before=True)
    assert {"table"} == {note.kind for note in explain_sentence("x", 1, before=True)}


@pytest.mark.parametrize(("message", "place"), [
    ("1 node(s) had volume node affinity conflict", 0), ("1 node(s) had untolerated taint {a: b}", 1), ("1 node(s) had taint {a: b}, that the pod didn't tolerate", 2),
    ("2 node(s) had taints that the pod didn't tolerate", 2), ("didn't match node selector", 3), ("didn't match Pod's node affinity.", 3),
    ("didn't match pod affinity/anti-affinity", 4), ("pod has unbound PersistentVolumeClaims", 5), ("1 Insufficient pods", 6), ("1 insufficient pods", 6),
    ("didn't match Pod's node affinity/selector", None), ("had untolerated taint(s)", None), ("pod has unbound immediate PersistentVolumeClaims", None),
])  # fmt: skip
def test_each_older_phrase_has_todays(message, place):
    """With the releases that wrote it; today's own phrases are not taken for older ones."""
    told = [] if place is None else [f"The cluster writes the phrase of {OLDER_PHRASES[place][1]}; today it is “{OLDER_PHRASES[place][2]}”."]

    assert told == translate_older_words(message)


SENTENCE = "0/3 nodes are available: 1 Too many pods, 2 Insufficient cpu."
WHEN = "It was written at the pod's last try; the cluster has changed since, or the dump does not show all."


@pytest.mark.parametrize(("message", "notes"), [
    ("", []), (SENTENCE, []), ("0/3 nodes are available: 2 Insufficient cpu, 1 Too many pods. preemption: 0/3 nodes are available: x.", []),
    ("0/5 nodes are available: 2 Insufficient cpu, 1 Too many pods no new claims to deallocate, x", []),
    ("0/3 nodes are available: 3 Insufficient cpu, 1 Too many pods.",
     [f"The pod's condition says otherwise: “3 Insufficient cpu” in place of “2 Insufficient cpu”. {WHEN}"]),
    ("0/3 nodes are available: 1 Too many pods.", [f"The pod's condition says otherwise: “nothing” in place of “2 Insufficient cpu”. {WHEN}"]),
    ("0/3 nodes are available: 1 Too many pods, 2 Insufficient cpu, 1 a, 1 B.", [f"The pod's condition says otherwise: “1 B, 1 a” in place of “nothing”. {WHEN}"]),
    ("something else", [f"The pod's condition says otherwise: “something else”. {WHEN}"]),
    ("0/3 nodes are available: 3 Insufficient pods.", ["The pod's condition says: 0/3 nodes are available: 3 Insufficient pods.",
                                                     "The cluster writes the phrase of early releases, 1.11 for example; today it is “Too many pods”."]),
])  # fmt: skip
def test_a_condition_is_compared_by_what_it_counts(message, notes):
    """In whatever order, without preemption; what differs is told, or all of it if nothing is alike, or today's phrase."""
    assert notes == compare_with_condition(message, SENTENCE)


@pytest.mark.parametrize(("message", "found"), [
    ('pods "x" is forbidden: User "system:kube-scheduler" cannot create resource "pods/binding" in API group ""', ("system:kube-scheduler", "create", "pods/binding")),
    ("pods is forbidden: exceeded quota", None), ("", None),
])  # fmt: skip
def test_a_refusal_says_who_may_not_do_what(message, found):
    """Of the API server's refusal for a role: the user, the verb and the resource."""
    assert found == forbidden_write(message)
