"""The flags of kubectl's commands, and how they are read from words (mirrors pflag as kubectl v1.36 uses it)."""

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches

import attrs

from ...api.text.yaml_text import packaged_data


class CommandError(Exception):
    """A command that kubectl refuses: what it prints as its error, its exit code, and a hint of what there is."""

    def __init__(self, words: str, hint: str = "", code: int = 1) -> None:
        super().__init__(words)
        self.words, self.hint, self.code = words, hint, code


@attrs.frozen
class Flag:
    """A flag: its short name, the kind of its value, and whether it has an effect here."""

    short: str = ""
    value: str = "text"  # text, bool, number, or several (of which each is kept)
    simulated: bool = True


@attrs.frozen
class Words:
    """The words after a verb: arguments, and flags by their long names."""

    arguments: tuple[str, ...]
    flags: Mapping[str, tuple[str, ...]]

    def text(self, flag: str, default: str = "") -> str:
        """Return the last value of a flag."""
        return self.flags.get(flag, (default,))[-1]

    def several(self, flag: str) -> list[str]:
        """Return every value of a flag; commas separate values too."""
        return [part for value in self.flags.get(flag, ()) for part in value.split(",") if part]

    def has(self, flag: str) -> bool:
        """Say whether a flag without value is set."""
        return self.text(flag, "false") == "true"


WITHOUT_EFFECT = " without effect"


def _flags(parts: Iterable[str | Mapping[str, str]]) -> Mapping[str, Flag]:
    """Return the flags that words of `flags.yaml` describe: `-w bool without effect`."""
    found = [(name, told) for part in parts for name, told in (
        _TABLE["groups"][part] if isinstance(part, str) else part).items()]  # fmt: skip
    read = ((name, told.removesuffix(WITHOUT_EFFECT).rpartition(" "), told) for name, told in found)
    return {name: Flag(short.removeprefix("-"), value, simulated=not told.endswith(WITHOUT_EFFECT))
            for name, (short, _, value), told in read}  # fmt: skip


_TABLE = packaged_data(__package__, "flags.yaml")
EVERYWHERE = _flags(["everywhere"])
FLAGS: Mapping[str, Mapping[str, Flag]] = {name: _flags(parts) for name, parts in _TABLE["commands"].items()}
OTHER_VERBS = _TABLE["other_verbs"].split()
VERBS = tuple(dict.fromkeys(command.partition(" ")[0] for command in FLAGS))
BOOLEANS = {"true": "true", "1": "true", "t": "true", "false": "false", "0": "false", "f": "false"}
OTHER_ROLLOUTS = ("history", "pause", "resume", "undo")
USAGE = "kubectl controls a simulated cluster. These commands are simulated:\n  {}\n"


def find_command(words: Sequence[str]) -> tuple[str, list[str]]:
    """Return the command that words name (`get`, `rollout status`), and the other words.

    Raises:
        CommandError: there is no such command, or it is not simulated.
    """
    rest = list(words)
    place = _next_argument(rest, 0)
    if rest[place : place + 1] in ([], ["help"]):
        only_flags = place == len(rest) and bool(rest)
        raise CommandError(USAGE.format("\n  ".join(FLAGS)).rstrip("\n"), code=int(only_flags))
    verb = rest.pop(place)
    if verb == "rollout":
        place = _next_argument(rest, place)
        if place == len(rest):
            raise CommandError(
                "error: required rollout subcommand not specified\nSee 'kubectl rollout -h' for help and examples"
            )
        verb = f"rollout {rest.pop(place)}"
    if verb in FLAGS:
        return verb, rest
    last = verb.removeprefix("rollout ")
    if last in (OTHER_ROLLOUTS if verb != last else OTHER_VERBS):
        raise CommandError(f"error: kubectl {verb} is not simulated; these commands are: {', '.join(FLAGS)}")
    if verb != last:
        raise CommandError(f"error: unknown command {_go(verb)}\nSee 'kubectl rollout -h' for help and examples")
    near = get_close_matches(verb, VERBS, n=2, cutoff=0.6)
    meant = "\n\nDid you mean this?\n" + "\n".join(f"\t{each}" for each in near) if near else ""
    raise CommandError(f'error: unknown command {_go(verb)} for "kubectl"{meant}')


