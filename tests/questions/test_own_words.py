"""Answers read fields, never their own sentences: with any other words every number, edit and layout stays."""

from contextlib import ExitStack
from hashlib import blake2b
from pathlib import Path
from unittest.mock import patch

import attrs
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from stuck_clusters import POD, stuck_clusters

from kvolsched import Cluster, design, incident
from kvolsched.questions.why.answer import Remark
from kvolsched.rules.revision import Revision
from kvolsched.scheduler.framework.evidence import Evidence
from kvolsched.views.pages import may
from kvolsched.views.pages.fix import card_of as fix_card
from kvolsched.views.pages.why_card import card_of

RECORDED = Path(__file__).parent.parent / "conformance" / "dumps" / "storage.yaml.gz"
# What sentences are split at, so that whoever splits one is misled.
marks = st.sampled_from([": ", " > ", "; ", " of ", " (", ") ", ", ", " in ", " ≠ ", "=", "The pod's condition", "after 7 steps"])
wordings = st.lists(st.one_of(marks, st.text("ab 0", max_size=3)), min_size=2, max_size=5).map(tuple)


def reworded(wording, words):
    """Return other words for a sentence: equal ones for equal sentences, else different ones."""
    return "".join([*wording[1:], blake2b(words.encode(), digest_size=6).hexdigest(), wording[0]])


def kinds_of(kind):
    """Yield every kind of evidence, in whatever module it is."""
    for each in kind.__subclasses__():
        yield each
        yield from kinds_of(each)


def other_words(wording):
    """Return a context in which evidence, remarks and the names of rules have other words."""
    stack, new, name = ExitStack(), Remark.__new__, Revision.name.fget

    def remark(cls, words, head="", kind="", about=""):
        return new(cls, reworded(wording, words), reworded(wording, head) if head else "", kind, about)

    for kind in {each for each in kinds_of(Evidence) if "__str__" in vars(each)}:
        plain = kind.__str__
        stack.enter_context(patch.object(kind, "__str__", lambda self, plain=plain: reworded(wording, plain(self))))
    stack.enter_context(patch.object(Remark, "__new__", remark))
    stack.enter_context(patch.object(Revision, "name", property(lambda self: reworded(wording, name(self)))))
    return stack


def without_words(answer):
    """Return what of an answer of `why` is no sentence: numbers, names, sorts, both sides of amounts."""
    cells = [[(cell.verdict, cell.clauses, cell.sides.relation, cell.sides.about, cell.sides.asked, cell.sides.found,
               (cell.sides.left, cell.sides.right) if cell.sides.asked is not None else ())
              for cell in group.cells] for group in answer.groups]  # fmt: skip
    rows = [(row.nodes, row.plugin, row.example) for row in answer.rows]
    remarks = [(remark.kind, bool(remark.head), remark.about) for remark in (*answer.notes, *answer.missing)]
    demands = [attrs.evolve(each, details=len(each.details), kind="") for each in (*answer.demands, *answer.also)]
    return (answer.state, answer.size, demands, rows, cells, remarks, answer.clauses, answer.fits, answer.holdings,
            [attrs.evolve(group, cells=()) for group in answer.groups])  # fmt: skip


def layout(card):
    """Return what of the card of `why` is no sentence."""
    cells = [[(cell.verdict, cell.asked, cell.found, cell.about, cell.clauses) for cell in row.cells] for row in card.demands]
    notes = [(note.glyph, bool(note.bold)) for note in card.notes]
    return card.state, card.start, card.clauses, card.columns, card.set_title, cells, notes


def told(cluster, pod):
    """Return all that `why`, `fix` and `may` say of a pod, without the words that are changed."""
    answer, fixes, patches = cluster.why(pod), cluster.fix(pod), cluster.may(pod)
    edits = [[(edit.words, edit.cost) for edit in fix.edits] for fix in fixes]
    cards = [(card.decides, card.node, card.is_new, card.touched, card.others)
             for card in (fix_card(fix, 1) for fix in list(fixes)[:1])]  # fmt: skip
    allowed = [(row.allowed, row.code, row.before, row.after, row.relation) for row in patches.rows]
    causes = [(cause.pods, cause.plugins) for cause in cluster.why().causes]
    return (without_words(answer), layout(card_of(answer)), causes, edits, cards, allowed, bool(patches.not_today),
            [(may.effect(row), may.witness(row), may.note(row)) for row in patches])  # fmt: skip


@settings(max_examples=5, suppress_health_check=list(HealthCheck))
@given(stuck_clusters(), wordings)
def test_no_number_edit_or_layout_hangs_on_words(objects, wording):
    """Whatever words evidence, remarks and rules' names have, why, fix, may and their pictures say the same."""
    plain = told(Cluster.from_manifests(objects, revision=design()), POD)
    with other_words(wording):
        assert plain == told(Cluster.from_manifests(objects, revision=design()), POD)


@settings(max_examples=3, suppress_health_check=list(HealthCheck))
@given(wordings)
def test_nor_on_those_about_a_taint_a_limit_and_capacity(wording):
    """The same on a recorded cluster, and where a limit is raised by the number of volumes that the evidence counts."""
    clusters = ((Cluster.from_manifests(RECORDED), "kafka-2"), (incident("attach-limit").play(), "web-2"))
    plain = [told(cluster, pod) for cluster, pod in clusters]
    assert any("2 volumes of disks.example.com instead of 1" in words for edits in plain[1][3] for words, _ in edits)
    with other_words(wording):
        assert plain == [told(cluster, pod) for cluster, pod in clusters]


def test_every_kind_of_evidence_is_reworded():
    """The test above changes what each plugin says: no kind of evidence keeps its sentence."""
    kinds = {kind.__name__ for kind in kinds_of(Evidence)}

    assert {"RequestExceeds", "LimitExceeded", "SkewExceeds", "NotTolerated", "PodBeside", "CapacityExceeded"} <= kinds
    assert all("__str__" in vars(kind) or "__str__" in vars(kind.__mro__[1]) for kind in kinds_of(Evidence))
