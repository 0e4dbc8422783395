"""Laws of new names: made of parts, all different, valid, in their order; numbers compare alike, ordinals stay."""

import re
from ipaddress import ip_address, ip_network

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from kvolsched.api.kinds.name_syntax import check_label_value, check_port_name, check_subdomain
from kvolsched.api.kinds.selector import Requirement
from kvolsched.api.text.manifest import from_plain
from kvolsched.cli.redact import Redaction
from kvolsched.cli.redact import names as module
from kvolsched.cli.redact.names import NameParts, Names
from kvolsched.cli.redact.words import KEPT_PARTS, NAMES

PART = st.from_regex(r"[a-z][a-z0-9]{0,9}", fullmatch=True)


def replaced(*texts, salt=""):
    """The replacements of names, by one redaction."""
    return list(map(Redaction([{"kind": "X", "texts": list(texts)}], salt).names.name, texts))


@given(st.lists(PART, min_size=2, max_size=10, unique=True), st.text(max_size=2))
def test_names_that_are_made_of_parts_stay_so(parts, salt):
    """A name of parts becomes the name of their replacements, whatever stands between them; no two become one."""
    assume(not (KEPT_PARTS | NAMES) & set(parts))  # words that stay, as no and yes do, are in no order with others
    whole = "-".join(parts), ".".join(parts), f"{parts[0]}/{parts[1]}", f"{parts[0]}__{parts[1]}", f"{parts[0]},{parts[1]}"
    *new, dashed, dotted, slashed, zones, listed, generated = replaced(*parts, *whole, f"{whole[0]}-", salt=salt)
    assert ("-".join(new), ".".join(new), f"{new[0]}/{new[1]}", f"{new[0]}__{new[1]}", f"{new[0]},{new[1]}") == (dashed, dotted, slashed, zones, listed)
    assert f"{dashed}-" == generated  # the generateName of pods
    assert len(parts) == len(set(new))
    assert [new[parts.index(part)] for part in sorted(parts)] == sorted(new)


@given(st.lists(st.text(min_size=1, max_size=20), min_size=2, max_size=8, unique=True))
@example(["10.0.0.1", "10.0.0.0/24", "10.0.0.5/24", "fd00::1", "::1", "0.0.0.0/0", "300.1.1.1", "1.2.3.4.5"])
@example(["a" * 63, "-".join("abcdefghijklmnopqrstuvwxyz"), "0", "00", "007", "-5", "+5", "9" * 19, "9" * 30])
def test_no_two_texts_become_one(texts):
    """Whatever stands in a dump: different texts stay different, and equal ones equal."""
    assert len(texts) == len(set(replaced(*texts)))
    assert replaced(*texts) == replaced(*texts)


def test_what_stands_between_slashes_is_replaced_as_alone():
    """A part of a path that is an address, a number, a word that stays or a name is the same thing as it is alone."""
    parts = ["web", "10.0.0.1", "007", "fd00::1", "true", "hugepages-2Mi", "9" * 19]
    *new, path = replaced(*parts, "/".join(parts))
    assert ("/".join(new), ["true", "hugepages-2Mi"]) == (path, [each for each in new if each in parts])


def test_networks_keep_their_size_and_stay_apart():
    """A network becomes another one of its size, however large it is and whatever others there are; that of all stays."""
    texts = ["10.1.0.0/16", "10.2.0.0/16", "192.168.0.0/24", "128.0.0.0/1", "0.0.0.0/1", "64.0.0.0/2", "::/0", "0.0.0.0/0", "fd12::/64", "8000::/1"]
    found = replaced(*texts)
    old, new = ([ip_network(text) for text in each] for each in (texts, found))
    assert [(each.version, each.prefixlen) for each in old] == [(each.version, each.prefixlen) for each in new]
    assert (len(texts), ["::/0", "0.0.0.0/0"]) == (len(set(found)), found[6:8])
    assert [True] * 3 == [each.subnet_of(ip_network("10.0.0.0/8")) for each in new[:3]]


@given(st.from_regex(r"[a-z0-9]([-a-z0-9.]{0,120}[a-z0-9])?", fullmatch=True), st.from_regex(r"([A-Za-z0-9][-A-Za-z0-9_.]{0,61})?[A-Za-z0-9]", fullmatch=True))
@example("a.b-c" * 50, "A-b_c.d" * 9)
def test_valid_names_stay_valid(name, value):
    """A DNS name, a value of a label and the name of a port are what the API server takes, also afterwards."""
    found = Redaction([{"kind": "X", "texts": [name, value]}], "").names
    assert check_subdomain(name) or [] == check_subdomain(found.name(name))
    assert check_label_value(value) or [] == check_label_value(found.name(value))
    assert [] == check_port_name(found.word(value))


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=6), st.integers(-(2**63), 2**63 - 1), st.sampled_from(["Gt", "Lt", "In", "NotIn"]))
@example([0, 1, 10, 9], 9, "Gt")
def test_numbers_compare_alike(numbers, bound, operator):
    """Gt, Lt, In and NotIn say the same of numbers in labels; zero and signs stay."""
    new = list(map(int, replaced(*map(str, (*numbers, bound)))))
    for old, number in zip(numbers, new, strict=False):
        both = [Requirement(key="k", operator=operator, values=(str(limit),)).matches({"k": str(one)})
                for one, limit in ((old, bound), (number, new[-1]))]  # fmt: skip
        assert both[0] == both[1]
        assert (old > 0, old < 0) == (number > 0, number < 0)


