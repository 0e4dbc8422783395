"""`%kubectl` in a real IPython shell: which cluster is meant, what is printed, and what Tab offers."""

import pytest
from IPython.core.interactiveshell import InteractiveShell

from kvolsched import page, scenario
from kvolsched.cli.ipython_magic import (
    NO_EXPANSION,
    USED,
    clusters,
    complete_magic,
    find_cluster,
    load_ipython_extension,
    run_magic,
)

POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: web-0}\nspec: {containers: [{name: app, image: app}]}\n"


@pytest.fixture
def shell():
    """Return a fresh IPython shell with the extension loaded."""
    found = InteractiveShell()
    found.run_line_magic("load_ext", "kvolsched")
    yield found
    found.run_line_magic("unload_ext", "kvolsched")
    found.history_manager.end_session()


@pytest.fixture
def cluster():
    """Return a cluster whose pod runs on node-a."""
    found = scenario("zonal-example")
    found.run()
    return found


def run(shell, capsys, cell):
    """Run a cell and return what it printed and what it said to stderr."""
    capsys.readouterr()
    assert shell.run_cell(cell).success
    printed = capsys.readouterr()
    return printed.out, printed.err


def test_a_line_prints_what_kubectl_prints(shell, cluster, capsys):
    """Two lines of a cell both print; output and errors go to their streams; `_exit_code` is kept."""
    shell.user_ns["c"] = cluster
    out, err = run(shell, capsys, "%kubectl get pods -o name\n%kubectl get pod nope")

    assert ("pod/my-pod\n", 'Error from server (NotFound): pods "nope" not found\n(there are: my-pod)\n') == (out, err)
    assert 1 == shell.user_ns["_exit_code"]


def test_a_page_of_the_pager_is_asked_like_a_cluster(shell, capsys):
    """Looking costs nothing, any other command is an act of the page; Tab offers its objects."""
    shell.user_ns["p"] = drawn = page("ada", number=1)
    (node, *_) = (found.metadata.name for found in drawn.cluster.objects("nodes"))

    assert run(shell, capsys, f"%kubectl get node {node} -o name")[0] == f"node/{node}\n"
    assert (run(shell, capsys, f"%kubectl cordon {node}")[0], len(drawn.acts)) == (f"node/{node} cordoned\n", 1)
    assert node in complete_magic(shell.user_ns, f"%kubectl get node {node[:-1]}", node[:-1])


def test_a_cell_is_the_input(shell, cluster, capsys):
    """`%%kubectl apply -f -` applies the text of its cell, as an act that `back` undoes."""
    shell.user_ns["c"] = cluster
    assert ("pod/web-0 created\n", "") == run(shell, capsys, f"%%kubectl apply -f -\n{POD}")
    assert "pod/web-0" in cluster
    cluster.back()
    assert "pod/web-0" not in cluster


def test_braces_and_quoted_dollars_are_left_alone(shell, cluster, capsys):
    """JSONPath keeps its braces; `$name` is a variable of the notebook outside single quotes."""
    shell.user_ns |= {"c": cluster, "pod": "my-pod", "end": "no"}

    assert "node-a\n" == run(shell, capsys, "%kubectl get pods -o jsonpath='{range .items[*]}{.spec.nodeName}{\"\\n\"}{end}'")[0]
    assert "pod/my-pod\n" == run(shell, capsys, "%kubectl get pod $pod -o name")[0]


def test_the_cluster_is_found(shell, cluster, capsys):
    """`--cluster` goes before `use`, `use` before `c`, and `c` before the only cluster."""
    other = scenario("zonal-example")
    assert "error: there is no cluster yet" in run(shell, capsys, "%kubectl get pods")[1]
    shell.user_ns["mine"] = cluster
    assert "pod/my-pod\n" == run(shell, capsys, "%kubectl get pods -o name")[0]
    shell.user_ns["other"] = other
    other.delete("pod/my-pod")
    assert "error: which cluster? there are: mine, other; write --cluster NAME, or once: %kubectl use NAME\n" \
        == run(shell, capsys, "%kubectl get pods")[1]  # fmt: skip
    shell.user_ns["c"] = other
    assert "" == run(shell, capsys, "%kubectl get pods -o name")[0]
    assert 'Switched to cluster "mine".\n' == run(shell, capsys, "%kubectl use mine")[0]
    assert "pod/my-pod\n" == run(shell, capsys, "%kubectl get pods -o name")[0]
    assert "" == run(shell, capsys, "%kubectl --cluster c get pods -o name")[0]
    assert "error: nope is no cluster; there are: c, mine, other\n" == run(shell, capsys, "%kubectl use nope")[1]


