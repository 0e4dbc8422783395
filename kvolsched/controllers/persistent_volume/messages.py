"""Sentences of the PV controller that today (v1.36.2) and 1.11 spell differently."""

from __future__ import annotations


def waiting_for(provisioner: str, *, today: bool) -> str:
    """Return what a claim is told that waits for an external provisioner."""
    if today:
        return (
            f"Waiting for a volume to be created either by the external provisioner '{provisioner}' or manually "
            "by the system administrator. If volume creation is delayed, please verify that the provisioner is "
            "running and correctly registered."
        )
    return (
        f'waiting for a volume to be created, either by external provisioner "{provisioner}" or manually '
        "created by system administrator"
    )


def no_plugin(provisioner: str, *, today: bool) -> str:
    """Return what the plugin manager says of a name that it does not know."""
    return f"no volume plugin matched name: {provisioner}" if today else "no volume plugin matched"


def no_deleter(volume: str, *, today: bool) -> str:
    """Return why a volume that no provisioner made cannot be deleted."""
    said = "error" if today else "Error"
    return f'{said} getting deleter volume plugin for volume "{volume}": no volume plugin matched'


def misbound(claim: str, volume: str, rival: str, *, today: bool) -> str:
    """Return the error of a claim that was bound to a volume of somebody else."""
    said = "invalid" if today else "Invalid"
    return f'{said} binding of claim "{claim}" to volume "{volume}": volume already claimed by "{rival}"'
