"""Admission webhooks: functions of a reader that the API server asks about every write of some kinds.

Mutating ones are asked one after another, after the mutating admission plugins; validating ones after validation. Words
and codes mirror `apiserver/pkg/admission/plugin/webhook` (v1.36.2). A webhook may be out or slow: a call that takes
longer than its timeout fails. A failed call refuses the write, unless the failure policy is Ignore.
"""

import traceback
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import attrs

from ...api.kinds.kind import find_kind
from ...api.kinds.meta import evolve_parts
from ...api.text import manifest, patches
from ...world.apiserver import Denial
from ...world.log import Note
from ...world.outage import REFUSED, is_out

VERBS = ("create", "update", "delete")
FAILURE_POLICIES = ("Fail", "Ignore")
SERVICE_ADDRESS = "10.96.0.100:443"
Hook = Callable[[Any, Any], Any]


@attrs.frozen(eq=False)
class Webhook:
    """A webhook: what it is asked about, and what it answers.

    Args:
        name: its name, with at least three parts: `policy.example.com`.
        mutate: (new, old) -> what changes: None, a merge patch, or the whole object; False or a reason refuses.
        validate: (new, old) -> None or True to allow; False or a reason refuses.
        kinds: the kinds that it is asked about.
        on_failure: what a failed call does to the write: "Fail" refuses it, "Ignore" lets it pass.
        verbs: the operations that it is asked about, of "create", "update" and "delete".
        timeout: seconds after which a call fails.
        slow: seconds that it takes to answer.
    """

    name: str
    mutate: Hook | None
    validate: Hook | None
    kinds: tuple[str, ...]
    on_failure: str = "Fail"
    verbs: tuple[str, ...] = ("create", "update")
    timeout: float = 10.0
    slow: float = 0.0

    def __attrs_post_init__(self) -> None:
        """Refuse what the API server would refuse in a webhook configuration."""
        if self.mutate is None and self.validate is None:
            raise ValueError(f"webhook {self.name}: give it a function `mutate`, `validate` or both")
        if self.name.count(".") < 2 or not all(self.name.split(".")):
            raise ValueError(
                f"webhook name: {self.name!r}: should be a domain with at least three segments separated by dots"
            )
        if self.on_failure not in FAILURE_POLICIES:
            raise ValueError(f"webhook {self.name}: on_failure: {self.on_failure!r} is none of Fail, Ignore")
        if unknown := [verb for verb in self.verbs if verb not in VERBS]:
            raise ValueError(f"webhook {self.name}: verbs: {unknown[0]!r} is none of {', '.join(VERBS)}")
        if not self.kinds:
            raise ValueError(f"webhook {self.name}: kinds: name at least one, such as 'pods'")
        if not 1 <= self.timeout <= 30:
            raise ValueError(f"webhook {self.name}: timeout: {self.timeout:g}: must be between 1 and 30 seconds")
        if self.slow < 0:
            raise ValueError(f"webhook {self.name}: slow: {self.slow:g}: must not be negative")

    def asked_about(self, verb: str, kind: str) -> bool:
        """Return whether it is asked about an operation on a kind."""
        return verb in self.verbs and kind in self.kinds

    def waiting_time(self, notes: Mapping[Note, Any]) -> float:
        """Return how long a write waits for its answers."""
        calls = (self.mutate is not None) + (self.validate is not None)
        return 0.0 if is_out(notes, self.name) else min(self.slow, self.timeout) * calls


class CallFailedError(Exception):
    """A webhook could not be called, or gave no answer that can be used."""


def webhook(name: str, kinds: Iterable[str], verbs: Iterable[str], **options: Any) -> Webhook:
    """Return a webhook for kinds by any of their names.

    Raises:
        KeyError: a kind is not known; the message lists the kinds.
        ValueError: a field is wrong.
    """
    kinds = [kinds] if isinstance(kinds, str) else kinds
    names = tuple(find_kind(kind).name for kind in kinds)
    return Webhook(name=name, kinds=names, verbs=(verbs,) if isinstance(verbs, str) else tuple(verbs), **options)


def call_mutating(webhooks: Iterable[Webhook], verb: str, old: Any, new: Any, notes: Mapping[Note, Any]) -> Any:
    """Return the object after every mutating webhook, or the `Denial` of the first that refuses."""
    for hook in webhooks:
        if hook.mutate is None or not hook.asked_about(verb, (old if new is None else new).kind):
            continue
        try:
            answer = _call(hook, hook.mutate, "mutate", new, old, notes)
            if answer is False or isinstance(answer, str):
                return _denied(hook, answer)
            new = new if answer is None or answer is True else _changed(new, answer)
        except CallFailedError as failed:
            if hook.on_failure == "Fail":
                return _failed(hook, failed)
    return new


