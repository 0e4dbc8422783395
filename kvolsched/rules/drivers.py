"""The drivers of a cluster: the provisioners that run for them, and the pools that they have, by their dials.

A driver has one provisioner, or one on each node (`DRIVER on NODE`), each a component of its own. Dials may come before
the class that names their driver; a wrong name would be without effect, and say nothing. So it is refused where it is
nearly that of a driver that a loaded object names; else a run that has ended says which dials had no effect.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import attrs

from ..api.dials import with_dials
from ..api.kinds.storage_class import NO_PROVISIONER
from ..api.unknown_name import UnknownName, nearest
from ..api.words import one_of
from ..controllers import provisioner
from ..world.component import Component
from ..world.log import Key
from ..world.storage_pools import DriverStorage, keyed


@attrs.frozen
class Drivers:
    """The drivers that dials describe, beside those of classes."""

    dials: Mapping[str, Mapping[str, Any]]  # name of a component -> its dials
    options: provisioner.ProvisionerOptions  # what drivers have before their dials
    # (name, options) -> a driver's options as feature gates leave them
    told: Callable[[str, provisioner.ProvisionerOptions], provisioner.ProvisionerOptions]
    others: frozenset[str]  # names of components that are no drivers

    @property
    def names(self) -> list[str]:
        """The drivers among the names of components that have dials, without instances on nodes."""
        return [name for name in self.dials if name not in self.others and provisioner.INSTANCE not in name]

    def check_instances(self) -> None:
        """Check that what has dials as a driver's provisioner on a node is one.

        Raises:
            ValueError: the driver has no dials, or its provisioner does not run on each node.
        """
        for name in self.dials:
            driver, instance, _node = name.partition(provisioner.INSTANCE)
            if not instance or name in self.others:
                continue
            if driver not in self.names or not self._options(driver, self.dials[driver]).per_node:
                wants = "that takes its dial `node_deployment: true`, or S2's `publishing: {form: node}`"
                raise ValueError(f"{name}: the provisioner of driver {driver} does not run on each node; {wants}")

    @property
    def storages(self) -> dict[str, DriverStorage]:
        """The pools of each driver that has some; the capacity of others is unlimited."""
        options = {name: self._options(name, self.dials[name]) for name in sorted(self.names)}
        return {name: DriverStorage(name, found.pools) for name, found in options.items() if found.pools}

    @property
    def run_on_nodes(self) -> bool:
        """Whether some driver's provisioner runs on each node."""
        return any(self._options(name, self.dials[name]).per_node for name in self.names)

    def provisioners(self, names: Iterable[str]) -> list[Component]:
        """Return the provisioner of each of these drivers, but for those that run on each node."""
        wanted = sorted(set(names) - {NO_PROVISIONER, ""})
        found = {name: self._options(name, self.dials.get(name, {})) for name in wanted}
        return [provisioner.component(name, options) for name, options in found.items() if not options.per_node]

    def node_provisioners(self, classes: Iterable[str], nodes: Iterable[str]) -> Iterator[Component]:
        """Yield the provisioners that run on each node, with the dials of `DRIVER` and of `DRIVER on NODE`.

        A driver that publishes on each node for inline volumes alone, and has classes, makes their volumes centrally.
        """
        nodes = sorted(nodes)
        for name in self.names:
            dials, options = self.dials[name], self._options(name, self.dials[name])
            if not options.per_node:
                continue
            if name in classes and not options.node_deployment:
                yield provisioner.component(name, options)
            for node in nodes:
                instance = provisioner.component_name(name, node)
                own = self.dials.get(instance, {})
                publishing = {**dials.get("publishing", {}), **own.get("publishing", {})}
                merged = {**dials, **own, "publishing": publishing}
                if not merged.get("absent"):
                    yield provisioner.component(name, self._options(instance, merged), node)

    def _options(self, name: str, dials: Mapping[str, Any]) -> provisioner.ProvisionerOptions:
        """Return a driver's options, overridden by dials."""
        options: provisioner.ProvisionerOptions = with_dials(name, self.told(name, self.options), dials)
        try:
            return attrs.evolve(options, pools=keyed(options.pools, (*options.topology_keys, "")[0]))
        except ValueError as why:
            raise ValueError(f"{name}: {why}") from None


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
