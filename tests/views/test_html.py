"""Words as HTML: what a browser may break, and what it must not read as markup."""

import pytest

from kvolsched.views.drawing.html import code, joined, words


@pytest.mark.parametrize(("content", "drawn"), [
    ("topology.kubernetes.io/zone=zone-b", "topology.<wbr/>kubernetes.<wbr/>io/<wbr/>zone=<wbr/>zone-b"),
    ("ProvisioningSucceeded", "Provisioning<wbr/>Succeeded"),
    ("FailedScheduling", "Failed<wbr/>Scheduling"),
    ("metadata.annotations[volume.kubernetes.io/selected-node]",
     "metadata.<wbr/>annotations<wbr/>[volume.<wbr/>kubernetes.<wbr/>io/<wbr/>selected-node]"),
    ("spec.nodeName is status.capacity.storage", "spec.nodeName is status.<wbr/>capacity.<wbr/>storage"),
    ("a<b>.kubernetes.io/zone&more", "a&lt;b&gt;.<wbr/>kubernetes.<wbr/>io/<wbr/>zone&amp;more"),
])  # fmt: skip
def test_long_words_break_where_a_reader_would(content, drawn):
    """A long path breaks after its punctuation, a long name before a capital; short words and entities stay whole."""
    assert drawn == joined(content)
    assert f"<span>{drawn}</span>" == words(content) == joined(words(content))


def test_code_is_no_pre_element():
    """Code has the colours and the size of the sheet: JupyterLab has stronger rules for <pre>."""
    assert "<pre" not in code(["+ new", "- gone"])
