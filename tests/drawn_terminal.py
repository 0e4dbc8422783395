"""What chance types in a terminal: commands on files, right and wrong ones, and magics."""

import json
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

from click.testing import CliRunner
from drawn_clusters import ROOT, odd_objects, recorded_case
from waiting_pods import POSTED

import kvolsched
from kvolsched.cli import main
from kvolsched.cli.ipython_magic import run_magic
from kvolsched.learn.pager import done_pages

KINDS = ("pods", "nodes", "pvc", "pv", "sc", "deploy", "sts", "rs", "ds", "csinodes", "csidrivers", "csistoragecapacities", "events",
         "all", "pod,pvc", "moons", "volumeattachments", "quota")  # fmt: skip


def misspelt(text, rng):
    """Return a text without one of its letters, or with another one."""
    place = rng.randrange(max(1, len(text)))
    return text[:place] + rng.choice(("", "x", " ", "(", ".")) + text[place + 1:]


@contextmanager
def folder():
    """Stand in a folder of one's own, with what people posted and recorded beside it: its paths are as long everywhere."""
    with TemporaryDirectory() as made, chdir(made):
        Path("posted").symlink_to(POSTED)
        Path("recorded").symlink_to(ROOT / "conformance")
        yield sorted(Path("posted").glob("*.yaml"))


def terminal(_seed, rng):
    """Type commands on files, and magics."""
    with folder() as posted:
        yield from commands_of(posted, rng)


def commands_of(posted, rng):
    """Type commands on files, and magics."""
    for number in range(5):
        path, other = rng.choice(posted), rng.choice([*posted, Path("recorded/dumps/shop.yaml.gz")])
        kind = rng.choice(KINDS)
        line = rng.choice((
            f"why {path}", f"why {path} --most {rng.randint(1, 3)}", f"check {path}", f"check {path} --cluster {other}", f"redact {path} --salt s",
            f"get {other} {kind}", f"get {other} {kind} -A -o {rng.choice(('wide', 'name', 'yaml', 'json', 'moon'))}", f"describe {path} {kind}",
            f"run {rng.choice(sorted(kvolsched.scenarios()))}", f"incidents {rng.choice(('zone', 'volume', 'pod', 'spread', 'class'))}",
            f"scenarios {rng.choice(('zone', 'local', 'spread', 'moon'))}", f"said {rng.choice(('skew', 'assume', 'capacity', 'gate', 'xyzzy'))}",
            f"kinds {rng.choice(('Pod', 'Node', 'pvc', 'sc', 'Moon'))}", f"redact {path} --salt t --explain", f"get {path} nodes,pods --now 2026-01-31T12:00:00"))
        done = CliRunner().invoke(main, line.split())
        yield f"kvolsched {number} {line} -> {done.exit_code}", done.output
        magic = rng.choice((f"get {kind}", f"describe {kind}", f"get {kind} -o wide", "use d", "get nodes --cluster d", "explain pod.spec", "top"))
        names = {"c": kvolsched.scenario("zonal-example"), **({"d": kvolsched.scenario("zones")} if rng.random() < 0.5 else {})}
        with redirect_stdout(StringIO()) as said, redirect_stderr(said):
            run_magic(names, magic, "")
        yield f"%kubectl {magic}", said.getvalue()


def typed(_seed, rng):
    """Type whole commands, wrong ones and with standard input, in a folder of their own; no page of the pager was done."""
    done_pages.clear()
    names = sorted(kvolsched.scenarios())
    for _ in range(6):
        with folder() as posted:
            yield line_typed(posted, names, rng)


def line_typed(posted, names, rng):
    """Type a line; return it with what is printed and written."""
    path, other, name = rng.choice(posted), rng.choice(posted), rng.choice(names)
    rules = rng.choice(("upstream", "design", "draft", "no storage capacity", "moon"))
    line = rng.choice((
        "why -", "check - --cluster " + str(other), f"why {path} --fix --most 2", f"why {path} {other}", f"why {path} --revision {rules}",
        f"why {path} --pod default/none", f"check {path} --cluster {other} --without {rng.choice(('zone=a', 'zone', 'moon'))}",
        f"check {path} --cluster {path} --json", f"redact {path} -o out.yaml --map names --salt s", f"redact {path} -o out.txt", "redact none",
        f"get {path} {rng.choice(KINDS)} -A --show-labels", f"get {path} {other} all", f"get {path} pods web", f"get {path} pods -n {rng.choice(('default', 'shop'))}",
        f"describe {path} pods", f"describe {path} node {rng.choice(('a', 'n1', 'none'))}", f"run {name} --revision {rules}", f"run {name} --seed 3",
        f"run {name} --set {rng.choice(('zones=2', 'replicas=2', 'count', 'x=1'))}", f"explore {rng.choice(names)} --max-states 40 --lag none",
        f"explore zonal-example --max-states {rng.choice(('20', '900', 'x'))}", "incidents", f"incidents --play {rng.choice(('dead-zone', 'zone', 'xyzzy'))}",
        f"scenarios {name}", "kinds", f"kinds {rng.choice(('pod', 'Pods', 'deploy', 'csinode', 'pvcs'))}", "alternatives", f"{rng.choice(('wyh', 'ge', 'serv'))} x",
        "decode", "said", "page ada --level 1 --number 2", "lessons --help", "serve none --port 99999", f"bench {rng.choice(('moon', '--nodes 1'))}", f"differ upstream {rules} --examples 3",
        f"conform {path}", "conform recorded/apply.jsonl.gz --json", "grade none.json"))
    case = rng.choice((recorded_case, odd_objects))(rng)
    line = rng.choice((line, line, f"why case.json --most {rng.randint(1, 3)}", "why case.json --fix", "redact case.json --salt s", "get case.json all -A",
                       "describe case.json pods", "check case.json --cluster case.json", "redact case.json -o out.yaml --map names --salt t"))
    said = rng.choice((path.read_text(encoding="utf-8"), "0/3 nodes are available: 3 Insufficient cpu.", "", "{}", "kind: [", "kubectl get pods\nhint\ndone\n",
                       f"apiVersion: v1\nkind: Pod\nmetadata: {{name: x}}\nspec: {{containers: [{{name: a, cpu: {rng.randrange(9)}}}]}}\n"))
    Path("case.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": case}), encoding="utf-8")
    done = CliRunner().invoke(main, line.split(), input=said)
    kept = "".join(each.read_text(encoding="utf-8") for each in sorted(Path().glob("*")) if each.is_file() and each.name != "case.json")
    return f"kvolsched {line} -> {done.exit_code}", done.output + kept
