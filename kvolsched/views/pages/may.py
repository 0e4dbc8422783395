"""The gate workbench: a row for each patch of a pod, with what it changes, the API server's answer, and the nodes.

Nodes stand before over after, as squares by zone: filled matches, dashed would match if the patch were let, struck no
longer matches, gold newly matches. The witness of a widening is a card: solid for a node of the cluster, dashed for one
that was made up. Over 24 nodes zones have bars. Of many patches each opens on a click.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence

from kvolsched.api.words import counted
from kvolsched.questions.may import PatchAnswers, PatchRow
from kvolsched.questions.may.changes import block as yaml_lines
from kvolsched.views.drawing import text as t
from kvolsched.views.drawing.html import Html, bar, block, code, joined, page, row, table, tag, tile, words

FEW = 24  # nodes that are squares
MOST_LINES, MOST_ZONES = 16, 8
MOST_LABELS = 7  # lines of a witness
MEANINGS = {"k-s-ok": "matches", "k-newly": "newly matches: what makes a patch wider",
            "k-would": "would match if the patch were allowed"}
EMPTY = "No patch yet. Write one, and see what the API server answers."
NO_WITNESS = "proved for every node that can exist"
TEXT_RULE = "the API server compares requirements as written, not the nodes that they match"
EFFECTS = {  # (allowed, relation) -> words
    (True, "same"): "the same nodes", (True, "narrower"): "narrower",
    (True, "wider"): "wider", (True, "different"): "other nodes",
    (False, "same"): "the same nodes, other text", (False, "narrower"): "narrower in truth, other text",
    (False, "wider"): "wider", (False, "different"): "other nodes", (False, "unknown"): "no pod is left",
}  # fmt: skip


Numbered = tuple[int, PatchRow]
Zones = Mapping[str, Sequence[str]]  # zone -> the names of its nodes, sorted


def draw(answers: PatchAnswers, width: int, selection: str = "", shown: Iterable[Numbered] | None = None) -> str:
    """Return the answers; of many, all but the selected one are folded. `shown` has numbers and an order of its own."""
    zones, patches = by_zone(answers), list(enumerate(answers, 1) if shown is None else shown)
    drawn = _folded if answers.is_short else _patch
    gates = f"gated by {', '.join(answers.gates)} · " if answers.gates else ""
    return page(
        tag("h3", "k-title", headline(answers)), block("k-q", f"{gates}rules {answers.revision}"),
        tag("p", "", _summary(answers)),
        *(drawn(answers, zones, each, on=selection == f"patch/{each[0]}") for each in patches),
        words(EMPTY, "k-q") if not patches else "" if answers.is_short else _legend(zones, patches),
    )  # fmt: skip


def by_zone(answers: PatchAnswers) -> Zones:
    """Return the names of the nodes by zone."""
    zones: dict[str, list[str]] = {}
    for name, zone in sorted(answers.zones.items(), key=lambda item: (not item[1], item[1], item[0])):
        zones.setdefault(zone or "no zone", []).append(name)
    return zones


def headline(answers: PatchAnswers) -> str:
    """Return how many patches are allowed, while a gate holds the pod or none does."""
    count, allowed = len(answers), sum(row.allowed for row in answers)
    pod = answers.pod.removeprefix("default/")
    held = "while its gate holds" if len(answers.gates) == 1 else "while its gates hold"
    state = held if answers.gates else "that no gate holds"
    verb = "is" if allowed == 1 else "are"
    said = f"{allowed} of {count} patches to {pod} {verb} allowed {state}" if count else f"{pod}: no patch yet"
    if count == 1:
        said = f"The patch to {pod} is {'allowed' if allowed else 'refused'} {state}"
    if answers.suggested:
        told = state if answers.gates else "with no gate to hold it"
        said = f"What may I change on {pod}? {allowed} of {count} changes {verb} allowed {told}"
    return said + (f"; {answers.not_today}" if answers.not_today else "")


def _summary(answers: PatchAnswers) -> str:
    matching = f"Now {len(answers.before)} of {counted(answers.size, 'node')} match."
    if answers.suggested:
        return f"{matching} {answers.may_change.removesuffix(':')}."
    rule = "A gated pod may narrow where it goes, never widen." if answers.gates else (
        "A pod without a gate cannot change where it goes.")  # fmt: skip
    return f"{rule} {matching}{' Each patch is tried alone, on a fork.' if len(answers) else ''}"


def _folded(answers: PatchAnswers, zones: Zones, patch: Numbered, *, on: bool) -> Html:
    """Return a patch in few lines, which opens on a click and shows all there is of it."""
    _, of = patch
    why = "; ".join(of.warnings) if of.allowed else of.why_under(answers.rule)
    said = joined(tag("b", "", of.title) if of.title else "", block("k-q" if of.title else "", of.change),
                  block("k-q k-strong", f"{why[:1].upper()}{why[1:]}"))
    counts = f"nodes {len(of.before)} → {len(of.after)} of {len(answers.zones)}" if (
        of.relation != "unknown" and answers.zones and set(of.before) != set(of.after)) else ""
    head = tag("summary", "", block("k-flow", _number(patch), _verdict(of), tag("div", "k-told", said),
                                    words(counts, "k-q")))
    return tag("details", "k-card", head, _patch(answers, zones, patch, on=False), _legend(zones, [patch]),
               **{"open": "open"} if on else {})


def _number(patch: Numbered) -> Html:
    number, of = patch
    return tag("span", "", tile(str(number), "ok" if of.allowed else "ink", strong=True), role="button",
               data_ref=f"patch/{number}", aria_label=repr(of))


def _verdict(of: PatchRow) -> Html:
    return tag("b", "k-t-ok", "✓ allowed") if of.allowed else tag("b", "k-strong", f"✕ refused {of.code}")


def _patch(answers: PatchAnswers, zones: Zones, patch: Numbered, *, on: bool) -> Html:
    """Return all there is of a patch: what it changes, the answer, the nodes, the witness, the server's words."""
    number, of = patch
    path, changed = (of.changes.path, of.changes.lines) if of.changes is not None else ("", ())
    lines = [f"{line.sign} {line.text}" for line in changed] or [f"  {line}" for line in _patch_lines(of)]
    hidden = len(lines) - MOST_LINES
    shown = [*lines[:MOST_LINES], *([f"… {counted(hidden, 'more line')}"] if hidden > 0 else [])]
    changes = tag("div", "k-told", block("k-z", path), code(shown))
    said = [f"Rule: {each}." for each in of.rules if not of.allowed]
    hint = "; ".join([*(f"Warning: {warning}, which is dropped" for warning in of.warnings), of.hint]).strip("; ")
    said += [f"{hint[:1].upper()}{hint[1:]}."] if hint else []
    parts = (_number(patch), changes, tag("div", "k-fact", _verdict(of), block("k-q", effect(of))),
             tag("div", "k-told", _nodes(zones, number, of), style="flex-basis:270px"),
             tag("div", "k-told", _witness(of)))  # fmt: skip
    message = of.words.removeprefix("Pod ").partition(" is invalid: ")[2] or of.words
    return tag("div", "k-patched k-chosen" if on else "k-patched", block("k-flow", *parts),
               block("k-q k-strong", message), *(block("k-q", each) for each in said))


