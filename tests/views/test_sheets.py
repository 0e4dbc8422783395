"""Ledgers and domains: the marks of a sheet as SVG, and readings word for word."""

import re
import subprocess
import sys
from xml.etree import ElementTree as ET

import pytest
from attrs import evolve

from kvolsched.views import frame as f
from kvolsched.views.pictures.picture import NAMED, PICTURES, TABS

from . import frames, plain

GI = 1 << 30


def parsed(svg):
    """Parse a picture: it must be well-formed XML."""
    return ET.fromstring(svg)  # noqa: S314 - our own string


def words(name, frame, *key):
    """Return the reading of a picture."""
    return NAMED[name].words(frame, *key)


def panel(number, selection=""):
    """Draw a ledger of skew as the panel shows it."""
    return NAMED["skew"].svg(f.Frame(skew=(frames.skew_ledgers()[number],)), 1000, selection)


def test_domains_word_for_word():
    """Nodes, pods and volumes stand by domain; what has no place stands last."""
    expected = """\
domains of topology.kubernetes.io/zone
domain          nodes      pods                 volumes      verdicts
us-central1-a   1: node-a  1: api-0             1: volume-1  1 chosen
us-central1-b   1: node-b  2: batch-7, batch-9  0            1 NodeResourcesFit
us-central1-c   1: node-c  1: api-1             0            1 VolumeBinding
(no place yet)  0          1: web-0             0            –"""
    assert expected == words("domains", frames.zonal(8))


def test_domains_of_a_key_that_nodes_lack():
    """Nodes without the key stand together under (no label)."""
    lines = words("domains", frames.zonal(2), "example.com/rack").splitlines()
    assert lines[2].startswith("(no label)  3: node-a, node-b, node-c")
    assert lines[2].endswith("not judged yet")


def test_a_volume_stands_in_every_domain_that_reaches_it():
    """A volume of two zones is counted in both, one of no zone in none."""
    frame = frames.zonal(8)
    two = plain.VolumeRow("pv/two", "two", reach="zones:us-central1-a,us-central1-b")
    lost = plain.VolumeRow("pv/lost", "lost", reach="nowhere")
    lines = words("domains", evolve(frame, volumes=(two, lost))).splitlines()[2:]
    assert ["1: two", "1: two", "0", "1: lost"] == [re.split(r"  +", line)[3] for line in lines]


def test_domains_of_no_node():
    """Without nodes a sentence stands in chart, panel and reading."""
    assert "No nodes. Apply some, or load a scenario." in words("domains", f.Frame())
    assert "No nodes." in NAMED["domains"].svg(f.Frame(), 700)


@pytest.mark.parametrize("number", range(len(frames.skew_ledgers())))
def test_the_panel_shows_the_same_marks_as_svg(number):
    """The panel's drawing parses, follows the theme and can be selected; a ledger costs few kB."""
    svg = panel(number, "domain/topology.kubernetes.io/zone/us-central1-a")
    parsed(svg)
    assert "#0" not in svg.replace("&#0", "")
    assert 26_000 > len(svg.encode())


def test_a_selected_domain_is_ringed():
    """Selecting a domain rings its row in the panel."""
    ledger = frames.skew_ledgers()[0]
    ref = f"domain/{ledger.key}/{ledger.rows[0].domain}"
    svg = panel(0, ref)
    assert 1 == svg.count("k-ring")
    assert f'data-ref="{ref}"' in svg


def test_the_panel_needs_no_altair():
    """Drawing for the panel does not load altair, which takes a second."""
    code = (
        "import sys; from kvolsched.views import frame; from kvolsched.views.pictures.picture import NAMED; "
        "NAMED['skew'].svg(frame.Frame(), 700); "
        "print('altair' in sys.modules)"
    )
    assert (
        "False"
        == subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
    )


