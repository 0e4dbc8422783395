"""Whatever file a person brings is read, skipped with a line, or refused clearly: files as editors, tools and slips make them."""

import datetime as dt
import errno
import io
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from mutations import mutated

import kvolsched
from kvolsched import Cluster, ManifestError
from kvolsched.cli import main

NODE = "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\nstatus: {allocatable: {pods: 10}}\n"
POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: web, labels: {from: %s}}\nspec: {containers: [{name: c, image: x}]}\n"
BOTH = NODE + "---\n" + POD % "us"
FOREIGN = {
    "kustomization.yaml": "resources:\n- web.yaml\n",
    "kustomization.yml": "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [web.yaml]\n",
    "values.yaml": "image: {tag: v1}\nreplicas: 3\n",
    "Chart.yaml": "apiVersion: v2\nname: shop\nversion: 1.0.0\n",
    "kubeadm.yaml": "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\nkubernetesVersion: v1.36.0\n",
    "kubeconfig.yaml": "apiVersion: v1\nkind: Config\nclusters: []\n",
    "docker-compose.yaml": "services:\n  web: {image: nginx}\n",
    "playbook.yaml": "- hosts: all\n  tasks: []\n",
    "patch.json": '[{"op": "remove", "path": "/spec/replicas"}]',
    "words.yaml": "just some words\n",
    "nameless.yaml": "apiVersion: v1\nkind: Pod\nspec: {containers: [{name: c, image: x}]}\n",
    "template.yaml": "apiVersion: v1\nkind: Pod\nmetadata:\n  name: {{ .Values.name }}\n",
    "block.yaml": "{{- if .Values.x }}\n" + POD % "x" + "{{- end }}\n",
    "quoted.yaml": POD.replace("web", '"{{ .Release.Name }}-web"') % "x",
    "count.yaml": "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec: {replicas: '{{ .Values.n }}'}\n",
    "jinja.yaml": "{% for x in y %}\n" + POD % "x" + "{% endfor %}\n",
}


def told(*sources, **options):
    """Return the lines of what was left out of a cluster that was loaded."""
    return Cluster.from_manifests(*sources, **options).remarks


def refused(*sources, **options):
    """Return the lines of a refusal."""
    with pytest.raises(ManifestError) as caught:
        Cluster.from_manifests(*sources, **options)
    return caught.value.lines()


def run(*words, stdin=None):
    """Return the exit code, output and errors of a command."""
    done = CliRunner().invoke(main, list(map(str, words)), input=stdin)
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.stdout, done.stderr


# -- two of one name -----------------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return an empty folder, where the test works."""
    monkeypatch.chdir(tmp_path)
    return Path()


@pytest.mark.parametrize(("files", "places"), [
    ({"a.yaml": POD % "first" + "---\n" + POD % "last"}, "a.yaml, document 2, line 8: pod/web: metadata.name: duplicate of the object in namespace default in document 1, line 3"),
    ({"a.yaml": POD % "first", "b.yaml": POD % "last"}, "b.yaml, document 1, line 3: pod/web: metadata.name: duplicate of the object in namespace default in document 1, line 3 of a.yaml"),
])
def test_the_last_of_two_objects_counts(folder, files, places):
    """Of two objects of one kind, namespace and name the last one counts, and one line names the places of both."""
    for name, text in files.items():
        (folder / name).write_text(text)
    cluster = Cluster.from_manifests(folder)

    assert "last" == cluster["web"].metadata.labels["from"]
    assert (f"{places}; the last one counts",) == cluster.remarks
    assert places in repr(cluster).replace("\n    ", " ")
    assert [places] == refused(folder, lenient=False)[1:]


def test_two_objects_of_one_name_are_not_applied():
    """`kubectl apply` would take the first one, then the last one; here a manifest that says two things is refused."""
    with pytest.raises(ManifestError, match="duplicate of the object"):
        Cluster().apply(POD % "first" + "---\n" + POD % "last")


@pytest.mark.parametrize("form", ["yaml", "json"])
def test_the_last_of_two_keys_counts(form):
    """A key that a mapping has twice has its last value, with a line that names its place; strict refuses it."""
    text = {"yaml": "apiVersion: v1\nkind: Node\nmetadata:\n  name: n1\n  name: n2\n",
            "json": '{"apiVersion": "v1", "kind": "Node",\n"metadata": {\n"name": "n1",\n\n"name": "n2"}}'}[form]
    cluster = Cluster.from_manifests(text)

    assert ["n2"] == [node.metadata.name for node in cluster.objects("nodes")]
    assert ('document 1, line 5: the key "name" appears twice in one mapping; the last one counts',) == cluster.remarks
    assert ['document 1, line 5: the key "name" appears twice in one mapping'] == refused(text, lenient=False)[1:]


