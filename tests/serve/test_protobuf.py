"""Bodies in protobuf: those that the real kubectl sends, hand-made ones, and broken ones."""

import base64
import json
import random
from pathlib import Path

import pytest
from served_client import PODS

from kvolsched.serve.protobuf import PROTOBUF, read_message
from kvolsched.serve.status import StatusError

# What kubectl v1.36.3 sends to create a deployment, a budget, a secret, a service, a cronjob and a quota.
RECORDED = [json.loads(line) for line in (Path(__file__).parent / "kubectl" / "protobuf.jsonl").read_text().splitlines()]


def field(number, value):
    """Return one field: a number, a text, bytes, or fields of a message."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def varint(value):
    """Return a number as protobuf writes it."""
    found = b""
    while value > 127:
        found += bytes([value & 127 | 128])
        value >>= 7
    return found + bytes([value])


def body(api_version, kind, raw):
    """Return the body of an object."""
    return b"k8s\x00" + field(1, field(1, api_version) + field(2, kind)) + field(2, raw)


@pytest.mark.parametrize("recorded", RECORDED, ids=[each["object"]["kind"] for each in RECORDED])
def test_what_kubectl_sends_is_read(recorded):
    """Each body that kubectl sent is the object that it was asked for; fields without value are not there."""
    assert read_message(base64.b64decode(recorded["body"])) == recorded["object"]


def test_fields_that_json_has_one_level_higher():
    """A volume's source stands beside its name, and an empty directory stays though it is empty."""
    volume = field(1, "v") + field(2, field(2, b""))
    claim = field(1, "data") + field(2, field(10, field(1, "my-pvc") + field(2, 1)))
    spec = field(1, volume) + field(1, claim) + field(5, 0)
    found = read_message(body("v1", "Pod", field(1, field(1, "p")) + field(2, spec)))
    assert found["spec"]["volumes"] == [
        {"name": "v", "emptyDir": {}}, {"name": "data", "persistentVolumeClaim": {"claimName": "my-pvc", "readOnly": True}}]


def test_a_class_that_is_empty_stays_empty():
    """`storageClassName: ""` says more than no class, and is kept; other texts without value are not."""
    spec = field(5, "") + field(3, "") + field(2, field(2, field(1, "storage") + field(2, field(1, "5Gi"))))
    found = read_message(body("v1", "PersistentVolumeClaim", field(1, field(1, "c")) + field(2, spec)))
    assert found["spec"] == {"storageClassName": "", "resources": {"requests": {"storage": "5Gi"}}}


def test_times_and_options():
    """Times are written as text; the options of a deletion are read under any group."""
    lease = field(2, field(1, "me") + field(2, 15) + field(4, field(1, 1_767_225_600) + field(2, 5_000)))
    found = read_message(body("coordination.k8s.io/v1", "Lease", lease))
    assert found["spec"] == {"holderIdentity": "me", "leaseDurationSeconds": 15, "renewTime": "2026-01-01T00:00:00.000005Z"}
    options = field(1, 0) + field(2, field(1, "uid-1")) + field(4, "Orphan")
    assert read_message(body("apps/v1", "DeleteOptions", options)) == {
        "apiVersion": "apps/v1", "kind": "DeleteOptions", "gracePeriodSeconds": 0, "preconditions": {"uid": "uid-1"},
        "propagationPolicy": "Orphan"}


@pytest.mark.parametrize("data", [
    b"", b"k8s", b"k8s\x00", b"k8s\x00\xff", b"k8s\x00" + b"\xff" * 20, b"{}", body("v1", "NoSuch", b""),
    body("v1", "Pod", b"\x0a\x7f"), body("v1", "Pod", b"\x0b"), body("v1", "Pod", field(1, 5)), body("v1", "Pod", field(1, field(1, b"\xff"))),
])
def test_what_is_no_message_is_a_bad_request(data):
    """Lengths that lie, unknown kinds, wrong types and broken texts are refused."""
    with pytest.raises(StatusError) as refused:
        read_message(data)
    assert refused.value.code == 400


def test_broken_bodies_never_raise_anything_else():
    """Bodies of kubectl with bytes changed or cut off are read or refused, nothing else."""
    draw = random.Random(7)
    refused = 0
    for _ in range(1_000):
        data = bytearray(base64.b64decode(draw.choice(RECORDED)["body"]))
        for _ in range(draw.randint(1, 4)):
            data[draw.randrange(4, len(data))] = draw.randrange(256)
        try:
            read_message(bytes(data[: draw.randrange(4, len(data) + 1)]))
        except StatusError:
            refused += 1
    assert 100 < refused < 1_000


def test_a_pod_in_protobuf_is_created(client):
    """A create in protobuf stores the object, answered in JSON."""
    spec = field(2, field(1, "a") + field(2, "x"))
    code, found = client.ask("POST", PODS, body("v1", "Pod", field(1, field(1, "p")) + field(2, spec)), PROTOBUF)
    assert (code, found["metadata"]["name"], found["spec"]["containers"][0]["image"]) == (201, "p", "x")
