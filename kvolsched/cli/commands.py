"""The command line: runs and explores scenarios, compares recordings, redacts and questions dumps, measures speed.

It prints the text that a notebook shows. Whatever is printed goes through `say`, whatever fails through `Commands`.
"""

from __future__ import annotations

import errno
import io
import json
import os
import shutil
import sys
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from ..api.kinds.kind import is_kind_name
from ..api.text.fault import ManifestError
from ..api.text.manifest import Manifests
from ..api.text.sources import LIMITS, NamedText
from ..cluster import Cluster
from ..core.results import ApplyRefused
from ..kubectl import ResourceNotFound
from ..learn.scenario import ScenarioError, load, scenario, scenario_names
from ..learn.templates import ParameterError
from ..rules.revision import REVISIONS
from .learning import decode_, incidents_, lab_, lessons_
from .output import Refused, say

MAX_WIDTH = 100  # of printed tables
INTERRUPTED = 130  # exit code of what Ctrl-C ended, as shells have it
LAGS = ["none", "ordered", "per kind"]
Sources = Sequence[Path | NamedText]


def parse_time(text: str) -> datetime:
    """Return the time that a text in manifest format names; without a zone it is UTC."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise click.BadParameter(f"{text!r} is not a time; write for example 2026-01-31T12:00:00Z") from None
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)


class Commands(click.Group):
    """Commands that end with one line, and with code 1, where they cannot read or write a file."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; what it printed is written before it ends."""
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="backslashreplace")  # a terminal of few characters
        try:
            try:
                return super().invoke(ctx)
            finally:
                sys.stdout.flush()
        except BrokenPipeError:
            _write_nowhere()  # such as `| head`, which has read enough
            sys.exit(1)
        except OSError as error:
            if error.errno == errno.ENOSPC or error.filename is None:
                _write_nowhere()
            place = f"{error.filename}: " if error.filename is not None else "cannot write the output: "
            raise Refused(f"{place}{error.strerror or error}") from None


def _write_nowhere() -> None:
    """Let Python, which writes at its end what it could not write before, write to nobody."""
    with suppress(OSError, ValueError):  # a stream without a file
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


class SourceType(click.Path):
    """A file or directory that is read, or `-` for standard input."""

    def __init__(self) -> None:
        super().__init__(exists=True, allow_dash=True)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return a path, or the text of standard input, which is read once."""
        found = super().convert(value, param, ctx)
        if found != "-":
            return Path(os.fsdecode(found))
        known = ctx.find_root().meta if ctx is not None else {}
        if known.setdefault(STANDARD_INPUT, False):
            self.fail("standard input can be read only once", param, ctx)
        known[STANDARD_INPUT] = True
        return NamedText(sys.stdin.buffer.read(LIMITS.size + 1), STANDARD_INPUT)


STANDARD_INPUT = "standard input"
SOURCE = SourceType()


class CommandRefused(Refused):
    """A refusal in kubectl's words, with a hint about what exists below it."""

    def __init__(self, error: Exception) -> None:
        super().__init__(getattr(error, "words", "") or str(error))
        self.hint = getattr(error, "hint", "")

    def show(self, file: Any = None) -> None:
        """Print the message without the prefix `Error:`."""
        say(self.message if not self.hint else f"{self.message}\n{self.hint}", err=True)


@click.group(cls=Commands)
@click.version_option(package_name="kvolsched")
def main() -> None:
    """Run Kubernetes' scheduling and volume binding loop."""


@main.command("scenarios")
def list_scenarios() -> None:
    """List the shipped scenarios with their questions and parameters."""
    say(repr(scenario_names()))


@main.command()
@click.argument("name")
@click.option("--revision", type=click.Choice(list(REVISIONS)), default=None, help="Rules to run it under.")
@click.option("--seed", type=int, default=None, help="Decides ties and draws.")
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="A parameter: --set zones=4.")
def run(name: str, revision: str | None, seed: int | None, settings: tuple[str, ...]) -> None:
    """Run the scenario NAME, with its script if it has one, and print its steps."""
    cluster = _load_scenario(name, revision, seed, settings)
    if not load(name).script:
        for step in cluster.run(progress=True).steps:
            say(repr(step))
    else:
        try:
            load(name).play(cluster, expecting=False, **_parse_settings(name, settings))
        except (KeyError, ApplyRefused) as error:
            raise Refused(str(error.args[0])) from None
        for number in range(cluster.last_step.number):
            say(repr(cluster.goto(number + 1)))
    say(repr(cluster.get("pods")))


