"""One invariant for each picture: over hostile and long names, narrow and wide, words stay inside, apart, and words."""

import re
from functools import partial

import pytest

import kvolsched
from kvolsched import decode
from kvolsched.questions.explain import Passes, PassRow, Story, StoryRow
from kvolsched.questions.predict import predict
from kvolsched.views.frame import Mark
from kvolsched.views.pages import decode as decode_picture
from kvolsched.views.pages import differences, fix, may, searches, turns, why, why_causes
from kvolsched.views.pages import predict as predict_picture
from kvolsched.views.pages.differences import DifferenceRow, Differences
from kvolsched.views.pages.predict import rows_of as predicted
from kvolsched.views.pages.why_card import card_of
from kvolsched.views.pictures import lanes, log, what_if
from kvolsched.views.pictures.picture import NAMED, PICTURES
from kvolsched.views.pictures.what_if import WhatIfRows

from . import (
    frames,
    test_decode_picture,
    test_fix_cards,
    test_ledgers,
    test_may_picture,
    test_what_if,
    test_why,
)
from .pages import faults as faults_of
from .placed import misplaced

WIDTHS = (520, 1240)
MARKUP = '<script>alert("x")</script>'
LONG = "a-very-long-name-that-someone-generated-from-a-template-" * 2


def of_frames():
    """Every picture of a frame, and the lines that the panel draws."""
    for name, frame in (("hostile", frames.hostile()), ("long", frames.long_names()), ("many", frames.many(200))):
        for each in PICTURES:
            yield f"{each.name} {name}", lambda width, each=each, frame=frame: each.svg(frame, min(width, each.widest))
        lines = (partial(log.draw_written, selection="", open_=False), partial(log.draw_recent, selection=""), partial(lanes.draw, fold=True))
        for number, draw in enumerate(lines):
            yield f"line {number} {name}", lambda width, draw=draw, frame=frame: draw(frame, width)


def of_ledgers():
    """Every form of a ledger."""
    for name, frame in test_ledgers.DRAWN.items():
        each = NAMED["skew" if frame.skew else "capacity"]
        yield f"ledger {name}", lambda width, each=each, frame=frame: each.svg(frame, min(width, each.widest))


def of_decode():
    """Summaries with many clauses, a cut one, one with a stranger's words, one that no table has."""
    sentences = (test_decode_picture.BOTH, test_decode_picture.WHOLE, test_decode_picture.LONG, test_decode_picture.CUT,
                 f"0/3 nodes are available: 3 {MARKUP}", f"{MARKUP} {LONG}")  # fmt: skip
    for number, sentence in enumerate(sentences):
        rows = decode(sentence)
        yield f"decode {number}", lambda width, rows=rows: decode_picture.draw(rows, width)


def of_fix():
    """Cards of fixes, and of one that was tried."""
    for name, asked in test_fix_cards.SHOWN:
        page = test_fix_cards.rows(name, asked)
        yield f"fix {asked}", lambda width, page=page: fix.draw(page, width)


def of_may():
    """Patches in full and in short rows, over few and many nodes and long names."""
    gated = test_may_picture.gated
    for number, cluster in enumerate((gated(), gated(12), gated(2, "ip-10-0-{number}.{zone}." + "x" * 50))):
        page = cluster.may("nightly", *test_may_picture.ALL)
        yield f"may {number}", lambda width, page=page: may.draw(page, width)
    page = gated(8, LONG[:50] + "{zone}{number}").may("nightly", *test_may_picture.ALL * 3)
    yield "may short", lambda width: may.draw(page, width) + may.draw(page, width, "patch/2")


def of_predict():
    """Each question asked, answered and revealed."""
    for ask in ("node", "plugin", "volume", "end", "order"):
        asked = predict(kvolsched.scenario("zonal-example"), f"{MARKUP}?", ask=ask)
        pages = [predicted(asked)]
        for number in range(1, len(asked.candidates) + 1):
            asked.answer(number)
        pages += [predicted(asked), predicted(asked.give_up())]
        for number, page in enumerate(pages):
            yield f"predict {ask} {number}", lambda width, page=page: predict_picture.draw(page, width)