@pytest.mark.parametrize(("line", "some"), [
    ("%kubectl ro", {"rollout"}),
    ("%kubectl u", {"uncordon", "use"}),
    ("%kubectl get stat", {"statefulsets"}),
    ("%kubectl describe pod/", {"pod/my-pod"}),
    ("%kubectl get pods --sho", {"--show-labels"}),
    ("%kubectl get pods --output=ya", {"yaml"}),
    ("%kubectl drain node-a-", {"node-a-small"}),
    ("%%kubectl --cluster c get pod my", {"my-pod"}),
    ("%kubectl --cluster ", {"c"}),
])  # fmt: skip
def test_tab_completes(shell, cluster, line, some):
    """Verbs, kinds, names, flags, values and clusters are offered by the shell's own completer."""
    shell.user_ns["c"] = cluster
    shell.Completer.use_jedi = False
    _, found = shell.complete(None, line, len(line))

    assert some <= set(found)


def test_the_extension_can_be_unloaded(shell):
    """After `%unload_ext` there is no such magic."""
    shell.run_line_magic("unload_ext", "kvolsched")
    assert shell.find_line_magic("kubectl") is None
    shell.run_line_magic("load_ext", "kvolsched")
    assert shell.find_line_magic("kubectl") is not None


def test_the_chosen_cluster_is_forgotten_with_the_extension(shell, cluster, capsys):
    """After `%unload_ext` no cluster is chosen any more, though the variables of the notebook stay."""
    shell.user_ns["c"] = cluster
    run(shell, capsys, "%kubectl use c")
    assert "c" == shell.user_ns[USED]
    shell.run_line_magic("unload_ext", "kvolsched")

    assert (False, True) == (USED in shell.user_ns, "c" in shell.user_ns)
    shell.run_line_magic("load_ext", "kvolsched")


VERBS = ["annotate", "apply", "cordon", "delete", "describe", "drain", "get", "label", "patch", "replace", "rollout", "scale", "taint",
         "uncordon", "use"]  # fmt: skip


@pytest.mark.parametrize(("before", "symbol", "offered"), [
    ("%kubectl ", "", VERBS), ("%%kubectl  ", "", VERBS), ("  %kubectl u", "u", ["uncordon", "use"]), ("%kubectl -", "-", ["--namespace", "-n", "--cluster"]),
    ("%kubectl --c", "--c", ["--cluster"]), ("%kubectl get po", "po", ["po", "pod", "poddisruptionbudgets", "pods"]),
    ("%kubectl --cluster ", "", ["a", "c", "z"]), ("%kubectl --cluster=", "", ["a", "c", "z"]), ("%kubectl get pods --cluster z", "z", ["a", "c", "z"]),
    ("%kubectl use ", "", ["a", "c", "z"]), ("%kubectl use z", "z", ["a", "c", "z"]), ("%kubectl get pod use ", "", ["my-pod"]),
    ("%kubectl get pods --output=ya", "ya", ["yaml"]), ("%kubectl get pods --output=ya", "--output=ya", ["--output=yaml", "--cluster"]),
    ("%kubectl get pod/m", "pod/m", ["pod/my-pod"]), ("%kubectl get pod/m", "m", ["my-pod"]), ("%kubectl --cluster c get pod my", "my", ["my-pod"]),
    ("%kubectl --cluster=a get pod my", "my", []), ("%kubectl get pod my --cluster a --out", "--out", ["--output", "--cluster"]),
    ("%kubectl --cluster nope get pod my", "my", []), ("%kubectl --cluster nope get po", "po", ["po", "pod", "poddisruptionbudgets", "pods"]),
])  # fmt: skip
def test_all_that_may_stand_at_the_cursor_is_offered(cluster, before, symbol, offered):
    """Verbs, and `use` among them; clusters in their order; kinds and names of the cluster that is meant; the part to replace."""
    names = {"z": cluster, "c": cluster, "a": scenario("zones"), "_made_by_ipython": cluster, "x": 1}
    assert offered == complete_magic(names, before, symbol)


