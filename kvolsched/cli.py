"""The command line: play a scenario, or search one for failures. Prints what a notebook would show as text."""

from __future__ import annotations

import sys

import click

from . import Cluster, __version__, scenario, scenarios


@click.group()
@click.version_option(__version__)
def main() -> None:
    """Run Kubernetes' scheduling and volume binding loop."""


@main.command("scenarios")
def list_scenarios() -> None:
    """List the scenarios that are shipped."""
    from .scenario import named  # noqa: PLC0415 - only here

    for name in scenarios():
        click.echo(f"{name:<24}{named(name).question}")


@main.command()
@click.argument("name")
@click.option("--revision", type=click.Choice(["upstream", "design"]), default=None, help="Rules to run it under.")
@click.option("--seed", type=int, default=None, help="Decides ties and draws.")
def run(name: str, revision: str | None, seed: int | None) -> None:
    """Run the scenario NAME and print its steps."""
    cluster = _scenario(name, revision, seed)
    for step in cluster.run(progress=True).steps:
        click.echo(repr(step))
    click.echo(repr(cluster.get("pods")))


@main.command()
@click.argument("name")
@click.option("--revision", type=click.Choice(["upstream", "design"]), default=None, help="Rules to run it under.")
@click.option("--lag", type=click.Choice(["none", "ordered", "per kind"]), default="ordered", help="How far behind informers may be.")
@click.option("--max-states", type=int, default=200_000, help="Give up after so many.")
def explore(name: str, revision: str | None, lag: str, max_states: int) -> None:
    """Search every order of turns of the scenario NAME for a state that nobody can leave."""
    found = _scenario(name, revision, None).explore(lag=lag, max_states=max_states)
    click.echo(repr(found))
    sys.exit(1 if found.found else 0)


def _scenario(name: str, revision: str | None, seed: int | None) -> Cluster:
    try:
        return scenario(name, revision or "", seed=seed)
    except KeyError as error:
        raise click.ClickException(str(error.args[0])) from None
