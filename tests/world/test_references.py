"""References of users: four forms for one object, and one sentence about a name that nothing has."""

import pytest

from kvolsched.api.unknown_name import UnknownName, nearest, unknown_name
from kvolsched.world.log import Key
from kvolsched.world.references import find_key, matching_keys

POD, OTHER = Key("Pod", "demo", "web-0"), Key("Pod", "demo", "web-1")
OBJECTS = [
    POD, OTHER, Key("Pod", "default", "app"), Key("Pod", "demo", "app"), Key("Service", "demo", "app"),
    Key("StatefulSet", "demo", "web"), Key("Node", "", "node-a"), Key("Namespace", "", "demo"),
    Key("Pod", "one", "twin"), Key("Pod", "two", "twin"), Key("PersistentVolumeClaim", "demo", "web-0"),
    Key("Event", "demo", "web-1"), Key("Pod", "pvc", "odd"),
]


def message(reference, kinds=(), objects=OBJECTS):
    """Return the sentence about a reference that names nothing."""
    with pytest.raises(UnknownName) as raised:
        find_key(objects, reference, kinds)
    return str(raised.value)


@pytest.mark.parametrize("reference", [
    "web-0", "demo/web-0", "pod/web-0", "po/web-0", "pods/web-0", "Pod/web-0", "pod/demo/web-0", "POD/demo/web-0",
])
def test_four_forms_name_one_pod(reference):
    """Name, kind and name, namespace and name, and all three are the same pod, with any name of the kind."""
    assert POD == find_key(OBJECTS, reference, "pod")


@pytest.mark.parametrize(("reference", "found"), [
    ("web-1", OTHER), ("demo/web-1", OTHER), ("web", Key("StatefulSet", "demo", "web")),
    ("sts/web", Key("StatefulSet", "demo", "web")), ("node-a", Key("Node", "", "node-a")),
    ("no/node-a", Key("Node", "", "node-a")), ("ns/demo", Key("Namespace", "", "demo")),
    ("demo", Key("Namespace", "", "demo")), ("pvc/web-0", Key("PersistentVolumeClaim", "demo", "web-0")),
    ("app", Key("Pod", "default", "app")), ("pod/app", Key("Pod", "default", "app")),
    ("pod/demo/app", Key("Pod", "demo", "app")), ("ev/web-1", Key("Event", "demo", "web-1")),
    ("pvc/odd", Key("Pod", "pvc", "odd")),
])
def test_a_name_without_kind_or_namespace(reference, found):
    """Without a kind any is meant, without a namespace `default` first; a kind goes before a namespace of its name."""
    assert found == find_key(OBJECTS, reference)


def test_kinds_of_the_caller():
    """A name without kind means one of the caller's kinds; several are possible."""
    assert Key("StatefulSet", "demo", "web") == find_key(OBJECTS, "web", ["deploy", "sts"])
    assert Key("Service", "demo", "app") == find_key(OBJECTS, "demo/app", "svc")
    assert "no Deployment" in message("web", "deploy") or "no deploy/web" in message("web", "deploy")


@pytest.mark.parametrize(("reference", "kinds", "words"), [
    ("web-9", "pod", ("no pod/web-9; there are: pod/app, pod/demo/app, pod/demo/web-0, pod/demo/web-1, pod/one/twin, "
                      "pod/pvc/odd, pod/two/twin; did you mean pod/demo/web-0 or pod/demo/web-1?")),
    ("demo/web-9", "pod", "no pod/demo/web-9; there are: "),
    ("web-9", (), "no object is called 'web-9'; there are 12 objects; did you mean "),
    ("shop/web-0", "pod", "no pod/shop/web-0 (shop is no kind and no namespace); there are: "),
    ("node/nod-a", (), "no node/nod-a; there are: node/node-a; did you mean node/node-a?"),
    ("pvc/web-0", "pod", "pvc/web-0 is no Pod"),
    ("twin", "pod", "'twin' may mean pod/one/twin or pod/two/twin; write KIND/NAMESPACE/NAME"),
    ("demo/app", (), "'demo/app' may mean pod/demo/app or svc/demo/app; write KIND/NAMESPACE/NAME"),
    ("rs/web", (), "no rs/web; there are: none of that kind"),
    ("podd/demo/web-0", (), "unknown kind 'podd'; known: "),
    ("a/b/c/d", (), "'a/b/c/d' is no reference; write NAME, KIND/NAME, NAMESPACE/NAME or KIND/NAMESPACE/NAME"),
    ("pod/", (), "'pod/' is no reference"),
    ("", (), "'' is no reference"),
])
def test_what_is_not_there(reference, kinds, words):
    """One sentence says what was looked for, what there is and the nearest names; several meanings are named."""
    assert words in message(reference, kinds)
    assert "\n" not in message(reference, kinds)


def test_a_reference_is_a_text():
    """Another value than a text is a TypeError that shows how a reference looks."""
    with pytest.raises(TypeError, match="a reference is a text such as 'pod/web-0', not 3"):
        find_key(OBJECTS, 3)


def test_matches():
    """The keys that a reference may mean: none, one or several."""
    assert [] == matching_keys(OBJECTS, "nothing")
    assert 2 == len(matching_keys(OBJECTS, "pod/twin"))


def test_many_names_are_counted():
    """Of many names the nearest are listed and the others counted; without near ones, the first are listed."""
    there = [f"web-{number}" for number in range(100)]
    assert "no x; there are 100 pods; did you mean web-7, web-17 or web-27?" == str(
        unknown_name("x", "web-7.", there, plural="pods"))
    assert str(unknown_name("x", "zzz", there)).endswith("web-10, web-11 and 88 more")
    assert "no x; there are: none" == str(unknown_name("x", "zzz", []))


def test_near_names():
    """The likest name comes first, much less alike ones are left out, capitals do not count."""
    assert ["node-a"] == nearest("Node-aa", ["node-b", "node-a", "zone"])
    assert [] == nearest("web", ["database"])


def test_the_error_is_one_line_in_a_notebook():
    """It is a KeyError and a ValueError; printed and in a notebook it is its sentence, not its repr, and who asked."""
    error = UnknownName("no pod/'x'; there are: none")
    assert (True, True) == (isinstance(error, KeyError), isinstance(error, ValueError))
    assert "no pod/'x'; there are: none" == str(error)
    assert ["UnknownName: no pod/'x'; there are: none"] == error._render_traceback_()
    with pytest.raises(UnknownName) as raised:
        find_key(OBJECTS, "node/x")
    assert 'find_key(OBJECTS, "node/x")' == raised.value._render_traceback_()[0].partition(": ")[2]
