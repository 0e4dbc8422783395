"""Typed objects for tests: each builder takes the arguments of its namesake in `manifests`."""

from functools import wraps

import manifests
import yaml

from kvolsched.api.text.convert import from_plain


def typed(build):
    """Return a builder of manifests as a builder of typed objects."""
    @wraps(build)
    def built(*args, **fields):
        return from_plain(build(*args, **fields))
    return built


node, csi_node, storage_class = typed(manifests.node), typed(manifests.csi_node), typed(manifests.storage_class)
volume, claim, pod = typed(manifests.volume), typed(manifests.claim), typed(manifests.pod)


def read(text):
    """Return the objects of a text of YAML documents."""
    return [from_plain(plain) for plain in yaml.safe_load_all(text) if plain]
