"""The command line: runs and explores scenarios, compares recordings, redacts and questions dumps, measures speed.

It prints the text that a notebook shows. Whatever is printed goes through `say`, whatever fails through `Commands`, and
every exit code is one of `EXIT_CODES`. A command's `epilog` is an example of it. Each imports what it needs when it
runs: help and a typo load no engine.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from threading import Event
from typing import TYPE_CHECKING, Any

import click

from .learning import decode_, grade_, incidents_, lab_, lessons_, night_, page_, ready_, said_
from .output import DONE, FOUND, INTERRUPTED, SOURCE, WRONG_INPUT, Commands, PathType, Refused, load_engine, say

if TYPE_CHECKING:
    from pathlib import Path

    from ..api.text.manifest import Manifests
    from ..api.text.sources import NamedText
    from ..cluster import Cluster

MAX_WIDTH = 100  # of printed tables
LAGS = ["none", "ordered", "per kind"]
Sources = Sequence["Path | NamedText"]
Function = Callable[..., Any]


def parse_time(text: str) -> datetime:
    """Return the time that a text in manifest format names; without a zone it is UTC."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise click.BadParameter(f"{text!r} is not a time; write for example 2026-01-31T12:00:00Z") from None
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)


class RulesType(click.types.StringParamType):
    """A set of rules by its name, which may have settings: "design (beta)"."""

    name = "rules"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the name, which some rules have."""
        load_engine()
        from ..rules.named import revision_named

        try:
            revision_named(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)
        return value

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Any]:
        """Return the names of rules that begin so."""
        from click.shell_completion import CompletionItem

        from ..rules.named import REVISIONS

        return [CompletionItem(name) for name in REVISIONS if name.startswith(incomplete)]


bound = partial(click.option, show_default=True)


def rules_option(default: str | None = "upstream", used: str = "Judge by these rules") -> Callable[..., Function]:
    """Return the option `--revision` of a command."""
    names = "upstream, design, draft, or a rejected design"
    return click.option("--revision", type=RulesType(), metavar="RULES", default=default, help=f"{used}: {names}.")


@click.group(cls=Commands, epilog="Example: kvolsched why dump.yaml --pod shop/web-0")
@click.version_option(package_name="kvolsched")
def main() -> None:
    """Run Kubernetes' scheduling and volume binding loop."""


@main.command("scenarios", epilog="Example: kvolsched scenarios")
def list_scenarios() -> None:
    """List the shipped scenarios with their questions and parameters."""
    from ..learn.scenario import scenario_names

    say(repr(scenario_names()))


@main.command("kinds", epilog="Example: kvolsched kinds pod")
@click.argument("kind", default="")
def list_kinds(kind: str) -> None:
    """List the kinds that are modelled, and what is not.

    Of one KIND its fields are listed: those that are read, and those that are kept and printed.
    """
    from ..api.text.kind_list import kind_table

    say(repr(kind_table(kind)))


@main.command(epilog="Example: kvolsched run zones --set zones=4")
@click.argument("name")
@rules_option(None, "Run it under these rules")
@click.option("--seed", type=int, default=None, help="Decide ties and draws by this number.")
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="Give a parameter of NAME this value.")
def run(name: str, revision: str | None, seed: int | None, settings: tuple[str, ...]) -> None:
    """Run the scenario NAME, with its script if it has one, and print its steps."""
    from ..learn.scenario import load

    cluster = _load_scenario(name, revision, seed, settings)
    if not load(name).script:
        for step in cluster.run(progress=True).steps:
            say(repr(step))
    else:
        load(name).play(cluster, expecting=False, **_parse_settings(name, settings))
        for number in range(cluster.world.step_number):
            say(repr(cluster.goto(number + 1)))
    say(repr(cluster.get("pods")))


