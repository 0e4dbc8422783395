"""Dumps of whole clusters are read without loss; contradictions and missing kinds are reported in sentences."""

import gzip
import json
import shutil
import textwrap
import time
from functools import partial
from pathlib import Path

import pytest
from api.big_dump import CAUSES, big_dump, big_text
from losses import lost
from tqdm.auto import tqdm

from kvolsched.api import progress
from kvolsched.api.kinds.kind import KINDS
from kvolsched.api.text import manifest
from kvolsched.api.text.dump_checks import DECIDING_KINDS, DUMP_COMMAND
from kvolsched.api.text.manifest import ManifestError, read, read_plain, to_plain, write
from kvolsched.cluster import Cluster
from kvolsched.kubectl import get

DUMPS = sorted((Path(__file__).parent.parent / "conformance" / "dumps").glob("*.yaml.gz"))
NOTEBOOKS = Path(__file__).parent.parent.parent / "notebooks"


def given(path):
    """The objects of a recorded dump as plain data."""
    [found] = read_plain(gzip.decompress(path.read_bytes()).decode())
    return found["items"]


# -- recorded dumps ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", DUMPS, ids=lambda path: path.name)
def test_no_field_of_a_recorded_dump_is_lost(path):
    """Every field of what kubectl printed is in what is written again: status, uid, versions, events, all of it."""
    items, found = given(path), read(path)
    assert len(items) == len(found.objects)
    for before, after in zip(items, found.objects, strict=True):
        assert [] == lost(before, to_plain(after)), before["metadata"]["name"]


@pytest.mark.parametrize("form", ["yaml", "json"])
@pytest.mark.parametrize("path", DUMPS, ids=lambda path: path.name)
def test_a_recorded_dump_is_read_written_and_read_alike(path, form):
    """What was written from a dump reads back as equal objects, uid and foreign versions included."""
    first = read(path)
    again = read(write(first.objects, form))
    assert first.objects == again.objects
    versions = [[one.metadata.resource_version for one in found.objects] for found in (first, again)]
    assert versions[0] == versions[1]
    assert all(versions[0])


def test_the_notebooks_have_their_dump():
    """The dump beside the notebooks is the recorded one."""
    assert DUMPS[0].read_bytes() == (NOTEBOOKS / "shop.yaml.gz").read_bytes()


@pytest.mark.parametrize(("name", "expected"), [("shop", "17 Pods"), ("storage", "8 Pods")])
def test_a_cluster_from_a_recorded_dump(name, expected):
    """A dump becomes a cluster, and its objects keep their uid."""
    path = next(path for path in DUMPS if path.name.startswith(name))
    cluster = Cluster.from_manifests(path)
    assert expected in repr(cluster)
    assert {one["metadata"]["uid"] for one in given(path)} == {one.metadata.uid for one in cluster.world.log.objects.values()}


# -- whatever a dump comes in ------------------------------------------------------------------------------------

POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: %s}\nspec: {containers: [{name: c, image: i}]}\n"
CUSTOM = "apiVersion: example.com/v1\nkind: Backup\nmetadata: {name: nightly}\nspec: {keep: 3}\n"


def test_packed_files_many_files_a_directory_and_texts(tmp_path):
    """Files, packed or not, directories, bytes and texts are read together."""
    (tmp_path / "a.yaml.gz").write_bytes(gzip.compress((POD % "a").encode()))
    (tmp_path / "b.json.gz").write_bytes(gzip.compress(json.dumps(to_plain(read(POD % "b").objects[0])).encode()))
    (tmp_path / "c.yaml").write_text(POD % "c")
    expected = ["a", "b", "c"]
    assert expected == [one.metadata.name for one in read(tmp_path).objects]
    assert expected == [one.metadata.name for one in read(sorted(tmp_path.iterdir())).objects]
    assert expected == [one.metadata.name for one in read([str(path) for path in sorted(tmp_path.iterdir())]).objects]
    assert ["d"] == [one.metadata.name for one in read(gzip.compress((POD % "d").encode())).objects]
    assert expected == sorted(one.metadata.name for one in Cluster.from_manifests(tmp_path).objects("Pod"))


