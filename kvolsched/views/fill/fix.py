"""Rows of the picture of `fix` from the engine's answer: each fix is tried on a fork that runs until idle."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ...api.words import counted
from ...questions.fix import Fix, Fixes, LiftedVerdict, ObjectChange, TriedFix, manifest_diff
from ...questions.fix.advice import CLASSES
from ...questions.fix.edit import file_name
from ...world.apiserver import ref
from .. import fix_rows as r
from .verdicts import plugin_heads

COLUMN_OF = {
    "Pod": "pod", "PersistentVolumeClaim": "claim", "PersistentVolume": "volume", "Node": "node",
    "StorageClass": "class", "CSINode": "driver", "CSIStorageCapacity": "driver", "CSIDriver": "driver",
}  # fmt: skip
TEMPLATE, SCALED = "template", "scaled"  # how a workload is touched: its pods are made anew by it, or are more or fewer
MAX_PLACES = 3  # nodes whose pods are shown
MAX_PODS = 4  # pods of one place, besides those that the fix concerns
GATE_LETTER, GATE_PLUGIN = "G", "SchedulingGates"
NOT_TRIED = r.FixOutcome("–", "none", "not tried", "Not tried:", "no object shows it.")
TELLS_NOTHING = ("yes", "kept", "nothing", "–", "")  # of what is said of a card: nothing to mind


def page_of(answer: Fixes | Fix) -> r.FixPage:
    """Return the page of an answer, or of one fix of it; every fix on it is tried."""
    if isinstance(answer, Fix):
        said = answer.try_it().headline if answer.can_be_tried else answer.title
        return r.FixPage(f"{answer.pod}: {said}", fix_was_tried(answer), (card_of(answer, answer.number),))
    title, rules = f"{answer.pod}: {answer.headline}", f"rules {answer.revision}"
    cards = tuple(card_of(fix, fix.number) for fix in answer)
    return r.FixPage(title, rules, cards, answer.unmet, "; ".join(answer.refuted))


def fix_was_tried(fix: Fix) -> str:
    """Say in few words whether a fork shows it."""
    return "tried on a fork" if fix.can_be_tried else "nothing to try"


def card_of(fix: Fix, number: int) -> r.FixCard:
    """Return the card of one fix, which is tried if a fork can show it."""
    tried = fix.try_it() if fix.can_be_tried else None
    node = tried.node if tried is not None else ""
    lifted = fix.lifted_on(node) if node in fix.nodes else fix.lifted if tried is not None else ()
    where = next((verdict.node for verdict in lifted if verdict.node), "")
    first = node if node in fix.nodes else where
    nodes = ([first] if first else []) + [node for node in fix.nodes if node != first]
    shown = (nodes or [""])[0] + (f" +{len(nodes) - 1}" if len(nodes) > 1 else "")
    said = (pair for pair in fix.card.items() if pair[0] not in ("who", "tried") and pair[1] not in TELLS_NOTHING)
    return r.FixCard(
        number=number,
        words=fix.words,
        decides=f"{fix.letter} {CLASSES[fix.letter].words} · {fix.who}",
        said=tuple(said),
        node="every node" if fix.every else shown,
        where=where,
        is_new=tried is not None and bool(nodes) and nodes[0] in tried.new_nodes,
        lifted=tuple(_lifted(lifted)),
        touched=tuple(_touched(fix.changes)),
        restart=_restart(fix),
        others=", ".join(dict.fromkeys(_concerned(fix.changes))),
        outcome=_outcome(tried) if tried is not None else NOT_TRIED,
        notes=fix.notes,
        diff=tuple(_diff_lines(fix)),
        files=_files(fix),
        beside=_beside(tried) if tried is not None else r.Beside((), (), 0),
        code=f'c.fix("{_shown(fix.pod)}")[{number}]',
        can_be_tried=tried is not None,
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
        if change.key.kind not in COLUMN_OF:
            old, new = change.old.spec, change.new.spec
            how = TEMPLATE if old.template != new.template else SCALED if old.replicas != new.replicas else how
        yield r.TouchedObject(COLUMN_OF.get(change.key.kind, "pod"), how, ref(change.key))


def _restart(fix: Fix) -> str:
    """Say whether a container that runs must stop: of pods that are deleted or made anew, or of a whole machine."""
    if "larger machine" in fix.kinds:
        return "machine"
    deleted = (change.old for change in fix.changes if change.key.kind == "Pod" and change.old is not None)
    return "yes" if any(pod.spec.node_name for pod in deleted) or fix.restarts not in ("nothing", "–") else "no"


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
    if tried.is_not_needed and tried.helps:
        return r.FixOutcome("✓", "ok", "nobody", after, text)
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
            names.sort(key=lambda name: (name not in (tried.pod, tried.pod_then), name not in differs, name))
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


def _files(fix: Fix) -> str:
    """Return each file of the diff with its count of lines more and less: `demo/pod/kafka-2.yaml +4`."""
    found: list[str] = []
    for change in fix.written:
        lines = [line for line in manifest_diff([change]).splitlines() if not line.startswith(("--- ", "+++ "))]
        more, less = (sum(line.startswith(sign) for line in lines) for sign in "+-")
        found.append(file_name(change.key) + (f" +{more}" if more else "") + (f" −{less}" if less else ""))
    return ", ".join(found)


def _diff_lines(fix: Fix) -> Iterator[str]:
    """Yield the lines of a diff: its places as `…`, and, of several files, the name of each after `@ `."""
    several = len(fix.written) > 1
    for change in fix.written:
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
