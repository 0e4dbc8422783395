"""A recorded verdict beside a learner's: every node, both answers in full for one, and what the rule reads."""

import re
from types import SimpleNamespace

import pytest

from kvolsched.learn.exercise import Answer
from kvolsched.views.pages.disagreement import draw, reading

from .pages import cells, faults, texts


def found(recorded, yours, failed="", evidence=(), sides=(), pod=1, node=1):
    """Return a disagreement about the second of four nodes; of pod and node so many lines are read."""
    answer = Answer("n2", recorded, yours, sides, failed)
    answers = Answer("n1", ("no zone", "no rack"), ("no zone", "no rack")), answer, Answer("n3", (), ("x",)), Answer("n4", (), ())
    return SimpleNamespace(case=SimpleNamespace(plugin="NodeAffinity", id="c-1"), node="n2", answer=answer, answers=answers, evidence=evidence,
                           pod="".join(f"p{line}: a\n" for line in range(pod)), node_fields="".join(f"n{line}: a\n" for line in range(node)))  # fmt: skip


REJECTED = found(("no zone",), (), evidence=("a ≠ b", "c ≠ d"), node=0)
PASSED = found((), ("x", "y"), sides=("mine 1", "mine 2"))
FAILED = found(("no zone",), (), "KeyError: 'a'")


@pytest.mark.parametrize(("about", "head", "told"), [
    (REJECTED, "Head.", """
Head.
NodeAffinity, case c-1, node n2: kube-scheduler rejects it, your rule does not
   node  recorded            your rule
   n1    ✕ no zone, no rack  ✕ no zone, no rack
→  n2    ✕ no zone           ✓ passes
→  n3    ✓ passes            ✕ x
   n4    ✓ passes            ✓ passes
recorded of n2: no zone
  a ≠ b
  c ≠ d
your rule of n2: passes
the pod:
  p0: a"""),
    (PASSED, "", """
NodeAffinity, case c-1, node n2: kube-scheduler lets it pass, your rule does not
   node  recorded            your rule
   n1    ✕ no zone, no rack  ✕ no zone, no rack
→  n2    ✓ passes            ✕ x, y
→  n3    ✓ passes            ✕ x
   n4    ✓ passes            ✓ passes
recorded of n2: passes
your rule of n2: x, y
  mine 1
  mine 2
the pod:
  p0: a
node n2:
  n0: a"""),
    (FAILED, "", """
NodeAffinity, case c-1, node n2: kube-scheduler rejects it, your rule does not
   node  recorded            your rule
   n1    ✕ no zone, no rack  ✕ no zone, no rack
→  n2    ✕ no zone           ! KeyError: 'a'
→  n3    ✓ passes            ✕ x
   n4    ✓ passes            ✓ passes
recorded of n2: no zone
your rule of n2: KeyError: 'a'
the pod:
  p0: a
node n2:
  n0: a"""),
])  # fmt: skip
def test_both_answers_read_as_lines(about, head, told):
    """The nodes that differ have an arrow; the one that is told in full has both sides, then what the rule reads of it."""
    assert told == f"\n{reading(about, head)}"


@pytest.mark.parametrize(("about", "ground", "sides"), [
    (REJECTED, ["k-s-node k-on", "k-p-ok k-t-ok"], [["kube-scheduler", "no zonea ≠ bc ≠ d"], ["your rule", "passes"]]),
    (PASSED, ["k-p-ok k-t-ok", "k-s-node k-on"], [["kube-scheduler", "passes"], ["your rule", "x, ymine 1mine 2"]]),
    (FAILED, ["k-s-node k-on", "k-s-ink k-on"], [["kube-scheduler", "no zone"], ["your rule", "KeyError: 'a'"]]),
])  # fmt: skip
def test_both_answers_are_drawn_in_the_colours_of_the_matrix(about, ground, sides):
    """A No is strong, a Yes pale, an error in ink; the line that is told in full is ringed, others that differ are tinted."""
    page = draw(about, "Head.")
    looks = re.findall(r'k-side ([^"]+)"', page)

    assert [["k-s-node k-on"] * 2, ground, ["k-p-ok k-t-ok", "k-s-node k-on"], ["k-p-ok k-t-ok"] * 2] == [looks[at : at + 2] for at in (0, 2, 4, 6)]
    assert ["", ' class="k-chosen"', ' class="k-p-accent"', ""] == re.findall(r"<tr([^>]*)><td><b>n\d", page)
    assert ["node", "recorded: kube-scheduler", "your rule"] == cells(page)[0]
    assert sides == cells(page)[5:]
    assert "what the rule reads of node n2" in texts(page)
    assert [] == faults(page)


def test_what_a_rule_reads_has_forty_lines_at_most():
    """Forty lines are shown whole; of more the last line says how many are left out."""
    lines = reading(found((), ("x",), pod=41, node=40), "").splitlines()

    assert ["  p38: a", "  … 2 more lines", "node n2:", "  n0: a"] == lines[lines.index("  p38: a"):][:4]
    assert "  n39: a" == lines[-1]