@pytest.mark.parametrize("content", [b"\x1f\x8b", b"\x1f\x8bnothing of the kind", gzip.compress(POD.encode(), mtime=0)[:-9]], ids=["nothing", "garbage", "cut"])
def test_a_broken_archive_is_a_fault(content):
    """A packed file that cannot be unpacked is named, not a traceback."""
    with pytest.raises(ManifestError, match="no sound gzip file"):
        read(content)


def test_an_archive_is_unpacked_up_to_the_limit_and_no_further(monkeypatch):
    """A small archive that holds more than a source may is refused before it is all unpacked."""
    monkeypatch.setattr(manifest.read_sources.__module__ + ".LIMITS", manifest.LIMITS.__class__(size=10_000))
    with pytest.raises(ManifestError, match="longer than"):
        read(gzip.compress(b"#" * 10_000_000))


def test_kinds_nobody_knows_are_kept_and_listed():
    """An object of an unknown kind stays as it is, is listed, and is written back."""
    found = read(POD % "a" + "---\n" + CUSTOM)
    assert (1, 1) == (len(found.objects), len(found.others))
    assert read_plain(CUSTOM) == read_plain(write(found.others))
    assert "1 of other kinds" in repr(found)


def test_a_table_for_people_is_no_dump():
    """A table that kubectl prints for people is refused with the command that makes a dump."""
    with pytest.raises(ManifestError) as caught:
        read("NAME    READY   STATUS    RESTARTS   AGE\nweb-0   1/1     Running   0          5d\n")
    assert "kubectl get nodes,pods," in caught.value.faults[0].message


# -- what it does not tell ---------------------------------------------------------------------------------------


def test_what_the_recorded_dump_does_not_tell():
    """The shop's dump holds no attachments, namespaces, services, budgets or capacities: a sentence for each."""
    found = read(DUMPS[0]).missing_kinds()
    assert ["csistoragecapacities", "volumeattachments", "namespaces", "services", "poddisruptionbudgets"] == [one.kind.plural for one in found]
    assert (
        "no namespaces: the dump does not tell the labels of namespaces: a namespaceSelector of pod affinity matches none"
        == str(found[2])
    )


def test_nothing_tells_nothing():
    """An empty source lacks every deciding kind; each has its own sentence."""
    missing = read("").missing_kinds()
    assert [name for name, _ in DECIDING_KINDS] == [one.kind.name for one in missing]
    assert len(missing) == len({one.cannot_tell for one in missing})


def test_the_command_asks_for_every_deciding_kind():
    """The command of the README and of lesson 10 gets all deciding kinds, in all namespaces, as JSON."""
    assert all(one.kind.plural in DUMP_COMMAND.split()[2].split(",") for one in read("").missing_kinds())
    assert DUMP_COMMAND.endswith(" -A -o json > dump.json")
    assert DUMP_COMMAND in (NOTEBOOKS / "10-bring-your-own-cluster.ipynb").read_text(encoding="utf-8")


# -- what is wrong in it -----------------------------------------------------------------------------------------

