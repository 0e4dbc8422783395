"""Incidents: each shows its symptom, its sentences and its right answer, and each of its cures is run."""

import re
from html import escape

import pytest
import store_incidents
from click.testing import CliRunner

import kvolsched
from kvolsched.api.kinds.meta import thaw
from kvolsched.cli import main
from kvolsched.learn.incidents import drawer, incident, incidents
from kvolsched.learn.incidents.one_incident import incident_of
from kvolsched.learn.scenario import ScenarioError
from kvolsched.learn.script_acts import SCRIPT_WORDS
from kvolsched.questions.decode import decode

NAMES = incidents().names
LINK = re.compile(r"https://github\.com/[\w.-]+/[\w.-]+/(issues/\d+|blob/\S+)|https://kubernetes\.io/\S+")
SOURCE = re.compile(r"[\w.-]+(/[\w.-]+)?#\d+|https://\S+|KEP-\d+")


@pytest.mark.parametrize("name", NAMES)
def test_an_incident_shows_what_it_says(name):
    """What kubectl prints has the words of the symptom, and every sentence is written by some component in this run."""
    found = incident(name)
    cluster = found.play()
    events = {event.message for event in cluster.objects("events")}
    conditions = {each.message for pod in cluster.objects("pods") for each in pod.status.conditions}

    assert [words for _, output, words in found.symptom.shown if words not in output] == []
    assert set(found.sentences) - events - conditions == set()
    assert [row.clause for sentence in found.sentences for row in decode(sentence) if not row.known] == []


@pytest.mark.parametrize("name", NAMES)
def test_every_cure_of_an_incident_helps(name):
    """Each cure was run, and what it promises holds; without it, it does not."""
    found = incident(name)
    cured = found.cure()

    assert [(each.words, each.failed) for each in cured if not each] == []
    assert [cure.words for cure in found.cures if not any("expect" in line for line in cure.script)] == []
    for cure in found.cures:
        promised = [line["expect"] for line in cure.script if "expect" in line]
        assert not holds(found, promised), f"{cure.words}: it holds without the cure"


@pytest.mark.parametrize("name", NAMES)
def test_a_cure_is_loud_about_data_and_tells_no_lie(name):
    """What deletes a claim or frees a volume says in capitals what becomes of the data; no node gets another place."""
    for cure in incident(name).cures:
        acts = [act for line in cure.script for act in thaw(line).items()]
        deleted = [each for word, value in acts if word == "delete" for each in ([value] if isinstance(value, str) else value)]
        freed = [word for word, value in acts if word == "patch" and "claimRef" in str(value)]
        labelled = [key for word, value in acts if word == "label" and value.get("overwrite") for key in value]
        if [each for each in deleted if each.startswith("pvc/")] or freed:
            assert re.search(r"DATA|FILES", cure.words), cure.words
        assert labelled == []


@pytest.mark.parametrize(("name", "volume", "seen"), [
    ("volume-affinity-is-immutable", "disk", True), ("retained-volume-is-not-free", "disk-1", True),
    ("disk-outlives-its-node", "", True), ("disk-outlives-its-node", "", False), ("zone-lost-volume-stays", "", True),
    ("zone-lost-volume-stays", "", False),
])  # fmt: skip
def test_a_cure_keeps_the_data_or_says_that_it_gives_them_up(name, volume, seen):
    """The pod runs with the volume that it had, or on an empty one where the cure says so."""
    found = incident(name)
    (before,) = {each.metadata.name for each in found.play().objects("pv")}
    cured = found.cure()[0 if seen else 1]
    (claim,) = cured.cluster.objects("pvc")

    assert (claim.spec.volume_name == before) == seen
    assert ("GIVE UP THE DATA" in cured.words) != seen
    assert volume in ("", before)


def holds(found, promised):
    """Whether all of these expectations hold at the symptom already."""
    try:
        for each in promised:
            SCRIPT_WORDS["expect"](found.play(), thaw(each))
    except (AssertionError, KeyError):
        return False
    return True


@pytest.mark.parametrize("name", NAMES)
def test_an_incident_asks_and_tells(name):
    """The question has two wrong answers or more, each with what speaks against it; the right one is right."""
    found = incident(name)
    asked = found.asked_question()
    asked.answer(found.right)

    assert asked.is_right
    assert [line for line in found.scenario.script if {"expect", "refused"} & set(line)] != [], "nothing proves the right answer"
    assert 3 <= len(found.answers) <= 5
    assert found.cause in " ".join(asked.reveal().outcome.sentence.split())
    assert [source for source in found.sources if not SOURCE.fullmatch(source)] == []
    assert [link for link in found.links if not LINK.fullmatch(link)] == []


@pytest.mark.parametrize("name", NAMES)
def test_an_incident_is_found_by_its_words_and_sentences(name):
    """Its title, and any sentence of its events, leads to it."""
    found = incident(name)

    assert name in incidents(found.title).names[:3]
    assert [sentence for sentence in found.sentences if name not in incidents(sentence).names] == []
    assert [kind for kind in found.kinds if name not in incidents(kind).names] == []


def test_an_incident_shows_what_a_cluster_of_today_shows():
    """Without a revision in its file an incident runs under today's rules, also where its scenario is a document's."""
    own = {"title": "t", "question": "q", "cause": "c", "sources": ["s#1"], "answers": {"a": "1"}, "right": "a",
           "symptom": [{"run": "kubectl get pods", "shows": "app"}], "cures": [{"words": "w", "script": []}],
           "scenario": "local-disks"}

    assert {incident(name).start().revision.name for name in NAMES} == {"upstream"}
    assert incident_of(own, "mine").start().revision.name == "upstream"
    assert incident_of({**own, "revision": "design"}, "mine").start().revision.name == "design"