@main.command(epilog="Example: kvolsched explore zonal-example --lag none")
@click.argument("name")
@rules_option(None, "Run it under these rules")
@bound("--lag", type=click.Choice(LAGS), default="ordered", help="Let watches lag in this way.")
@bound("--seconds", type=click.FloatRange(min=0), default=30, help="Search no longer than this.")
@bound("--max-states", type=int, default=200_000, help="Visit no more states than these.")
def explore(name: str, revision: str | None, lag: str, seconds: float, max_states: int) -> None:
    """Search every order of turns of the scenario NAME for a state in which it is stuck.

    Exits with 1 if one was found.
    """
    cluster = _load_scenario(name, revision, None)
    most = f"for at most {seconds:g} s or {max_states:,} states"
    fewer = "" if lag == "none" else "; --lag none has far fewer states"
    say(f"Searching every order of turns of {name} {most}{fewer}; Ctrl-C ends it with what was found.", err=True)
    found = cluster.explore(lag=lag, seconds=seconds, max_states=max_states)
    say(repr(found))
    if not (found.exhausted or found.counterexample or found.ended):
        say(f"More time or states: --seconds {max(60, 10 * seconds):g} --max-states {10 * max_states}.", err=True)
    sys.exit(INTERRUPTED if found.ended == "interrupted" else FOUND if found.counterexample else DONE)


@main.command(epilog="Example: kvolsched conform tests/conformance")
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True))
@rules_option(None, "Answer by these rules, by default those of each family")
@click.option("--aspect", "aspects", default="", help="Compare only these, separated by commas: nodes,scores.")
@click.option("--json", "as_json", is_flag=True, help='Print {family: {aspect: {"agree": n, "of": m}}}.')
def conform(files: tuple[str, ...], revision: str | None, aspects: str, as_json: bool) -> None:  # noqa: FBT001 - a flag
    """Compare our answers with recorded cases and print the differences.

    Exits with 1 if something differs.
    """
    from ..measure.conform import conform as compare

    chosen = [word for word in map(str.strip, aspects.split(",")) if word]
    try:
        agreement = compare(files, revision or "", chosen, progress=sys.stderr.isatty())
    except (OSError, ValueError) as error:
        raise Refused(str(error)) from None
    say(json.dumps(agreement.as_data()) if as_json else str(agreement))
    if agreement.interrupted and as_json:
        say("interrupted: not all cases were compared", err=True)
    if agreement.interrupted:
        sys.exit(INTERRUPTED)
    sys.exit(DONE if agreement.complete else FOUND if agreement.counts else WRONG_INPUT)


def _print_explanation(context: click.Context, _parameter: click.Parameter, value: bool) -> None:  # noqa: FBT001
    if value:
        import shutil

        from .redact import explanation

        say(explanation(min(shutil.get_terminal_size().columns, MAX_WIDTH)))
        context.exit()


@main.command(epilog="Example: kvolsched redact dump.yaml -o redacted.json.gz")
@click.argument("files", nargs=-1, required=True, type=SOURCE)
@click.option("-o", "--output", default="-", metavar="FILE", help="Write to this file: JSON or YAML; .gz compresses.")
@click.option("--map", "map_file", default="", metavar="FILE", help="Also write new name -> old name: a secret.")
@click.option("--salt", default="", help="Give equal dumps equal names if this is equal, too.")
@click.option("--force", is_flag=True, help="Overwrite files that exist.")
@click.option("--explain", is_flag=True, is_eager=True, expose_value=False, callback=_print_explanation,
              help="Say what stays in a dump and what is replaced, and exit.")
def redact(files: Sources, output: str, map_file: str, salt: str, force: bool) -> None:  # noqa: FBT001 - a flag
    """Replace the names in a dump before it is shared; the scheduler's verdicts stay the same."""
    from ..api.text import manifest
    from .redact import CannotWrite, Redaction, check_writable, write_pieces

    written = [output, map_file] if map_file else [output]
    try:
        for path in written:
            check_writable(path, overwrite=force)
        read = manifest.read(list(files), lenient=True)
        _say_left_out(read, files)
        redaction = Redaction([*read.objects, *read.others], salt)
        form = "json" if output.removesuffix(".gz").endswith(".json") else "yaml"
        write_pieces(output, redaction.written(form))
        if map_file:
            warning = "SECRET: this file has the old names of a redacted dump. Do not share it."
            named = {"secret": warning, "names": redaction.old_names()}
            write_pieces(map_file, [json.dumps(named, indent=1, ensure_ascii=False), "\n"], secret=True)
    except CannotWrite as error:
        raise Refused(str(error)) from None
    say(str(redaction), err=True)
    if map_file:
        say(f"{map_file} has the old names: it is secret, do not share it", err=True)