NODE = "apiVersion: v1\nkind: Node\nmetadata: {name: n1, labels: {a: b}}\n"
BOUND = """
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: %s}
spec: {accessModes: [ReadWriteOnce], volumeName: %s, resources: {requests: {storage: 1Gi}}}
"""
VOLUME = """
apiVersion: v1
kind: PersistentVolume
metadata: {name: pv-1}
spec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], hostPath: {path: /x}, claimRef: {namespace: default, name: %s}}
"""
OWNED = "apiVersion: v1\nkind: Pod\nmetadata: {name: p%s, uid: u-%s, ownerReferences: [{apiVersion: v1, kind: Pod, name: p%s, uid: u-%s}]}\n"


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ([BOUND % ("data", "gone")], "pvc/data: spec.volumeName: names the volume gone, which is not in the dump"),
        (
            [VOLUME % "a", BOUND % ("a", "pv-1"), BOUND % ("b", "pv-1")],
            "pvc/b: spec.volumeName: names the volume pv-1, and so does the claim default/a: a volume is bound to one claim",
        ),
        (
            [VOLUME % "a", BOUND % ("b", "pv-1")],
            "pvc/b: spec.volumeName: names the volume pv-1, which says that it belongs to default/a",
        ),
        (["apiVersion: v1\nkind: Node\nmetadata: {name: n9}\n"], "node/n9: metadata.labels: has no labels: it is in no topology domain, and no selector chooses it"),
        ([NODE, POD % "p" + "  \n", (POD % "q").replace("spec: {", "spec: {nodeName: n2, ")], "pod/q: spec.nodeName: runs on the node n2, which is not in the dump"),
        (
            [OWNED % ("a", "a", "b", "b"), OWNED % ("b", "b", "a", "a")],
            "pod/pa: metadata.ownerReferences: owns itself: pod/pa is owned by pod/pb is owned by pod/pa",
        ),
    ],
)
def test_what_contradicts_itself_is_a_warning(texts, expected):
    """A dump is loaded unchanged; exactly its contradictions are reported, with their places."""
    cluster = Cluster.from_manifests("---\n".join(texts))
    [warning] = cluster.loaded_manifests.warnings
    assert str(warning).endswith(expected)
    assert warning.line
    assert len(texts) == len(cluster.loaded_manifests.objects)


def test_a_long_chain_of_owners_is_followed():
    """Long chains of owners are followed, and a cycle at their end is reported once."""
    chain = [OWNED % (i, i, i + 1, i + 1) for i in range(3000)] + [OWNED % (3000, 3000, 2990, 2990)]
    [warning] = Cluster.from_manifests("---\n".join(chain)).loaded_manifests.warnings
    assert "cycle" == warning.rule


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (POD % "a" + "---\n" + POD % "a", "document 2, line 8: pod/a: metadata.name: duplicate of the object in namespace default in document 1"),
        (POD % "a" + "x: &a [x, x, x, x, x, x, x, x, x, x]\ny: &b [" + "*a, " * 40 + "*a]\nz: [" + "*b, " * 40 + "*b]\n", "line 7: aliases expand to more than 10 times the text"),
        ("apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: c}\n", 'document 1, line 4: pod/a: spec.containers: wants a list, got "c"'),
        ("apiVersion: v1\nkind: List\nitems: all\n", 'document 1, line 3: list/?: items: wants a list, got "all"'),
        ('{"apiVersion": "v1", "kind": "List", "items": [', "is no JSON: Expecting value"),
        ("a: " + "[" * 101 + "]" * 101 + "\n", "nested deeper than 100"),
    ],
)
def test_what_cannot_be_read_is_a_fault(text, expected):
    """Duplicates (unless lenient), alias bombs, wrong types, cut-off and too deep texts: one clear line each."""
    for lenient in (False,) if "duplicate" in expected else (False, True):
        with pytest.raises(ManifestError) as caught:
            Cluster.from_manifests(text, lenient=lenient)
        assert any(expected in line for line in caught.value.lines()), caught.value.lines()
    assert all("Traceback" not in line and len(line) <= 200 for line in caught.value._render_traceback_())


@pytest.mark.parametrize(("limit", "text", "expected"), [
    ({"size": 100}, "#" * 101, "is longer than"), ({"documents": 3}, "---\n" + "a: b\n---\n" * 4, "more than 3 documents"),
])  # fmt: skip
def test_sizes_over_the_limits(monkeypatch, limit, text, expected):
    """More than a source may hold is refused in words that name the limit."""
    for module in ("text.sources", "text.yaml_text"):
        monkeypatch.setattr(f"kvolsched.api.{module}.LIMITS", manifest.LIMITS.__class__(**limit))
    with pytest.raises(ManifestError, match=expected):
        Cluster.from_manifests(text + "\n")


def test_other_versions_are_read_with_warnings():
    """A field that this version does not know is a warning of a dump, with the object kept."""
    cluster = Cluster.from_manifests("apiVersion: v1\nkind: Node\nmetadata: {name: n, labels: {a: b}}\nspec: {shape: round}\n")
    assert ["unknown"] == [warning.rule for warning in cluster.loaded_manifests.warnings]
    assert {"shape": "round"} == cluster["node/n"].spec.rest


