"""Dials of drivers that nothing names: a wrong name would be without effect, and say nothing.

A dial may come before the class that names its driver. So a name is refused only where it is nearly that of a driver
that a loaded object names; else a run that has ended says which dials had no effect.
"""

from collections.abc import Mapping
from typing import Any

from ..api.kinds.storage_class import NO_PROVISIONER
from ..api.unknown_name import UnknownName, nearest
from ..api.words import one_of
from ..world.log import Key


def drivers_named(objects: Mapping[Key, Any]) -> set[str]:
    """Return the drivers that classes, CSIDrivers, volumes and inline volumes of pods name."""
    found: set[str] = set()
    for key, obj in objects.items():
        match key.kind:
            case "StorageClass":
                found.add(obj.provisioner)
            case "CSIDriver":
                found.add(key.name)
            case "PersistentVolume":
                found.add(str((obj.spec.rest.get("csi") or {}).get("driver", "")))
            case "Pod":
                found.update(volume.csi.driver for volume in obj.spec.volumes if volume.csi is not None)
    return found - {"", NO_PROVISIONER}


def without_effect(dialed: Mapping[str, Mapping[str, Any]], objects: Mapping[Key, Any]) -> list[str]:
    """Return the drivers with dials that no object names, nor any name that they serve, sorted."""
    if not dialed:
        return []
    named = drivers_named(objects)
    return sorted(name for name, dials in dialed.items() if named.isdisjoint((name, *dials.get("serves", ()))))


def refuse_misspelled_drivers(dialed: Mapping[str, Mapping[str, Any]], objects: Mapping[Key, Any]) -> None:
    """Refuse dials of a driver that no object names, if it is nearly one that an object names and that has no dials.

    Raises:
        UnknownName: there is such a name; the message has the nearest ones. It is a ValueError.
    """
    named = drivers_named(objects)
    for name in without_effect(dialed, objects):
        near = nearest(name, sorted(named - set(dialed)), cutoff=0.8)
        if near:
            listed = ", ".join(sorted(named))
            raise UnknownName(
                f"no class or CSIDriver names a driver {name!r}, so its dials have no effect; "
                f"there are: {listed}; did you mean {one_of(near)}?"
            )