@main.command(epilog="Example: kvolsched why dump.yaml --pod shop/web-0 --fix")
@click.argument("dump", nargs=-1, type=SOURCE)
@click.option("--pod", default="", metavar="NAMESPACE/NAME", help="Explain this pod, not all that have no node.")
@rules_option()
@click.option("--fix", "fixed", is_flag=True, help="Also find the nearest fixes.")
@bound("--most", type=click.IntRange(1), default=20, help="Print no more causes than these.")
@click.option("--live", is_flag=True, help="Ask a real cluster by `kubectl get`, which changes nothing there.")
@click.option("--context", default=None, help="With --live: use this context of the kubeconfig.")
@click.option("-n", "--namespace", "namespaces", multiple=True, help="With --live: read only these.")
def why(dump: Sources, pod: str, revision: str, fixed: bool, most: int,  # noqa: FBT001 - a flag
        live: bool, context: str | None, namespaces: tuple[str, ...]) -> None:  # noqa: FBT001 - a flag
    """Say why pods are pending, in a DUMP or in a live cluster.

    A DUMP is what `kubectl get -o yaml` wrote; - is standard input.
    """
    from ..questions.why import pending

    if live == bool(dump) or (not live and (context or namespaces)):
        raise click.UsageError("name a DUMP, or ask a real cluster: --live [--context NAME] [-n NAMESPACE]")
    cluster = _read_live(context, namespaces, revision) if live else _load_dump(dump, revision)
    if pod:
        say(repr(cluster.why(pod)))
        if fixed:
            say(f"\n{cluster.fix(pod)!r}")
    elif fixed and (names := pending(cluster)):
        say("\n\n".join(repr(cluster.fix(name)) for name in names))
    else:
        say(repr(cluster.why(most=most)))


@main.command("check", epilog="Example: kvolsched check app.yaml --cluster dump.yaml")
@click.argument("manifests", nargs=-1, required=True, type=SOURCE)
@click.option("--cluster", "dump", multiple=True, required=True, metavar="DUMP", type=SOURCE,
              help="Apply them to this cluster: what `kubectl get -o yaml` wrote.")
@click.option("--without", multiple=True, metavar="SELECTOR",
              help="Also stop these nodes: --without zone=a; --without zone: each zone in turn.")
@rules_option()
@click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON.")
def check_(manifests: Sources, dump: Sources, without: tuple[str, ...], revision: str,
           as_json: bool) -> None:  # noqa: FBT001 - a flag
    """Say whether the pods of MANIFESTS would get a node.

    Exits with 1 if one pends.
    """
    from ..measure.check import check

    try:
        found = check(manifests, dump, without=without, revision=revision)
    except ValueError as error:
        raise Refused(str(error)) from None
    say(json.dumps(found.as_data()) if as_json else repr(found))
    sys.exit(DONE if found.fits else FOUND)


@main.command("differ", epilog="Example: kvolsched differ design upstream --about spread")
@click.argument("a", metavar="RULES_A")
@click.argument("b", metavar="RULES_B")
@bound("--examples", type=click.IntRange(1), default=200, help="Draw no more clusters than these.")
@bound("--seed", type=int, default=0, help="Draw, and decide ties, by this number.")
@click.option("--of", "aspects", default="", metavar="ASPECTS",
              help="Compare these, separated by commas: answers, nodes, ends, words, passes, fields.")
@click.option("--about", default="", metavar="MATTERS",
              help="Draw clusters about volumes, spread, affinity, resources, gates, workloads, capacity, limits.")
@click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON.")
def differ_(a: str, b: str, examples: int, seed: int, aspects: str, about: str, as_json: bool) -> None:  # noqa: FBT001 - a flag
    """Search for the smallest cluster on which two sets of rules disagree.

    Rules are upstream, design, draft, "design (beta)", or a rejected design. Exits with 1 if there is such a cluster.
    """
    from ..measure.differ import differ
    from ..measure.differ.outcome import USUAL

    chosen, matters = ([word.strip() for word in each.split(",") if word.strip()] for each in (aspects, about))
    try:
        found = differ(a, b, seed, examples, progress=sys.stderr.isatty(), of=chosen or USUAL, about=matters)
    except (ValueError, ModuleNotFoundError) as error:
        raise Refused(str(error)) from None
    say(json.dumps(found.as_data()) if as_json else repr(found))
    sys.exit(INTERRUPTED if found.interrupted else FOUND if found else DONE)


