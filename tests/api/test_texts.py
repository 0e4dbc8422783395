"""Texts are not trusted: limits, alias bombs, tags, duplicate keys, and the values of plain YAML scalars."""

import attrs
import pytest

from kvolsched.api.text import json_text as jsontext
from kvolsched.api.text import manifest, sources
from kvolsched.api.text import yaml_text as yamltext
from kvolsched.api.text.manifest import ManifestError, read
from kvolsched.api.text.manifest import to_plain as plain

HEAD = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\n"


def refused(text, **options):
    """The rules and lines of every fault of a text that must have some."""
    with pytest.raises(ManifestError) as caught:
        read(text, **options)
    return [(fault.rule, fault.line) for fault in caught.value.faults]


def data(text):
    """The plain data that a YAML text stands for."""
    [found] = read(HEAD + "data:\n" + text).others
    return plain(found)["data"]


@pytest.fixture
def limited(monkeypatch):
    """Return a function that lowers limits where texts are read."""

    def lower(**limits):
        for module in (manifest, jsontext, sources, yamltext):
            monkeypatch.setattr(module, "LIMITS", attrs.evolve(manifest.LIMITS, **limits))

    return lower


def test_the_limits_are_the_documented_ones():
    """1 GB and 200,000 documents a source, nesting 100, aliases up to 10 times the text."""
    assert {"size": 1_000_000_000, "documents": 200_000, "nesting": 100, "expansion": 10} == attrs.asdict(manifest.LIMITS)


def test_an_alias_bomb_is_refused():
    """Aliases that stand for more than ten times the text are refused before anything is expanded."""
    text = HEAD + "a: &a [x, x, x, x, x, x, x, x, x]\n"
    for before, after in zip("abcdefghi", "bcdefghij", strict=True):
        text += f"{after}: &{after} [{', '.join([f'*{before}'] * 9)}]\n"
    assert [("limit", 7)] == refused(text)


def test_aliases_within_the_limit_work():
    """Anchors, aliases and merge keys mean what they say; explicit keys win, the first mapping of several wins."""
    text = "  base: &base {a: '1', b: '2'}\n  other: &other {b: '3', c: '4'}\n  one: {<<: *base, b: '9'}\n  two: {<<: [*other, *base]}\n  list: [*base]\n"
    found = data(text)
    assert {"a": "1", "b": "9"} == found["one"]
    assert {"b": "3", "c": "4", "a": "1"} == found["two"]
    assert [{"a": "1", "b": "2"}] == found["list"]


@pytest.mark.parametrize("text", ["a: &a [*a]\n", "a: *none\n", "a: {<<: 3}\n", "a: &a {<<: *a}\n"])
def test_aliases_that_name_nothing_are_refused(text):
    """An alias inside its own anchor, an unknown alias and a merge of no mapping are faults with a line."""
    [(rule, line)] = refused(HEAD + text)
    assert (True, 4) == (rule in ("alias", "merge", "syntax"), line)


@pytest.mark.parametrize("tag", ["!!python/object/apply:os.system", "!!binary", "!mine", "!!set", "!!timestamp"])
def test_unsafe_tags_are_refused(tag):
    """Only the tags of JSON's types are read; every other is a fault where it stands, on any node."""
    body = "{a: b}" if "set" in tag or "mine" in tag else "[echo]" if "python" in tag else "'x'"
    assert [("tag", 4)] == refused(HEAD + f"data: {tag} {body}\n")


def test_tags_of_json_types_are_read():
    """A tag may say that a value is a text, a number or a truth; it must be true."""
    assert {"a": "1", "b": 2, "c": 2.0, "d": True} == data("  a: !!str 1\n  b: !!int '2'\n  c: !!float '2'\n  d: !!bool 'true'\n")
    assert [("tag", 4)] == refused(HEAD + "data: !!int 'x'\n")


@pytest.mark.parametrize("text", [HEAD + "data: {a: b,\n a: c}\n", '{"apiVersion": "v1", "kind": "ConfigMap",\n"metadata": {"name": "m"},\n"data": {"b": {"a": 1},\n"a": "b",\n"a": "c"}}'])
def test_duplicate_keys_are_refused(text):
    """A duplicate key in a mapping is a fault with its line, in YAML and JSON."""
    assert [("duplicate", 5)] == refused(text)