def test_skew_word_for_word():
    """The ledger answers first, writes the sum as the rule does, and says where all filters let the pod land."""
    head = "Where may web-0 land? Spread over topology.kubernetes.io/zone, maxSkew 1, DoNotSchedule; now: step 8, t = 1.4 s"
    expected = [
        f"{head}, rules design",
        "✓ web-0 may land in us-central1-b. us-central1-b and us-central1-c share the minimum (1).",
        "minimum 1, set by 2 domains, limit 2 = minimum 1 + maxSkew 1",
        ("us-central1-a  counted 3, not counted 1 Terminating  ActualSkew 2  3 + 1 − 1 = 3 > 1 ✕"
         "  cannot land: PodTopologySpread, 2 too many over 2 zones"),
        "us-central1-b  ▼ minimum  counted 1  ActualSkew 0  1 + 1 − 1 = 1 ≤ 1 ✓  may land on 2 of 2 nodes",
        ("us-central1-c  ▼ minimum  counted 1, not counted 2 another pod-template-hash  ActualSkew 0  1 + 1 − 1 = 1 ≤ 1 ✓"
         "  cannot land: TaintToleration on 1 of 1 node"),
        "us-central1-d  counted 0  – no domain: all nodes tainted, nodeTaintsPolicy: Honor",
        "(no label)  counted 2  – no domain: node-x lacks the topology key",
    ]
    assert expected == [re.sub(r" {2,}", "  ", line).rstrip() for line in words("skew", frames.zonal(8)).splitlines()]
    assert "This pod has no spread constraint." == words("skew", frames.zonal(2))


def test_many_pods_in_a_domain_are_a_bar_with_their_number():
    """Over twelve pods, a bar with its number stands for the squares."""
    ledger = evolve(
        frames.skew_ledgers()[0], rows=(plain.SkewRow("a", 3, 40, (), "", 40, fits=False), plain.SkewRow("b", 3, 1))
    )
    assert ">40</text>" in NAMED["skew"].svg(evolve(frames.zonal(8), skew=(ledger,)), 816)


def test_min_domains_forces_the_minimum_to_zero_in_words():
    """When too few domains exist, the chart says why the minimum counts as 0."""
    ledger = evolve(frames.skew_ledgers()[0], min_domains=5, minimum=0, minimum_domain="")
    svg = NAMED["skew"].svg(evolve(frames.zonal(8), skew=(ledger,)), 816)
    assert "minimum 0, forced: 3 of 5 domains" in svg


def test_capacity_word_for_word():
    """The ledger compares what is asked with what is published, and knows what the driver has now."""
    expected = """\
Where could data-web-0 be made? 60Gi of class fast-lvm
node-a  1 node   published 100Gi, 12 s old, stale: driver now 40Gi  rule ✓ 60Gi ≤ 100Gi                driver ✕ has 40Gi: \
creation fails
node-b  1 node   published 55Gi, 2 s old, driver now 55Gi           rule ✕ 60 > 55                     driver ✕ has 55Gi: \
never asked
node-c  1 node   published 180Gi, 3 s old, driver now 180Gi         rule ✕ 60Gi > largest volume 50Gi  driver ✓ has 180Gi: \
never asked
node-d  1 node   nothing published, driver now 200Gi                rule ✕ no entry = not sufficient   driver ✓ has 200Gi: \
never asked
rack-7  4 nodes  published 140Gi, 5 s old, driver now 140Gi         rule ✓ 60Gi ≤ 140Gi                driver ✓ has 140Gi: \
enough"""
    assert expected == words("capacity", frames.zonal(8))
    assert "This pod has no claim to provision." == words("capacity", frames.zonal(2))


def test_unchecked_capacity_says_so():
    """A driver that does not publish is not checked, in words."""
    why = "Driver pd.csi does not publish capacity: not checked"
    ledger = plain.CapacityLedger("pvc/data-web-0", "zonal-class", 100 * GI, why)
    assert why == words("capacity", evolve(frames.zonal(8), capacity=(ledger,))).splitlines()[-1]


def test_every_picture_of_the_table_draws_and_reads_an_empty_frame():
    """Names are unique, and a frame without rows is a sentence in each picture."""
    assert len(NAMED) == len(PICTURES)
    for picture in PICTURES:
        assert (bool(picture.svg(f.Frame(), 700)), bool(picture.words(f.Frame()))) == (True, True), picture.name
    assert [picture.tab for picture in TABS] == ["Verdicts", "Scores", "Skew", "Capacity", "Domains", "Series", "Events", "Story"]