# -- what is no object ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FOREIGN)
def test_what_is_no_object_is_skipped_with_a_line(folder, name):
    """A file of another tool beside manifests is left out, and said to be; alone it is refused."""
    (folder / "all.yaml").write_text(BOTH)
    (folder / name).write_text(FOREIGN[name])
    cluster = Cluster.from_manifests(folder)
    [line] = cluster.remarks

    assert 2 == len(cluster.loaded_manifests)
    assert line.startswith(f"{name}, ")
    assert line.endswith("; skipped")
    assert line.removesuffix("; skipped") in refused(folder / name)


@pytest.mark.parametrize("name", sorted(FOREIGN.keys() - {"quoted.yaml"}))  # a text that only the API server would refuse
def test_what_is_no_object_is_refused_when_strict(folder, name):
    """Nothing is left out of what is applied."""
    (folder / "all.yaml").write_text(BOTH)
    (folder / name).write_text(FOREIGN[name])

    assert any(name in line for line in refused(folder, lenient=False))
    with pytest.raises(ManifestError):
        Cluster().apply(folder)


def test_a_slip_of_the_hand_is_no_file_of_another_tool():
    """What names a kind of a cluster, but lacks its apiVersion, or is no YAML, is refused, not skipped."""
    for wrong, words in (("kind: Pod\nmetadata: {name: a}\n", "apiVersion is missing"), ("kind: [", "did not find expected")):
        assert words in "".join(refused(NODE, wrong))


@pytest.mark.parametrize(("head", "words"), [
    ("apiVersion: v1\nkind: PersistentVolumClaim", 'no kind PersistentVolumClaim in v1; did you mean "PersistentVolumeClaim"?'),
    ("apiVersion: storage.k8s.io/v1beta1\nkind: CSINode", "CSINode is in storage.k8s.io/v1, not in storage.k8s.io/v1beta1"),
])
def test_kinds_of_other_releases_are_skipped_with_a_line(head, words):
    """An object that a server of this release would not know is left out, with what it would be now."""
    [line] = told(NODE, f"{head}\nmetadata: {{name: a}}\n")

    assert line.endswith(f"{words}; skipped")


# -- bytes ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_texts_of_editors_are_read(tmp_path, encoding, end):
    """UTF-8 with and without its mark, what PowerShell writes, and both ends of lines are read alike."""
    (tmp_path / "a.yaml").write_bytes((BOTH + "# é").replace("\n", end).encode(encoding))

    assert ["n1", "web"] == [each.metadata.name for each in Cluster.from_manifests(tmp_path / "a.yaml").loaded_manifests]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (BOTH.encode("utf-16-le"), "save it as UTF-8"), (b"a: \0", "NUL bytes"), (bytes(range(256)), "is not UTF-8 text"),
        (b"\x1f\x8bnothing", "no sound gzip"), (b"\xff\xfea", "is not UTF-16"), (b"a:\n\tb: c\n", "cannot start any token"),
        (b"\x89PNG\r\n\x1a\n", "is not UTF-8 text"),
    ],
)
def test_bytes_that_are_no_text_are_refused(tmp_path, content, words):
    """Another encoding, a picture, a broken archive, tabs: one line with the file."""
    file = tmp_path / "a.yaml"
    file.write_bytes(content)
    [line] = refused(file)[1:]

    assert words in line
    assert file.name in line


def test_objects_nobody_models_and_lists_in_lists_are_read():
    """Custom resources are kept, lists may hold lists, and JSON objects may follow each other, a line each."""
    custom = "{apiVersion: kafka.strimzi.io/v1, kind: Kafka, metadata: {name: k}, spec: {x: [1]}}"
    lists = f"{{apiVersion: v1, kind: List, items: [{{apiVersion: v1, kind: List, items: [{custom}]}}]}}"
    lines = '{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a"}}\n{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "b"}}\n'

    assert ["Kafka"] == [each["kind"] for each in Cluster.from_manifests(lists).loaded_manifests]
    assert ["a", "b"] == [each.metadata.name for each in Cluster.from_manifests(lines).objects("nodes")]


def test_a_line_of_any_length_is_read(tmp_path):
    """A line of a megabyte is one like all others."""
    file = tmp_path / "a.yaml"
    file.write_text(BOTH + f"---\n{{apiVersion: v1, kind: ConfigMap, metadata: {{name: m}}, data: {{k: {'a' * 10**6}}}}}\n")

    assert 3 == len(Cluster.from_manifests(file).loaded_manifests)


