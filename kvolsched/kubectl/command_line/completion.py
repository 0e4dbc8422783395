"""What may stand at the cursor of a kubectl command: verbs, kinds, names, flags and their values."""

from collections.abc import Iterable

from ...api.kinds.kind import KINDS, find_kind, is_kind_name
from ...core.core import ClusterCore
from ...world.log import Key
from .flags import EVERYWHERE, FLAGS, VERBS, Flag

NODE_COMMANDS = ("cordon", "uncordon", "drain")
OUTPUTS = ("custom-columns=", "json", "jsonpath=", "name", "wide", "yaml")
VALUES = {"output": OUTPUTS, "type": ("json", "merge", "strategic"),
          "sort-by": (".metadata.creationTimestamp", ".metadata.name", ".lastTimestamp")}  # fmt: skip


def complete(cluster: ClusterCore | None, before: str) -> list[str]:
    """Return the words that may replace the last word of a command, which may be empty; sorted.

    Args:
        cluster: its objects and namespaces are offered; None: only words of kubectl.
        before: the command up to the cursor, without `kubectl`.
    """
    words = before.split()
    last = "" if not words or before[-1:].isspace() else words.pop()
    return sorted({word for word in _candidates(cluster, words, last) if word.startswith(last)})


def _candidates(cluster: ClusterCore | None, words: list[str], last: str) -> Iterable[str]:
    command, rest = _command(words)
    flags = {**EVERYWHERE, **FLAGS.get(command, {})}
    usable = {name: flag for name, flag in flags.items() if flag.simulated}
    name, equals, _ = last.removeprefix("--").partition("=")
    if last.startswith("--") and equals:
        return [f"--{name}={value}" for value in _values(cluster, name)]
    if last.startswith("-o") and not last.startswith("--"):
        return [f"-o{value}" for value in OUTPUTS] + [f"-o={value}" for value in OUTPUTS]
    if last.startswith("-"):
        return [f"--{each}" for each in usable] + [f"-{flag.short}" for flag in usable.values() if flag.short]
    if words and (waiting := _flag_before(words[-1], usable)):
        return _values(cluster, waiting)
    if not command:
        return ("restart", "status") if "rollout" in rest else VERBS
    plain = [word for place, word in enumerate(rest)
             if not word.startswith("-") and not (place and _flag_before(rest[place - 1], usable))]  # fmt: skip
    return _arguments(cluster, command, plain, last, _namespace(words))


def _command(words: list[str]) -> tuple[str, list[str]]:
    """Return the command that words name so far, "" if none, and the words after it."""
    for start in range(len(words)):
        for length in (2, 1):
            said = " ".join(words[start : start + length])
            if said in FLAGS:
                return said, words[start + length :]
    return "", words


def _flag_before(word: str, usable: dict[str, Flag]) -> str:
    """Return the flag whose value comes next, "" if none does."""
    for name, flag in usable.items():
        if flag.value != "bool" and word in (f"--{name}", f"-{flag.short}" if flag.short else ""):
            return name
    return ""


def _values(cluster: ClusterCore | None, flag: str) -> Iterable[str]:
    if flag != "namespace":
        return VALUES.get(flag, ())
    keys: Iterable[Key] = cluster.world.log.objects if cluster is not None else ()
    return {"default", *(key.name if key.kind == "Namespace" else key.namespace for key in keys)} - {""}


def _namespace(words: list[str]) -> str:
    for place, word in enumerate(words):
        if word in ("-n", "--namespace") and place + 1 < len(words):
            return words[place + 1]
        if word.startswith(("-n=", "--namespace=")):
            return word.partition("=")[2]
    return "default"


def _arguments(
    cluster: ClusterCore | None, command: str, arguments: list[str], last: str, namespace: str
) -> Iterable[str]:
    if command in NODE_COMMANDS:
        return _names(cluster, "nodes", namespace)
    if command in ("apply", "replace"):
        return ()
    kind, slash, _ = last.partition("/")
    if slash:
        return (f"{kind}/{name}" for name in _names(cluster, kind, namespace)) if is_kind_name(kind) else ()
    if not arguments:
        return (word for each in KINDS for word in (each.plural, *each.short))
    if "/" in arguments[0]:
        return ()
    return set(_names(cluster, arguments[0], namespace)) - set(arguments[1:])


def _names(cluster: ClusterCore | None, word: str, namespace: str) -> list[str]:
    if cluster is None or not is_kind_name(word):
        return []
    kind = find_kind(word)
    scope = namespace if kind.namespaced else ""
    return [key.name for key in cluster.world.log.objects if key.kind == kind.name and key.namespace == scope]
