"""The pager: pages drawn by a name keep their symptom, can be solved, and are judged by the run; reports are replayed."""

import contextlib
import itertools
import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import kvolsched
from kvolsched import incident, incidents
from kvolsched.api.text.yaml_text import to_yaml
from kvolsched.cli import main
from kvolsched.learn import pager
from kvolsched.learn.class_report import grade, report
from kvolsched.learn.pager import page
from kvolsched.learn.rescue import Rescue
from kvolsched.learn.script_acts import SCRIPT_WORDS, listed
from kvolsched.questions.fix.harm import MOST, Stars
from kvolsched.questions.predict.prediction import forget_grades
from kvolsched.questions.why.asking import is_pending

LEVELS = pager._levels()
MACHINE = "fourth-replica-waits"
SELECTED, EXPLAINED = "ssd-node-is-free-and-pod-waits", "03-topology-and-node-affinity"
NOTEBOOKS = Path(__file__).parent.parent.parent / "notebooks"


def page_of(name, wanted):
    """Return the page of a reader that is this incident."""
    level = next(level for level, names in LEVELS.items() if wanted in names)
    number = next(number for number in range(1, 99) if pager._incident_of(name, level, number).name == wanted)
    return page(name, level, number)


def carried_out(drawn, script):
    """Return the stars of a page after the acts of a script; what cannot be done there is left out."""
    tried = Rescue(drawn.start)
    for word, value in (each for line in script for each in line.items() if each[0] != "expect"):
        with contextlib.suppress(*pager.NOT_PLAYED):
            SCRIPT_WORDS[word](tried.cluster, value)
    tried.cluster.run(seconds=60)
    return tried.stars


def best(drawn):
    """Return the stars of the best cure that is known: one of the incident's file, else one that `fix` finds."""
    waiting = [f"{pod.metadata.namespace}/{pod.metadata.name}" for pod in drawn.start.objects("pods") if is_pending(pod)][:1]
    found = Stars(("no cure is known",))
    for stars in itertools.chain((carried_out(drawn, cure) for cure in drawn._cures),
                                 (fix.try_it().stars for pod in waiting for fix in drawn.start.fix(pod))):
        found = max(found, stars, key=lambda each: each.count)
        if found.count == MOST:
            break
    return found


def faults(pages):
    """What is wrong with these pages: nothing is amiss, no cure has three stars, names are those of the file."""
    found = []
    for each in pages:
        about = f"{each.name} L{each.level}.{each.number} {each._incident.name}"
        known = {node.metadata.name for node in each._incident.play().objects("nodes")}
        if not each.stars.waiting:
            found.append(f"{about}: nothing is amiss")
        if (stars := best(each)).count < MOST:
            found.append(f"{about}: {stars}")
        if known & {node.metadata.name for node in each.start.objects("nodes")}:
            found.append(f"{about}: it is not drawn")
    return found


def test_forty_pages_keep_their_symptom_and_can_be_solved():
    """Whatever the names, something waits or is uneven, and a cure has three stars."""
    assert faults(page("grace", level, number) for level in LEVELS for number in range(1, 11)) == []


@pytest.mark.long
def test_a_thousand_pages_keep_their_symptom_and_can_be_solved():
    """As above, over all incidents many times."""
    assert faults(page(f"student {student}", level, number) for student in range(34) for level in LEVELS
                  for number in range(1, 11)) == []


def test_every_incident_is_a_page_or_says_why_not():
    """Each stands once: at a level, or with a reason; those of the last level say what is wanted."""
    named = [name for names in LEVELS.values() for name in names] + list(pager._file()["no page"])

    assert sorted(named) == sorted(each.name for each in incidents())
    assert sorted(pager._file()["wanted"]) == LEVELS[4]
    assert all(pager._file()["no page"].values())


def test_every_page_names_a_lesson_that_there_is():
    """Each incident of a page has one nearest lesson, and no lesson is the nearest to what is no page."""
    explained = pager._file()["nearest lesson"]

    assert [lesson for lesson in explained if not (NOTEBOOKS / f"{lesson}.ipynb").is_file()] == []
    assert sorted(name for names in explained.values() for name in names) == sorted(name for names in LEVELS.values() for name in names)