def of_why():
    """Cards of every kind of answer, and the causes of all pods."""
    for name, asked in (("storage", "kafka-2"), ("storage", "huge"), ("shop", "reports"), ("shop", "nightly")):
        card = card_of(test_why.dump(name).why(asked))
        yield f"why {asked}", lambda width, card=card: why.draw(card, width)
    taints = {"taints": [{"key": MARKUP, "value": LONG, "effect": "NoSchedule"}]}
    cluster = test_why.cluster_of(*test_why.nodes(2, name=MARKUP, spec=taints), test_why.pod("<script>", cpu="1"))
    hostile = card_of(cluster.why("<script>"))
    yield "why hostile", lambda width: why.draw(hostile, width)
    for name, answers in (("shop", test_why.dump("shop").why()), ("storage", test_why.dump("storage").why()),
                          ("hostile", cluster.why())):
        page = why_causes.draw(answers)
        yield f"causes {name}", lambda _width, page=page: page


def of_tables():
    """Tables and searches made of a stranger's words."""
    told = (searches.ToldTurn(1, MARKUP, LONG, Mark(1, "note"), True, True, 0),)
    story = Story(MARKUP, (StoryRow(1, 0.0, MARKUP, LONG, (f"{MARKUP}: {LONG} → {MARKUP}", "{y} {")),))
    different = turns.DifferentClusters((MARKUP, "b"), 1, (turns.DifferenceRow(MARKUP, LONG, MARKUP, ""),), (MARKUP,), "")
    passes = Passes(LONG, "upstream", (PassRow(1, 0, "", MARKUP, 0, 1, 2),), "")
    acts = tuple(searches.ToldTurn(n, MARKUP * (n % 2), LONG, mark=Mark(n, "write", "create"), decides=True, ringed=n == 9,
                            behind=n // 2) for n in range(1, 10))
    found = searches.SearchRows(MARKUP, False, "", told, (searches.EndBar(LONG, 1, True),), "", (MARKUP,))
    why = searches.SearchRows(LONG, False, MARKUP, acts, (), "", (LONG,), LONG, MARKUP, (("found.sample()", LONG), (MARKUP, MARKUP)))
    sample = searches.SampleRows(MARKUP, 1, 1, (0, 1), (searches.EndBar(LONG, 1, False),), "", "the natural order")
    yield "story", lambda width: turns.draw_story(story, width)
    yield "passes", lambda width: turns.draw_passes(passes, width)
    yield "diff", lambda width: turns.draw_diff(different, width)
    yield "search", lambda width: searches.draw_search(found, width)
    yield "search with a cause", lambda width: searches.draw_search(why, width)
    yield "sample", lambda width: searches.draw_sample(sample, width)
    rows = tuple(DifferenceRow(f"pod/p-{n}", "spec.nodeName", MARKUP * 9, "", "user", n) for n in range(20))
    yield "differences", lambda width: differences.draw(Differences(("main", MARKUP * 9), (3, 4), 2, ("", ""), rows, ""), width)
    cells = WhatIfRows((test_what_if.strip(*(test_what_if.cell(MARKUP, refused=LONG) for _ in range(3)), present=0),))
    yield "what if", lambda width: what_if.heading(cells, width)


KINDS = (of_frames, of_ledgers, of_decode, of_fix, of_may, of_predict, of_why, of_tables)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("kind", KINDS,
                         ids=lambda kind: kind.__name__.removeprefix("of_"))  # fmt: skip
def test_words_stay_inside_apart_and_words(kind, width):
    """No word leaves its picture or its card, none meets another, none of a stranger's is markup."""
    faults = {}
    for name, draw in kind():
        html = draw(width)
        words = html if html.startswith("<svg") else re.sub(r"<svg.*?</svg>", "", html, flags=re.DOTALL)
        wrong = [*misplaced(html), *(["markup"] if "<script" in html else []), *_other_width(html, width)]
        wrong += faults_of(words) if words is not html else []
        faults |= {name: wrong} if wrong else {}

    assert {} == faults


def _other_width(html, width):
    """Return the widths of pictures that are wider than asked."""
    return [wide for wide in re.findall(r'<svg[^>]* width="([\d.]+)"', html) if float(wide) > width]
