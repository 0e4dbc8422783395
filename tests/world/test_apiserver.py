"""The API server compared with a naive model: versions, uids, finalizers, grace, preconditions, status and spec."""

import attrs
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from world.toy_components import Annotate

from kvolsched.api.kinds.meta import Frozen, ObjectMeta, OwnerReference, evolve_parts
from kvolsched.api.kinds.pod import Pod, PodSpec
from kvolsched.api.kinds.volume import PersistentVolume, PersistentVolumeSpec, PersistentVolumeStatus
from kvolsched.world.apiserver import (
    ApiServer,
    CommittedWrite,
    Denial,
    RefusedWrite,
    Write,
    key_of,
    ref,
    timestamp,
    uid_of,
)
from kvolsched.world.log import Key, Log

NAMES = st.sampled_from(["a", "b"])
KEYS = st.one_of(NAMES.map(lambda n: Key("Pod", "default", n)), NAMES.map(lambda n: Key("PersistentVolume", "", n)))
LABELS = st.dictionaries(st.sampled_from("xy"), st.sampled_from("12"), max_size=2).map(Frozen)
FINALIZERS = st.sampled_from([(), ("keep",)])


def fresh(key, labels, finalizers, node=""):
    """Return an object as a person writes it."""
    meta = ObjectMeta(name=key.name, namespace=key.namespace, labels=labels, finalizers=finalizers)
    if key.kind == "Pod":
        return Pod(metadata=meta, spec=PodSpec(node_name=node))
    return PersistentVolume(metadata=meta, spec=PersistentVolumeSpec(storage_class_name=node))


class ModelObject:
    """The model of one stored object: plain fields, no code shared with the server."""

    def __init__(self, obj, version):
        self.labels = dict(obj.metadata.labels)
        self.finalizers = obj.metadata.finalizers
        self.spec = obj.spec
        self.phase = obj.status.phase
        self.annotations = {}
        self.version = version
        self.deleting = False
        self.grace = 0


