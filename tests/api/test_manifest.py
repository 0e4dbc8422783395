"""Reading manifests: many documents, every fault at once with its place, and nothing half-read."""

import textwrap

import pytest

from kvolsched.api.text import manifest
from kvolsched.api.text.manifest import ManifestError, read, write

POD = "{apiVersion: v1, kind: Pod, metadata: {name: %s}}"
BAD = textwrap.dedent("""\
    apiVersion: v1
    kind: Pod
    metadata: {name: a}
    spec:
      containers:
      - name: c
        imagee: nginx
        resources: {requests: {cpu: 1x}}
    ---
    # a class
    apiVersion: storage.k8s.io/v1
    kind: StorageClass
    metadata:
      labels: {a: b}
    volumeBindingMode: WaitForFirstConsumers
    allowVolumeExpansion: "yes"
    ---
    apiVersion: v1
    kind: Pod
    metadata:
      name: a
      namespace: default
    """)


def faults(source, **options):
    """Return the faults of a source, which must have some."""
    with pytest.raises(ManifestError) as caught:
        read(source, **options)
    return caught.value.faults


def test_every_fault_at_once_with_its_place():
    """Six faults in three documents are reported together: source, document, line, object, path, rule, value."""
    found = faults(BAD, name="bad.yaml")
    assert [
        ("bad.yaml", 1, 7, "pod/a", "spec.containers[0].imagee", "unknown", "nginx"),
        ("bad.yaml", 1, 8, "pod/a", "spec.containers[0].resources.requests.cpu", "quantity", "1x"),
        ("bad.yaml", 2, 13, "sc/?", "metadata.name", "required", None),
        ("bad.yaml", 2, 15, "sc/?", "volumeBindingMode", "enum", "WaitForFirstConsumers"),
        ("bad.yaml", 2, 16, "sc/?", "allowVolumeExpansion", "type", "yes"),
        ("bad.yaml", 3, 21, "pod/a", "metadata.name", "duplicate", "a"),
    ] == [(f.source, f.document, f.line, f.object, f.path, f.rule, f.value) for f in found]


def test_faults_name_what_was_meant():
    """A misspelt field or word is answered with the nearest one; a wrong type with what was wanted."""
    messages = [fault.message for fault in faults(BAD)]
    assert 'unknown field; did you mean "image"?' == messages[0]
    assert messages[3].endswith('did you mean "WaitForFirstConsumer"?')
    assert 'wants true or false, got "yes"' == messages[4]
    assert "duplicate of the object in namespace default in document 1, line 3" == messages[5]


def test_a_notebook_shows_ten_lines_of_plain_text():
    """However many faults there are, a notebook shows at most ten readable lines and how many more there are."""
    many = "\n---\n".join(f"{{apiVersion: v1, kind: Pod, metadata: {{name: p{i}}}, spec: {{x: <b>}}}}" for i in range(40))
    with pytest.raises(ManifestError) as caught:
        read(many)
    lines = caught.value._render_traceback_()
    assert 10 == len(lines)
    assert "40 faults in the manifests; nothing was loaded" == lines[0]
    assert "document 1, line 1: pod/p0: spec.x: unknown field" == lines[1]
    assert "… and 32 more; all are in .faults" == lines[-1]
    assert str(caught.value).splitlines() == lines