# -- what stands in a directory ------------------------------------------------------------------------------------------


def test_what_is_no_file_is_skipped_with_a_line(tmp_path):
    """A broken link and a pipe in a directory are named, never waited for; a directory without manifests is refused."""
    (tmp_path / "all.yaml").write_text(BOTH)
    (tmp_path / "gone.yaml").symlink_to("nowhere")
    os.mkfifo(tmp_path / "pipe.yaml")
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "notes.txt").write_text("words")

    assert ["is a link to nothing, not a file; skipped", "is a pipe, not a file; skipped"] == [line.partition(": ")[2] for line in told(tmp_path)]
    assert "has no file that ends in .yaml, .yml, .json" in refused(tmp_path / "more")[1]
    assert "No such file" in refused(tmp_path / "none.yaml")[1]
    assert 3 == len(refused(tmp_path, lenient=False))


# -- Python data ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({1: 2}, "kind are missing"), ({"apiVersion": "v1", "kind": "Pod", (1, 2): 3}, "a key is a text, got tuple"),
        ({"a": {"b": [object()]}}, "a.b[0]: wants plain data, got object"), ({"a": {1, 2}}, "got set"), (5, "got int"),
        (None, "got NoneType"), ({"kind": Cluster}, "got type"), ({"kind": {"a": 1}}, "apiVersion"),
    ],
)
def test_data_that_no_text_could_hold_is_refused(data, words):
    """Keys and values that JSON does not know are faults with their path, not tracebacks."""
    for lenient in (False, True):
        assert words in "".join(refused([data], lenient=lenient)[1:]).replace("kind is", "kind are")


def test_data_in_a_circle_is_refused():
    """Data that holds itself is deeper than any limit."""
    data = {"apiVersion": "v1"}
    data["metadata"] = data

    assert "nested deeper than 100" in refused(data)[1]


def test_data_as_other_readers_make_it():
    """Numbers as keys and dates, as PyYAML reads them, are the texts that they stand for."""
    when = dt.datetime(2026, 1, 31, 12, tzinfo=dt.UTC)
    data = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n", "creationTimestamp": when, "labels": {1: "x", False: "y"}}}
    meta = Cluster.from_manifests(data)["n"].metadata

    assert ("2026-01-31T12:00:00Z", {"1": "x", "false": "y"}) == (meta.creation_timestamp, dict(meta.labels))


# -- faults --------------------------------------------------------------------------------------------------------------


def test_a_long_path_leaves_room_for_the_message(tmp_path):
    """However long the place of a fault is, its line keeps the rule and the value; the path loses its middle."""
    folder = tmp_path / ("d" * 200) / ("e" * 200)
    folder.mkdir(parents=True)
    (folder / "last.yaml").write_text(f"apiVersion: v1\nkind: Pod\nmetadata: {{name: {'n' * 250}}}\nspec: {{replicas: 3}}\n")
    [line] = refused(folder / "last.yaml", lenient=False)[1:]

    assert len(line) <= 200
    assert line.endswith("spec.replicas: unknown field")
    assert all(part in line for part in (str(tmp_path)[:10], "…", "last.yaml, document 1, line 4: pod/n"))


# -- the command line ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("words", [["why", "-"], ["get", "-", "pods"], ["describe", "-", "pod", "web"], ["redact", "-"],
                                   ["check", "-", "--cluster", "NODES"], ["check", "PODS", "--cluster", "-"]])
def test_every_command_that_reads_files_reads_standard_input(tmp_path, words):
    """`-` stands for it, once; what is empty is said to be, with an exit code."""
    (tmp_path / "nodes.yaml").write_text(NODE)
    (tmp_path / "pods.yaml").write_text(POD % "us")
    words = [{"NODES": tmp_path / "nodes.yaml", "PODS": tmp_path / "pods.yaml"}.get(word, word) for word in words]
    given = POD % "us" if words[0] == "check" and words[1] == "-" else BOTH
    code, _, _ = run(*words, stdin=given)
    empty, _, error = run(*words, stdin="# nothing\n")

    assert 0 == code
    assert empty in (1, 2)
    assert len(error.splitlines()) <= 2
    assert error