def _patch_lines(of: PatchRow) -> Iterator[str]:
    """Yield the patch itself, where it changes nothing or leaves no pod."""
    try:
        yield from yaml_lines(json.loads(of.patch))
    except ValueError:
        yield of.patch


def effect(of: PatchRow) -> str:
    """Return in a few words what a patch does to the nodes."""
    if of.relation == "unknown":
        return EFFECTS[False, "unknown"]
    if not of.directives:
        return "where it may go stays as it is"
    if of.allowed and not of.after:
        return "no node here matches any more" if of.before else "no node here matches, as before"
    if not of.allowed and of.witness is not None and of.before == of.after:
        return "the same today, wider tomorrow"
    return EFFECTS[of.allowed, of.relation]


def witness(of: PatchRow) -> tuple[str, tuple[str, ...], str]:
    """Return the head of what is said of a witness, the lines of its card, and whether it is real or made up."""
    if of.relation == "unknown":
        return "", (), ""
    if of.witness is not None:
        node = of.witness.node
        labels = tuple(yaml_lines({"labels": dict(sorted(node.metadata.labels.items()))}))
        if len(labels) > MOST_LABELS:  # first those that the patch speaks of
            told = {key: value for key, value in sorted(node.metadata.labels.items()) if f'"{key}"' in of.patch}
            told = dict(list((told or dict(sorted(node.metadata.labels.items()))).items())[: MOST_LABELS - 2])
            labels = (*yaml_lines({"labels": told}), f"  # {len(node.metadata.labels) - len(told)} more")
        verb = "newly matches" if of.allowed else "would newly match"
        if of.witness.real:
            return f"{of.witness.name}, a node here, {verb}", labels, "real"
        return f"{of.witness.name}, made up, {verb}", labels, "made"
    if not of.directives:
        return "the same nodes match", (), ""
    if of.allowed:
        return ("no node here matches" if not of.after else "no node newly matches"), (), ""
    return "no node newly matches", (), ""


def note(of: PatchRow) -> str:
    """Return what there is to say without a witness."""
    if of.witness is not None or of.relation == "unknown":
        return ""
    if not of.directives:
        return "neither nodeSelector nor node affinity changes"
    if of.allowed:
        return NO_WITNESS if of.after else "allowed all the same: a patch may narrow to nothing"
    return TEXT_RULE if "as written" in of.explanation else ""


