"""Bodies in protobuf to plain data, as kubectl's and client-go's typed clients send them.

`protobuf.json` has the fields of Kubernetes' messages by number: name, type, and `r` of a list, `m` of a mapping
(generated.proto, v1.36.2). What Go writes of a field without value is left out again.
"""

import base64
import json
import struct
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from functools import cache
from importlib import resources
from typing import Any

import attrs

from .status import StatusError

PROTOBUF = "application/vnd.kubernetes.protobuf"
_MAGIC = b"k8s\x00"
MAX_DEPTH = 100
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# Fields that Go has no pointer for, where it is written without value, too: so they were not set.
_UNSET_IF_ZERO = frozenset({
    "hostPort", "minReadySeconds", "hostNetwork", "hostPID", "hostIPC", "readOnly", "tty", "stdin", "stdinOnce",
    "initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold", "nodePort",
    "paused", "unschedulable", "count", "generation", "observedGeneration", "publishNotReadyAddresses",
    "globalDefault", "healthCheckNodePort", "force",
})  # fmt: skip
_UNSET_IF_EMPTY = frozenset({"status", "resources", "strategy", "updateStrategy", "source", "loadBalancer"})
# Fields whose fields JSON has one level higher.
_INLINE = frozenset({
    "localObjectReference", "ephemeralContainerCommon", "persistentVolumeSource", "volumeSource", "volumeStatus",
    "handler", "ingressRuleValue", "deviceConfiguration",
})  # fmt: skip
_POINTERS_TO_TEXT = frozenset({"storageClassName", "volumeAttributesClassName", "ingressClassName"})


@cache
def _messages() -> Mapping[str, Mapping[int, tuple[str, str, str]]]:
    """Return the fields of each message: number -> name, type, and how often."""
    text = resources.files(__package__).joinpath("protobuf.json").read_text(encoding="utf-8")
    return {message: {int(number): tuple((*field.split(" "), "")[:3]) for number, field in fields.items()}
            for message, fields in json.loads(text).items()}  # fmt: skip


def read_message(body: bytes) -> dict[str, Any]:
    """Return the object of a body as plain data."""
    if not body.startswith(_MAGIC):
        raise StatusError("BadRequest", "the body does not begin as a protobuf message of Kubernetes does")
    try:
        head = _Reader(body[len(_MAGIC):]).fields("runtime.Unknown")
        kind = head.get("typeMeta", {})
        api_version, name = str(kind.get("apiVersion", "")), str(kind.get("kind", ""))
        message = _message_of(api_version, name)
        found = _Reader(base64.b64decode(head.get("raw", ""))).fields(message)
    except (ValueError, IndexError, struct.error, OverflowError) as error:
        raise StatusError("BadRequest", f"the body is no protobuf message: {error}") from None
    return {"apiVersion": api_version, "kind": name, **found}


def _message_of(api_version: str, kind: str) -> str:
    group, _, version = api_version.rpartition("/")
    package = f"{group.partition('.')[0] or 'core'}.{version}" if group != "rbac.authorization.k8s.io" else "rbac.v1"
    message = "meta.v1.DeleteOptions" if kind == "DeleteOptions" else f"{package}.{kind}"
    if message not in _messages():
        raise ValueError(f"no kind {kind} of {api_version} is served")
    return message


