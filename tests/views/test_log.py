"""What changed, events, stories and differences: rows of words that are never cut without need."""

from attrs import evolve

from kvolsched.views import frame as f
from kvolsched.views.pictures import log

from . import frames, plain
from .pages import cells, parsed, texts, told

HOSTILE = '<img src=x onerror="alert(1)">'
STORY = (
    f.ObjectStoryRow(2, 0.1, "StatefulSet controller", "+", "object", "", "100Gi zonal-class"),
    f.ObjectStoryRow(6, 0.3, "scheduler · bind worker", "~", "annotation selected-node", "", "node-a"),
    f.ObjectStoryRow(11, 1.5, "PV controller", "~", "status.phase", "Pending", "Bound"),
)


def warned(frame, count=4):
    """Return the frame with one warning raised `count` times in step 5."""
    message = "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) had untolerated taint(s)."
    row = f.EventRow(5, 0.2, "Warning", "FailedScheduling", "pod/web-0", message, count, 1.2)
    return evolve(frame, events=(*frame.events, row))


def test_notes_are_read_with_their_component():
    """A step that only changed notes says so first, then each note with old → new."""
    expected = """\
Nothing: this step only changed notes.
+ note kube-scheduler pvc/data-web-0 assumed selected-node: none → node-a
~ note kube-scheduler pod/web-0 queue: active → waiting for volumes
~ note kube-scheduler pod/web-0 cycle: none → 1 of 3 feasible, choice node-a"""
    assert expected == log.changes_reading(frames.zonal(5))


def test_writes_are_read_as_api():
    """A write to the API stands with its field, its old and its new value."""
    expected = """\
+ api pv/volume-1 spec.claimRef: none → data-web-0
+ api pv/volume-1 spec.nodeAffinity: none → zone In [us-central1-a]"""
    assert expected == log.changes_reading(frames.zonal(8))
    assert "~ api pod/web-0 status.phase: Pending → Running" == log.changes_reading(frames.zonal(14))


def test_nothing_yet_and_nothing_at_all():
    """At the start the reader is told to step; an empty step says that it changed nothing."""
    assert "Nothing yet. Press Step." == log.changes_reading(frames.zonal(0))
    assert "Nothing yet. Press Step." in log.draw_changes(frames.zonal(0), 300)
    assert "Nothing: this step changed nothing." == log.changes_reading(evolve(frames.zonal(5), changes=()))


def test_a_refused_write_stands_first_in_a_box():
    """A refusal precedes everything and says that nothing was written."""
    frame = frames.refused(frames.zonal(8))
    frame = evolve(frame, changes=frame.changes[::-1])
    first = log.changes_reading(frame).splitlines()[0]
    expected = (
        "✕ api pvc/data-web-0 spec.volumeName: none → volume-1  Conflict: the object has been modified; "
        "please apply your changes to the latest version; nothing was written"
    )
    assert expected == first
    svg = log.draw_changes(frame, 300)
    assert svg.index("k-refused") < svg.index("spec.claimRef")
    assert "nothing was" in svg


def test_changes_of_one_object_stand_under_its_name():
    """The name is said once; fields are named as people do, each beside its values."""
    rows = (
        f.ChangeRow("api", "pv", "+", "pvc/data", "metadata.annotations[pv.kubernetes.io/bind-completed]", "", "yes"),
        f.ChangeRow("api", "pv", "~", "pvc/data", "status.phase", "Pending", "Bound"),
        f.ChangeRow("api", "pv", "+", "pv/disk", "spec.nodeAffinity.required.nodeSelectorTerms[0].x", "", "zone In [a]"),
    )
    page = log.draw_changes(f.Frame(changes=rows), 320)
    assert "Written to the API" == texts(page)[0]
    assert cells(page) == [
        ["+", "pvc/dataannotation pv.kubernetes.io/bind-completed", "yes"],
        ["~", "status.phase", "Pending → Bound"],
        ["+", "pv/diskspec.nodeAffinity", "zone In [a]"],
    ]


def test_a_step_of_one_event_says_so():
    """An event is a write too: the step did not change nothing."""
    event = f.EventRow(4, 0.1, "Normal", "Provisioning", "pvc/data", "External provisioner is provisioning volume", 1, 0.1)
    frame = f.Frame(head=evolve(f.Frame().head, step=4), events=(event,))
    assert log.changes_reading(frame) == "Nothing but an event."


def test_events_are_read_newest_first():
    """Step, type, reason, object and message stand in columns, the count behind."""
    expected = """\
step  type     reason                object          message
13    Normal   Scheduled             pod/web-0       Successfully assigned default/web-0 to node-a
5     Warning  FailedScheduling      pod/web-0       0/3 nodes are available: 1 Insufficient cpu, \
2 node(s) had untolerated taint(s).  ×4
4     Normal   WaitForFirstConsumer  pvc/data-web-0  waiting for first consumer to be created before binding"""
    assert expected == log.events_reading(warned(frames.zonal(13)))
    assert log.NO_EVENT == log.events_reading(frames.zonal(0))
    assert log.NO_EVENT in log.draw_events(frames.zonal(0), 700)


def test_a_warning_has_its_sign_and_this_steps_events_are_tinted():
    """Only warnings carry ▲; the two events of step 14 are tinted and marked."""
    svg = log.draw_events(warned(frames.zonal(14)), 900)
    assert 1 == svg.count("▲")
    assert 2 == svg.count("k-p-accent")
    assert "×4" in svg


def test_a_long_message_is_wrapped_not_cut():
    """The event sentence is whole even in a narrow panel."""
    text = told(log.draw_events(warned(frames.zonal(13)), 700))
    assert warned(frames.zonal(13)).events[-1].message in text
    assert "…" not in text