class Server(RuleBasedStateMachine):
    """Random writes; after each one the stored objects equal the model's."""

    def __init__(self):
        super().__init__()
        self.log = Log()
        self.server = ApiServer(permit=lambda who, _verb, _kind: who != "nobody")
        self.model = {}
        self.born = {}
        self.versions = {}
        self.highest = 0

    def commit(self, write, by="user"):
        """Commit a write and check it: a refused one changes nothing, a committed one raises the version."""
        before, notes, place = dict(self.log.objects), dict(self.log.notes), self.log.place
        outcome = self.server.commit(self.log, write, by)
        changed = {key for key in before.keys() | self.log.objects.keys()
                   if before.get(key) is not self.log.objects.get(key)}
        if isinstance(outcome, RefusedWrite):
            assert (before, notes, place) == (self.log.objects, self.log.notes, self.log.place)
            assert outcome.message
        else:
            assert changed <= {write.key}
            assert outcome.changed == bool(changed)
            if outcome.stored is not None and outcome.changed:
                version = outcome.stored.metadata.resource_version
                assert version > self.highest
                self.highest = version
            assert outcome.stored is None or outcome.stored is self.log.objects[write.key]
        return outcome

    def expect(self, outcome, reason):
        """Check the reason of a refusal, or that there was none."""
        assert (outcome.reason if isinstance(outcome, RefusedWrite) else "") == reason

    def refusal(self, key, version, uid):
        """Return the reason why the model refuses a change of an object, or ""."""
        life = self.model.get(key)
        if life is None or (uid and uid != uid_of(key, self.born[key] - 1)):
            return "NotFound"
        return "Conflict" if version and version != life.version else ""

    def version(self, key, how):
        """Return a version to build on: none, the present one, or an old one."""
        life = self.model.get(key)
        return {"any": 0, "right": life.version if life else 0, "old": 1 if life and life.version == 2 else 10_000}[how]

    @initialize()
    def refuse_without_permission(self):
        """A write without permission is refused as Forbidden."""
        outcome = self.commit(Write("create", Key("Pod", "default", "a"), Pod()), by="nobody")
        self.expect(outcome, "Forbidden")
        assert outcome.message == (
            'pods "a" is forbidden: User "system:nobody" cannot create resource "pods" in API group "" '
            'in the namespace "default"')

    @rule(key=KEYS, labels=LABELS, finalizers=FINALIZERS, node=st.sampled_from(["", "n"]))
    def create(self, key, labels, finalizers, node):
        """A second object of one name is refused."""
        outcome = self.commit(Write("create", key, fresh(key, labels, finalizers, node)))
        if key in self.model:
            self.expect(outcome, "AlreadyExists")
            return
        self.expect(outcome, "")
        born = self.born.get(key, 0)
        self.born[key] = born + 1
        self.model[key] = ModelObject(outcome.stored, outcome.stored.metadata.resource_version)
        assert outcome.stored.metadata.uid == uid_of(key, born)

    @rule(key=KEYS, labels=LABELS, finalizers=FINALIZERS, how=st.sampled_from(["any", "right", "old"]), uid=st.booleans())
    def update(self, key, labels, finalizers, how, uid):
        """An update replaces all but the status and the server's fields; without finalizers a marked object is removed."""
        life = self.model.get(key)
        if life and life.deleting:
            finalizers = tuple(f for f in finalizers if f in life.finalizers)
        new = fresh(key, labels, finalizers)
        new = evolve_parts(new, status={"phase": "Lied"})
        version, wanted = self.version(key, how), "0" * 8 if uid else ""
        outcome = self.commit(Write("update", key, new, version=version, uid=wanted))
        reason = self.refusal(key, version, wanted)
        self.expect(outcome, reason)
        if reason:
            return
        life.labels, life.finalizers, life.spec, life.annotations = dict(labels), finalizers, new.spec, {}
        self.end(key, outcome)

    @rule(key=KEYS, phase=st.sampled_from(["", "Bound", "Released"]), how=st.sampled_from(["any", "right", "old"]))
    def update_status(self, key, phase, how):
        """A status update changes the status only."""
        new = fresh(key, Frozen(lied="yes"), ())
        new = evolve_parts(new, status={"phase": phase})
        version = self.version(key, how)
        outcome = self.commit(Write("update_status", key, new, version=version))
        reason = self.refusal(key, version, "")
        self.expect(outcome, reason)
        if not reason:
            self.model[key].phase = phase
            self.end(key, outcome)

    @rule(key=KEYS, value=st.sampled_from("12"), right=st.booleans())
    def patch(self, key, value, right):
        """A patch needs no version; a uid guards against the successor of the same name."""
        uid = uid_of(key, self.born.get(key, 1) - 1) if right else "0" * 8
        outcome = self.commit(Write("patch", key, Annotate(Frozen(x=value)), uid=uid))
        reason = self.refusal(key, 0, uid)
        self.expect(outcome, reason)
        if not reason:
            self.model[key].annotations = {**self.model[key].annotations, "x": value}
            self.end(key, outcome)

    @rule(key=KEYS, grace=st.sampled_from([None, 0, 5]), right=st.booleans())
    def delete(self, key, grace, right):
        """Finalizers and grace keep a marked object; a second delete without grace removes it."""
        life = self.model.get(key)
        uid = uid_of(key, self.born.get(key, 1) - 1) if right else "0" * 8
        outcome = self.commit(Write("delete", key, grace, uid=uid))
        if life is None:
            self.expect(outcome, "NotFound")
            return
        if not right:
            self.expect(outcome, "Conflict")
            assert "Precondition failed: UID in precondition: 00000000" in outcome.message
            return
        self.expect(outcome, "")
        if grace is None:
            grace = 30 if key.kind == "Pod" and life.spec.node_name else 0
        if not life.deleting:
            life.deleting = bool(grace or life.finalizers)
            life.grace = grace if life.deleting else 0
        else:
            life.grace = min(life.grace, grace)  # a further delete may shorten the time, never lengthen it
        if grace == 0 and not life.finalizers:
            del self.model[key]
            assert outcome.stored is None
        elif outcome.changed:
            life.version = outcome.stored.metadata.resource_version

    def end(self, key, outcome):
        """Store the new version in the model; remove a marked object without finalizers and grace."""
        life = self.model[key]
        if life.deleting and not life.finalizers and not life.grace:
            del self.model[key]
            assert outcome.stored is None
        else:
            life.version = outcome.stored.metadata.resource_version

    @precondition(lambda self: self.log.place)
    @rule()
    def there_and_back(self):
        """Seeking to the start and back restores the objects."""
        now, place = dict(self.log.objects), self.log.place
        self.log.seek(0)
        assert {} == self.log.objects
        self.log.seek(place)
        assert now == self.log.objects

    @invariant()
    def stored_as_modelled(self):
        """The stored objects equal the model's."""
        stored = {
            key: (dict(obj.metadata.labels), obj.metadata.finalizers, obj.spec, obj.status.phase,
                  dict(obj.metadata.annotations), obj.metadata.resource_version,
                  obj.metadata.deletion_timestamp is not None)
            for key, obj in self.log.objects.items()
        }
        modelled = {
            key: (life.labels, life.finalizers, life.spec, life.phase, life.annotations, life.version, life.deleting)
            for key, life in self.model.items()
        }
        assert modelled == stored


TestServer = Server.TestCase