@main.command()
@click.argument("name")
@click.option("--revision", type=click.Choice(list(REVISIONS)), default=None, help="Rules to run it under.")
@click.option("--lag", type=click.Choice(LAGS), default="ordered", show_default=True, help="How watches may lag.")
@click.option("--seconds", type=click.FloatRange(min=0), default=30, show_default=True, help="The longest search.")
@click.option("--max-states", type=int, default=200_000, show_default=True, help="The most states to visit.")
def explore(name: str, revision: str | None, lag: str, seconds: float, max_states: int) -> None:
    """Search every order of turns of the scenario NAME for a state in which it is stuck.

    Exits with 0 if none was found, 1 if one was, and 130 if Ctrl-C stopped the search.
    """
    cluster = _load_scenario(name, revision, None)
    most = f"for at most {seconds:g} s or {max_states:,} states"
    fewer = "" if lag == "none" else "; --lag none has far fewer states"
    say(f"Searching every order of turns of {name} {most}{fewer}; Ctrl-C ends it with what was found.", err=True)
    found = cluster.explore(lag=lag, seconds=seconds, max_states=max_states)
    say(repr(found))
    if not (found.exhausted or found.counterexample or found.ended):
        say(f"More time or states: --seconds {max(60, 10 * seconds):g} --max-states {10 * max_states}.", err=True)
    sys.exit(INTERRUPTED if found.ended == "interrupted" else 1 if found.counterexample else 0)


@main.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True))
@click.option(
    "--revision",
    type=click.Choice(list(REVISIONS)),
    default=None,
    help="Rules that answer; by default design for families design-*, upstream for all others.",
)
@click.option("--aspect", "aspects", default="", help="Compare only these, separated by commas: nodes,scores.")
@click.option("--json", "as_json", is_flag=True, help='Print {family: {aspect: {"agree": n, "of": m}}}.')
def conform(files: tuple[str, ...], revision: str | None, aspects: str, as_json: bool) -> None:  # noqa: FBT001 - a flag
    """Compare our answers with recorded cases and print the differences; exits 0 only if all agree."""
    from ..measure.conform import conform as compare

    chosen = [word for word in map(str.strip, aspects.split(",")) if word]
    try:
        agreement = compare(files, revision or "", chosen, progress=sys.stderr.isatty())
    except (OSError, ValueError) as error:
        raise Refused(str(error)) from None
    say(json.dumps(agreement.as_data()) if as_json else str(agreement))
    if agreement.interrupted and as_json:
        say("interrupted: not all cases were compared", err=True)
    sys.exit(0 if agreement.complete else 1)


def _print_explanation(context: click.Context, _parameter: click.Parameter, value: bool) -> None:  # noqa: FBT001
    if value:
        from .redact import explanation

        say(explanation(min(shutil.get_terminal_size().columns, MAX_WIDTH)))
        context.exit()


@main.command()
@click.argument("files", nargs=-1, required=True, type=SOURCE)
@click.option("-o", "--output", default="-", help="Output file: JSON or YAML, compressed if .gz.")
@click.option("--map", "map_file", default="", metavar="FILE", help="Also write new name -> old name: a secret.")
@click.option("--salt", default="", help="Equal dumps and salts give equal names.")
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
    except (manifest.ManifestError, CannotWrite) as error:
        raise Refused(str(error)) from None
    say(str(redaction), err=True)
    if map_file:
        say(f"{map_file} has the old names: it is secret, do not share it", err=True)


@main.command()
@click.argument("dump", nargs=-1, type=SOURCE)
@click.option("--pod", default="", help="NAMESPACE/NAME, or a unique NAME; by default all pods without a node.")
@click.option("--revision", type=click.Choice(list(REVISIONS)), default="upstream", help="Rules that judge.")
@click.option("--fix", "fixed", is_flag=True, help="Also find the nearest fixes.")
@click.option("--most", type=click.IntRange(1), default=20, show_default=True, help="How many causes are printed.")
@click.option("--live", is_flag=True, help="Ask a real cluster by `kubectl get`, which changes nothing there.")
@click.option("--context", default=None, help="With --live: the context of the kubeconfig.")
@click.option("-n", "--namespace", "namespaces", multiple=True, help="With --live: read only these.")
def why(dump: Sources, pod: str, revision: str, fixed: bool, most: int,  # noqa: FBT001 - a flag
        live: bool, context: str | None, namespaces: tuple[str, ...]) -> None:  # noqa: FBT001 - a flag
    """Say why a pod is pending: of a DUMP (what `kubectl get -o yaml` wrote; - is stdin) or of a live cluster."""
    from ..questions.why import pending

    if live == bool(dump) or (not live and (context or namespaces)):
        raise click.UsageError("name a DUMP, or ask a real cluster: --live [--context NAME] [-n NAMESPACE]")
    cluster = _read_live(context, namespaces, revision) if live else _load_dump(dump, revision)
    try:
        if pod:
            say(repr(cluster.why(pod)))
            if fixed:
                say(f"\n{cluster.fix(pod)!r}")
            return
        names = pending(cluster)
        if fixed and names:
            say("\n\n".join(repr(cluster.fix(name)) for name in names))
        else:
            say(repr(cluster.why(most=most)))
    except KeyError as error:
        raise Refused(str(error.args[0])) from None


