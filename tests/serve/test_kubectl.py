"""The real kubectl on a served cluster: each command of a list, in order, ends as the list says."""

import re
import subprocess
from pathlib import Path

import pytest
from served_client import Kubectl, program

FILES = Path(__file__).parent / "kubectl"
EXIT_CODES = {"!": (1,), "?": (0, 1)}


@pytest.fixture
def kubectl(cluster, tmp_path):
    """Return kubectl on the example, where everybody acts as soon as they can."""
    for file in FILES.glob("*.yaml"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    with cluster.serve(pace="live") as served:
        yield Kubectl(served, tmp_path)


def test_the_usual_commands(kubectl, cluster):
    """A reader lists, applies, waits, scales, asks and deletes, in the terminal that they know."""
    assert kubectl("get pods -o wide")[1] == f"{cluster.get('pods', wide=True)}\n"
    assert kubectl("apply -f web.yaml")[1] == "deployment.apps/web created\npoddisruptionbudget.policy/web created\n"
    assert kubectl("wait --for=condition=Available deploy/web --timeout=10s")[0] == 0
    assert kubectl("apply --server-side --field-manager=other -f web.yaml")[0] == 0
    assert kubectl("scale deploy/web --replicas=3")[1] == "deployment.apps/web scaled\n"
    code, _, words = kubectl("apply --server-side --field-manager=other -f web.yaml")
    assert code == 1
    assert words.startswith('error: Apply failed with 1 conflict: conflict with "kubectl" with subresource "scale" using apps/v1')
    assert kubectl("apply --server-side --field-manager=other --force-conflicts -f web.yaml")[0] == 0
    assert kubectl("delete pod my-pod --timeout=10s")[1] == 'pod "my-pod" deleted from default namespace\n'
    assert cluster["deployment/web"].spec.replicas == 2


def as_one(text):
    """Return a text with the same word for all ages and times, one space between columns, and no versions.

    A restart writes the wall clock's time into a template, whose digest is part of its pods' names.
    """
    text = re.sub(r"\bweb-[a-z0-9]{8,10}(-[a-z0-9]{5})?\b", "WEB", text)
    text = re.sub(r"\b\d+[ydhms](\d+[dhms])?\b", "AGE", text)
    text = re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ|\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d \+0000", "TIME", text)
    return re.sub(r" +", " ", re.sub(r"resourceVersion: \S+", "", text))


def test_ours_prints_what_the_real_one_does(example, tmp_path, monkeypatch):
    """Some 160 commands, right and wrong ones, print the same on equal clusters and end with the same exit code."""
    for file in FILES.glob("*.yaml"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    monkeypatch.chdir(tmp_path)
    ours, theirs = example.fork("zonal-example"), example.fork("zonal-example")
    faults = []
    with theirs.serve(pace="live") as served:
        kubectl = Kubectl(served, tmp_path)
        for line in (FILES / "beside.txt").read_text().splitlines():
            if line.startswith("#"):
                continue
            real = kubectl(line)
            with theirs.world.lock:
                theirs.run()
            got = ours.kubectl(line)
            ours.run()
            wanted, said = (list(map(as_one, texts)) for texts in (real[1:], (got.stdout, got.stderr)))
            if (got.code, said) != (real[0], wanted):
                faults.append(f"{line}: the real one {real}, ours {got.code, got.stdout, got.stderr}")
    assert "\n".join(faults) == ""


@pytest.mark.long
def test_every_command_of_the_list(kubectl):
    """Sixty commands, from version to faulty manifests, end with their exit code and say why where they fail."""
    faults = []
    for line in (FILES / "commands.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            mark, command = (line[0], line[1:].strip()) if line[0] in EXIT_CODES else ("", line)
            code, out, err = kubectl(command)
            if code not in EXIT_CODES.get(mark, (0,)) or (code and not out + err):
                faults.append(f"{command}: exit code {code}: {out}{err}")
    assert "\n".join(faults) == ""


@pytest.mark.long
def test_helm_installs_upgrades_rolls_back_and_uninstalls(cluster, tmp_path):
    """The chart that `helm create` makes goes through its life, each time until all is ready."""
    helm, config = program("helm"), f"--kubeconfig={tmp_path / 'kubeconfig'}"

    def run(command):
        done = subprocess.run([helm, config, *command.split()], check=False, capture_output=True, text=True, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        return done.stdout

    with cluster.serve(pace="live") as served:
        served.kubeconfig("helm", tmp_path / "kubeconfig")
        run("create chart")
        run("install web ./chart --wait --timeout 30s --namespace shop --create-namespace")
        assert cluster["deployment/shop/web-chart"].status.ready_replicas == 1
        run("uninstall web --wait --timeout 30s --namespace shop")
        run("install web ./chart --wait --timeout 30s")
        assert cluster["deployment/web-chart"].status.ready_replicas == 1
        run("upgrade web ./chart --set replicaCount=3 --wait --timeout 30s")
        assert cluster["deployment/web-chart"].status.ready_replicas == 3
        run("rollback web 1 --wait --timeout 30s")
        assert cluster["deployment/web-chart"].status.ready_replicas == 1
        assert [line.split()[2] for line in run("list").splitlines()[1:]] == ["3"]
        run("uninstall web --wait --timeout 30s")
        assert cluster.objects("deployments") == []
        assert run("list").splitlines()[1:] == []