def _next_argument(words: Sequence[str], place: int) -> int:
    """Return the place of the next word that is no flag and no value of one."""
    while place < len(words) and words[place].startswith("-") and words[place] != "-":
        place += 2 if words[place] in ("-n", "--namespace") else 1
    return min(place, len(words))


@attrs.define
class _Reader:
    """Reads the words of a command. Mutable: it takes them one by one, and keeps the values of flags."""

    command: str
    rest: list[str]
    flags: dict[str, tuple[str, ...]] = attrs.field(factory=dict)

    @property
    def usage(self) -> str:
        return f"See 'kubectl {self.command} --help' for usage."

    def read(self) -> Words:
        """Take every word."""
        known = {**EVERYWHERE, **FLAGS[self.command]}
        arguments: list[str] = []
        while self.rest:
            word = self.rest.pop(0)
            if word == "--":
                arguments += self.rest
                break
            if word.startswith("--"):
                name, equals, value = word[2:].partition("=")
                if name not in known:
                    near = " or ".join(f"--{each}" for each in get_close_matches(name, known, n=2, cutoff=0.6))
                    raise CommandError(f"error: unknown flag: --{name}\n{self.usage}",
                                       hint=f"did you mean {near}?" if near else "")  # fmt: skip
                self.take(name, known[name], value if equals else None, word)
            elif word.startswith("-") and word != "-":
                self.take_shorts(word, known)
            else:
                arguments.append(word)
        return Words(tuple(arguments), self.flags)

    def take_shorts(self, word: str, known: Mapping[str, Flag]) -> None:
        """Keep flags that are written as letters; the last one may have its value behind it."""
        shorts = {flag.short: name for name, flag in known.items() if flag.short}
        letters = word[1:]
        while letters:
            letter, letters = letters[0], letters[1:]
            if letter not in shorts:
                raise CommandError(f"error: unknown shorthand flag: '{letter}' in {word}\n{self.usage}")
            name, flag = shorts[letter], known[shorts[letter]]
            if flag.value != "bool" or letters.startswith("="):
                self.take(name, flag, letters.removeprefix("=") if letters else None, f"'{letter}' in {word}")
                return
            self.take(name, flag, None, word)

    def take(self, name: str, flag: Flag, value: str | None, word: str) -> None:
        """Keep the value of one flag; without one it is the next word."""
        if not flag.simulated:
            usable = ", ".join(f"--{each}" for each, known in FLAGS[self.command].items() if known.simulated)
            raise CommandError(f"error: the flag --{name} is not simulated; kubectl {self.command} has: {usable}, "
                               "--namespace")  # fmt: skip
        if value is None and flag.value == "bool":
            value = "true"
        elif value is None:
            if not self.rest:
                raise CommandError(f"error: flag needs an argument: {word}\n{self.usage}")
            value = self.rest.pop(0)
        read = BOOLEANS.get(value.lower()) if flag.value == "bool" else value
        if read is None or (flag.value == "number" and not value.removeprefix("-").isdecimal()):
            shown = f"-{flag.short}, --{name}" if flag.short else f"--{name}"
            parse = "ParseBool" if flag.value == "bool" else "ParseInt"
            raise CommandError(f"error: invalid argument {_go(value)} for {_go(shown)} flag: strconv.{parse}: parsing "
                               f"{_go(value)}: invalid syntax\n{self.usage}")  # fmt: skip
        self.flags[name] = (*self.flags.get(name, ()), read)


def read_flags(command: str, words: Sequence[str]) -> Words:
    """Return the arguments and flags of a command.

    Raises:
        CommandError: there is no such flag, a value is missing or wrong, or the flag is not simulated.
    """
    return _Reader(command, list(words)).read()


def _go(text: str) -> str:
    """Return a text in double quotes."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
