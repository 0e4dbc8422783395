"""The timeline by component: marks, cursors, the playhead, and what is known from an earlier visit."""

import re
from xml.etree import ElementTree as ET

from attrs import evolve

from kvolsched.views import frame as f
from kvolsched.views.pictures import lanes

from . import frames, plain

NS = "{http://www.w3.org/2000/svg}"


def parsed(svg):
    """Parse a picture: it must be well-formed XML."""
    return ET.fromstring(svg)  # noqa: S314 - our own string


def long_run(now=120, last=200):
    """Return a frame of seven lanes and `last` steps, at step `now`."""
    frame = frames.zonal(8)
    verbs = list(lanes.LETTERS)
    rows = tuple(
        evolve(
            lane, cursors=(f.Cursor("Pod", now - 8, 5),) if i % 2 else (),
            marks=tuple(f.Mark(k * 7 + i, "write", verbs[k % 7], "pod/web-0") for k in range(last // 7)),
        )
        for i, lane in enumerate(frame.lanes)
    )  # fmt: skip
    return evolve(frame, head=evolve(frame.head, step=now, steps_known=last), lanes=rows)


def marks(svg):
    """Return the refs of all drawn marks."""
    return re.findall(r'data-ref="(mark/[^"]*)"', svg)


def test_reading_of_step_eight_word_for_word():
    """The reading gives how far each lane has seen, its marks up to now, and what is known to follow."""
    expected = """\
user                     watches nothing   1:create sts/web
StatefulSet controller   seen 5, 3 behind  2:create pvc/data-web-0 3:create pod/web-0
scheduler · pass         seen 6, 2 behind  5:note pass pod/web-0 (later 12:note pass pod/web-0)
scheduler · bind worker  seen 7, 1 behind  6:patch pvc/data-web-0 (later 13:bind pod/web-0)
PV controller            seen 7, 1 behind  4:event pvc/data-web-0 (later 9:update pvc/data-web-0 \
10:status pv/volume-1 11:status pvc/data-web-0)
provisioner pd.csi       seen 8            7:note CreateVolume pvc/data-web-0 8:create pv/volume-1
kubelets                 seen 5, 3 behind  (later 14:status pod/web-0)"""
    assert expected == lanes.reading(frames.zonal(8))


def test_without_lanes_a_sentence_stands():
    """No actor: picture and reading say what to do."""
    assert lanes.EMPTY == lanes.reading(f.Frame())
    assert lanes.EMPTY in lanes.draw(f.Frame(), 700)


def test_each_verb_has_its_letter():
    """A write shows the letter of its verb; the event's is small."""
    svg = lanes.draw(frames.zonal(14), 1000)
    letters = [t.text for t in parsed(svg).iter(NS + "text") if t.get("class") == "k-c k-b k-mid k-on"]
    assert sorted("CCCePCUSSBS") == sorted(x for x in letters if x.strip())


def test_what_is_known_from_an_earlier_visit_is_pale():
    """Marks right of the playhead are pale, those left of it are not."""
    root = parsed(lanes.draw(frames.zonal(8), 1000))
    pale = [g.get("data-ref") for g in root.iter(NS + "g") if g.get("class") == "k-later" and g.get("data-ref")]
    assert {"9", "10", "11", "12", "13", "14"} == {ref.split("/")[1] for ref in pale}


def test_a_refused_write_is_crossed_and_named():
    """A refusal is drawn as a crossed outline, in the legend and in the reading."""
    frame = frames.refused(frames.zonal(9))
    svg = lanes.draw(frame, 1000)
    assert "k-cross" in svg
    assert "refused: nothing was written" in svg
    assert "9:update pvc/data-web-0 refused Conflict" in lanes.reading(frame)
    assert "k-cross" not in lanes.draw(frames.zonal(9), 1000)


def test_a_crash_is_a_zigzag():
    """A crash breaks the line and stands in the legend."""
    frame = frames.zonal(8)
    crashed = evolve(frame.lanes[2], marks=(*frame.lanes[2].marks[:1], f.Mark(7, "crash")))
    frame = evolve(frame, lanes=(*frame.lanes[:2], crashed, *frame.lanes[3:]))
    assert 2 == lanes.draw(frame, 1000).count("k-zig")
    assert "7:crash" in lanes.reading(frame)


def test_a_lane_unfolds_to_one_row_for_each_kind_watched():
    """Unfolding the PV controller shows how far it has seen each kind."""
    frame = frames.zonal(8)
    folded, unfolded = lanes.draw(frame, 1000), lanes.draw(frame, 1000, unfolded={"pv"})
    assert "PersistentVolumeClaim" not in folded
    assert "PersistentVolumeClaim" in unfolded
    assert 'aria-expanded="true"' in unfolded
    assert 'aria-expanded="true"' not in folded


def test_a_kind_that_nothing_waits_for_does_not_slow_a_lane():
    """The slowest cursor is the one with changes pending, however old another kind's last change is."""
    lane = f.Lane("x", "x", "x", (), (f.Cursor("Node", 0, 0), f.Cursor("Pod", 5, 3)))
    frame = f.Frame(head=plain.Head(step=8, steps_known=8), lanes=(lane,))
    assert "x  seen 5, 3 behind" == lanes.reading(frame)


def test_a_long_run_is_shown_through_a_window_with_the_playhead_in_it():
    """Columns never fall under 14 px: 200 steps get a window and an overview above it."""
    svg = lanes.draw(long_run(), 700)
    steps = [int(ref.split("/")[1]) for ref in marks(svg)]
    assert "all 200 steps" in svg
    assert min(steps) > 90
    assert max(steps) < 140
    assert 'data-ref="step/120"' in svg
    assert "all 14 steps" not in lanes.draw(frames.zonal(8), 700)


def test_the_window_reaches_both_ends_of_the_run():
    """At the start and at the end of a long run the window shows the first and the last step."""
    assert 'data-ref="step/0"' in lanes.draw(long_run(0), 700)
    assert 'data-ref="step/200"' in lanes.draw(long_run(200), 700)


def test_a_selected_object_rings_the_marks_that_wrote_it():
    """Four marks concern the claim up to step 8, two more are known to follow."""
    assert 6 == lanes.draw(frames.zonal(8), 1000, "pvc/data-web-0").count('class="k-ring"')


def test_many_marks_of_one_step_are_counted():
    """What has no room beside the others in its column is a number, not lost."""
    frame = frames.zonal(9)
    extra = tuple(f.Mark(9, "write", "status", "pv/volume-1") for _ in range(5))
    lane = evolve(frame.lanes[4], marks=tuple(sorted((*frame.lanes[4].marks, *extra), key=lambda m: m.step)))
    frame = evolve(frame, lanes=(*frame.lanes[:4], lane, *frame.lanes[5:]))
    assert '<text x="' in lanes.draw(frame, 700)
    assert re.search(r'class="k-tiny">5<', lanes.draw(frame, 700))


def test_hostile_labels_are_escaped():
    """Markup in a lane's label or a mark's ref stays text."""
    frame = frames.zonal(8)
    mark = f.Mark(8, "write", "create", "pod/<img onerror=x>")
    lane = evolve(frame.lanes[5], label="<img src=x>", marks=(mark,))
    svg = lanes.draw(evolve(frame, lanes=(lane,)), 700)
    parsed(svg)
    assert "<img" not in svg


def test_actors_that_did_nothing_and_lack_nothing_are_one_row():
    """With `fold` two or more idle actors are a row that names them and unfolds; every other lane stays."""
    frame = frames.zonal(14)
    quiet = tuple(plain.Lane(f"idle-{i}", "x", f"quiet {i}", cursors=(plain.Cursor("Pod", 14),)) for i in range(3))
    frame = evolve(frame, lanes=(*frame.lanes, *quiet))
    folded = lanes.draw(frame, 700, fold=True)
    assert "3 more, idle: quiet 0, quiet 1, quiet 2" in folded
    assert "lane/idle-1" not in folded
    assert "lane/idle-1" in lanes.draw(frame, 700)
    assert "lane/idle-1" in lanes.draw(frame, 700, unfolded={"idle"}, fold=True)


def test_an_actor_keeps_its_part_where_its_drivers_domain_has_no_room():
    """In a narrow lane stand the name within a domain, or its first label, and the part of the driver."""
    first, second, *rest = frames.zonal(3).lanes
    named = (evolve(first, label="zonal.storage.example.com deleter"), evolve(second, label="kubernetes.io/gce-pd provisioner"))
    words = [t.text for t in parsed(lanes.draw(evolve(frames.zonal(3), lanes=(*named, *rest)), 360)).iter(NS + "text")]

    assert {"zonal… deleter", "gce-pd provisioner"} <= set(words)
    assert "zonal.storage.example.com deleter" in lanes.draw(evolve(frames.zonal(3), lanes=named), 1000)