def test_a_lesson_ends_with_a_page_of_its_own_rule():
    """Each lesson has such pages; a name draws one of them, always the same, which a report can draw again."""
    shown = pager._file()["shows the rule of"]

    assert [*shown] == [str(int(path.name[:2])) for path in sorted(NOTEBOOKS.glob("[0-9]*.ipynb"))]
    for lesson, names in shown.items():
        drawn, again = page("ada", lesson=int(lesson)), page("ada", lesson=int(lesson))
        assert drawn._incident.name in names
        assert repr(drawn) == repr(again) == repr(page("ada", drawn.level, drawn.number))
    assert {page(name, lesson=6)._incident.name for name in "abcdefgh"} == set(shown["6"])
    with pytest.raises(ValueError, match="no lesson 13; there are 1, 2, "):
        page("ada", lesson=13)


def test_a_page_on_which_all_runs_says_what_is_wanted_and_judges_it():
    """Nothing waits there: the first star is what its owner wants, the others are as everywhere."""
    drawn = page_of("ada", "wish-outvoted")
    (workload,) = drawn.cluster.objects("deployments")
    path = "/spec/template/spec/topologySpreadConstraints/0/whenUnsatisfiable"
    patched = drawn.kubectl(f"""patch deployment {workload.metadata.name} --type json
        -p '[{{"op": "replace", "path": "{path}", "value": "DoNotSchedule"}}]'""")

    assert repr(drawn).startswith("All pods run, and yet: expected a skew of at most 1 by topology.kubernetes.io/zone, it is ")
    assert (patched.code, drawn.stars.count) == (0, 0)
    assert "expected a skew" in drawn.stars.sentence
    drawn.kubectl(f"rollout restart deployment {workload.metadata.name}")
    assert drawn.stars.count == MOST


def test_a_cure_of_an_incident_has_stars_unless_it_begins_anew():
    """Cures are judged as acts are: beside a copy that nobody touched."""
    honest, anew = incident("dead-zone").cure()

    assert (honest.stars.count, anew.stars) == (MOST, None)
    assert repr(honest).endswith("✓ it helps ★★★")
    assert repr(anew).endswith("✓ it helps")


def test_the_notebook_names_no_incident():
    """What the pager's notebook stores is a page and no act: neither the name nor the title of what it is."""
    stored = (NOTEBOOKS / "pager.ipynb").read_text("utf-8")

    assert "FailedScheduling" in stored
    assert [each.name for each in incidents() if each.name in stored or each.title in stored] == []


def test_no_incident_comes_twice_in_a_round():
    """A reader meets all incidents of a level before one comes again."""
    names = [pager._incident_of("ada", 2, number).name for number in range(1, len(LEVELS[2]) + 1)]
    assert sorted(names) == sorted(LEVELS[2])


def test_copied_acts_earn_nothing():
    """What frees Ada's cluster, done on Bob's of the same incident, earns no star."""
    copied = {}
    for wanted in [SELECTED, "no-default-class", "never-back-after-the-drain", "two-gates-one-remover", "retained-volume-is-not-free"]:
        mine, theirs = page_of("ada", wanted), page_of("bob", wanted)
        assert carried_out(mine, mine._cures[0]).count == MOST
        copied[wanted] = carried_out(theirs, mine._cures[0]).count
    mine, theirs = page_of("ada", MACHINE), page_of("bob", MACHINE)
    for machine in (machine for line in mine._cures[0] for machine in listed(line.get("apply", []))):
        theirs.kubectl("apply -f -", to_yaml(machine))
        assert mine.kubectl("apply -f -", to_yaml(machine)).code == 0
    copied[MACHINE] = theirs.stars.count
    assert mine.stars.count == 3
    assert set(copied.values()) == {0}, copied


def solved(name):
    """Return the page of a mistyped selector, solved by kubectl."""
    drawn = page_of(name, SELECTED)
    (workload,) = drawn.cluster.objects("deployments")
    change = {"spec": {"template": {"spec": {"nodeSelector": {"disktype": "ssd"}}}}}
    keys = list(workload.spec.template.spec.node_selector)
    change["spec"]["template"]["spec"]["nodeSelector"] = {keys[0]: "ssd"}
    drawn.kubectl(f"patch deployment {workload.metadata.name} -p '{json.dumps(change)}'")
    return drawn


