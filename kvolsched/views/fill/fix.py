"""Rows of the picture of `fix` from the engine's answer: each fix is tried on a fork that runs until idle."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ...api.words import counted
from ...questions.fix import Fix, Fixes, LiftedVerdict, ObjectChange, TriedFix, manifest_diff
from ...questions.fix.edit import file_name
from ...world.apiserver import ref
from .. import fix_rows as r
from .verdicts import plugin_heads

COLUMN_OF = {
    "Pod": "pod", "PersistentVolumeClaim": "claim", "PersistentVolume": "volume", "Node": "node",
    "StorageClass": "class", "CSINode": "driver", "CSIStorageCapacity": "driver", "CSIDriver": "driver",
}  # fmt: skip
MAX_PLACES = 3  # nodes whose pods are shown
MAX_PODS = 4  # pods of one place, besides those that the fix concerns
GATE_LETTER, GATE_PLUGIN = "G", "SchedulingGates"


def page_of(answer: Fixes | Fix) -> r.FixPage:
    """Return the page of an answer, or of one fix of it; every fix on it is tried."""
    if isinstance(answer, Fix):
        card = card_of(answer, answer.number)
        return r.FixPage(f"{answer.pod}: {answer.try_it().headline}", "tried on a fork", (card,))
    cards = tuple(card_of(fix, fix.number) for fix in answer)
    if not cards:
        return r.FixPage(f"{answer.pod}: {answer.headline}", f"rules {answer.revision}", unmet=answer.unmet)
    many = f"{len(cards)} edits" if len(cards) > 1 else "One edit"
    alone = [touched.ref for touched in cards[0].touched] == [f"pod/{_shown(answer.pod)}"]
    first = "the first touches" if len(cards) > 1 else "it touches"
    costs_nobody = alone and answer[0].try_it().helps
    title = f"{many} would place {answer.pod}" + (f"; {first} this pod alone" if costs_nobody else "")
    return r.FixPage(title, f"each tried on a fork · what touches least first · rules {answer.revision}", cards)


def card_of(fix: Fix, number: int) -> r.FixCard:
    """Return the card of one fix, which is tried."""
    tried = fix.try_it()
    lifted = fix.lifted_on(tried.node) if tried.node in fix.nodes else fix.lifted
    where = next((verdict.node for verdict in lifted if verdict.node), "")
    first = tried.node if tried.node in fix.nodes else where
    nodes = ([first] if first else []) + [node for node in fix.nodes if node != first]
    shown = nodes[0] + (f" +{len(nodes) - 1}" if len(nodes) > 1 else "")
    return r.FixCard(
        number=number,
        words=fix.words,
        proof="judged again: fits" if fix.steps is None else f"run for {fix.steps} steps",
        node="every node" if fix.every else shown,
        where=where,
        is_new=nodes[0] in tried.new_nodes,
        lifted=tuple(_lifted(lifted)),
        touched=tuple(_touched(fix.changes)),
        restart=_restart(fix.changes),
        others=", ".join(dict.fromkeys(_concerned(fix.changes))),
        outcome=_outcome(tried),
        notes=fix.notes,
        diff=tuple(_diff_lines(fix)),
        files=_files(fix.changes),
        beside=_beside(tried),
        code=f'c.fix("{_shown(fix.pod)}")[{number}]',
    )


def trial_of(tried: TriedFix) -> r.FixTrial:
    """Return what the trial of one fix showed."""
    return r.FixTrial(f"{tried.words}: {tried.headline}", "tried on a fork", _beside(tried), _outcome(tried))


def _lifted(verdicts: Iterable[LiftedVerdict]) -> Iterator[r.LiftedRow]:
    for verdict in verdicts:
        if verdict.plugin == GATE_PLUGIN:
            yield r.LiftedRow(GATE_LETTER, "node", GATE_PLUGIN, "‖", verdict.reasons[0])
            continue
        head = plugin_heads([verdict.plugin], [verdict.plugin])[0]
        glyph = "✕" if verdict.resolvable else "⊘"
        words = ", ".join(verdict.sides or verdict.reasons)
        yield r.LiftedRow(head.letter, head.family, verdict.plugin, glyph, words)


def _touched(changes: Iterable[ObjectChange]) -> Iterator[r.TouchedObject]:
    for change in changes:
        how = r.AGAIN if change.recreate else r.EDITED
        how = r.MADE if change.old is None else r.GONE if change.new is None else how
        yield r.TouchedObject(COLUMN_OF.get(change.key.kind, "driver"), how, ref(change.key))


def _restart(changes: Sequence[ObjectChange]) -> str:
    """Say whether a container that runs must stop: of deleted pods; of a machine or a driver only its owner knows."""
    if any(change.key.kind == "Pod" and change.old.spec.node_name for change in changes if change.old is not None):
        return "yes"
    if any(change.key.kind == "Node" and change.old and change.new and change.old.status != change.new.status
           for change in changes):  # fmt: skip
        return "machine"
    edits = (change.key.kind for change in changes if change.old is not None)
    return "driver" if "CSINode" in edits else "no"


def _concerned(changes: Iterable[ObjectChange]) -> Iterator[str]:
    """Yield whom else an edit concerns: those that a node, a class or a driver's report is there for as well."""
    for change in changes:
        old, new, name = change.old, change.new, change.key.name
        if change.key.kind == "Node" and old is not None and new is not None:
            opens = old.spec != new.spec
            labelled = old.metadata.labels != new.metadata.labels
            among = f"who selects by labels of {name}" if labelled else f"pods of {name}"
            yield f"{name} opens for all" if opens else among
        elif change.key.kind == "CSINode" and old is not None:
            yield f"pods of {name}"
        elif change.key.kind == "StorageClass":
            yield f"claims of class {name}"
        elif change.key.kind == "CSIStorageCapacity":
            yield f"claims of class {(new or old).storage_class_name}"