def test_admission_may_change_or_refuse():
    """The object that admission returns is stored; a denial is refused with its message."""
    def admit(verb, _old, new, _objects):
        if verb == "create" and new.metadata.name == "bad":
            return Denial("Invalid", 'Pod "bad" is invalid')
        return evolve_parts(new, metadata={"labels": Frozen(seen=verb)})

    server, log = ApiServer(admit), Log()
    bad, good = (Pod(metadata=ObjectMeta(name=name, namespace="default")) for name in ("bad", "good"))

    refused = server.commit(log, Write("create", key_of(bad), bad), "user")
    done = server.commit(log, Write("create", key_of(good), good), "user")

    assert ("Invalid", 'Pod "bad" is invalid') == (refused.reason, refused.message)
    assert isinstance(done, CommittedWrite)
    assert {"seen": "create"} == done.stored.metadata.labels


def test_a_subresource_is_a_write_of_its_own():
    """A subresource takes the object and the payload; its denial is a refusal."""
    def bind(old, node, _objects):
        if old.spec.node_name:
            return Denial("Conflict", f"pod {old.metadata.name} is already assigned to node {old.spec.node_name!r}")
        return evolve_parts(old, spec={"node_name": node})

    server, log = ApiServer(subresources={"bind": bind}), Log()
    pod = Pod(metadata=ObjectMeta(name="p", namespace="default"))
    server.commit(log, Write("create", key_of(pod), pod), "user")

    assert server.commit(log, Write("bind", key_of(pod), "n1"), "scheduler").stored.spec.node_name == "n1"
    assert server.commit(log, Write("bind", key_of(pod), "n2"), "scheduler").reason == "Conflict"
    assert log.objects[key_of(pod)].spec.node_name == "n1"


def test_an_update_is_of_the_object_that_it_names():
    """An object of another kind, namespace or name than the request is a bad request, one of another uid a conflict."""
    server, log = ApiServer(), Log()
    pod, volume = (fresh(key, Frozen(), ()) for key in (Key("Pod", "default", "a"), Key("PersistentVolume", "", "a")))
    for obj in (pod, volume):
        server.commit(log, Write("create", key_of(obj), obj), "user")
    before = dict(log.objects)

    def refused(obj, key):
        answer = server.commit(log, Write("update", key, obj), "user")
        return answer.reason, answer.message

    kind = 'Pod in version "v1" cannot be handled as a PersistentVolume: converting (v1.Pod) to (core.PersistentVolume)'
    assert refused(pod, key_of(volume)) == ("BadRequest", f"{kind}: unknown conversion")
    other = evolve_parts(pod, metadata={"namespace": "shop"})
    says = "the namespace of the provided object does not match the namespace sent on the request"
    assert refused(other, key_of(pod)) == ("BadRequest", says)
    reason, message = refused(evolve_parts(pod, metadata={"uid": "other"}), key_of(pod))
    assert reason == "Conflict"
    assert "Precondition failed: UID in precondition: other, UID in object meta: " in message
    assert before == dict(log.objects)
    assert server.commit(log, Write("update", key_of(pod), evolve_parts(pod, metadata={"namespace": ""})), "user").stored


def test_words_and_references():
    """Keys are printed as references, times as in manifests."""
    assert ref(Key("PersistentVolumeClaim", "default", "data-0")) == "pvc/data-0"
    assert ref(Key("Pod", "other", "web-0")) == "pod/other/web-0"
    assert ref(Key("Node", "", "n")) == "node/n"
    assert timestamp(61.9) == "2026-01-01T00:01:01Z"
    assert PersistentVolumeStatus().phase == ""


def test_an_update_loses_no_field_of_the_metadata():
    """Every field of the metadata is the writer's or the server's, also one that is added later."""
    values = {
        "labels": Frozen(a="1"), "annotations": Frozen(b="2"), "finalizers": ("keep",), "generate_name": "p-",
        "owner_references": (OwnerReference(kind="Pod", name="o", uid="u"),), "rest": Frozen(x="y"),
        "uid": "u-1", "creation_timestamp": "2026-01-01T00:00:00Z", "deletion_timestamp": None,
        "deletion_grace_period_seconds": None, "name": "p", "namespace": "default", "resource_version": 7,
    }  # fmt: skip
    assert {field.name for field in attrs.fields(ObjectMeta)} == values.keys()
    server, log = ApiServer(), Log()
    first = Pod(metadata=ObjectMeta(name="p", namespace="default", uid="u-1", creation_timestamp="2026-01-01T00:00:00Z"))
    server.commit(log, Write("create", key_of(first), first), "user")

    stored = server.commit(log, Write("update", key_of(first), Pod(metadata=ObjectMeta(**values))), "user").stored

    assert ObjectMeta(**values) == stored.metadata
    assert stored.metadata.resource_version == 2
