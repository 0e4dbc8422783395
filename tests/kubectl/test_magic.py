"""`%kubectl` in a real IPython shell: which cluster is meant, what is printed, and what Tab offers."""

import pytest
from IPython.core.interactiveshell import InteractiveShell

from kvolsched import page, scenario
from kvolsched.cli.ipython_magic import USED, complete_magic

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
