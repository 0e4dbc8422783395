"""`%kubectl` and `%%kubectl` in a notebook: `%load_ext kvolsched`, then `%kubectl get pods -o wide`.

A command goes to the variable that `--cluster NAME` gives, else to that of `%kubectl use NAME`, else to `c`, else to
the only cluster, or page of the pager, among the variables. Imports no IPython: the shell comes as an argument.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from ..cluster import Cluster
from ..learn.rescue import Rescue

NAME, DEFAULT, USED = "kubectl", "c", "_kubectl_cluster"
NO_EXPANSION = "_ipython_magic_no_var_expand"  # IPython reads this attribute of a magic
_CLUSTER = re.compile(r"(?:^|(?<=\s))--cluster(?:=|\s+)(\S+)\s*")
_QUOTED_OR_VARIABLE = re.compile(r"'[^']*'|\$(?P<name>[A-Za-z_]\w*)")


class Shell(Protocol):
    """The part of an IPython shell that the extension uses."""

    user_ns: dict[str, Any]
    magics_manager: Any

    def register_magic_function(self, func: Callable[..., Any], magic_kind: str, magic_name: str) -> None: ...

    def set_hook(self, name: str, hook: Callable[..., Any], *, str_key: str) -> None: ...


def load_ipython_extension(shell: Shell) -> None:
    """Add `%kubectl` and `%%kubectl` with completion to an IPython shell: `%load_ext kvolsched`.

    >>> from IPython.core.interactiveshell import InteractiveShell
    >>> load_ipython_extension(InteractiveShell.instance())
    """

    def kubectl(line: str, cell: str = "") -> None:
        """Run a kubectl command: `%kubectl get pods`, `%kubectl use c`, `%%kubectl apply -f -`."""
        run_magic(shell.user_ns, line, cell)

    def completer(_shell: Any, event: Any) -> list[str]:
        return complete_magic(shell.user_ns, event.text_until_cursor, event.symbol)

    setattr(kubectl, NO_EXPANSION, True)  # braces belong to JSONPath
    shell.register_magic_function(kubectl, "line_cell", NAME)
    for key in (f"%{NAME}", f"%%{NAME}"):
        shell.set_hook("complete_command", completer, str_key=key)


def unload_ipython_extension(shell: Shell) -> None:
    """Remove `%kubectl` and `%%kubectl` from an IPython shell.

    >>> from IPython.core.interactiveshell import InteractiveShell
    >>> load_ipython_extension(InteractiveShell.instance())
    >>> unload_ipython_extension(InteractiveShell.instance())
    """
    for kind in ("line", "cell"):
        shell.magics_manager.magics[kind].pop(NAME, None)
    shell.user_ns.pop(USED, None)


def run_magic(names: dict[str, Any], line: str, cell: str) -> None:
    """Run one command for the variables of a notebook, and print what kubectl prints."""
    words = line.split()
    try:
        if words[:1] == ["use"]:
            names[USED] = _used(names, words[1:])
            print(f'Switched to cluster "{names[USED]}".')
            return
        asked = _CLUSTER.search(line)
        cluster = find_cluster(names, asked[1] if asked else "")
    except LookupError as error:
        print(f"error: {error.args[0]}", file=sys.stderr)
        return
    done = cluster.kubectl(_with_variables(_CLUSTER.sub("", line), names), cell)
    names["_exit_code"] = done.code
    print(done.stdout, end="", flush=True)
    print(f"{done.stderr}({done.hint})\n" if done.hint else done.stderr, end="", file=sys.stderr)


def find_cluster(names: Mapping[str, Any], name: str) -> Cluster | Rescue:
    """Return the cluster that a command means.

    Raises:
        LookupError: the variable is no cluster, or there is none or more than one to choose from.
    """
    there = clusters(names)
    wanted = name or names.get(USED, "")
    if wanted:
        if wanted not in there:
            raise LookupError(f"{wanted} is no cluster; {_listed(there)}")
        return there[wanted]
    if DEFAULT in there:
        return there[DEFAULT]
    different = {id(cluster): cluster for cluster in there.values()}
    if len(different) == 1:
        return next(iter(different.values()))
    if not different:
        raise LookupError('there is no cluster yet; make one: c = kvolsched.scenario("zonal-example")')
    raise LookupError(f"which cluster? {_listed(there)}; write --cluster NAME, or once: %kubectl use NAME")


def clusters(names: Mapping[str, Any]) -> dict[str, Cluster | Rescue]:
    """Return the variables that hold clusters or pages of the pager, without those that IPython makes."""
    return {name: value for name, value in names.items() if isinstance(value, Cluster | Rescue) and name[:1] != "_"}


def complete_magic(names: Mapping[str, Any], before: str, symbol: str) -> list[str]:
    """Return what may stand at the cursor of a line such as `%kubectl get po`; `symbol` is the part to replace."""
    from ..kubectl import complete

    _, _, command = before.lstrip().partition(" ")
    start = command[: len(command) - len(symbol)]
    if re.search(r"(?:^|\s)--cluster[=\s]\s*$|^\s*use\s+$", start):
        return sorted(clusters(names))
    asked = _CLUSTER.search(start)
    try:
        meant = find_cluster(names, asked[1] if asked else "")
        cluster = meant.cluster if isinstance(meant, Rescue) else meant
    except LookupError:
        cluster = None
    found = complete(cluster, _CLUSTER.sub("", start) + symbol)
    head = start[start.rfind(" ") + 1 :]  # the part of the word that stays, such as `--output=`
    found += [] if start.strip() or symbol.startswith("-") else ["use"]
    found += ["--cluster"] if symbol.startswith("-") else []
    return [word.removeprefix(head) for word in found if word.startswith(head)]


def _used(names: Mapping[str, Any], words: list[str]) -> str:
    there = clusters(names)
    if len(words) != 1 or words[0] not in there:
        raise LookupError(f"{' '.join(words) or 'nothing'} is no cluster; {_listed(there)}")
    return words[0]


def _listed(there: Mapping[str, Cluster | Rescue]) -> str:
    return f"there are: {', '.join(sorted(there)) or 'none'}"


def _with_variables(line: str, names: Mapping[str, Any]) -> str:
    """Return a line with `$name` replaced outside single quotes, for variables that are texts or numbers."""

    def replaced(found: re.Match[str]) -> str:
        value = names.get(found["name"])  # what is quoted names none
        return str(value) if isinstance(value, str | int) else found[0]

    return _QUOTED_OR_VARIABLE.sub(replaced, line)