@pytest.mark.parametrize(("names", "name", "meant"), [
    ("c mine", "", "c"), ("c mine", "mine", "mine"), ("c mine +mine", "", "mine"), ("c mine +mine", "c", "c"), ("mine", "", "mine"),
    ("mine also=mine", "", "mine"), ("mine _hidden", "", "mine"),
    ("", "", 'there is no cluster yet; make one: c = kvolsched.scenario("zonal-example")'),
    ("_hidden", "", 'there is no cluster yet; make one: c = kvolsched.scenario("zonal-example")'),
    ("z a", "", "which cluster? there are: a, z; write --cluster NAME, or once: %kubectl use NAME"),
    ("z a", "x", "x is no cluster; there are: a, z"), ("", "x", "x is no cluster; there are: none"),
    ("z a +gone", "", "gone is no cluster; there are: a, z"), ("c _hidden", "_hidden", "_hidden is no cluster; there are: c"),
])  # fmt: skip
def test_which_cluster_is_meant(names, name, meant):
    """The one that is named, else the one in use, else `c`, else the only one; any other case says what there is."""
    there = {"x": 1}
    for word in names.split():
        if word[0] == "+":
            there[USED] = word[1:]
        else:
            key, _, same = word.partition("=")
            there[key] = there[same] if same else scenario("zonal-example")
    if meant in there:
        assert there[meant] is find_cluster(there, name)
        assert {key for key in there if key != "x" and key[0] != "_"} == set(clusters(there))
    else:
        with pytest.raises(LookupError) as refused:
            find_cluster(there, name)
        assert (meant,) == refused.value.args


@pytest.mark.parametrize(("line", "out", "err", "code"), [
    ("get pods -o name", "pod/my-pod\n", "", 0), ("get pod nope", "", 'Error from server (NotFound): pods "nope" not found\n(there are: my-pod)\n', 1),
    ("get pods -n other", "", "No resources found in other namespace.\n", 0),
    ("use", "", "error: nothing is no cluster; there are: c, d\n", None), ("use x y", "", "error: x y is no cluster; there are: c, d\n", None),
    ("use c d", "", "error: c d is no cluster; there are: c, d\n", None), ("use d", 'Switched to cluster "d".\n', "", None),
    ("get pod --cluster d -o name", "", "", 0), ("get pod -o name --cluster=c", "pod/my-pod\n", "", 0),
    ("get pod $pod -o name", "pod/my-pod\n", "", 0), ("get pod $number", "", 'Error from server (NotFound): pods "7" not found\n(there are: my-pod)\n', 1),
    ("get pod '$pod'", "", 'Error from server (NotFound): pods "$pod" not found\n(there are: my-pod)\n', 1),
    ("get pod $none", "", 'Error from server (NotFound): pods "$none" not found\n(there are: my-pod)\n', 1),
    ("get pod $c", "", 'Error from server (NotFound): pods "$c" not found\n(there are: my-pod)\n', 1),
    ("get pod my-pod$empty -o name", "pod/my-pod\n", "", 0),
])  # fmt: skip
def test_a_command_prints_what_kubectl_prints(cluster, capsys, line, out, err, code):
    """What it printed and what it said go to their streams, with its exit code; texts and numbers stand in for `$name`."""
    names = {"c": cluster, "d": scenario("zones"), "pod": "my-pod", "number": 7, "empty": ""}
    run_magic(names, line, "")

    assert (out, err) == capsys.readouterr()
    assert code == names.get("_exit_code")


class Asked:
    """A shell that notes what an extension adds to it."""

    def __init__(self):
        self.user_ns, self.magics, self.hooks = {}, [], []

    def register_magic_function(self, function, kind, name):
        """Note a magic."""
        self.magics.append((function, kind, name))

    def set_hook(self, name, hook, *, str_key):
        """Note a hook."""
        self.hooks.append((name, hook, str_key))


def test_the_extension_adds_a_magic_and_its_completion(cluster, capsys):
    """One function is the magic of lines and of cells, whose braces stay; Tab is asked for both."""
    shell = Asked()
    load_ipython_extension(shell)
    (magic, kind, name), = shell.magics
    shell.user_ns["c"] = cluster
    magic("get pods -o name")
    magic("apply -f -", POD)

    assert ("line_cell", "kubectl", True) == (kind, name, getattr(magic, NO_EXPANSION))
    assert ("pod/my-pod\npod/web-0 created\n", "") == capsys.readouterr()
    assert [("complete_command", "%kubectl"), ("complete_command", "%%kubectl")] == [(name, key) for name, _, key in shell.hooks]
    event = type("Event", (), {"text_until_cursor": "%kubectl get pod/m", "symbol": "pod/m"})
    assert [["pod/my-pod"]] * 2 == [hook(shell, event) for _, hook, _ in shell.hooks]
