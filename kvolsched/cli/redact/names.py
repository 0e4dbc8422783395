"""New names for old ones: by parts and in their order, so that names made of others stay so; numbers and addresses too.

A part of a name becomes a word of one length (`data-web-0` becomes `bqf-cxv-0`), a number a number, an address an
address. Names are replaced one way wherever they stand, as functions of their text alone. No manifest is known here.
"""

import ipaddress
import random
import re
from collections import Counter
from functools import cache, partial
from typing import Any

import attrs

from .words import KEPT, KEPT_DOMAINS, KEPT_PARTS, NAMES

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network
Interface = ipaddress.IPv4Interface | ipaddress.IPv6Interface

_FIRST, _FURTHER = "bcdfghjklmnpqrstvwxz", "2456789bcdfghjklmnpqrstvwxz"  # no vowels: no word is one of a language
_MIN_WIDTH = 3
_MAX_GAP = 9  # between neighbours, so that a salt changes every name
_MAX_INTEGER = 2**63  # larger numbers are none for Gt and Lt
_LABEL, _SUBDOMAIN = 63, 253  # characters of a DNS label and of a subdomain
_PIECES = re.compile(r"(\s+|__|[,;|&<>()\[\]{}\"'=])")  # what stands between names
_PART = re.compile(  # a uid, an address, an address in a host's name, or the text between punctuation
    r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|(?<![0-9.])\d{1,3}(?:\.\d{1,3}){3}(?![0-9.])"
    r"|\d{1,3}(?:-\d{1,3}){3}|[^\x00-/:-@\[-`{-\x7f]+"
)
_ENDS = ":.!?"  # of a sentence, not of a name
_NUMBER = re.compile(r"([+-]?)(0*)([0-9]{1,19})")
_ORDINAL = re.compile(r"-(?:0|[1-9][0-9]{0,4})(?=-|$)")
_HUGE_PAGES = re.compile(r"(?:(?:limits|requests)\.)?hugepages-[0-9]+[KMGT]i")
_ADDRESS = re.compile(r"[0-9]{1,3}(?:\.[0-9]{1,3}){3}|[0-9a-fA-F:.]*:[0-9a-fA-F:.]*")
_SUFFIXES = (".kubernetes.io", ".k8s.io")  # say that a key or resource is below Kubernetes, not whose it is


@attrs.define
class NameParts:
    """What the names of a dump may be made of, from every text of it, whatever it is. Mutable."""

    parts: set[str] = attrs.Factory(set)
    numbers: set[int] = attrs.Factory(set)
    addresses: set[Address] = attrs.Factory(set)
    networks: set[Network] = attrs.Factory(set)
    sets: set[str] = attrs.Factory(set)  # names of StatefulSets
    _texts: set[str] = attrs.Factory(set)
    _shared: set[int] = attrs.Factory(set)  # ids of values that live as long as the dump

    def add(self, value: Any) -> None:
        """Collect all texts of an object, typed or plain; what objects share is read once."""
        texts, shared = self._texts, self._shared
        stack = [value]
        while stack:
            item = stack.pop()
            cls: Any = type(item)
            if cls is str:
                texts.add(item)
            elif id(item) not in shared:
                shared.add(id(item))
                if isinstance(item, dict):
                    stack += item
                    stack += item.values()
                elif cls is tuple or cls is list:
                    stack += item
                else:
                    stack += map(partial(getattr, item), _attributes(cls))

    def split(self) -> None:
        """Split the collected texts into what they are made of."""
        for text in self._texts:
            for piece in _PIECES.split(text):
                self._add_whole(piece)
                for segment in piece.rstrip(_ENDS).split("/"):
                    self._add_whole(segment)
                    parts = _PART.findall(segment)
                    self.parts.update(parts if len(parts) <= _max_parts(segment) else (segment,))

    def _add_whole(self, text: str) -> None:
        number = _NUMBER.fullmatch(text)
        if number is not None:
            self.numbers.add(int(number[3]))
        elif (address := as_address(text)) is not None:
            self.addresses.add(address)
        elif (interface := as_interface(text)) is not None:
            self.networks.add(interface.network)
            self.addresses.add(interface.ip)


