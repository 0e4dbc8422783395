"""Why a volume that a claim names cannot serve it: one check a function, in the words of the Event; "" if it can.

A release is handed a tuple of checks; the first that objects is reported. Mirrors `checkVolumeSatisfyClaim`.
"""

from collections.abc import Callable

from ...api.kinds.volume import PersistentVolume, PersistentVolumeClaim
from ...api.volumes import capacity, class_of_claim, class_of_volume, has_access_modes, mode, requested

VolumeCheck = Callable[[PersistentVolume, PersistentVolumeClaim], str]


def deletion_check(volume: PersistentVolume, _claim: PersistentVolumeClaim) -> str:
    """Reject a volume that is being deleted."""
    deleted = volume.metadata.deletion_timestamp is not None
    return f'the volume is marked for deletion "{volume.metadata.name}"' if deleted else ""


def size_check(volume: PersistentVolume, claim: PersistentVolumeClaim) -> str:
    """Reject a volume that is smaller than the claim's request."""
    return "requested PV is too small" if capacity(volume) < requested(claim) else ""


def class_check(volume: PersistentVolume, claim: PersistentVolumeClaim) -> str:
    """Reject a volume of another class."""
    return "storageClassName does not match" if class_of_volume(volume) != class_of_claim(claim) else ""


def class_check_1_11(volume: PersistentVolume, claim: PersistentVolumeClaim) -> str:
    """Reject a volume of another class, in the spelling of 1.11."""
    return "storageClasseName does not match" if class_of_volume(volume) != class_of_claim(claim) else ""


def attributes_class_check(volume: PersistentVolume, claim: PersistentVolumeClaim) -> str:
    """Reject a volume of another VolumeAttributesClass."""
    asked, found = (obj.spec.volume_attributes_class_name or "" for obj in (claim, volume))
    return "volumeAttributesClassName does not match" if asked != found else ""


def volume_mode_check(volume: PersistentVolume, claim: PersistentVolumeClaim) -> str:
    """Reject a block volume for a file system, and the other way round."""
    return "incompatible volumeMode" if mode(volume) != mode(claim) else ""


def access_mode_check(volume: PersistentVolume, claim: PersistentVolumeClaim) -> str:
    """Reject a volume that lacks one of the claim's access modes."""
    return "" if has_access_modes(volume, claim) else "incompatible accessMode"


V1_36: tuple[VolumeCheck, ...] = (
    deletion_check, size_check, class_check, attributes_class_check, volume_mode_check, access_mode_check,
)  # fmt: skip
V1_11: tuple[VolumeCheck, ...] = (size_check, class_check_1_11, access_mode_check)