def _state(patch: PatchRow, node: str, *, after: bool) -> tuple[str, str]:
    """Return the classes of a node's square, and its state in words."""
    was, is_now = node in patch.before, node in patch.after
    if not after:
        return ("k-s-ok k-on", "matches now") if was else ("k-chip k-soft", "does not match now")
    if is_now and not was:
        return "k-newly", "matches newly" if patch.allowed else "would newly match"
    if is_now and patch.allowed:
        return "k-s-ok k-on", "still matches"
    if is_now:
        return "k-would k-t-ok", "would still match"
    return ("k-chip k-old", "matches no longer") if was else ("k-chip k-soft", "does not match")


def _nodes(zones: Zones, number: int, of: PatchRow) -> Html:
    """Return the nodes before over after, as squares by zone or as a bar for each zone."""
    every = [name for names in zones.values() for name in names]
    if not every or of.relation == "unknown":
        return words("no nodes" if not every else "no pod that nodes could match", "k-q")
    would = "after" if of.allowed else "would be"
    if len(every) > FEW:
        return _bars(zones, of, would)
    short = t.short_names(every)
    lines = []
    for after, label, count in ((False, "before", len(of.before)), (True, would, len(of.after))):
        squares = (joined(*(_square(number, of, name, short[name], zone, after=after) for name in names))
                   for zone, names in zones.items())
        lines.append(row((words(label, "k-q"), *squares, tag("b", "", f"{count} of {len(every)}")),
                         ("k-short", *[""] * len(zones), "k-short")))
    return table(lines, ("", *zones, ""), classes="k-plain")


def _square(number: int, of: PatchRow, name: str, shown: str, zone: str, *, after: bool) -> Html:
    states = ", ".join(_state(of, name, after=each)[1] for each in (False, True))
    return tag("span", f"k-square {_state(of, name, after=after)[0]}", shown, role="button",
               data_ref=f"node/{name}/{number}", data_key=f"{number}{name}{after}", data_tie=f"n-{name}",
               aria_label=f"{name}, {zone}: {states}")  # fmt: skip


def _bars(zones: Zones, of: PatchRow, would: str) -> Html:
    """Return a bar for each zone: how many nodes match before, and after."""
    every = [name for names in zones.values() for name in names]
    lines, new_nodes = [], set(of.after) - set(of.before)
    for zone, names in [*list(zones.items())[:MOST_ZONES], (f"all {len(every)}", every)]:
        before, after, new = (len(set(names).intersection(matching)) for matching in (of.before, of.after, new_nodes))
        newly = words(f" {new} new", "k-newly") if new else ""
        bars = joined(bar(before / len(names), "ok"), bar(after / len(names), "ok", pale=not of.allowed))
        lines.append(row((zone, bars, joined(f"{before} → {after}", newly)), ("k-name", "k-rail-cell", "k-short")))
    hidden = len(zones) - MOST_ZONES
    return joined(table(lines, ("", f"before, {would}", ""), classes="k-plain"),
                  block("k-z", counted(hidden, "more zone") if hidden > 0 else ""))


def _witness(of: PatchRow) -> Html:
    """Return the witness as a card, or why there is none, and the allowed patch for the same nodes."""
    said, labels, kind = witness(of)
    head = joined(tag("b", "", said), block("k-q", note(of)), code(labels) if labels else "")
    instead = joined(block("k-q k-strong", "Allowed, for these nodes:"),
                     code(yaml_lines(json.loads(of.instead)))) if of.instead else ""
    return joined(block(f"k-place-box{' k-part' if kind == 'made' else ''}" if kind else "", head), instead)


def _legend(zones: Zones, patches: Iterable[Numbered]) -> Html:
    """Return what the squares mean, only those that are drawn."""
    return block("k-flow k-q", *(tag("span", "", tag("span", f"k-square {ground}", "\u00a0"), f" {told}")
                                 for ground, told in dict.fromkeys(_used(zones, [of for _, of in patches]))))


def _used(zones: Zones, patches: Sequence[PatchRow]) -> Iterator[tuple[str, str]]:
    every = [name for names in zones.values() for name in names]
    every = every if len(every) <= FEW else []
    for of in (of for of in patches if of.relation != "unknown"):
        for ground in (_state(of, name, after=after)[0] for after in (False, True) for name in every):
            struck = "k-old" in ground
            yield ground, "matches no longer" if struck else MEANINGS.get(ground.split()[0], "does not match")
    for kind, told in (("real", "solid card: a node of the cluster"), ("made", "dashed card: made up to show it")):
        if any(witness(of)[2] == kind for of in patches):
            yield f"k-chip{' k-part' if kind == 'made' else ''}", told
