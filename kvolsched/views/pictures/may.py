"""The gate workbench: a row for each patch of a pod, with what it changes, the API server's answer, and the nodes.

Nodes stand before over after, as squares by zone: filled matches, dashed would match if the patch were let, struck no
longer matches, gold newly matches. The witness of a widening is a card: solid for a node of the cluster, dashed for one
that was made up. Over 24 nodes zones have bars. Of many patches each opens on a click.
"""

from collections.abc import Iterator

from attrs import evolve

from kvolsched.views.drawing import text as t
from kvolsched.views.drawing.html import Html, bar, block, code, joined, page, row, table, tag, tile, words
from kvolsched.views.may_rows import PatchPage, PatchView

FEW = 24  # nodes that are squares
MOST_LINES, MOST_ZONES = 16, 8
MEANINGS = {"k-s-ok": "matches", "k-newly": "newly matches: what makes a patch wider",
            "k-would": "would match if the patch were allowed"}
EMPTY = "No patch yet. Write one, and see what the API server answers."


def draw(rows: PatchPage, width: int, selection: str = "") -> str:
    """Return the answers; of many, all but the selected one are folded."""
    drawn = _folded if rows.short else _patch
    return page(
        tag("h3", "k-title", rows.headline), block("k-q", rows.source), tag("p", "", rows.summary),
        *(drawn(rows, each, on=selection == f"patch/{each.number}") for each in rows.patches),
        words(EMPTY, "k-q") if not rows.patches else "" if rows.short else _legend(rows),
    )  # fmt: skip


def _folded(rows: PatchPage, patch: PatchView, *, on: bool) -> Html:
    """Return a patch in few lines, which opens on a click and shows all there is of it."""
    why = f"{patch.why[:1].upper()}{patch.why[1:]}"
    said = joined(tag("b", "", patch.title) if patch.title else "", block("k-q" if patch.title else "", patch.change),
                  block("k-q k-strong", why))
    counts = f"nodes {len(patch.before)} → {len(patch.after)} of {rows.size}" if (
        patch.readable and rows.size and patch.before != patch.after) else ""
    head = tag("summary", "", block("k-flow", _number(patch), _verdict(patch), tag("div", "k-told", said),
                                    words(counts, "k-q")))
    return tag("details", "k-card", head, _patch(rows, patch, on=False), _legend(evolve(rows, patches=(patch,))),
               **{"open": "open"} if on else {})


def _number(patch: PatchView) -> Html:
    return tag("span", "", tile(str(patch.number), "ok" if patch.allowed else "ink", strong=True), role="button",
               data_ref=f"patch/{patch.number}", aria_label=patch.label)


def _verdict(patch: PatchView) -> Html:
    sign, ink = ("✓", "k-t-ok") if patch.allowed else ("✕", "k-strong")
    return tag("b", ink, f"{sign} {patch.verdict}")


def _patch(rows: PatchPage, patch: PatchView, *, on: bool) -> Html:
    """Return all there is of a patch: what it changes, the answer, the nodes, the witness, the server's words."""
    hidden = len(patch.lines) - MOST_LINES
    shown = [f"{sign} {content}" for sign, content in patch.lines[:MOST_LINES]]
    shown += [f"… {hidden} more lines"] if hidden > 0 else []
    changes = tag("div", "k-told", block("k-z", patch.path), code(shown))
    said = [f"Rule: {each}." for each in patch.rules if not patch.allowed]
    said += [f"{patch.hint[:1].upper()}{patch.hint[1:]}."] if patch.hint else []
    parts = (_number(patch), changes, tag("div", "k-fact", _verdict(patch), block("k-q", patch.effect)),
             tag("div", "k-told", _nodes(rows, patch)), tag("div", "k-told", _witness(patch)))  # fmt: skip
    return tag("div", "k-patched k-chosen" if on else "k-patched", block("k-flow", *parts),
               block("k-q k-strong", patch.message), *(block("k-q", each) for each in said))


# -- nodes ----------------------------------------------------------------------------------------------------------


