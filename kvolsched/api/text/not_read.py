"""What was given, bears on where pods go, and is not modelled: said in one line wherever an answer is given."""

from collections.abc import Mapping

from ..kinds.meta import EMPTY, ObjectMeta
from ..kinds.pod import PodSpec
from ..kinds.workload import JobSpec
from ..words import first_of
from .manifest import Manifests

NotRead = Mapping[str, frozenset[str]]

DEVICES = "which devices pods ask for: a pod looks as if it asked for none"
GANGS = "which pods go together or not at all: each looks as if it went alone"
ENDS = "when a Job is over, and when it goes: it ends and stays as if this were not written"
CHANGED = "what is changed in new pods: they look as they were written"
KINDS = {  # (group, kind) -> what is not told
    **{("resource.k8s.io", kind): DEVICES for kind in
       ("ResourceClaim", "ResourceClaimTemplate", "DeviceClass", "ResourceSlice", "DeviceTaintRule")},
    **{(group, "PodGroup"): GANGS for group in ("scheduling.k8s.io", "scheduling.x-k8s.io")},
    ("scheduling.k8s.io", "Workload"): GANGS,
    **{("admissionregistration.k8s.io", kind): CHANGED for kind in
       ("MutatingWebhookConfiguration", "MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding")},
    ("batch", "CronJob"): "the pods of its Jobs: they look as if they were not there",
}  # fmt: skip
FIELDS = {  # of a pod's or a Job's spec
    "resourceClaims": DEVICES, "workloadRef": GANGS, "schedulingGroup": GANGS,
    **dict.fromkeys(("backoffLimitPerIndex", "maxFailedIndexes", "podFailurePolicy", "successPolicy",
                     "ttlSecondsAfterFinished"), ENDS),
}  # fmt: skip
MOST = 3  # names of one field


def find_not_read(read: Manifests, known: NotRead = EMPTY) -> NotRead:
    """Return the kinds and fields that bear on placement and are not modelled, each with the objects that have them.

    `known` is what was found before, which is among the result.
    """
    found = {what: set(names) for what, names in known.items()}
    for other in read.others:
        group, kind = str(other.get("apiVersion")).rpartition("/")[0], str(other.get("kind"))
        if (group, kind) in KINDS:
            meta = other.get("metadata") or EMPTY
            found.setdefault(kind, set()).add(f"{meta.get('namespace', '')}/{meta.get('name', '')}")
    for obj in read.objects:
        spec = getattr(obj, "spec", None)
        for part in (spec, getattr(getattr(spec, "template", None), "spec", None)):
            if isinstance(part, PodSpec | JobSpec) and not part.rest.keys().isdisjoint(FIELDS):
                for field in FIELDS.keys() & part.rest.keys():
                    found.setdefault(field, set()).add("/".join((obj.kind.lower(), *_names(obj.metadata))))
    return {what: frozenset(names) for what, names in sorted(found.items())}


def _names(meta: ObjectMeta) -> tuple[str, ...]:
    """Return the parts of a reference that name an object: its namespace, unless that is `default`, and its name."""
    return (meta.name,) if meta.namespace in ("", "default") else (meta.namespace, meta.name)


def not_read_words(found: NotRead) -> dict[str, str]:
    """Return each thing in words, as `1 ResourceClaim` or `resourceClaims of pod/app`, with what is not told."""
    effects = {**{kind: effect for (_, kind), effect in KINDS.items()}, **FIELDS}
    return {_in_words(what, names): effects[what] for what, names in found.items()}


def _in_words(what: str, names: frozenset[str]) -> str:
    if what in FIELDS:
        return f"{what} of {first_of(sorted(names), MOST)}"
    return f"{len(names)} {what}{'' if len(names) == 1 else 'es' if what.endswith('s') else 's'}"


def not_read_line(found: NotRead) -> str:
    """Return the line about what is not read; "" if everything is."""
    return f"not read: {', '.join(not_read_words(found))}" if found else ""
