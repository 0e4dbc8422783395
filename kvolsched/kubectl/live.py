"""Read a real cluster through kubectl, and never write to it: the one verb is `get`, and no argument passes a shell.

kubectl pages by itself (`--chunk-size`) and brings the user's own access. What the user may not list is told with what
that hides; a list that fails is asked for once more, and then nothing is read, since half a list gives wrong answers.
"""

import re
import shutil
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

import attrs

from ..api.kinds.kind import KINDS_BY_NAME, Kind
from ..api.progress import ProgressBar
from ..api.text import manifest
from ..api.text.dump_checks import DECIDING_KINDS, DUMP_COMMAND, OTHER_KINDS
from ..core.core import ClusterCore

Loaded = TypeVar("Loaded", bound=ClusterCore)

PAGE = 500  # objects in one page, kubectl's own default
SECONDS = 60  # until a page is given up
MAX_WORDS = 500  # characters of kubectl's words that an error repeats
EVERYWHERE = "--all-namespaces"
FORBIDDEN = re.compile(r"\(Forbidden\)|is forbidden:")
UNKNOWN_KIND = re.compile(r"the server doesn't have a resource type|the server could not find the requested resource")
LOG_LINE = re.compile(r"[IWEF]\d{4} \d\d:")  # of klog
NAMESPACE = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
# What is not seen of namespaces that were not asked for.
HIDDEN_ELSEWHERE = (
    "nodes look emptier than they are, spreading and pod affinity do not see these pods, and claims and capacities of "
    "these namespaces are unknown"
)


class KubectlError(RuntimeError):
    """kubectl is missing, or a list could not be read; the message repeats kubectl's words."""


@attrs.frozen
class LiveCluster:
    """What kubectl listed.

    Args:
        texts: one JSON list for each kind and namespace.
        listed: the kinds of which every object was listed: none of them is missing.
        unread: what was not read -> what that hides.
    """

    texts: tuple[str, ...]
    listed: frozenset[str]
    unread: Mapping[str, str]


def read_live_cluster(
    context: str | None = None, namespaces: str | Iterable[str] | None = None, kubectl: str = "kubectl"
) -> LiveCluster:
    """List every kind that decides where pods and volumes go, by `kubectl get ... -o json`.

    Args:
        context: of the kubeconfig; kubectl's current one without.
        namespaces: only these; without them all.
        kubectl: the program, a name or a path.

    Raises:
        KubectlError: there is no such program, it reaches no server, or a list failed twice. Nothing is read.
        ValueError: a namespace or context that cannot be one.
    """
    scopes = _scopes(namespaces)
    program = shutil.which(kubectl)
    if program is None:
        raise KubectlError(f"no program {kubectl!r} is found: install it, or save a dump where it is: {DUMP_COMMAND}")
    if context is not None and not (context and context.isprintable()):
        raise ValueError(f"context: {context!r} cannot be the name of a context")
    where = [f"--context={context}"] if context is not None else []
    cannot_tell = dict(DECIDING_KINDS)
    kinds = [KINDS_BY_NAME[name] for name in (*cannot_tell, *OTHER_KINDS)]
    requests = [(kind, scope) for kind in kinds for scope in (scopes if kind.namespaced else ("",))]
    texts: list[str] = []
    forbidden = 0
    listed = {kind.name for kind in kinds if not kind.namespaced or scopes == (EVERYWHERE,)}
    unread = {"objects of other namespaces": HIDDEN_ELSEWHERE} if scopes != (EVERYWHERE,) else {}
    with ProgressBar(len(requests), unit=" lists", desc="kubectl get") as bar:
        for kind, scope in requests:
            text = _list(program, kind, [*where, *([scope] if scope else [])])
            bar.update()
            if text is not None:
                texts += [text] if text else []
                continue
            forbidden += 1
            listed.discard(kind.name)
            place = f" in {scope.removeprefix('--namespace=')}" if scope.startswith("--namespace=") else ""
            effect = cannot_tell.get(kind.name, "what would only help to understand")
            unread[kind.plural + place] = f"you may not list them, so the answer does not tell {effect}"
    if forbidden == len(requests):
        raise KubectlError(f"you may list none of {', '.join(kind.plural for kind in kinds)}: nothing was read")
    return LiveCluster(tuple(texts), frozenset(listed), unread)


def load_live_cluster(
    cls: type[Loaded], context: str | None, namespaces: str | Iterable[str] | None, kubectl: str, *, name: str,
    **options: Any,
) -> Loaded:  # fmt: skip
    """Return a cluster with what kubectl lists, and with remarks on what could not be listed.

    Raises:
        KubectlError, ManifestError, ValueError: as `Cluster.from_kubectl` says.
    """
    live = read_live_cluster(context, namespaces, kubectl)
    cluster = cls(name=name or context or "", **options)
    read = manifest.read(live.texts, lenient=True, name="kubectl get")
    cluster._load(read.objects, attrs.evolve(read, listed=live.listed, unread=live.unread))
    cluster.remarks = tuple(f"unread {what}: {effect}" for what, effect in live.unread.items())
    return cluster


def _scopes(namespaces: str | Iterable[str] | None) -> tuple[str, ...]:
    """Return kubectl's flag for each namespace, or the one for all."""
    if namespaces is None:
        return (EVERYWHERE,)
    names = dict.fromkeys([namespaces] if isinstance(namespaces, str) else namespaces)
    wrong = [name for name in names if not NAMESPACE.fullmatch(name)]
    if wrong or not names:
        words = ", ".join(map(repr, wrong)) or "an empty list"
        raise ValueError(f"namespaces: {words} cannot be a namespace: lower-case letters, digits and '-', at most 63")
    return tuple(f"--namespace={name}" for name in names)


def _list(program: str, kind: Kind, flags: Sequence[str]) -> str | None:
    """Return all objects of a kind as a JSON list; "" if the server has no such kind, None if the user may not list it.

    Raises:
        KubectlError: it failed twice.
    """
    arguments = ["get", kind.plural, *flags]
    words = ""
    for _attempt in range(2):
        try:
            done = subprocess.run(  # noqa: S603 - a fixed verb, flags that begin with `--name=`, no shell
                [program, *arguments, "--output=json", f"--chunk-size={PAGE}", f"--request-timeout={SECONDS}s"],
                stdin=subprocess.DEVNULL, capture_output=True, check=False,
            )  # fmt: skip
        except OSError as error:
            raise KubectlError(f"{program} cannot be run: {error.strerror}") from None
        said = done.stderr.decode(errors="replace")
        if done.returncode and FORBIDDEN.search(said):
            return None
        if done.returncode and UNKNOWN_KIND.search(said):
            return ""
        text = done.stdout.decode(errors="replace")
        if done.returncode == 0 and text.rstrip().endswith("}"):
            return text
        words = _words_of(said) or (
            f"its output ends too early, after {len(done.stdout)} bytes" if done.returncode == 0
            else f"it ended with code {done.returncode} and no word")  # fmt: skip
    if len(words) > MAX_WORDS:
        words = f"{words[:MAX_WORDS]}…"
    raise KubectlError(f"kubectl {' '.join(arguments)} failed twice, so nothing was read: {words}")


def _words_of(message: str) -> str:
    """Return kubectl's message without lines of its log, and without characters that a terminal acts on."""
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    said = [line for line in lines if not LOG_LINE.match(line)] or lines[-1:]
    return "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in " ".join(said))