@main.command("check")
@click.argument("manifests", nargs=-1, required=True, type=SOURCE)
@click.option("--cluster", "dump", multiple=True, required=True, metavar="DUMP", type=SOURCE,
              help="The cluster: what `kubectl get -o yaml` wrote.")
@click.option("--without", multiple=True, metavar="SELECTOR",
              help="Also stop these nodes: --without zone=a; --without zone: each zone in turn.")
@click.option("--revision", type=click.Choice(list(REVISIONS)), default="upstream", help="Rules that judge.")
@click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON.")
def check_(manifests: Sources, dump: Sources, without: tuple[str, ...], revision: str,
           as_json: bool) -> None:  # noqa: FBT001 - a flag
    """Say whether the pods of MANIFESTS would get a node: exits 0 if all do, 1 if one pends, 2 if it cannot be read."""
    from ..measure.check import UNREADABLE, check

    try:
        found = check(manifests, dump, without=without, revision=revision)
    except (ValueError, KeyError) as error:
        say(json.dumps({"error": str(error.args[0])}) if as_json else f"Error: {error.args[0]}", err=not as_json)
        sys.exit(UNREADABLE)
    say(json.dumps(found.as_data()) if as_json else repr(found))
    sys.exit(found.exit_code)


@main.command("differ")
@click.argument("a", metavar="RULES_A")
@click.argument("b", metavar="RULES_B")
@click.option("--examples", type=click.IntRange(1), default=200, show_default=True, help="Clusters to draw at most.")
@click.option("--seed", type=int, default=0, show_default=True, help="Decides what is drawn, and ties.")
@click.option("--of", "aspects", default="", help="What must differ, separated by commas: answers,nodes,ends,words,...")
@click.option("--about", default="", help="What clusters are about, separated by commas: volumes,spread,gates,...")
@click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON.")
def differ_(a: str, b: str, examples: int, seed: int, aspects: str, about: str, as_json: bool) -> None:  # noqa: FBT001 - a flag
    """Search for the smallest cluster on which two sets of rules disagree: exits 1 if there is one, 2 on an error.

    Rules are revisions by the names that are printed: upstream, design, draft, "design (beta)".
    """
    from ..measure.differ import differ
    from ..measure.differ.outcome import USUAL

    chosen, matters = ([word.strip() for word in each.split(",") if word.strip()] for each in (aspects, about))
    try:
        found = differ(a, b, seed, examples, progress=sys.stderr.isatty(), of=chosen or USUAL, about=matters)
    except (ValueError, KeyError, ModuleNotFoundError) as error:
        click.echo(f"Error: {error.args[0]}", err=True)
        sys.exit(2)
    click.echo(json.dumps(found.as_data()) if as_json else repr(found))
    sys.exit(1 if found else 0)


@main.command("bench")
@click.argument("workloads", nargs=-1)
@click.option("--nodes", type=click.IntRange(2), default=5_000, show_default=True, help="How many nodes there are.")
@click.option("--pods", type=click.IntRange(1), default=1_000, show_default=True, help="How many pods come at once.")
@click.option("--fit", default="100,1000,5000,20000", show_default=True, help="Numbers of nodes for the fit of growth.")
@click.option("--limit", type=float, default=20.0, show_default=True, help="CPU seconds of one run of the loop.")
@click.option("--runs", type=click.IntRange(1), default=2, show_default=True, help="Runs of each loop.")
@click.option("--aims", is_flag=True, help="Also measure every figure that has an aim, and print it beside.")
@click.option("--dump", type=click.IntRange(0), default=0, metavar="PODS",
              help="Only read a dump of 5,000 nodes and so many pods, and ask about it: 50000 takes a minute.")
@click.option("--gate", is_flag=True, help="With --aims: exit 1 if a ratio of two figures falls short.")
@click.option("--against", type=click.Path(exists=True, file_okay=False, path_type=Path), default=None, metavar="DIR",
              help="With --aims: also measure, alternately, the package in this checkout of another commit.")