@pytest.mark.parametrize(("text", "compares"), [
    (str(2**63 - 1), True), (str(2**63), False), ("9" * 19, False), (str(-(2**63)), True), (str(-(2**63) - 1), False)])
def test_a_number_too_large_to_compare_stays_one(text, compares):
    """Gt and Lt read integers of 64 bits: what is larger lies on neither side of zero, before and after."""
    side = Requirement(key="k", operator="Lt" if text[0] == "-" else "Gt", values=("0",))

    assert [compares] * 2 == [side.matches({"k": each}) for each in (text, *replaced(text))]


def test_ordinals_of_sets_stay_and_other_numbers_go():
    """web-0 of a StatefulSet keeps its ordinal, also in its claims' names; an account's number does not stay anywhere."""
    sets = {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "web-1", "namespace": "customer-48213"}}
    texts = ["web-1", "web-1-0", "data-web-1-12", "web-1-0-scratch", "scratch", "data", "web-48213", "48213"]
    found = Redaction([sets, {"kind": "X", "texts": texts}], "").names
    owner, pod, claim, scratch_claim, scratch, data, *others = map(found.name, texts)
    assert (f"{owner}-0", f"{data}-{owner}-12", f"{owner}-0-{scratch}") == (pod, claim, scratch_claim)
    assert [] == [name for name in (*others, found.name("customer-48213")) if "48213" in name]


class Draws:
    """Draws that always are the largest step, and the network 10.3."""

    def __init__(self, *_seed):
        pass

    def randint(self, least, most):
        """Return the step: names are 1 to 9 apart."""
        assert (1, 9) == (least, most)
        return most

    def randrange(self, most):
        """Return where addresses begin."""
        assert most == 256
        return 3