# -- large dumps -------------------------------------------------------------------------------------------------


def test_a_large_dump_is_sound():
    """The generated dump has no contradictions, and all kinds of a real one."""
    found = read(big_text(50, 200), lenient=True)
    assert ((), ()) == (found.warnings, found.others)
    assert len(big_dump(50, 200)) == len(found.objects)
    assert [] == [one for plain, typed in zip(big_dump(50, 200), found.objects, strict=True) for one in lost(plain, to_plain(typed))]


def test_a_bar_is_shown_only_when_reading_takes_long(monkeypatch, capsys):
    """Short readings print nothing; a long one shows how much of the text it has read."""
    text = big_text(20, 50)
    read(text)
    assert "" == capsys.readouterr().err
    monkeypatch.delenv("TQDM_DISABLE")
    monkeypatch.setattr(progress, "DELAY", 0.0)
    monkeypatch.setattr("tqdm.auto.tqdm", partial(tqdm, mininterval=0))
    read(text)
    told = capsys.readouterr().err
    assert "reading:" in told
    assert "100%" in told
    read(write(read(text).objects))
    assert "100%" in capsys.readouterr().err


@pytest.mark.long
def test_a_dump_of_5000_nodes_takes_seconds(tmp_path):
    """166 MB of JSON, 30,000 objects, in well under 10 s of cpu."""
    (tmp_path / "dump.json").write_text(big_text())
    start = time.process_time()
    found = read(tmp_path / "dump.json", lenient=True)
    assert 30_000 < len(found.objects)
    assert time.process_time() - start < 10
    shutil.rmtree(tmp_path)


def test_the_price_of_an_object_does_not_grow():
    """Four times the objects take about four times as long: within a factor of two."""
    texts = [big_text(nodes, 2 * nodes) for nodes in (100, 400)]

    def took(text):
        start = time.process_time()
        read(text, lenient=True)
        return time.process_time() - start

    small, large = (min(took(text) for _ in range(3)) for text in texts)
    assert large < 8 * small


def test_the_words_of_a_dump_are_no_code():
    """Words of a dump that look like paths, tags or aliases are only words."""
    text = textwrap.dedent("""
        apiVersion: v1
        kind: Node
        metadata:
          name: "n"
          annotations: {"a": "!!python/object:os.system", "b": "../../etc/passwd", "c": "*a"}
        """)
    expected = {"a": "!!python/object:os.system", "b": "../../etc/passwd", "c": "*a"}
    assert expected == dict(read(text, lenient=True).objects[0].metadata.annotations)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_every_kind_of_a_dump_is_listed(kind):
    """`get` knows a table for each kind, by each of its names, and lists what the dumps hold of it."""
    for path in DUMPS:
        cluster = Cluster.from_manifests(path)
        names = {one.metadata.name for one in cluster.objects(kind.name)}
        for word in (kind.name, kind.plural, *kind.short):
            listing = get(cluster, word, all_namespaces=True)
            column = listing.columns.index("NAME") if "NAME" in listing.columns else None
            unwritten = kind.name == "Namespace" and not names  # those of every cluster are listed, too
            assert len(names) == len(listing.rows) or unwritten
            assert column is None or unwritten or names == {row[column].removesuffix(" (default)") for row in listing.rows}


def test_the_pods_that_wait_are_sound():
    """Pods that fit nowhere, of every cause, read without a warning, each with what it asks for."""
    found = read(big_text(50, 200, pending=2 * len(CAUSES)), lenient=True)
    assert ((), ()) == (found.warnings, found.others)
    assert 2 * len(CAUSES) + 1 == sum(obj.kind == "Pod" and not obj.spec.node_name for obj in found.objects)


def test_what_a_caller_gives_stays_as_it_is():
    """Plain data of a list is not changed by reading it, nor is what `keep` returns."""
    items = big_dump(3, 4)
    given = {"apiVersion": "v1", "kind": "List", "items": items}
    before = json.dumps(given)
    assert len(items) == len(read(given, keep=True).written) == len(read(before, keep=True).written)
    assert before == json.dumps(given)