@click.option("--write", default="", metavar="DIR", help="Write the workloads as manifests; measure nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def bench_(workloads: tuple[str, ...], fit: str, **options: Any) -> None:
    """Measure WORKLOADS (all without one): microseconds a pod in the pass by plugin, and in the whole loop; memory."""
    from ..measure.bench import bench

    words = [word for word in fit.replace(" ", "").split(",") if word]
    if not all(word.isdecimal() and int(word) >= 2 for word in words):
        raise click.BadParameter(f"{fit!r}: write numbers of nodes from 2 on, such as 100,20000", param_hint="--fit")
    try:
        code = bench(workloads, fit=tuple(map(int, words)), **options)
    except (KeyError, OSError) as error:
        raise Refused(str(error)) from None
    sys.exit(code)


@main.command("get")
@click.argument("words", nargs=-1, required=True, metavar="DUMP... KIND [NAME]...")
@click.option("-n", "--namespace", default="default", help="Of this namespace.")
@click.option("-A", "--all-namespaces", is_flag=True, help="Of every namespace.")
@click.option("-o", "--output", type=click.Choice(["wide", "yaml", "json", "name"]), default=None, help="As kubectl's.")
@click.option("--show-labels", is_flag=True, help="With the labels as the last column.")
@click.option("--now", type=parse_time, metavar="TIME", default=None, help="Count ages to here: 2026-01-31T12:00:00Z.")
def get_(words: tuple[str, ...], output: str | None, **options: Any) -> None:
    """List objects of a DUMP as `kubectl get` prints them: kvolsched get dump.yaml pods -n shop."""
    cluster, kind, names = _parse_words(words)
    try:
        found = cluster.get(kind, name=names, output=output or "", **options)
    except (ResourceNotFound, ValueError) as error:
        raise CommandRefused(error) from None
    say(repr(found), err=not output and not found)
    if not output and not found and not options["all_namespaces"] and cluster.get(kind, all_namespaces=True):
        say("Other namespaces have some: -n NAMESPACE, or -A for all.", err=True)


@main.command("describe")
@click.argument("words", nargs=-1, required=True, metavar="DUMP... KIND [NAME]...")
@click.option("-n", "--namespace", default="default", help="Of this namespace.")
@click.option("--now", type=parse_time, metavar="TIME", default=None, help="Count ages to here: 2026-01-31T12:00:00Z.")
def describe_(words: tuple[str, ...], namespace: str, now: datetime | None) -> None:
    """Describe objects of a DUMP as `kubectl describe` prints them: kvolsched describe dump.yaml pod web-0 -n shop."""
    cluster, kind, names = _parse_words(words)
    try:
        found = [cluster.describe(kind, name, namespace, now=now) for name in names or ("",)]
    except ResourceNotFound as error:
        raise CommandRefused(error) from None
    say("\n\n\n".join(map(repr, found)))


def _parse_words(words: tuple[str, ...]) -> tuple[Cluster, str, tuple[str, ...]]:
    """Return the cluster, the kind and the names of a command: dumps come first, up to the first kind."""

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
    try:
        cluster = Cluster.from_manifests(*dump, revision=revision)
    except ManifestError as error:
        raise Refused(str(error)) from None
    if cluster.loaded_manifests is not None:
        _say_left_out(cluster.loaded_manifests, dump)
    return cluster


def _say_left_out(read: Manifests, sources: Sources) -> None:
    """Refuse sources without any object; say what was skipped, and what counts of two things of one name."""
    if not read:
        names = ", ".join(each.name if isinstance(each, NamedText) else str(each) for each in sources)
        raise Refused(f"{names}: there is no object in it, only space or comments")
    for line in read.left_out():
        say(f"Warning: {line}", err=True)


def _read_live(context: str | None, namespaces: tuple[str, ...], revision: str) -> Cluster:
    """Read a real cluster, and say on standard error what was not read."""
    from ..kubectl.live import KubectlError

    try:
        cluster = Cluster.from_kubectl(context, namespaces or None, revision=revision)
    except (KubectlError, ManifestError, ValueError) as error:
        raise Refused(str(error)) from None
    for remark in cluster.remarks:
        say(remark, err=True)
    return cluster


def _load_scenario(name: str, revision: str | None, seed: int | None, settings: tuple[str, ...] = ()) -> Cluster:
    try:
        return scenario(name, revision or "", seed=seed, **_parse_settings(name, settings))
    except (KeyError, ScenarioError) as error:
        raise Refused(str(error.args[0])) from None


def _parse_settings(name: str, settings: tuple[str, ...]) -> dict[str, Any]:
    """Return the values of `--set NAME=VALUE`, each as its parameter wants it; unknown names stay for the error."""
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


for learned in (decode_, incidents_, lab_, lessons_):
    main.add_command(learned)


if __name__ == "__main__":
    main()