def nth(number, width=3):
    """Return the word with this number: its first letter of 20, the others of 27."""
    first, further = "bcdfghjklmnpqrstvwxz", "2456789bcdfghjklmnpqrstvwxz"
    digits = [number // 27**place % 27 for place in range(width - 1)][::-1]
    return first[number // 27 ** (width - 1)] + "".join(further[digit] for digit in digits)


@pytest.fixture
def drawn(monkeypatch):
    """Let every step between names be 9."""
    monkeypatch.setattr(module.random, "Random", Draws)


@pytest.mark.usefixtures("drawn")
def test_each_part_has_the_next_word():
    """Parts in their order, each so far from the one before; a word that stays is left out, and what comes later stands behind all."""
    found = NameParts({"b", "a", "c"})
    words = module._Words(found.parts, {nth(18)}, Draws())

    assert {"a": nth(9), "b": nth(27), "c": nth(36)} == words
    assert (nth(45), nth(27)) == (words["new"], words["b"])
    words.number = 20 * 27 * 27 - 10
    assert (20 * 27 * 27 - 1, nth(20 * 27 * 27 - 1), nth(1, 4)) == (words.number + 9, words["last"], words["longer"])
    assert [3, 3, 4] == [module._Words({f"p{number}" for number in range(count)}, set(), Draws()).width for count in (0, 1618, 1619)]


@pytest.mark.usefixtures("drawn")
def test_each_number_and_address_has_the_next_one():
    """In their order, zero and loopback as they are; networks of one size beside each other, from the start of the private ones."""
    found = NameParts(numbers={10, 0, 9}, addresses={ip_address(text) for text in ("fd12::1", "10.0.0.2", "9.9.9.9", "127.0.0.1", "0.0.0.0", "::1")},  # noqa: S104
                      networks={ip_network("10.9.0.0/16"), ip_network("1.0.0.0/8"), ip_network("10.8.0.0/16"), ip_network("fd12::/64")})
    numbers, addresses = module._Numbers(found.numbers, Draws()), module._Addresses(found, Draws())

    assert ({0: 0, 9: 9, 10: 18}, 27) == (dict(numbers), numbers[5])
    assert {"0.0.0.0": "0.0.0.0", "9.9.9.9": "10.3.0.2", "10.0.0.2": "10.3.0.3", "127.0.0.1": "127.0.0.1", "::1": "::1",  # noqa: S104
            "fd12::1": "fd00::3:6"} == {str(old): new for old, new in addresses.items()}
    assert {"1.0.0.0/8": "10.0.0.0/8", "10.8.0.0/16": "10.1.0.0/16", "10.9.0.0/16": "10.2.0.0/16", "fd12::/64": "fd00:0:0:3::/64"} == {
        str(old): new for old, new in addresses.networks.items()}
    assert "10.3.0.7" == addresses[ip_address("8.8.8.8")]


@pytest.mark.usefixtures("drawn")
@pytest.mark.parametrize(("text", "new"), [
    ("a", "{a}"), ("a-b.c/a_b", "{a}-{b}.{c}/{a}_{b}"), ("a, b=c; (a)", "{a}, {b}={c}; ({a})"), ("a: b. c!?", "{a}: {b}. {c}!?"), ("", ""), ("12", "9"),
    ("-12", "-9"), ("+012", "+09"), ("0", "0"), ("a-12", "{a}-{12}"), ("1.2.3.4", "10.3.0.1"), ("1.2.3.4/24", "10.3.0.1/24"), ("10.0.0.0/24", "10.0.0.0/24"),
    ("a/1.2.3.4", "{a}/10.3.0.1"), ("a@1.2.3.4", "{a}@10.3.0.1"), ("kubernetes.io/hostname", "kubernetes.io/hostname"), ("kubernetes.io/a", "kubernetes.io/{a}"),
    ("a.kubernetes.io/b", "{a}.kubernetes.io/{b}"), ("a.k8s.io", "{a}.k8s.io"), ("hugepages-2Mi", "hugepages-2Mi"),
    ("requests.hugepages-2Mi", "requests.hugepages-2Mi"), ("hugepages-2Xi", "{hugepages}-{2Xi}"), ("s-0", "{s}-0"), ("a-s-10", "{a}-{s}-10"),
    ("s-0-b", "{s}-0-{b}"), ("s-01", "{s}-{01}"), ("s-100000", "{s}-{100000}"), ("b-0", "{b}-{0}"), ("true", "true"), ("ä-b", "{ä}-{b}"),
    ("9223372036854775807", "18"), ("9223372036854775808", "{9223372036854775808}"), ("-9223372036854775808", "-27"),
    ("-9223372036854775809", "{-9223372036854775809}"),
])  # fmt: skip
def test_a_text_is_replaced_part_by_part(text, new):
    """Words, numbers and addresses within any punctuation; ordinals of StatefulSets, sizes of pages and Kubernetes' domains stay."""
    whole = ["9223372036854775808", "-9223372036854775809"]
    known = ["01", "0", "100000", "12", "2Xi", "a", "b", "c", "hugepages", "s", "ä", *whole]
    found = NameParts(set(known), {12, 2**63 - 1, 2**63}, {ip_address("1.2.3.4")}, {ip_network("10.0.0.0/24")}, {"s"})
    words = {part: nth(9 * place) for place, part in enumerate(sorted(known), 1)}

    assert re.sub(r"{(.*?)}", lambda part: words[part[1]], new) == Names(found, "").name(text)


def test_what_names_are_made_of_is_collected():
    """From typed and plain objects: parts, numbers, addresses and networks of every text, of keys, too; each object once."""
    found, shared = NameParts(), {"deep": ["web-0", ("10.0.0.5/24", None, 5, True, 2.5)]}
    for each in (shared, shared, from_plain({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "my-shop"}}), "alone: 007 ::1"):
        found.add(each)
    found.split()

    assert {"deep", "web", "0", "my", "shop", "alone", "007"} <= found.parts
    assert ({7, 24}, {ip_address("10.0.0.5"), ip_address("::1")}, {ip_network("10.0.0.0/24")}) == (found.numbers, found.addresses, found.networks)
    assert "2" not in found.parts


@pytest.mark.parametrize(("letters", "whole"), [("abcdefghij", False), ("abcdefghijk", True)])
def test_a_name_of_too_many_parts_is_collected_whole(letters, whole):
    """Ten parts with what stands between them fit a DNS label when each is replaced, eleven do not."""
    found, text = NameParts(), "-".join(letters)
    found.add([text, f"{text}, {text}"])
    found.split()

    assert ({text} if whole else set(letters)) == found.parts


def test_replaced_names_are_counted_by_sort():
    """Once each, whatever sort asks again; addresses by themselves, and what stays not at all."""
    names = Redaction([{"kind": "X", "texts": ["a", "b", "1.2.3.4"]}], "").names
    for text, sort in (("a", "labels"), ("a", "images"), ("b", ""), ("1.2.3.4", "labels"), ("true", "labels"), ("c", "labels")):
        names.name(text, sort) if sort else names.name(text)

    assert {"labels": 2, "other texts": 1, "addresses": 1} == names.counts


@pytest.mark.parametrize(("text", "limit"), [("a" * 63, 10), ("a" * 64, 42), ("a" * 253, 42), ("a" * 254, 254), ("", 10)])
def test_a_long_text_of_too_many_parts_is_one_word(text, limit):
    """So many parts of the least length, with what stands between them, fit a DNS label or a subdomain."""
    assert limit == module._max_parts(text)