@main.command("bench", epilog="Example: kvolsched bench basic zonal --nodes 500")
@click.argument("workloads", nargs=-1)
@bound("--nodes", type=click.IntRange(2), default=5_000, help="Measure with so many nodes.")
@bound("--pods", type=click.IntRange(1), default=1_000, help="Let so many pods come at once.")
@bound("--fit", default="100,1000,5000,20000", help="Fit the growth to these numbers of nodes.")
@bound("--limit", type=float, default=20.0, help="End a run of the loop after so many CPU seconds.")
@bound("--runs", type=click.IntRange(1), default=2, help="Run each loop so many times.")
@click.option("--aims", is_flag=True, help="Also measure every figure that has an aim, and print it beside.")
@click.option("--dump", type=click.IntRange(0), default=0, metavar="PODS",
              help="Only read a dump of 5,000 nodes and so many pods, and ask about it: 50000 takes a minute.")
@click.option("--gate", is_flag=True, help="With --aims: exit with 1 if a ratio of two figures falls short.")
@click.option("--write", default="", metavar="DIR", help="Write the workloads as manifests; measure nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def bench_(workloads: tuple[str, ...], fit: str, **options: Any) -> None:
    """Measure how long WORKLOADS take, all without one.

    Printed are microseconds a pod in the pass, by plugin and in the whole loop, and memory.
    """
    from ..measure.bench import bench

    words = [word for word in fit.replace(" ", "").split(",") if word]
    if not all(word.isdecimal() and int(word) >= 2 for word in words):
        raise click.BadParameter(f"{fit!r}: write numbers of nodes from 2 on, such as 100,20000", param_hint="--fit")
    sys.exit(bench(workloads, fit=tuple(map(int, words)), **options))


@main.command("get", epilog="Example: kvolsched get dump.yaml pods -n shop")
@click.argument("words", nargs=-1, required=True, metavar="DUMP... KIND [NAME]...")
@click.option("-n", "--namespace", default="default", help="Take those of this namespace.")
@click.option("-A", "--all-namespaces", is_flag=True, help="Take those of every namespace.")
@click.option("-o", "--output", type=click.Choice(["wide", "yaml", "json", "name"]), default=None,
              help="Print it as kubectl does.")
@click.option("--show-labels", is_flag=True, help="Show labels as the last column.")
@click.option("--now", type=parse_time, metavar="TIME", default=None, help="Count ages up to 2026-01-31T12:00:00Z.")
def get_(words: tuple[str, ...], output: str | None, **options: Any) -> None:
    """List objects of a DUMP as `kubectl get` prints them."""
    from ..kubectl import ResourceNotFound

    cluster, kind, names = _parse_words(words)
    try:
        found = cluster.get(kind, name=names, output=output or "", **options)
    except ResourceNotFound:
        raise
    except ValueError as error:
        say(str(error), err=True)  # kubectl's words
        sys.exit(WRONG_INPUT)
    say(repr(found), err=not output and not found)
    if not output and not found and not options["all_namespaces"] and cluster.get(kind, all_namespaces=True):
        say("Other namespaces have some: -n NAMESPACE, or -A for all.", err=True)


@main.command("describe", epilog="Example: kvolsched describe dump.yaml pod web-0 -n shop")
@click.argument("words", nargs=-1, required=True, metavar="DUMP... KIND [NAME]...")
@click.option("-n", "--namespace", default="default", help="Take those of this namespace.")
@click.option("--now", type=parse_time, metavar="TIME", default=None, help="Count ages up to 2026-01-31T12:00:00Z.")
def describe_(words: tuple[str, ...], namespace: str, now: datetime | None) -> None:
    """Describe objects of a DUMP as `kubectl describe` prints them."""
    from ..kubectl import describe

    cluster, kind, names = _parse_words(words)
    say("\n\n\n".join(repr(describe(cluster, kind, name, namespace, now=now)) for name in names or ("",)))


def _parse_words(words: tuple[str, ...]) -> tuple[Cluster, str, tuple[str, ...]]:
    """Return the cluster, the kind and the names of a command: dumps come first, up to the first kind."""
    from pathlib import Path

    from ..api.kinds.kind import is_kind_name

    def is_kind_word(word: str) -> bool:
        first = word.partition("/")[0].partition(",")[0]
        return first == "all" or is_kind_name(first) or (word != "-" and not Path(word).exists())

    number = next((place for place, word in enumerate(words) if place and is_kind_word(word)), len(words))
    dumps, asked = words[:number], words[number:]
    if dumps[0] != "-" and not Path(dumps[0]).exists():
        raise click.UsageError(f"the first word must be a dump: {dumps[0]!r} is no file or directory.")
    if not asked:
        raise click.UsageError("name a kind after the dump, such as pods, pvc or nodes.")
    context = click.get_current_context()
    return _load_dump([SOURCE.convert(dump, None, context) for dump in dumps], "upstream"), asked[0], asked[1:]


def _load_dump(dump: Sources, revision: str) -> Cluster:
    load_engine()
    from ..cluster import Cluster

    cluster = Cluster.from_manifests(*dump, revision=revision)
    if cluster.loaded_manifests is not None:
        _say_left_out(cluster.loaded_manifests, dump)
    if refused := cluster.refusals():
        say(f"Warning: {refused.line()}", err=True)
        say(repr(refused), err=True)
    return cluster


def _say_left_out(read: Manifests, sources: Sources) -> None:
    """Refuse sources without any object; say what was skipped, and what counts of two things of one name."""
    from ..api.text.sources import NamedText

    if not read:
        names = ", ".join(each.name if isinstance(each, NamedText) else str(each) for each in sources)
        raise Refused(f"{names}: there is no object in it, only space or comments")
    for line in read.left_out():
        say(f"Warning: {line}", err=True)


def _read_live(context: str | None, namespaces: tuple[str, ...], revision: str) -> Cluster:
    """Read a real cluster, and say on standard error what was not read."""
    from ..cluster import Cluster
    from ..kubectl.live import KubectlError

    try:
        cluster = Cluster.from_kubectl(context, namespaces or None, revision=revision)
    except (KubectlError, ValueError) as error:
        raise Refused(str(error)) from None
    for remark in cluster.remarks:
        say(remark, err=True)
    return cluster


def _load_scenario(name: str, revision: str | None, seed: int | None, settings: tuple[str, ...] = ()) -> Cluster:
    from ..learn.scenario import ScenarioError, scenario

    try:
        return scenario(name, revision or "", seed=seed, **_parse_settings(name, settings))
    except ScenarioError as error:
        raise Refused(str(error)) from None


def _parse_settings(name: str, settings: tuple[str, ...]) -> dict[str, Any]:
    """Return the values of `--set NAME=VALUE`, each as its parameter wants it; unknown names stay for the error."""
    from ..learn.scenario import load
    from ..learn.templates import ParameterError

    known = {each.name: each for each in load(name).parameters}
    found: dict[str, Any] = {}
    for setting in settings:
        word, equals, text = setting.partition("=")
        if not equals:
            raise click.BadParameter(f"{setting!r}: write NAME=VALUE", param_hint="--set")
        try:
            found[word] = known[word].parsed(text) if word in known else text
        except ParameterError as error:
            raise click.BadParameter(str(error), param_hint="--set") from None
    return found


@main.command("serve", epilog="Example: kvolsched serve zonal-example --live")
@click.argument("source")
@rules_option(None, "Run it under these rules")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Listen there; by default on any free port.")
@click.option("--live", is_flag=True, help="Let everybody act as soon as they can.")
@click.option("--kubeconfig", type=PathType(dir_okay=False), help="Write kubectl's settings there.")
def serve(source: str, revision: str | None, port: int, live: bool, kubeconfig: Path | None) -> None:  # noqa: FBT001
    """Serve the scenario or dump SOURCE to the real kubectl on this machine, until Ctrl-C.

    Without --live each Enter makes one step.
    """
    from pathlib import Path

    if source == "-" or Path(source).exists():
        dump = SOURCE.convert(source, None, click.get_current_context())
        cluster = _load_dump([dump], revision or "upstream")
    else:
        cluster = _load_scenario(source, revision, None)
    try:
        served = cluster.serve(port, pace="live" if live else "steps")
    except OSError as error:
        raise Refused(str(error)) from None
    with served:
        if kubeconfig is not None:
            served.kubeconfig(path=kubeconfig)
        say(f"serving {cluster.name or source} at {served.url()}")
        where = f"--kubeconfig={str(kubeconfig)!r}" if kubeconfig else f"--server={served.url()}"
        say(f"in another terminal: kubectl {where} get pods; {'' if live else 'Enter makes a step, '}Ctrl-C ends it")
        sys.stdout.flush()
        with suppress(KeyboardInterrupt):
            for _line in () if live else sys.stdin:
                say(str(cluster.step() or "nothing is left to do"))
            Event().wait()


for learned in (decode_, grade_, incidents_, lab_, lessons_, night_, page_, ready_, said_):
    main.add_command(learned)