def test_a_fault_is_one_printable_line():
    """Control characters and long values of a manifest do not reach the terminal."""
    [fault] = faults({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a\x1b[2Jb\n"}, "spec": {"\x1b": "y" * 999}})
    assert str(fault).isprintable()
    assert len(str(fault)) <= 200


@pytest.mark.parametrize("form", ["yaml", "json"])
def test_lines_of_lists(form):
    """Faults inside a List carry the line of the field and the path inside its object, in YAML and JSON alike."""
    text = {
        "yaml": "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Pod\n  metadata:\n    name: a\n  spec:\n    x: 1\n",
        "json": '{"apiVersion": "v1",\n"kind": "List",\n"items": [\n{"apiVersion": "v1",\n"kind": "Pod",\n"metadata":\n{"name": "a"},\n"spec": {\n"x": 1}}]}',
    }[form]
    assert [(9, "spec.x", "pod/a")] == [(fault.line, fault.path, fault.object) for fault in faults(text)]


def test_typed_lists_give_their_kind():
    """The items of a PodList are pods though they do not say so; Lists may hold Lists; their order is kept."""
    text = """
    {"apiVersion": "v1", "kind": "List", "items": [
      {"apiVersion": "v1", "kind": "PodList", "items": [{"metadata": {"name": "a"}}, {"metadata": {"name": "b"}}]},
      {"apiVersion": "v1", "kind": "NodeList", "items": [{"metadata": {"name": "n"}}]},
      {"apiVersion": "v1", "kind": "ConfigMapList", "items": [{"metadata": {"name": "m"}, "data": {"k": "v"}}]},
      {"apiVersion": "v1", "kind": "EventList", "items": null}]}
    """
    found = read(text)
    assert [("Pod", "a"), ("Pod", "b"), ("Node", "n")] == [(one.kind, one.metadata.name) for one in found.objects]
    assert ["ConfigMap"] == [other["kind"] for other in found.others]


def test_many_sources(tmp_path):
    """Texts, files, directories and plain data are read together, in order; other files are left alone."""
    (tmp_path / "2.yaml").write_text(POD % "two")
    (tmp_path / "1.json").write_text('{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "one"}}')
    (tmp_path / "notes.txt").write_text("not: a: manifest")
    single = tmp_path / "other.yml"
    single.write_bytes(b"\xef\xbb\xbf" + (POD % "three").encode())
    found = read([tmp_path, POD % "four", {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "five"}}])
    assert ["one", "two", "three", "four", "five"] == [one.metadata.name for one in found.objects]
    assert ["three"] == [one.metadata.name for one in read(str(single)).objects]


def test_faults_of_several_sources_come_together(tmp_path):
    """A missing file, a text that is no UTF-8 and a bad manifest are told at once."""
    latin = tmp_path / "latin.yaml"
    latin.write_bytes(b"name: \xe9\n")
    found = faults([tmp_path / "none.yaml", latin, POD % "a" + "\n---\nkind: Pod\n"], name="text")
    assert {"file", "syntax", "required"} == {fault.rule for fault in found}


@pytest.mark.parametrize(
    ("text", "path", "message"),
    [
        ("kind: Pod\nmetadata: {name: a}\n", "apiVersion", "apiVersion is missing"),
        ("apiVersion: v1\nmetadata: {name: a}\n", "kind", "kind is missing"),
        ("apiVersion: v1\nkind: StatefulSet\nmetadata: {name: a}\n", "apiVersion", "StatefulSet is in apps/v1, not in v1"),
        ("apiVersion: storage.k8s.io/v1beta1\nkind: StorageClass\nmetadata: {name: a}\n", "apiVersion", "StorageClass is in storage.k8s.io/v1, not in storage.k8s.io/v1beta1"),
        ("apiVersion: v1\nkind: PersistentVolumClaim\nmetadata: {name: a}\n", "kind", 'no kind PersistentVolumClaim in v1; did you mean "PersistentVolumeClaim"?'),
        ("apiVersion: v1\nkind: ConfigMap\nmetadata: [a]\n", "metadata", "wants a mapping, got a list"),
        ("apiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {name: a}\nspec: [b]\n", "spec", "wants a mapping, got a list"),
        ("- a\n- b\n", "", "wants an object, got a list"),
        ("apiVersion: v1\nkind: List\nitems: {a: b}\n", "items", "wants a list, got a mapping"),
    ],
)
def test_what_is_no_object_of_a_kind(text, path, message):
    """A document without kind, of a kind in another group, of a misspelt kind, or that is no object is refused."""
    assert [(path, message)] == [(fault.path, fault.message) for fault in faults(text)]


def test_same_names_elsewhere_are_no_duplicates():
    """Equal names are duplicates within kind and namespace only; a generated name is no name yet."""
    texts = [
        "{apiVersion: v1, kind: Pod, metadata: {name: a}}",
        "{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: other}}",
        "{apiVersion: v1, kind: Node, metadata: {name: a}}",
        "{apiVersion: v1, kind: Pod, metadata: {generateName: a-}}",
        "{apiVersion: v1, kind: Pod, metadata: {generateName: a-}}",
    ]
    assert 5 == len(read("\n---\n".join(texts)).objects)


def test_unmodelled_fields_are_listed():
    """What Kubernetes knows and no class models is kept, listed with its path, and written back."""
    text = "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {dnsPolicy: Default, containers: [{name: c, command: [x]}]}}"
    found = read(text)
    assert ["spec.dnsPolicy", "spec.containers[0].command"][::-1] == [path for _, path in found.unmodelled]
    assert found.objects == read(write(found.objects)).objects


def test_lenient_reading_keeps_what_it_does_not_know():
    """Unknown fields and words of other versions are warnings where asked for, and survive being written."""
    text = "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {newField: {x: 1}, restartPolicy: Sometimes}}"
    found = read(text, lenient=True)
    assert {"unknown", "enum"} == {warning.rule for warning in found.warnings}
    assert {"newField": {"x": 1}, "restartPolicy": "Sometimes"} == manifest.to_plain(found.objects[0])["spec"]


def test_written_as_kubectl_prints():
    """apiVersion, kind and metadata lead, fields are sorted, lists are not indented, texts stay texts."""
    text = '{"kind":"Pod","apiVersion":"v1","spec":{"nodeName":"node-1","containers":[{"name":"yes","image":"012","args":["a\\nb"]}]},"metadata":{"name":"a","labels":{"x":"1e3"}}}'
    expected = textwrap.dedent("""\
        apiVersion: v1
        kind: Pod
        metadata:
          labels:
            x: '1e3'
          name: a
        spec:
          containers:
          - args:
            - |-
              a
              b
            image: '012'
            name: 'yes'
          nodeName: node-1
        """)
    assert expected == write(read(text).objects)


def test_several_objects_as_json_are_a_list():
    """One object is written as itself, several as a v1 List; another form is refused."""
    found = read("\n---\n".join(POD % name for name in "ab")).objects
    assert found == read(write(found, "json")).objects
    assert '"kind": "List"' in write(found, "json")
    assert '"kind": "List"' not in write(found[:1], "json")
    with pytest.raises(ValueError, match="xml"):
        write(found, "xml")


def test_empty_sources_hold_nothing():
    """An empty text, a comment and empty documents are no fault."""
    for text in ("", "# nothing\n", "---\n---\n", "\n"):
        assert ((), ()) == (read(text).objects, read(text).others)


@pytest.mark.parametrize("name", ["../..", "a/b", ".", "50%"])
def test_a_dump_holds_no_name_that_no_server_can_store(name):
    """A name that cannot be a part of a path is a fault of a dump, with its field; so is a namespace."""
    text = f"apiVersion: v1\nkind: Pod\nmetadata: {{name: 'p', namespace: '{name}'}}\nspec: {{containers: [{{name: c}}]}}\n"
    with pytest.raises(ManifestError) as caught:
        read(text, lenient=True)
    assert [("metadata.namespace", "name", name)] == [(f.path, f.rule, f.value) for f in caught.value.faults]
