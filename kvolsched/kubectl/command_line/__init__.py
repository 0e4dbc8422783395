"""kubectl's command line on a simulated cluster: `kubectl(cluster, "get pods -o wide")`.

`flags` reads words, `command` finds the objects they mean; `reading` prints, `changing` acts, `completion` completes.
Recordings judge `get`, `describe` and `apply`; the words of the other commands are those of
kubectl v1.36 as its sources have them, and are not recorded.
"""

import shlex
from collections.abc import Callable, Mapping

from ...core.acts import ClusterActs
from ...core.user_commands import ActRefused
from ..output import CommandOutput, escape_control_characters
from . import changing, reading
from .command import Command
from .completion import complete
from .flags import CommandError, find_command, read_flags

__all__ = ["complete", "kubectl"]

COMMANDS: Mapping[str, Callable[[Command], None]] = {
    "get": reading.get, "describe": reading.describe, "apply": changing.apply, "delete": changing.delete,
    "replace": changing.replace,
    "scale": changing.scale, "label": changing.label, "annotate": changing.label, "patch": changing.patch,
    "cordon": changing.cordon, "uncordon": changing.cordon, "drain": changing.drain, "taint": changing.taint,
    "rollout restart": changing.rollout_restart, "rollout status": changing.rollout_status,
}


def kubectl(cluster: ClusterActs, command: str, stdin: str = "") -> CommandOutput:
    """Run a kubectl command on a simulated cluster, and return what kubectl prints; nothing is raised for its errors.

    Args:
        cluster: the cluster; commands that change it are acts of the user, in its log.
        command: the words, as in a shell, with or without `kubectl`.
        stdin: what `-f -` reads.
    """
    try:
        words = shlex.split(command)
        name, rest = find_command(words[1:] if words[:1] == ["kubectl"] else words)
        running = Command(cluster, name, read_flags(name, rest), stdin)
    except CommandError as error:
        said = escape_control_characters(error.words) + "\n"
        return CommandOutput(said, "", 0) if not error.code else CommandOutput("", said, error.code, error.hint)
    except ValueError as error:  # a quotation without end
        return CommandOutput("", f"error: {escape_control_characters(str(error))}\n", 1)
    try:
        COMMANDS[name](running)
    except (CommandError, ActRefused) as error:
        running.fail(error)
    lines = "".join(text.removesuffix("\0") if text.endswith("\0") else f"{text}\n" for text in running.out)
    errors, hint = "".join(f"{text}\n" for text in running.errors), "; ".join(dict.fromkeys(running.hints))
    out, errors, hint = map(escape_control_characters, (lines, errors, hint))
    return CommandOutput(out, errors, int(running.failed), hint)