@pytest.mark.parametrize("depth", [97, 200, 5000])
@pytest.mark.parametrize("brackets", ["[]", "{}"])
def test_nesting(depth, brackets):
    """A hundred levels are read, more are refused, and a million do not break the reader."""
    yaml = HEAD + "data: " + ("[" * depth + "]" * depth if brackets == "[]" else "{a: " * depth + "x" + "}" * depth)
    json = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"m"},"data":' + (
        "[" * depth + "]" * depth if brackets == "[]" else '{"a":' * depth + "1" + "}" * depth) + "}"  # fmt: skip
    for text in (yaml, json):
        if depth < 100:
            assert 1 == len(read(text).others)
        else:
            assert "limit" in {rule for rule, _ in refused(text)} or depth > 900


@pytest.mark.parametrize(
    ("limits", "text"),
    [
        ({"size": 99}, HEAD + "#" * 99),
        ({"size": 99}, HEAD + "é" * 40),
        ({"documents": 2}, "\n---\n".join([HEAD] * 3)),
        ({"documents": 2}, '{"apiVersion": "v1", "kind": "X", "metadata": {"name": "m"}}\n' * 3),
    ],
)
def test_sizes_are_limited(limited, limits, text):
    """A source with too many bytes or documents is refused with a clear word."""
    limited(**limits)
    assert "limit" in {rule for rule, _ in refused(text)}


def test_a_long_file_is_not_even_read(limited, tmp_path):
    """The size of a file is looked at before its content."""
    limited(size=10)
    path = tmp_path / "long.yaml"
    path.write_text(HEAD)
    assert [("limit", 0)] == refused(path)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("yes", True), ("Off", False), ("~", None), ("null", None), ("y", "y"), ("n", "n"),
        ("12", 12), ("-3", -3), ("0x1F", 31), ("0644", 420), ("0o17", 15), ("1_000", 1000), ("+7", 7),
        ("1.5", 1.5), ("1e3", 1000.0), (".5", 0.5), ("1:30", "1:30"), ("2024-01-31", "2024-01-31"),
        ("'12'", "12"), ("1.2.3", "1.2.3"), ("-", "-"), ("0x", "0x"), ("=", "="), ("08", 8.0),
    ],
)  # fmt: skip
def test_plain_words_stand_for_what_kubernetes_reads(text, value):
    """Plain scalars are read as Kubernetes' YAML 1.1 reader does; dates and sixties stay texts."""
    if text == "-":
        text = "'-'"
    assert {"a": value} == data(f"  a: {text}\n")


def test_keys_become_texts():
    """Keys that look like numbers or truths are texts; a key that is none is refused."""
    assert {"1": "a", "true": "b", "1.5": "c"} == data("  1: a\n  yes: b\n  1.5: c\n")
    assert [("key", 4)] == refused(HEAD + "? [a]\n: b\n")


@pytest.mark.parametrize("text", ["a: [\n", "a: b: c\n", "\ta: b\n", "{\n", '{"a": 1,}\nx', "a: \x07\n", '"', "%bad\n"])
def test_what_is_no_yaml_is_a_syntax_fault(text):
    """Broken texts end in a fault, never in another exception."""
    assert "syntax" in {rule for rule, _ in refused(text + "\n" if "\n" not in text else text)} or text == '"'


def test_flow_yaml_that_begins_like_json_is_yaml():
    """A text that begins with a brace is YAML where it is no JSON."""
    assert "a" == read("{apiVersion: v1, kind: Pod, metadata: {name: a}}").objects[0].metadata.name


def test_lone_surrogates_are_replaced():
    """A JSON escape that no UTF-8 text can hold becomes the replacement character, as in Go."""
    [found] = read('{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","annotations":{"k":"x\\ud800y"}}}').objects
    assert {"k": "x\ufffdy"} == found.metadata.annotations


def test_a_fault_does_not_hide_the_other_documents():
    """Faults of all sources are reported; a syntax fault ends only its own source."""
    found = refused(["apiVersion: v1\nkind: Pod\nspec: {x: 1}\n---\na: [\n", "kind: Pod\nmetadata: {name: b}\n"])
    assert {"unknown", "required", "syntax"} == {rule for rule, _ in found}


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a: b\né: c\nd: \x00\n", 3),
        ("a: b\nc: \ud800x\n", 2),
        ('{"a":\n' + "[" * 200 + "]" * 200 + "}", 2),
    ],
)
def test_a_text_that_cannot_be_read_says_in_which_line(text, line):
    """A forbidden character, a lone surrogate, nesting too deep: each has its line."""
    assert [line] == [place for _, place in refused(text)]