@attrs.define
class _Reader:
    """Reads one message; mutable: it moves through the bytes."""

    data: bytes
    place: int = 0
    depth: int = 0

    def fields(self, message: str) -> dict[str, Any]:
        """Return the fields of a message that are known, as plain data.

        Raises:
            ValueError: the bytes are no such message.
        """
        if self.depth > MAX_DEPTH:
            raise ValueError("nested too deep")
        known = _messages()[message]
        found: dict[str, Any] = {}
        for number, wire, raw in self.parts():
            if number not in known:
                continue
            name, type_name, often = known[number]
            if often == "m":
                key, value = self._entry(type_name, raw)
                found.setdefault(name, {})[key] = value
            elif often == "r" and wire == _LENGTH and type_name in _VARINTS:
                found.setdefault(name, []).extend(_Reader(raw, 0, self.depth).packed(type_name))
            elif often == "r":
                found.setdefault(name, []).append(self._value(type_name, wire, raw))
            elif name in _INLINE:
                found |= self._value(type_name, wire, raw)
            else:
                found[name] = self._value(type_name, wire, raw)
        return {name: value for name, value in found.items() if not _is_unset(name, value)}

    def packed(self, type_name: str) -> Iterator[Any]:
        """Yield the numbers that fill these bytes."""
        while self.place < len(self.data):
            yield _number(type_name, self._varint())

    def parts(self) -> Iterator[tuple[int, int, Any]]:
        """Yield number, wire type and raw value of each field."""
        while self.place < len(self.data):
            tag = self._varint()
            number, wire = tag >> 3, tag & 7
            if wire == _VARINT:
                yield number, wire, self._varint()
            elif wire in _FIXED:
                yield number, wire, self._take(_FIXED[wire])
            elif wire == _LENGTH:
                yield number, wire, self._take(self._varint())
            else:
                raise ValueError(f"wire type {wire}")

    def _varint(self) -> int:
        value = shift = 0
        while True:
            byte = self.data[self.place]
            self.place += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value & 0xFFFF_FFFF_FFFF_FFFF
            shift += 7
            if shift > 63:
                raise ValueError("a number is too long")

    def _take(self, length: int) -> bytes:
        end = self.place + length
        if end > len(self.data):
            raise ValueError("a length leads behind the end")
        taken, self.place = self.data[self.place : end], end
        return taken

    def _entry(self, type_name: str, raw: Any) -> tuple[str, Any]:
        """Return one entry of a mapping from texts."""
        key, value = "", _EMPTY.get(type_name, "")
        for number, wire, part in _Reader(_bytes(raw), 0, self.depth + 1).parts():
            if number == 1:
                key = _bytes(part).decode()
            elif number == 2:
                value = self._value(type_name, wire, part)
        return key, value

    def _value(self, type_name: str, wire: int, raw: Any) -> Any:
        if type_name in _VARINTS:
            if wire != _VARINT:
                raise ValueError(f"no number where {type_name} is wanted")
            return _number(type_name, raw)
        if type_name == "double":
            return struct.unpack("<d", _bytes(raw))[0]
        if type_name == "string":
            return _bytes(raw).decode()
        if type_name == "bytes":
            return base64.b64encode(_bytes(raw)).decode()
        fields = _Reader(_bytes(raw), 0, self.depth + 1).fields(type_name)
        convert = _SPECIAL.get(type_name)
        return convert(fields) if convert is not None else fields


_VARINT, _LENGTH = 0, 2
_FIXED = {1: 8, 5: 4}
_VARINTS = frozenset({"int32", "int64", "bool"})
_EMPTY: Mapping[str, Any] = {"int32": 0, "int64": 0, "bool": False}


def _number(type_name: str, raw: int) -> Any:
    if type_name == "bool":
        return bool(raw)
    return raw - (1 << 64) if raw >> 63 else raw


def _bytes(raw: Any) -> bytes:
    if not isinstance(raw, bytes):
        raise ValueError("a number where bytes are wanted")  # noqa: TRY004 - a client's bad request
    return raw


def _is_unset(name: str, value: Any) -> bool:
    if value == "":
        return name not in _POINTERS_TO_TEXT
    return value is None or (not value and name in _UNSET_IF_ZERO) or (value == {} and name in _UNSET_IF_EMPTY)


def _time(fields: Mapping[str, Any]) -> str | None:
    if "seconds" not in fields:
        return None
    found = _EPOCH + timedelta(seconds=fields["seconds"])
    return found.strftime("%Y-%m-%dT%H:%M:%SZ")


def _micro_time(fields: Mapping[str, Any]) -> str | None:
    whole = _time(fields)
    return whole and f"{whole[:-1]}.{fields.get('nanos', 0) // 1000:06d}Z"


def _json(fields: Mapping[str, Any]) -> Any:
    return json.loads(base64.b64decode(fields.get("raw") or fields.get("Raw") or "") or "null")


def _either(fields: Mapping[str, Any]) -> Any:
    """Return what a field holds that may be a schema or something else."""
    others = (fields[name] for name in ("schema", "jSONSchemas", "property", "allows") if fields.get(name))
    return next(others, False)


_SPECIAL: Mapping[str, Any] = {
    "meta.v1.Time": _time, "meta.v1.MicroTime": _micro_time,
    "util.intstr.IntOrString": lambda each: each.get("strVal", "") if each.get("type") else each.get("intVal", 0),
    "api.resource.Quantity": lambda fields: fields.get("string", "0"), "runtime.RawExtension": _json,
    "meta.v1.FieldsV1": _json, "apiextensions.v1.JSON": _json,
    "apiextensions.v1.JSONSchemaPropsOrBool": _either, "apiextensions.v1.JSONSchemaPropsOrArray": _either,
    "apiextensions.v1.JSONSchemaPropsOrStringArray": _either,
}  # fmt: skip
