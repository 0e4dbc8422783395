"""The night in which the database does not come back, played to its end on its page, without a kernel."""

from pathlib import Path

import pytest

pytestmark = pytest.mark.browser
PAGE = Path(__file__).parent.parent.parent / "docs" / "static" / "ten-minutes.html"
LIGHT, DARK = "rgb(255, 255, 255)", "rgb(20, 24, 31)"


@pytest.fixture(scope="module")
def night(browser):
    """The page, in a window of 1000 px."""
    context = browser.new_context(viewport={"width": 1000, "height": 900})
    page = context.new_page()
    errors = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("request", lambda request: errors.append(request.url) if not request.url.startswith("file:") else None)
    page.goto(PAGE.as_uri())
    yield page
    context.close()
    assert errors == []


def after(page, *acts):
    """Press these buttons from the start, and return what is said of them."""
    undo = page.get_by_role("button", name="Undo")
    while undo.is_enabled():
        undo.click()
    for act in acts:
        page.locator("button", has_text=act).click()
    return page.locator("b.s").inner_text()


def test_the_night_is_played_to_its_end(night):
    """A machine elsewhere earns nothing, one where the disk is three stars, and so does a way of two acts."""
    assert after(night) == "☆☆☆ no act yet"
    assert after(night, "zone-a") == "☆☆☆ db-0 still waits"
    assert after(night, "Stop the report").startswith("★☆☆ it runs, but nobody makes report-")
    assert after(night, "zone-a", "Move the report").startswith("★★★")
    assert night.get_by_role("button", name="Restart it").is_disabled()
    assert not night.get_by_role("button", name="Why is db-0").is_visible()
    assert after(night, "zone-b") == "★★★ it runs, nobody is harmed, nothing is given up"
    assert "node-b2" in night.locator("svg").text_content()


def test_why_is_told_when_it_is_asked(night):
    """The reason stands below the map after a press, and goes after another; the window has no scroll bar below."""
    after(night)
    told = night.locator("pre")
    assert not told.is_visible()
    night.get_by_role("button", name="Why is db-0").click()
    assert "whose only node node-b lacks 1 cpu" in told.inner_text()
    night.get_by_role("button", name="Why is db-0").click()
    assert not told.is_visible()
    assert night.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_what_was_done_outlives_a_reload(night):
    """After a reload the acts, their stars and the way back are there as before; who waits now is who is asked about."""
    assert after(night, "Move the report").startswith("☆☆☆")
    night.reload()
    assert night.locator("b.s").inner_text().startswith("☆☆☆ report-")
    assert night.get_by_role("button", name="Why is report-").is_visible()
    night.get_by_role("button", name="Undo").click()
    assert night.locator("b.s").inner_text() == "☆☆☆ no act yet"


@pytest.mark.parametrize(("scheme", "paper"), [("light", LIGHT), ("dark", DARK)])
def test_the_page_follows_the_theme(night, scheme, paper):
    """It is as light or as dark as the reader's system."""
    night.emulate_media(color_scheme=scheme)
    night.wait_for_function("paper => getComputedStyle(document.querySelector('figure')).backgroundColor === paper", arg=paper)