@pytest.mark.parametrize(("words", "name", "within"), [
    ("volume node affinity conflict", "volume-affinity-is-immutable", 1),
    ("conflict affinity node volume", "volume-affinity-is-immutable", 1),
    ("had a volume node affinity conflict", "disk-outlives-its-node", 11),
    ("statefulset stuck pending zonal volume", "zone-lost-volume-stays", 3),
    ("my PVC was deleted and the released PV is not reused", "retained-volume-is-not-free", 1),
    ("rolling update hangs", "update-cannot-begin", 1),
    ("local disk, node replaced", "disk-outlives-its-node", 1),
    ("CSI driver is not installed", "provisioner-not-installed", 1),
])  # fmt: skip
def test_words_of_a_symptom_in_any_order_find_an_incident(words, name, within):
    """Small words do not count, nor do words that no incident has; older wordings of an event are known."""
    assert name in incidents(words).names[:within]


def test_a_taint_in_a_sentence_leads_to_nodes_that_have_it():
    """A sentence of an older release that names the taint finds incidents with such nodes only."""
    lost, kept = (incidents(f"2 node(s) had untolerated taint {{{key}: }}").names
                  for key in ("node.kubernetes.io/unreachable", "node-role.kubernetes.io/control-plane"))  # fmt: skip

    assert "dead-zone" in lost
    assert "control-plane-counts-as-host" in kept
    assert not set(lost) & set(kept)


def test_a_whole_event_finds_what_its_clauses_find():
    """What the scheduler says of preemption at the end of an event leads to no incident that only says so, too."""
    clauses = "0/9 nodes are available: 3 node(s) had untolerated taint(s), 6 node(s) didn't match pod topology spread constraints."
    tail = ("no new claims to deallocate, preemption: 0/9 nodes are available: 3 Preemption is not helpful for scheduling, "
            "6 No preemption victims found for incoming pod.")

    assert incidents(f"{clauses} {tail}").names == incidents(clauses).names


def test_decode_names_the_incidents_of_a_sentence():
    """A decoded sentence says what to play; the file that decode reads is that of the incidents."""
    assert store_incidents.text() == store_incidents.TARGET.read_text("utf-8")
    assert 'kvolsched.incident("waiting-claim-is-no-fault")' in repr(
        kvolsched.decode("waiting for first consumer to be created before binding"))


def test_what_cannot_be_shown_says_why():
    """The drawer lists what it does not have, each with a reason and where people met it."""
    rest = drawer.not_shown()

    assert rest
    assert [each.title for each in rest if not (each.reason and each.sources)] == []


def test_a_name_typed_wrongly_and_words_that_match_nothing():
    """A wrong name offers the near ones; words without a match say what else there is."""
    with pytest.raises(KeyError, match="did you mean dead-zone"):
        incident("dead-zones")
    assert "kvolsched.incidents() lists all" in repr(incidents("xyzzy"))
    assert incidents()["dead-zone"] is incident("dead-zone")


def test_titles_of_a_list_wrap_beside_the_names():
    """In a notebook of any width a title goes on below itself, and not out of sight."""
    found = incidents("didn't match pod topology spread")
    shown = found._repr_mimebundle_()["text/html"]
    width = max(map(len, found.names)) + 2
    assert len(found) == shown.count(f"padding-left:{width}ch;text-indent:-{width}ch;display:block;white-space:pre-wrap")
    assert all(f">{each.name:<{width}}{escape(each.title)}</span>" in shown for each in found)
    assert "no incident matches" in incidents("xyzzy")._repr_mimebundle_()["text/html"]


def test_some_incidents_are_printed_like_all():
    """A slice of the drawer is a drawer, with a line each."""
    found = incidents()

    assert found[:2].names == found.names[:2]
    assert repr(found[:1]).startswith(f"{found[0].name}  {found[0].title[:40]}")


def test_a_cure_that_fails_says_what_was_expected_and_what_is():
    """Under rules that know no minDomains the cure is no cure, and both sides are told whole."""
    cured, *_ = incident("one-domain-is-even").cure("design")

    assert cured.failed == "expected a skew of at most 0 by topology.kubernetes.io/zone, it is 6: {'a': 6, 'b': 0, 'c': 0}"


def test_a_file_names_all_its_faults():
    """A file that lacks fields, has a right answer that is none, or a cure without script, is refused with all of it."""
    with pytest.raises(ScenarioError) as refused:
        incident_of({"title": "x", "answers": {"a": "1"}, "right": "b", "cures": [{"words": "w"}], "scenario": "dead-zone",
                     "objects": []}, "mine")
    assert str(refused.value).splitlines() == [
        "mine: no symptom, question, cause, sources; an incident has title, symptom, question, answers, right, cause, cures, sources",
        "mine: right: 'b' is none of the answers: a",
        "mine: cures: each has words and a script that expects something",
        "mine: objects: the scenario dead-zone has its own; give parameters under `with`",
    ]


def test_the_command_finds_and_plays():
    """`kvolsched incidents WORDS` lists, `--play` shows the best; nothing found is exit code 1."""
    listed = CliRunner().invoke(main, ["incidents", "zone", "lost"])
    played = CliRunner().invoke(main, ["incidents", "dead-zone", "--play"])

    assert (listed.exit_code, "dead-zone" in listed.output, "$ kubectl" in listed.output) == (0, True, False)
    assert 1 == CliRunner().invoke(main, ["incidents", "xyzzy", "--play"]).exit_code
    assert "$ kubectl describe pod next" in played.output
    assert "✓ it helps" in played.output
    none = CliRunner().invoke(main, ["incidents", "xyzzy"])
    assert (none.exit_code, "kvolsched decode" in none.output, "kvolsched." in none.output + played.output) == (1, True, False)
