"""`kubectl get` and `kubectl describe` with their flags; their texts are judged by recordings of kubectl v1.36.2."""

from collections.abc import Sequence
from typing import Any

import attrs

from ...api.kinds import quantity
from ...api.text.convert import to_plain
from ..formatting import align_columns
from ..get_command import describe_object, make_table
from ..output import COLUMN_PADDING, MIN_COLUMN_WIDTH
from ..resource_lookup import empty_message, find_keys
from ..serialize import (
    JsonPathFault,
    as_text,
    find_values,
    natural_key,
    print_jsonpath,
    printed_data,
    serialize,
    to_json,
)
from .command import Command, Selection, namespace_of, scope_of
from .flags import CommandError

NO_KIND = (
    'You must specify the type of resource to {}. Use "kubectl api-resources" for a complete list of supported '
    "resources.\n\n"
    "error: Required resource not specified."
)
EXPLAIN = (
    '\nUse "kubectl explain <resource>" for a detailed description of that resource (e.g. kubectl explain pods).'
    "\nSee 'kubectl get -h' for help and examples"
)
FORMATS = "custom-columns, json, jsonpath, jsonpath-as-json, name, wide, yaml"
ALL_FORMATS = ("custom-columns,custom-columns-file,go-template,go-template-file,json,jsonpath,jsonpath-as-json,"
               "jsonpath-file,kyaml,name,template,templatefile,wide,yaml")  # fmt: skip


def get(command: Command) -> None:
    """Print objects as `kubectl get` does."""
    words = command.words
    if not words.arguments:
        raise CommandError(NO_KIND.format("get") + EXPLAIN)
    form, _, template = words.text("output").partition("=")
    if form not in ("", "wide", "custom-columns", *FORMATS.split(", ")):
        if form in ALL_FORMATS.split(","):
            raise CommandError(f"error: the output format {form} is not simulated; these are: {FORMATS}")
        why = f'unable to match a printer suitable for the output format "{form}"'
        raise CommandError(f"error: {why}, allowed formats are: {ALL_FORMATS}", hint=f"printed here: {FORMATS}")
    if form in ("jsonpath", "jsonpath-as-json", "custom-columns") and not template:
        what = "template" if "json" in form else "custom-columns"
        raise CommandError(f"error: {what} format specified but no {what.replace('-', ' ')} given")
    chosen = _sorted(command, command.chosen(words.arguments))
    if not words.has("ignore-not-found"):
        command.report_missing(chosen.missing)
    if form in ("", "wide"):
        _print_tables(command, chosen, wide=form == "wide")
    elif form == "custom-columns":
        _print_columns(command, chosen, template)
    else:
        _print_data(command, chosen, form, template)


def _print_tables(command: Command, chosen: Selection, *, wide: bool) -> None:
    words, scope, texts = command.words, scope_of(command.words), []
    for kind, keys in chosen.keys_by_kind:
        table = make_table(command.objects, kind, keys, scope, command.cluster.world.date, wide=wide,
                           show_labels=words.has("show-labels"), prefixed=len(chosen.keys_by_kind) > 1,
                           labels=words.several("label-columns"))  # fmt: skip
        if table.rows:
            rows = ["\t".join(row) for row in (table.rows if words.has("no-headers") else (table.columns, *table.rows))]
            texts.append(align_columns(rows, MIN_COLUMN_WIDTH, COLUMN_PADDING))
    if texts:
        command.out.append("\n\n".join(texts))
    elif not chosen.named and not words.has("ignore-not-found"):
        kinds = [kind for kind, _ in chosen.keys_by_kind]
        command.warn(empty_message(kinds[0], None if all(not kind.namespaced for kind in kinds) else scope))


def _print_data(command: Command, chosen: Selection, form: str, template: str) -> None:
    items = [command.objects[key] for key in chosen.keys]
    if chosen.single and not items:
        return
    if form in ("yaml", "json", "name"):
        text = serialize(items, form, as_list=not chosen.single)
        command.out += [text] if text else []
        return
    data = printed_data(items, as_list=not chosen.single)
    try:
        if form == "jsonpath-as-json":
            command.out.append(to_json(find_values(template, data), indent=4))
        else:
            command.out.append(f"{print_jsonpath(template, data)}\0")  # no line break follows
    except JsonPathFault as error:
        raise CommandError(f"error: error parsing jsonpath {template}, {error}") from None


def _print_columns(command: Command, chosen: Selection, template: str) -> None:
    """Print the columns `NAME:.metadata.name,NODE:.spec.nodeName`; what is missing is `<none>`."""
    pairs = [part.partition(":") for part in template.split(",")]
    if wrong := [title for title, _, path in pairs if not path]:
        raise CommandError(f"error: unexpected custom-columns spec: {wrong[0]}, expected <header>:<json-path-expr>")
    rows = [] if command.words.has("no-headers") else ["\t".join(title for title, _, _ in pairs)]
    try:
        for key in chosen.keys:
            data = to_plain(command.objects[key])
            cells = [",".join(map(as_text, find_values(path, data))) or "<none>" for _, _, path in pairs]
            rows.append("\t".join(cells))
    except JsonPathFault as error:
        raise CommandError(f"error: {error}") from None
    command.out += [align_columns(rows, MIN_COLUMN_WIDTH, COLUMN_PADDING)] if rows else []


def _sorted(command: Command, chosen: Selection) -> Selection:
    """Return a selection in the order of `--sort-by`."""
    path = command.words.text("sort-by")
    if not path:
        return chosen
    try:
        values = {key: find_values(path, to_plain(command.objects[key])) for key in chosen.keys}
    except JsonPathFault as error:
        raise CommandError(f"error: {error}") from None
    if values and not any(values.values()):
        inner = path.strip("{}").removeprefix(".")
        raise CommandError(f'error: couldn\'t find any field with path "{{.{inner}}}" in the list of objects')
    ordered = ((kind, tuple(sorted(keys, key=lambda key: _order(values[key])))) for kind, keys in chosen.keys_by_kind)
    return attrs.evolve(chosen, keys_by_kind=tuple(ordered))


def _order(values: Sequence[Any]) -> tuple[Any, ...]:
    """Return the sort key of a field: nothing first, then numbers and quantities, then texts with numbers in them."""
    if not values:
        return (0,)
    value = values[0]
    try:
        return 1, quantity.parse(str(value))
    except ValueError:
        return 2, natural_key(as_text(value))


def describe(command: Command) -> None:
    """Describe objects as `kubectl describe` does; a name that no object has means all names that begin with it."""
    words = command.words
    if not words.arguments:
        raise CommandError(NO_KIND.format("describe"))
    chosen = command.chosen(words.arguments)
    keys = chosen.keys
    if chosen.missing:
        if "/" not in words.arguments[0] and len(words.arguments) == 2:
            keys = [key for kind, _ in chosen.keys_by_kind for key in find_keys(
                command.objects, kind, namespace_of(words)) if key.name.startswith(words.arguments[1])]  # fmt: skip
        if not keys:
            command.report_missing(chosen.missing)
    texts = [describe_object(command.objects, key, command.cluster.world.date) for key in keys]
    if texts:
        command.out.append("\n\n\n".join(texts))
    elif not chosen.named:
        command.warn(empty_message(chosen.keys_by_kind[0][0], scope_of(words)))