def test_a_page_shows_its_symptom_alone_and_tells_at_the_end():
    """Neither name nor title is told before `done()`; a machine has a name of the page; hints are counted."""
    drawn = solved("ada")
    known = incident(SELECTED)
    assert "FailedScheduling" in repr(page_of("ada", SELECTED))
    assert known.title not in repr(drawn)
    machine = "apiVersion: v1\nkind: Node\nmetadata: {name: node-9, labels: {disktype: ssd}}\n"
    assert "there is no machine node-9" in repr(drawn.kubectl("apply -f -", machine))
    assert drawn.hint().startswith("look at: Deployment")

    done = drawn.done()
    assert (done.stars.count, len(done.acts), done.hints) == (3, 1, 1)
    assert repr(done).startswith(f"kvolsched pager ada L1.{done.number} ★★★ 1 act 1 hint 0:")
    assert known.title in repr(done)
    assert f"nearest lesson: {EXPLAINED}; " in repr(done)
    assert f"so far: L1.{done.number} ★★★" in repr(drawn.done())
    with pytest.raises(ValueError, match="no level 5; there are 1, 2, 3, 4"):
        page("ada", level=5)


def test_a_class_is_judged_by_replay(tmp_path):
    """Who did it has the stars; who typed a neighbour's acts, or renamed a file, has none and is named."""
    done = solved("ada").done("no node has\x1b the label")
    mine = report("ada", tmp_path / "ada.json")
    report("ada", mine)
    copy = {"name": "bob", "rows": []}
    row = {"page": [done.level, page_of("bob", SELECTED).number], "acts": [list(act) for act in done.acts], "hints": 0, "seconds": 60}
    from kvolsched.learn.class_report import _hash

    copy["rows"].append({**row, "hash": _hash("bob", "", json.loads(json.dumps(row)))})
    (tmp_path / "bob.json").write_text(json.dumps(copy))
    (tmp_path / "eve.json").write_text(mine.read_text("utf-8").replace('"ada"', '"eve"'))
    files = [str(tmp_path / f"{name}.json") for name in ("ada", "bob", "eve")]
    found = grade(*files)

    assert [(row.name, row.pages > 0, row.stars > 0) for row in found] == [("ada", True, True), ("bob", True, False), ("eve", True, False)]
    assert [bool(row.remarks) for row in found] == [False, True, True]
    assert f"ada: page L{done.level}.{done.number}: no node has\\x1b the label" in repr(found)
    assert "eve.json was changed, or is somebody else's" in repr(found)
    graded = CliRunner().invoke(main, ["grade", *files])
    assert (graded.exit_code, graded.output.strip()) == (1, repr(found))
    with pytest.raises(ValueError, match="is the report of 'ada', not of 'bob'"):
        report("bob", mine)


def test_a_kernels_answers_count_once_however_often_it_reports(tmp_path):
    """A second report of the same kernel replaces what the first said of its questions."""
    forget_grades()
    kvolsched.ask("Which, in a report?", "a", "b").answer("a").was("a")
    path = report("iris", tmp_path / "iris.json")
    report("iris", path)
    (row,) = grade(path)

    assert (row.asked, row.answered, row.first, row.pages, row.remarks) == (1, 1, 1, 0, ())


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"name": 1, "rows": []}', '{"name": "a", "rows": [{"page": [1]}]}',
                                  '{"name": "a", "rows": [{"page": [1, 1], "acts": [[1, 2]], "hints": 0, "seconds": 0}]}',
                                  '{"name": "a", "rows": [{"page": [1, 1], "acts": [], "hints": 0, "seconds": 0, "why": 1}]}'])
def test_what_is_no_report_is_refused(tmp_path, text):
    """A file of somebody else is looked at before anything of it is run."""
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(ValueError, match="no report"):
        kvolsched.grade(tmp_path / "a.json")


def test_a_page_is_played_in_a_terminal(tmp_path, monkeypatch):
    """`kvolsched page NAME` takes commands by lines, and its exit code says whether there are three stars."""
    monkeypatch.chdir(tmp_path)
    played = CliRunner().invoke(main, ["page", "ada", "--report"], input="get nodes\nhint\n\nundo\ndone\n")

    assert played.exit_code == 1
    assert "kvolsched pager ada L1.1 ☆☆☆ 0 acts 1 hint" in played.output
    assert (tmp_path / "kvolsched-ada.json").is_file()
    assert CliRunner().invoke(main, ["page", "ada", "--level", "9"]).exit_code == 2
