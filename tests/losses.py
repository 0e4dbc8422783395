"""What of a manifest is lost between reading and writing it again."""

from kvolsched.api.kinds.quantity import canonical


def lost(before, after, path=""):
    """Every path of what says something before and is not the same afterwards; quantities may be spelt canonically."""
    if isinstance(before, dict):
        after = after if isinstance(after, dict) else {}
        return [one for key, value in before.items() for one in lost(value, after.get(key), f"{path}.{key}")]
    if isinstance(before, list):
        after = after if isinstance(after, list) and len(after) == len(before) else [None] * len(before)
        return [one for index, pair in enumerate(zip(before, after, strict=True)) for one in lost(*pair, f"{path}[{index}]")]
    if before in (None, "") and after in (None, ""):
        return []
    if before == after and type(before) is type(after):
        return []
    try:
        return [] if canonical(str(before)) == after else [path]
    except (ValueError, TypeError):
        return [path]