def test_a_command_says_what_it_skipped(tmp_path):
    """A line on the standard error names each file that is left out; the answer stands alone on the standard output."""
    (tmp_path / "all.yaml").write_text(BOTH)
    (tmp_path / "values.yaml").write_text(FOREIGN["values.yaml"])
    code, out, error = run("why", tmp_path)

    assert (0, 1) == (code, error.count("; skipped"))
    assert "skipped" not in out


EVERY_COMMAND = [
    ["scenarios"], ["run", "zonal-example"], ["explore", "zonal-example", "--max-states", "50"], ["why", "FILE"], ["get", "FILE", "pods"],
    ["describe", "FILE", "pods"], ["decode", "0/1 nodes are available: 1 Insufficient cpu."], ["check", "FILE", "--cluster", "FILE"],
]


class FullDisk(io.TextIOWrapper):
    """Standard output on a disk without room, or a pipe whose reader has gone; what is kept is written at the end."""

    def __init__(self, number):
        super().__init__(io.BytesIO(), encoding="utf-8")
        self.number, self.kept = number, 0

    def write(self, text):
        """Keep a text."""
        self.kept += len(text)
        return len(text)

    def flush(self):
        """Fail as the system does."""
        if self.kept:
            raise OSError(self.number, os.strerror(self.number))


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EPIPE], ids=["full", "closed"])
@pytest.mark.parametrize("words", EVERY_COMMAND, ids=lambda words: words[0])
def test_output_that_cannot_be_written_is_one_line(folder, monkeypatch, capsys, words, number):
    """On a full disk every command ends with one line and code 2; behind `| head` without a word, as if by SIGPIPE."""
    (folder / "all.yaml").write_text(BOTH)
    monkeypatch.setattr("sys.stdout", FullDisk(number))
    with pytest.raises(SystemExit) as ended:
        main(["all.yaml" if word == "FILE" else word for word in words])
    said = [line for line in capsys.readouterr().err.splitlines() if not line.startswith(("1 ", "Searching "))]  # a warning, what begins

    assert (141 if number == errno.EPIPE else 2) == ended.value.code
    assert ([] if number == errno.EPIPE else ["Error: cannot write the output: No space left on device"]) == said[-1:]


@pytest.mark.parametrize("options", [["-o", "more"], ["-o", "none/x"]])
def test_files_that_cannot_be_written_are_one_line(folder, options):
    """A directory instead of a file, or none where one should lie, is named."""
    (folder / "all.yaml").write_text(BOTH)
    (folder / "more").mkdir()
    code, _, error = run("redact", "all.yaml", *options)

    assert code == 2
    assert options[-1].partition("/")[0] in error.splitlines()[-1]


def test_a_terminal_of_few_characters_shows_codes(folder):
    """A character that the encoding of the output lacks is written as its code, not a traceback."""
    (folder / "all.yaml").write_text(BOTH + "---\n" + POD.replace("web", "other") % "us")
    done = subprocess.run([sys.executable, "-m", "kvolsched", "why", "all.yaml", "--pod", "web"], env={**os.environ, "PYTHONIOENCODING": "ascii",
                          "PYTHONPATH": str(Path(kvolsched.__file__).parent.parent)}, capture_output=True, check=False)

    assert (0, b"") == (done.returncode, done.stderr)
    assert done.stdout.isascii()


# -- gone wrong at random -------------------------------------------------------------------------------------------------

SHIPPED = sorted((Path(kvolsched.__file__).parent / "api" / "manifests").glob("*.yaml"))


def gone_wrong(seed):
    """Return bytes of a shipped manifest, or a recorded one, with slips of all sorts: in its data, its text, its bytes."""
    chance = random.Random(seed)
    content = bytearray((mutated(seed) if chance.random() < 0.5 else chance.choice(SHIPPED).read_text())[:50_000].encode("utf-8", "replace"))
    for _ in range(chance.choice((0, 1, 3))):
        content[chance.randrange(len(content))] = chance.randrange(256)
    return bytes(content)


def test_files_gone_wrong_are_answered_or_refused():
    """Loading, asking why and a few steps end in an answer or in one ManifestError, whatever became of a file."""
    ends = {"answered": 0, "refused": 0}
    for seed in range(200):
        try:
            cluster = Cluster.from_manifests(gone_wrong(seed))
            answers = [cluster.why(), *(cluster.step() for _ in range(4)), cluster.next, cluster.why(), cluster.get("pods")]
        except ManifestError:
            ends["refused"] += 1
        except Exception as error:
            error.add_note(f"gone_wrong({seed})")
            raise
        else:
            assert all(isinstance(repr(answer), str) for answer in answers)
            ends["answered"] += 1

    assert min(ends.values()) > 30, ends
