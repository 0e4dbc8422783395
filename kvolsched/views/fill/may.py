"""The answers of the gate workbench as rows: what each patch changes, what it does to the nodes, and its witness."""

import json
from collections.abc import Iterator

from kvolsched.api.words import counted
from kvolsched.questions.may import PatchAnswers, PatchRow
from kvolsched.questions.may.changes import block
from kvolsched.views.may_rows import PatchPage, PatchView

MOST_LABELS = 7  # lines of a witness
NO_WITNESS = "proved for every node that can exist"
TEXT_RULE = "the API server compares requirements as written, not the nodes that they match"
EFFECTS = {  # (allowed, relation) -> words
    (True, "same"): "the same nodes", (True, "narrower"): "narrower",
    (True, "wider"): "wider", (True, "different"): "other nodes",
    (False, "same"): "the same nodes, other text", (False, "narrower"): "narrower in truth, other text",
    (False, "wider"): "wider", (False, "different"): "other nodes", (False, "unknown"): "no pod is left",
}  # fmt: skip


def rows_of(answers: PatchAnswers) -> PatchPage:
    """Return the rows of the answers."""
    count, allowed = len(answers), sum(row.allowed for row in answers)
    pod = answers.pod.removeprefix("default/")
    held = "while its gate holds" if len(answers.gates) == 1 else "while its gates hold"
    state = held if answers.gates else "that no gate holds"
    verb = "is" if allowed == 1 else "are"
    headline = f"{allowed} of {count} patches to {pod} {verb} allowed {state}" if count else f"{pod}: no patch yet"
    if count == 1:
        headline = f"The patch to {pod} is {'allowed' if allowed else 'refused'} {state}"
    gated = "A gated pod may narrow where it goes, never widen."
    rule = gated if answers.gates else "A pod without a gate cannot change where it goes."
    if answers.suggested:
        told = state if answers.gates else "with no gate to hold it"
        headline = f"What may I change on {pod}? {allowed} of {count} changes {verb} allowed {told}"
        rule = f"{answers.may_change.rstrip(':')}."
    headline += f"; {answers.not_today}" if answers.not_today else ""
    matching = f"Now {len(answers.before)} of {counted(answers.size, 'node')} match."
    tried = " Each patch is tried alone, on a fork." if count and not answers.suggested else ""
    summary = f"{matching} {rule}" if answers.suggested else f"{rule} {matching}{tried}"
    gates = f"gated by {', '.join(answers.gates)} · " if answers.gates else ""
    views = tuple(_view(number, row, answers.rule) for number, row in enumerate(answers, 1))
    zones: dict[str, list[str]] = {}
    for name, zone in sorted(answers.zones.items(), key=lambda item: (not item[1], item[1], item[0])):
        zones.setdefault(zone or "no zone", []).append(name)
    by_zone = tuple((zone, tuple(names)) for zone, names in zones.items())
    source = f"{gates}rules {answers.revision}"
    return PatchPage(headline, summary, source, by_zone, views, answers.is_short)


def _view(number: int, row: PatchRow, rule: str) -> PatchView:
    path, lines = (row.changes.path, row.changes.lines) if row.changes is not None else ("", ())
    shown = tuple((line.sign, line.text) for line in lines) or tuple((" ", line) for line in _patch_lines(row))
    head, labels, kind = _witness(row)
    return PatchView(
        number=number,
        path=path,
        lines=shown,
        allowed=row.allowed,
        verdict="allowed" if row.allowed else f"refused {row.code}",
        effect=_effect(row),
        before=frozenset(row.before),
        after=frozenset(row.after),
        message=row.words.removeprefix("Pod ").partition(" is invalid: ")[2] or row.words,
        rules=row.rules,
        witness=head,
        witness_lines=labels,
        witness_kind=kind,
        note=_note(row),
        instead=tuple(block(json.loads(row.instead))) if row.instead else (),
        label=repr(row),
        readable=row.relation != "unknown",
        hint="; ".join([*(f"Warning: {warning}, which is dropped" for warning in row.warnings), row.hint]).strip("; "),
        title=row.title,
        change=row.change,
        why="; ".join(row.warnings) if row.allowed else row.why_under(rule),
    )


def _patch_lines(row: PatchRow) -> Iterator[str]:
    """Yield the patch itself, where it changes nothing or leaves no pod."""
    try:
        yield from block(json.loads(row.patch))
    except ValueError:
        yield row.patch


def _effect(row: PatchRow) -> str:
    if row.relation == "unknown":
        return EFFECTS[False, "unknown"]
    if not row.directives:
        return "where it may go stays as it is"
    if row.allowed and not row.after:
        return "no node here matches any more" if row.before else "no node here matches, as before"
    if not row.allowed and row.witness is not None and row.before == row.after:
        return "the same today, wider tomorrow"
    return EFFECTS[row.allowed, row.relation]


def _witness(row: PatchRow) -> tuple[str, tuple[str, ...], str]:
    """Return the head of what is said of a witness, the lines of its card, and whether it is real or made up."""
    if row.relation == "unknown":
        return "", (), ""
    if row.witness is not None:
        node = row.witness.node
        labels = tuple(block({"labels": dict(sorted(node.metadata.labels.items()))}))
        if len(labels) > MOST_LABELS:  # first those that the patch speaks of
            told = {key: value for key, value in sorted(node.metadata.labels.items()) if f'"{key}"' in row.patch}
            told = dict(list((told or dict(sorted(node.metadata.labels.items()))).items())[: MOST_LABELS - 2])
            labels = (*block({"labels": told}), f"  # {len(node.metadata.labels) - len(told)} more")
        verb = "newly matches" if row.allowed else "would newly match"
        if row.witness.real:
            return f"{row.witness.name}, a node here, {verb}", labels, "real"
        return f"{row.witness.name}, made up, {verb}", labels, "made"
    if not row.directives:
        return "the same nodes match", (), ""
    if row.allowed:
        return ("no node here matches" if not row.after else "no node newly matches"), (), ""
    return "no node newly matches", (), ""


def _note(row: PatchRow) -> str:
    if row.witness is not None or row.relation == "unknown":
        return ""
    if not row.directives:
        return "neither nodeSelector nor node affinity changes"
    if row.allowed:
        return NO_WITNESS if row.after else "allowed all the same: a patch may narrow to nothing"
    return TEXT_RULE if "as written" in row.explanation else ""