@cache
def _attributes(cls: Any) -> tuple[str, ...]:
    return tuple(field.name for field in attrs.fields(cls)) if attrs.has(cls) else ()


class Names:
    """The new names of a dump. Mutable: it remembers every name that it was asked for.

    Args:
        found: what the dump's names are made of; what is missing is given names behind all others.
        salt: equal dumps and salts get equal names.
    """

    def __init__(self, found: NameParts, salt: str) -> None:
        draws = random.Random(f"names of {salt}")
        reserved = {part for word in KEPT | KEPT_PARTS for part in _PART.findall(word)}
        self._words = _Words(found.parts, reserved, draws)
        self._numbers = _Numbers(found.numbers, draws)
        self._addresses = _Addresses(found, draws)
        self._sets = found.sets
        self.new_names: dict[str, str] = {}
        self.new_words: dict[str, str] = {}
        self.counts: Counter[str] = Counter()

    def name(self, text: str, sort: str = "other texts") -> str:
        """Return the replacement of a name or of a text with names; a new one counts as of this sort."""
        new = self.new_names.get(text)
        if new is None:
            pieces = enumerate(_PIECES.split(text))
            new = "".join(each if place % 2 else self._piece(each) for place, each in pieces)
            self.new_names[text] = new
            if new != text:
                self.counts["addresses" if _ADDRESS.fullmatch(text) else sort] += 1
        return new

    def word(self, text: str) -> str:
        """Return one word for a text: 15 characters at most, as the name of a port may have."""
        return self.new_words.setdefault(text, self._words[text])

    def _piece(self, text: str) -> str:
        """Return the replacement of what stands between separators: a name, with or without others before slashes."""
        whole = self._whole(text)
        if whole is not None:
            return whole
        name = text.rstrip(_ENDS)
        if name != text:
            return self._piece(name) + text[len(name) :]
        return "/".join(map(self._segment, text.split("/")))

    def _whole(self, text: str) -> str | None:
        """Return the replacement of a text that is one thing: kept, a number, an address, a network; else None."""
        if text in KEPT or not text or _HUGE_PAGES.fullmatch(text):
            return text
        number = _NUMBER.fullmatch(text)
        if number is not None:
            sign, zeros, digits = number.groups()
            if int(digits) < _MAX_INTEGER + (sign == "-"):
                return f"{sign}{zeros}{self._numbers[int(digits)]}"
            return self._words[text]
        address = as_address(text)
        if address is not None:
            return self._addresses[address]
        interface = as_interface(text)
        if interface is None:
            return None
        if interface.ip == interface.network.network_address:
            return self._addresses.network(interface.network)
        return f"{self._addresses[interface.ip]}/{interface.network.prefixlen}"

    def _segment(self, text: str) -> str:
        whole = self._whole(text)
        if whole is not None:
            return whole
        if text in KEPT_DOMAINS:
            return text
        if len(_PART.findall(text)) > _max_parts(text):
            return self._words[text]
        suffix = next((suffix for suffix in _SUFFIXES if text.endswith(suffix)), "")
        if suffix:
            return self._parts(text.removesuffix(suffix)) + suffix
        return (self._of_set(text) if self._sets else "") or self._parts(text)

    def _of_set(self, text: str) -> str:
        """Return the replacement of the name of a StatefulSet's pod or its claim, which keeps its ordinal, or ""."""
        for ordinal in _ORDINAL.finditer(text):
            before, after = text[: ordinal.start()], text[ordinal.end() :]
            for start in (0, *(dash.end() for dash in re.finditer("-", before))):
                if before[start:] in self._sets:
                    front = f"{self._segment(before[: start - 1])}-" if start else ""
                    behind = f"-{self._segment(after[1:])}" if after else ""
                    return f"{front}{self.name(before[start:])}{ordinal[0]}{behind}"
        return ""

    def _parts(self, text: str) -> str:
        return _PART.sub(self._part, text)

    def _part(self, match: re.Match[str]) -> str:
        part = match.group()
        if part in KEPT_PARTS or part in NAMES:
            return part
        address = as_address(part)
        return self._addresses[address] if address is not None else self._words[part]