def call_validating(webhooks: Iterable[Webhook], verb: str, old: Any, new: Any, notes: Mapping[Note, Any]) -> Any:
    """Return the object if every validating webhook allows it, or the `Denial` of the first that does not."""
    for hook in webhooks:
        if hook.validate is None or not hook.asked_about(verb, (old if new is None else new).kind):
            continue
        try:
            answer = _call(hook, hook.validate, "validate", new, old, notes)
            _check_verdict(answer)
        except CallFailedError as failed:
            if hook.on_failure == "Fail":
                return _failed(hook, failed)
            continue
        if answer is False or isinstance(answer, str):
            return _denied(hook, answer)
    return new


def waiting_time(webhooks: Iterable[Webhook], verb: str, kind: str, notes: Mapping[Note, Any]) -> float:
    """Return how long a write waits for the webhooks that are asked about it."""
    return sum(hook.waiting_time(notes) for hook in webhooks if hook.asked_about(verb, kind))


def _call(hook: Webhook, function: Hook, path: str, new: Any, old: Any, notes: Mapping[Note, Any]) -> Any:
    """Return what a function of a webhook answers."""
    service = hook.name.partition(".")[0]
    post = f'failed to call webhook: Post "https://{service}.default.svc:443/{path}?timeout={hook.timeout:g}s"'
    if is_out(notes, hook.name):
        raise CallFailedError(f"{post}: dial tcp {SERVICE_ADDRESS}: {REFUSED}")
    if hook.slow >= hook.timeout:
        raise CallFailedError(f"{post}: context deadline exceeded")
    try:
        return function(new, old)
    except Exception as error:  # whatever a reader's function raises is a failed call
        said = _quoted(f"{type(error).__name__}: {error}{_line_of(error, function)}")
        why = f"an error on the server ({said}) has prevented the request from succeeding"
        raise CallFailedError(f"failed to call webhook: {why}") from error


def _check_verdict(answer: Any) -> None:
    """Refuse an answer of a validating webhook that is none."""
    if answer is not None and not isinstance(answer, bool | str):
        said = f"received invalid webhook response: {_short(answer)} is neither True, False nor a reason"
        raise CallFailedError(said)


def _line_of(error: Exception, function: Hook) -> str:
    """Return which line of a function an error comes from, "" if it is not known."""
    code = getattr(function, "__code__", None)
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if code is not None and frame.filename == code.co_filename]
    if not lines or lines[-1] is None:
        return ""
    return f" (line {lines[-1] - code.co_firstlineno + 1} of {code.co_name})" if code is not None else ""


def _changed(new: Any, answer: Any) -> Any:
    """Return the object that a mutating webhook makes of another."""
    try:
        if isinstance(answer, Mapping):
            whole = "kind" in answer
            answer = manifest.from_plain(answer if whole else patches.merge_patch(manifest.to_plain(new), answer))
        same = (answer.kind, answer.metadata.name) == (new.kind, new.metadata.name)
    except manifest.ManifestError as error:
        faults = "; ".join(map(str, error.faults))
        raise CallFailedError(f"received invalid webhook response: {faults}") from error
    except (ValueError, TypeError, AttributeError) as error:
        raise CallFailedError(f"received invalid webhook response: {_short(answer)}: {error}") from error
    if not same:
        raise CallFailedError("received invalid webhook response: it names another object than the request")
    return evolve_parts(answer, metadata={"namespace": new.metadata.namespace, "uid": new.metadata.uid})


def _denied(hook: Webhook, answer: Any) -> Denial:
    denied = f'admission webhook "{hook.name}" denied the request'
    return Denial("Forbidden", f"{denied}: {answer}" if answer else f"{denied} without explanation")


def _failed(hook: Webhook, failed: CallFailedError) -> Denial:
    return Denial("InternalError", f'Internal error occurred: failed calling webhook "{hook.name}": {failed}')


def _quoted(text: str) -> str:
    """Return a text in double quotes, as Go's %q writes it."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def _short(value: Any, length: int = 60) -> str:
    text = repr(value)
    return text if len(text) <= length else f"{text[:length]}..."