def test_three_latest_events():
    """Below the lanes stand the three latest, newest first."""
    frame = frames.zonal(14)
    words = texts(log.draw_recent(frame, 480, ""))
    reasons = {row.reason for row in frame.events}
    assert ["Started", "SuccessfulAttachVolume", "Scheduled"] == [word for word in words if word in reasons]


def test_more_than_sixty_events_end_in_a_count():
    """A long log counts what it leaves out."""
    events = tuple(plain.EventRow(i, i, "Normal", "R", f"pod/p-{i}", "m") for i in range(70))
    frame = evolve(frames.zonal(5), events=events)
    assert "… 10 earlier events" in log.draw_events(frame, 700)
    assert 71 == len(log.events_reading(frame).splitlines())


def test_story_word_for_word():
    """A story is one table: step, actor, verb, what changed, before → after."""
    frame = f.Frame(head=plain.Head(step=6), story=f.ObjectStory("pvc/data-web-0", STORY))
    expected = """\
story of pvc/data-web-0
step  time   by                          what                      before → after
2     0.1 s  StatefulSet controller   +  object                    none → 100Gi zonal-class
6     0.3 s  scheduler · bind worker  ~  annotation selected-node  none → node-a
11    1.5 s  PV controller            ~  status.phase              Pending → Bound"""
    assert expected == log.story_reading(frame)
    assert 1 == log.draw_story(frame, 700).count("k-p-accent")
    assert log.NO_STORY in log.draw_story(f.Frame(story=f.ObjectStory("pod/x")), 700)
    assert log.NOT_SELECTED in log.draw_story(f.Frame(), 700)


def test_what_was_nothing_before_is_no_change_of_none():
    """A story says of an event its words alone, and of an object that was made no values at all."""
    rows = [
        f.ObjectStoryRow(1, 0.0, "StatefulSet controller", "+", "pod/web-0 created", "", ""),
        f.ObjectStoryRow(2, 0.0, "scheduler · pass", "~", "event FailedScheduling", "none", "0/3 nodes are available"),
        f.ObjectStoryRow(2, 0.0, "scheduler · pass", "~", "metadata.annotations[example.com/a]", "none", "yes"),
    ]
    frame = f.Frame(story=f.ObjectStory("pod/web-0", tuple(rows)))
    said = [line.partition("  +  ")[2] or line.partition("  ~  ")[2] for line in
            log.story_reading(frame).splitlines()[2:]]
    drawn = texts(log.draw_story(frame, 700))

    assert [line.split("  ")[0] for line in said] == [row.field for row in rows]
    assert [line.split("  ")[-1].strip() for line in said] == ["pod/web-0 created", rows[1].new, "none → yes"]
    assert (drawn.count("none"), drawn.count("→"), "annotation example.com/a" in drawn) == (1, 1, True)


def test_hostile_words_are_escaped():
    """Markup in messages, refs and values stays text in every table."""
    event = plain.EventRow(1, 0, "Normal", HOSTILE, f"pod/{HOSTILE}", HOSTILE)
    change = f.ChangeRow("api", HOSTILE, "~", f"pod/{HOSTILE}", HOSTILE, HOSTILE, HOSTILE, "Conflict", HOSTILE)
    note = evolve(change, kind="note", outcome="done")
    frame = evolve(frames.zonal(5), events=(event,), changes=(change, note))
    rows = (f.ObjectStoryRow(1, 0, HOSTILE, "~", HOSTILE, HOSTILE, HOSTILE),)
    for svg in (
        log.draw_changes(frame, 300), log.draw_recent(frame, 480, ""), log.draw_written(frame, 980, "", open_=False), log.draw_events(frame, 700),
        log.draw_story(f.Frame(story=f.ObjectStory(HOSTILE, rows)), 700),
    ):  # fmt: skip
        assert HOSTILE in "".join(parsed(svg).itertext())
        assert "<img" not in svg


def test_the_line_of_what_was_written_begins_with_refusals_and_opens_all():
    """Refusals come first, then writes, then notes; the end of the line counts all, and selects what opens them."""
    frame = frames.refused(frames.zonal(9))
    words = texts(log.draw_written(frame, 560, "", open_=False))

    assert "✕" == next(word for word in words if word in ("+", "~", "−", "✕"))
    assert len(frame.changes) == sum(word in ("+", "~", "−", "✕") for word in words)
    assert f"all {len(frame.changes)} ▾" == words[-1]
    assert log.WRITTEN == parsed(log.draw_written(frame, 560, "", open_=False))[-1].get("data-ref")


def test_the_line_of_what_was_written_says_when_nothing_was():
    """Before the first step it says what to press, and has nothing to open."""
    assert ["Written", log.NOTHING_YET] == texts(log.draw_written(frames.zonal(0), 980, "", open_=False))


def test_a_line_of_a_table_is_selected_as_its_object():
    """A click on an event or a change selects its object, on a line of a story its step; what is selected is marked."""
    frame = frames.zonal(14)
    story = f.Frame(head=plain.Head(step=6), story=f.ObjectStory("pvc/data-web-0", STORY))
    drawn = {page: [line.get("data-ref") for line in parsed(page).iter("tr") if line.get("data-ref")]
             for page in (log.draw_events(frame, 700), log.draw_changes(frame, 300), log.draw_story(story, 700))}

    assert [[row.ref for row in log._newest(frame)], [row.ref for row in frame.changes],
            [f"step/{row.step}" for row in STORY]] == list(drawn.values())  # fmt: skip
    marked = [line for line in parsed(log.draw_events(frame, 700, "pod/web-0")).iter("tr") if line.get("aria-selected")]
    assert {"pod/web-0"} == {line.get("data-ref") for line in marked}