class _Words(dict[str, str]):
    """A new word for each part, of one length and in the order of the parts."""

    def __init__(self, parts: set[str], reserved: set[str], draws: random.Random) -> None:
        super().__init__()
        self.number, self.reserved, self.draws = 0, reserved, draws
        self.width = _MIN_WIDTH
        while self._capacity() <= (len(parts) + 1) * _MAX_GAP:
            self.width += 1
        for part in sorted(parts):
            self.__missing__(part)

    def __missing__(self, part: str) -> str:
        """Give a part the next word; one that was not collected gets one behind all others."""
        while True:
            self.number += self.draws.randint(1, _MAX_GAP)
            if self.number >= self._capacity():
                self.width, self.number = self.width + 1, 1
            word, rest = "", self.number
            for _ in range(self.width - 1):
                rest, digit = divmod(rest, len(_FURTHER))
                word = _FURTHER[digit] + word
            word = _FIRST[rest] + word
            if word not in self.reserved:
                self[part] = word
                return word

    def _capacity(self) -> int:
        return int(len(_FIRST) * len(_FURTHER) ** (self.width - 1))


class _Numbers(dict[int, int]):
    """A new number for each number, in their order; zero stays, and so do signs."""

    def __init__(self, numbers: set[int], draws: random.Random) -> None:
        super().__init__({0: 0})
        self.last, self.draws = 0, draws
        for number in sorted(numbers - {0}):
            self.__missing__(number)

    def __missing__(self, number: int) -> int:
        self.last += self.draws.randint(1, _MAX_GAP)
        self[number] = self.last
        return self.last


class _Addresses(dict[Address, str]):
    """A private address for each address, in their order, and a network of the same size for each network."""

    def __init__(self, found: NameParts, draws: random.Random) -> None:
        super().__init__()
        self.start, self.networks = draws.randrange(256), dict[Network, str]()
        for address in sorted(found.addresses, key=lambda address: (address.version, int(address))):
            self.__missing__(address)
        for network in sorted(found.networks, key=lambda net: (net.version, net.prefixlen, int(net.network_address))):
            self.network(network)

    def __missing__(self, address: Address) -> str:
        keeps = address.is_unspecified or address.is_loopback
        self[address] = str(address if keeps else _private(address.version) + self.start * 2**16 + len(self) + 1)
        return self[address]

    def network(self, network: Network) -> str:
        """Return a network of the same size; that of all addresses stays."""
        if network not in self.networks:
            size = network.max_prefixlen - network.prefixlen
            first = int(_private(network.version)) + (len(self.networks) << size)
            first = first % 2**network.max_prefixlen >> size << size
            self.networks[network] = f"{type(network[0])(first)}/{network.prefixlen}"
        return self.networks[network]


def _private(version: int) -> Any:
    return ipaddress.IPv4Address("10.0.0.0") if version == 4 else ipaddress.IPv6Address("fd00::")


def as_address(text: str) -> Address | None:
    """Return the IP address that a text is, or None."""
    if _ADDRESS.fullmatch(text) is None:
        return None
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None


def as_interface(text: str) -> Interface | None:
    """Return the address with the size of its network that a text is (10.0.0.0/24), or None."""
    address, slash, bits = text.partition("/")
    if not slash or not bits.isdigit() or _ADDRESS.fullmatch(address) is None:
        return None
    try:
        return ipaddress.ip_interface(text)
    except ValueError:
        return None


def _max_parts(text: str) -> int:
    """Return of how many parts a text may be made, so that it stays as short as its syntax wants."""
    limit = next((limit for limit in (_LABEL, _SUBDOMAIN) if len(text) <= limit), 0)
    return limit // (_MIN_WIDTH + 3) if limit else len(text)