def _state(patch: PatchView, node: str, *, after: bool) -> tuple[str, str]:
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


def _nodes(rows: PatchPage, patch: PatchView) -> Html:
    """Return the nodes before over after, as squares by zone or as a bar for each zone."""
    if not rows.size or not patch.readable:
        return words("no nodes" if not rows.size else "no pod that nodes could match", "k-q")
    would = "after" if patch.allowed else "would be"
    if rows.size > FEW:
        return _bars(rows, patch, would)
    short = t.short_names(name for _, names in rows.zones for name in names)
    lines = []
    for after, label, count in ((False, "before", len(patch.before)), (True, would, len(patch.after))):
        zones = (joined(*(_square(patch, name, short[name], zone, after=after) for name in names))
                 for zone, names in rows.zones)
        lines.append(row((words(label, "k-q"), *zones, tag("b", "", f"{count} of {rows.size}"))))
    return table(lines, ("", *(zone for zone, _ in rows.zones), ""), classes="k-plain")


def _square(patch: PatchView, name: str, shown: str, zone: str, *, after: bool) -> Html:
    states = ", ".join(_state(patch, name, after=each)[1] for each in (False, True))
    return tag("span", f"k-square {_state(patch, name, after=after)[0]}", shown, role="button",
               data_ref=f"node/{name}/{patch.number}", data_key=f"{patch.number}{name}{after}", data_tie=f"n-{name}",
               aria_label=f"{name}, {zone}: {states}")  # fmt: skip


def _bars(rows: PatchPage, patch: PatchView, would: str) -> Html:
    """Return a bar for each zone: how many nodes match before, and after."""
    zones = [*rows.zones[:MOST_ZONES], (f"all {rows.size}", tuple(name for _, names in rows.zones for name in names))]
    lines = []
    for zone, names in zones:
        before, after, new = (sum(name in matching for name in names)
                              for matching in (patch.before, patch.after, patch.after - patch.before))
        newly = words(f" {new} new", "k-newly") if new else ""
        bars = joined(bar(before / len(names), "ok"), bar(after / len(names), "ok", pale=not patch.allowed))
        lines.append(row((zone, bars, joined(f"{before} → {after}", newly)), ("k-name", "k-rail-cell", "k-short")))
    hidden = len(rows.zones) - MOST_ZONES
    return joined(table(lines, ("", f"before, {would}", ""), classes="k-plain"),
                  block("k-z", f"{hidden} more zones" if hidden > 0 else ""))


def _witness(patch: PatchView) -> Html:
    """Return the witness as a card, or why there is none, and the allowed patch for the same nodes."""
    dashed = " k-part" if patch.witness_kind == "made" else ""
    head = joined(tag("b", "", patch.witness), block("k-q", patch.note),
                  code(patch.witness_lines) if patch.witness_lines else "")
    instead = joined(block("k-q k-strong", "Allowed, for these nodes:"), code(patch.instead)) if patch.instead else ""
    return joined(block(f"k-place-box{dashed}" if patch.witness_kind else "", head), instead)


def _legend(rows: PatchPage) -> Html:
    """Return what the squares mean, only those that are drawn."""
    return block("k-flow k-q", *(tag("span", "", tag("span", f"k-square {ground}", "\u00a0"), f" {told}")
                                 for ground, told in dict.fromkeys(_used(rows))))


def _used(rows: PatchPage) -> Iterator[tuple[str, str]]:
    names = [name for _, names in rows.zones for name in names] if rows.size <= FEW else []
    for patch in (patch for patch in rows.patches if patch.readable):
        for ground in (_state(patch, name, after=after)[0] for after in (False, True) for name in names):
            struck = "k-old" in ground
            yield ground, "matches no longer" if struck else MEANINGS.get(ground.split()[0], "does not match")
    for kind, told in (("real", "solid card: a node of the cluster"), ("made", "dashed card: made up to show it")):
        if any(patch.witness_kind == kind for patch in rows.patches):
            yield f"k-chip{' k-part' if kind == 'made' else ''}", told
