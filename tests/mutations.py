"""Manifests gone wrong: recorded ones, changed at random in their data or in their text, seeded.

A mutation is what a slip of the hand, a template engine, another version or somebody hostile would leave. What is made
is text; nothing here knows what is right.
"""

import copy
import gzip
import json
import random
from functools import cache
from pathlib import Path

import yaml

RECORDED = Path(__file__).parent / "conformance"
LARGEST = 1_000_000  # characters of one input

ODD = (
    None, True, False, 0, -1, 1, 2**31, 2**63, -(2**64), 1.5, 1e308, float("inf"), float("nan"), "", " ", "x", "1", "-1",
    "1Gi", "1.5.5", "10Zi", "1e99", "9" * 400, "1Ei1", "0x10", "yes", "null", "a/b/c", "../..", "A_B", "é\u0000", "\u202e",
    "{{ .Values.x }}", "<script>", "${HOME}", "2024-13-45T99:99:99Z", "WaitForFirstConsumer ", "a" * 5000, [], {}, [[]],
    [{}], [None], {"": None}, {"a": {"b": {"c": {}}}}, {"matchExpressions": None}, {"operator": "In", "key": "", "values": {}},
)  # fmt: skip
SNIPPETS = (
    "&a ", "*a", "<<: *a\n", "!!python/object/apply:os.system [x]", "!!binary x", "\t", "\x00", "\ufeff", "---\n", "...\n",
    ": ", "- ", "{", "}", "[", "]", "'", '"', "|", ">", "#", "%YAML 9.9\n", "? ", "\r", "\u2028", "=", "~", "&a &b ",
)  # fmt: skip


@cache
def originals():
    """Objects as people write them and as servers keep them, of every kind that was recorded."""
    found = []
    with gzip.open(RECORDED / "api.jsonl.gz") as lines:
        found += [json.loads(line)["new"] for line in lines]
    for name in ("mixed", "wide2"):
        with gzip.open(RECORDED / f"{name}.jsonl.gz") as lines:
            for line in list(lines)[:20]:
                found += json.loads(line)["objects"]
    for folder in sorted((RECORDED / "kubectl").iterdir()):
        found += json.loads((folder / "objects.json").read_text())["items"]
    return found


def mutated(seed):
    """Return the manifest text of this seed, of at most a megabyte."""
    chance = random.Random(seed)
    objects = [json.loads(json.dumps(one)) for one in chance.sample(originals(), chance.randint(1, 4))]
    if chance.random() < 0.1:
        objects = [{"apiVersion": "v1", "kind": "List", "items": objects}]
    for _ in range(chance.choice((0, 1, 1, 1, 2, 6))):
        _change(objects, chance)
    try:
        text = _written(objects, chance)
    except RecursionError:  # nested deeper than can be written with these means
        text = '{"kind": "List", "apiVersion": "v1", "items": ' + "[" * 2000 + "]" * 2000 + "}"
    if chance.random() < 0.3:
        for _ in range(chance.randint(1, 3)):
            text = _scrambled(text, chance)
    if chance.random() < 0.01:
        text = _enlarged(text, chance)
    return text[:LARGEST]


def _places(data, found):
    """Every (container, key) inside plain data."""
    for key, value in data.items() if isinstance(data, dict) else enumerate(data):
        found.append((data, key))
        if isinstance(value, dict | list):
            _places(value, found)
    return found


def _change(objects, chance):
    places = _places(objects, [])
    if not places:
        return
    container, key = chance.choice(places)
    what = chance.randrange(7)
    if what == 0:
        del container[key]
    elif what == 1:
        container[key] = copy.deepcopy(chance.choice(ODD))
    elif what == 2:
        other, name = chance.choice(places)
        container[key] = json.loads(json.dumps(other[name]))
    elif what == 3 and isinstance(container, list):
        container.append(json.loads(json.dumps(container[key])))
    elif what == 4 and isinstance(container, dict):
        name = str(key)
        spot = chance.randrange(len(name) + 1)
        container[chance.choice((name.upper(), name[:spot] + name[spot + 1 :], name[:spot] + "x" + name[spot:], ""))] = (
            container.pop(key)
        )
    elif what == 5:
        container[key] = [container[key]] if chance.random() < 0.5 else {"value": container[key]}
    else:
        nested = container[key]
        for _ in range(chance.choice((2, 2, 2, 3, 30, 101))):
            nested = [nested] if chance.random() < 0.5 else {"a": nested}
        container[key] = nested


def _written(objects, chance):
    form = chance.randrange(3)
    if form == 0:
        return json.dumps(objects[0] if len(objects) == 1 else {"kind": "List", "apiVersion": "v1", "items": objects})
    return yaml.safe_dump_all(objects, sort_keys=False, default_flow_style=None if form == 1 else False)


def _scrambled(text, chance):
    lines = text.split("\n")
    spot, line = chance.randrange(len(text) + 1), chance.randrange(len(lines))
    what = chance.randrange(7)
    if what == 0:
        return text[:spot] + text[spot + chance.randint(1, 20) :]
    if what == 1:
        return text[:spot] + chance.choice(SNIPPETS) + text[spot:]
    if what == 2:
        return text[:spot]
    if what == 3:
        return text[:spot] + chr(chance.choice((0, 7, 9, 27, 127, 133, 160, 8232, 65279, 65533, 128512))) + text[spot + 1 :]
    if what == 4:
        return "\n".join([*lines[:line], lines[line], *lines[line:]])
    if what == 5:
        return "\n".join([*lines[:line], " " * chance.randint(1, 3) + lines[line], *lines[line + 1 :]])
    return "\n".join([*lines[:line], lines[line].strip(), *lines[line + 1 :]])


def _enlarged(text, chance):
    what = chance.randrange(6)
    if what == 0:
        return "\n---\n".join([text] * max(1, LARGEST // (len(text) + 5)))
    if what == 1:
        return "[" * chance.choice((1000, 100_000, LARGEST))
    if what == 2:
        labels = "".join(f"    key-{number}: value\n" for number in range(40_000))
        return f"apiVersion: v1\nkind: Node\nmetadata:\n  name: n\n  labels:\n{labels}"
    if what == 3:
        return "apiVersion: v1\nkind: Node\nmetadata: {name: n, annotations: {a: " + "x" * 900_000 + "}}\n"
    if what == 4:
        levels = "".join(f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 10)}]\n" for n in range(1, 12))
        return f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: m}}\nl0: &l0 [x]\n{levels}"
    taints = "".join(f'  - {{key: k{number}, effect: NoSchedulex, value: "{number}"}}\n' for number in range(15_000))
    return f"apiVersion: v1\nkind: Node\nmetadata: {{name: n}}\nspec:\n  taints:\n{taints}"