def _outcome(tried: TriedFix) -> r.FixOutcome:
    """Return what the trial showed, in few words and in full."""
    if tried.refused:
        return r.FixOutcome("✕", "storage", "refused", "The API server refuses it:", tried.refused)
    text = "; ".join(tried.lines)
    after = "In the fork:"
    short = [_shown(name, tried.pod) for name in tried.lack_moves_to]
    waits = [_shown(pod.name, tried.pod) for pod in tried.waits_now]
    gone = [_shown(name, tried.pod) for name in tried.gone]
    if tried.eviction is not None:
        short_words = f"it is evicted after {tried.eviction.seconds:g} s"
        return r.FixOutcome("✕", "storage", short_words, f"{_shown(tried.pod)} is {tried.eviction.words}.", text)
    if not tried.node:
        return r.FixOutcome("✕", "storage", "it still waits", "It still waits in the fork:", text)
    if short:
        return r.FixOutcome("✕", "storage", f"moves the lack to {_few(short)}", "The lack only moves on.", text)
    if waits:
        return r.FixOutcome("✕", "storage", f"{_few(waits)} wait{'s' if len(waits) == 1 else ''} then", after, text)
    if gone:
        return r.FixOutcome("△", "resources", f"{_few(gone)} is lost", after, text)
    if tried.placed:
        count = len(tried.placed)
        return r.FixOutcome("✓", "ok", f"also places {count} pod{'s' if count > 1 else ''}", after, text)
    return r.FixOutcome("✓", "ok", "nobody", after, text)


def _beside(tried: TriedFix) -> r.Beside:
    """Return the tray and the nodes that the fix concerns, without the fix and in the fork."""
    before, after = tried.without_fix, tried.with_fix
    differs = {name for name in {*before, *after} if before.get(name) != after.get(name)}
    nodes = dict.fromkeys(node for name in sorted(differs) for node in (before.get(name), after.get(name)) if node)
    ordered = sorted(nodes, key=lambda node: (node != tried.node, node))[:MAX_PLACES]
    others = {node for node in (*before.values(), *after.values()) if node} - set(ordered)
    rest = f"{counted(len(others), 'other node')} with pods" if others - nodes.keys() else ""

    def places(found: Mapping[str, str], *, fork: bool) -> tuple[r.PlaceRow, ...]:
        rows = []
        for node in ("", *ordered):
            names = [name for name, place in found.items() if place == node]
            names.sort(key=lambda name: (name != tried.pod, name not in differs, name))
            kept = [name for name in names if name in differs]
            kept = names[: max(len(kept), MAX_PODS)]
            kind = "tray" if not node else "new" if node in tried.new_nodes else "node"
            if kind == "new" and not fork:
                rows.append(r.PlaceRow(node, (), 0, kind))
                continue
            pods = tuple((_shown(name, tried.pod), name in differs) for name in kept)
            rows.append(r.PlaceRow(node or "waits", pods, len(names) - len(kept), kind))
        return tuple(rows)

    return r.Beside(places(before, fork=False), places(after, fork=True), tried.steps, rest)


def _files(changes: Iterable[ObjectChange]) -> str:
    """Return each file of the diff with its count of lines more and less: `demo/pod/kafka-2.yaml +4`."""
    found: list[str] = []
    for change in changes:
        lines = [line for line in manifest_diff([change]).splitlines() if not line.startswith(("--- ", "+++ "))]
        more, less = (sum(line.startswith(sign) for line in lines) for sign in "+-")
        found.append(file_name(change.key) + (f" +{more}" if more else "") + (f" −{less}" if less else ""))
    return ", ".join(found)


def _diff_lines(fix: Fix) -> Iterator[str]:
    """Yield the lines of a diff: its places as `…`, and, of several files, the name of each after `@ `."""
    several = len(fix.changes) > 1
    for change in fix.changes:
        lines = [line for line in manifest_diff([change]).splitlines() if not line.startswith(("--- ", "+++ "))]
        if several:
            yield f"@ {file_name(change.key)}"
        for number, line in enumerate(lines):
            if not line.startswith("@@"):
                yield line
            elif number:
                yield "…"


def _shown(name: str, beside: str = "") -> str:
    """Return `namespace/name` without the namespace if it is the default, or that of the pod beside."""
    namespace, _, short = name.rpartition("/")
    return short if namespace in ("default", beside.rpartition("/")[0]) else name


def _few(names: Sequence[str]) -> str:
    return ", ".join(names[:2]) + (f" +{len(names) - 2}" if len(names) > 2 else "")
