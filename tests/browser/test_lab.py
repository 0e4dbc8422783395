"""Lessons in JupyterLab, in a browser, offline: as they are stored, run, and with every control used.

`make test` opens a few, `make test-long` all. They are opened one after the other in one page of one server: JupyterLab is loaded once.
"""

from pathlib import Path

import pytest
from nbformat import v4, write

from .conftest import FAILED, VIEW, open_notebook

pytestmark = pytest.mark.browser
NOTEBOOKS = sorted((Path(__file__).parent.parent.parent / "notebooks").glob("*.ipynb"))
DAILY = ("01", "06", "07", "10")  # each kind of control, charts among them
LESSONS = [path if path.name[:2] in DAILY else pytest.param(path, marks=pytest.mark.long) for path in NOTEBOOKS]
# Of each code cell: what its metadata hides, what is hidden on the page, and the line that stands for a hidden output.
FOLDS = """() => jupyterapp.shell.currentWidget.content.widgets.filter(cell => cell.model.type === 'code').map(cell => {
  const kept = cell.model.sharedModel.metadata.jupyter ?? {};
  const told = [...cell.node.querySelectorAll('.jp-Cell-outputWrapper .jp-Placeholder-contentContainer')];
  return {name: cell.model.id, source: cell.model.sharedModel.getSource(), input: [!!kept.source_hidden, cell.inputHidden],
          output: [!!kept.outputs_hidden, cell.outputHidden], told: told.map(line => line.innerText.trim()).join('')};
})"""
CHANGED = "([node, before]) => node.innerText !== before"
KINDS = {".whatif(": "what-if", "edit=True": "workbench", ".predict(": "prediction", "kvolsched.ask(": "prediction", ".lab(": "panel"}


@pytest.fixture(scope="module")
def one_page(lab_server, browser):
    """Give one page with JupyterLab and no notebook open, and the folder of lessons copied to its server."""
    context = browser.new_context(viewport=VIEW)
    context.set_default_timeout(30_000)
    yield open_notebook(lab_server, context, NOTEBOOKS[0], "lessons", "lab")
    context.close()


@pytest.fixture
def lesson(one_page, request):
    """Open a lesson; when its test has failed, it is pictured as tests/artefacts/NAME.png."""
    one_page.turn_to(request.param.name)
    yield one_page
    if request.node.stash[FAILED]:
        one_page.screenshot(request.param.stem)
    one_page.shut()


def use(page, act, node):
    """Do something, and wait until the text of this element is another."""
    handle = node.element_handle()
    before = handle.inner_text()
    act()
    page.wait_for_function(CHANGED, arg=[handle, before])


def answer(question):
    """What answers a question: its first button, or a number that is typed."""
    button, field = question.locator(".k-cands button").first, question.locator(".k-cands input").first
    if button.count():
        return button.click

    def typed():
        field.fill("7")
        field.press("Enter")

    return typed


def drag(page, control):
    """Drag a slider's handle to the end of its rail that is further away."""
    control.locator(".noUi-handle").first.hover()  # it waits until nothing moves any more
    handle, rail = control.locator(".noUi-handle").first.bounding_box(), control.locator(".noUi-target").bounding_box()
    x, y = handle["x"] + handle["width"] / 2, handle["y"] + handle["height"] / 2
    left, right = rail["x"] + 1, rail["x"] + rail["width"] - 1
    page.mouse.down()
    page.mouse.move(left if x - left > right - x else right, y)
    page.mouse.up()


def move(page, control):
    """Return how a control of a what-if is moved: a slider dragged, another button pressed, a box ticked."""
    if control.locator(".noUi-target").count():
        return lambda: drag(page, control)
    if control.locator("input[type=checkbox]").count():
        return control.locator("input[type=checkbox]").click
    return control.locator("button:not(.mod-active)").first.click


def use_all(lesson):
    """Use every control of the lesson that is open, and return how many of each kind there are."""
    page, used = lesson.page, dict.fromkeys(KINDS.values(), 0)
    for question in reversed(page.locator(".k-predict:has(.k-cands)").all()):  # an answered bet has no choices left
        use(page, answer(question), question)
        used["prediction"] += 1
    lesson.settle()  # what an answer shows may have controls, too
    for panel in page.locator(".k-whatif").all():
        pictures = {panel.locator(".k-v-map").inner_html()}
        for control in panel.locator(".k-control").all():
            use(page, move(page, control), panel.locator(".k-v-sentence"))  # "What if maxSkew 3, replicas 6?"
            pictures.add(panel.locator(".k-v-map").inner_html())
            used["what-if"] += 1
        assert len(pictures) > 1
    for bench in page.locator(".k-predict:has(.k-patch)").all():
        text = bench.locator(".k-patch textarea")
        use(page, lambda text=text: text.fill("spec: {nodeSelector: {no-node: has-this}}"), bench.locator(".k-host").last)
        use(page, lambda text=text: text.fill("spec: {hostname: another}"), bench.locator(".k-host").last)
        bench.get_by_text("refused").first.wait_for()
        used["workbench"] += 1
    for number in page.locator(".k-step-no").all():
        panel = number.locator("xpath=ancestor::*[.//button[contains(@class, 'k-back')]][1]")
        step = panel.locator(".k-step").first
        use(page, (panel.locator(".k-back").first if step.is_disabled() else step).click, number)
        used["panel"] += 1
    for part in page.locator(".jp-RenderedMarkdown details").all():
        assert (False, False) == (part.evaluate("at => at.open"), part.locator("p").first.is_visible())
        part.locator("summary").click()
        assert (True, True) == (part.evaluate("at => at.open"), part.locator("p").first.is_visible())
    return used


@pytest.mark.parametrize("lesson", LESSONS, indirect=True, ids=lambda path: path.stem)
def test_a_lesson_is_folded_runs_and_answers_to_every_control(lesson):
    """Folded answers tell nothing; cells run, answers unfold; each control works; no complaint, no request outside."""
    stored = lesson.page.evaluate(FOLDS)
    ran = lesson.run_all()
    run = lesson.page.evaluate(FOLDS)
    used = use_all(lesson)

    assert [] == [cell for cell in stored for kept, shown in (cell["input"], cell["output"]) if kept is not shown]
    assert {""} >= {cell["told"] for cell in stored}
    assert [] == [cell["name"] for cell in run if cell["output"][1]]
    assert {kind for call, kind in KINDS.items() if any(call in cell["source"] for cell in run)} == {
        kind for kind, number in used.items() if number}
    assert (ran.faults, ran.executed) == ([], ran.cells)
    assert (lesson.errors, lesson.requests) == ([], [])


def test_errors_complaints_and_requests_are_seen(lab_page, tmp_path):
    """The assertions above can fail; an error that its cell's tag expects is none."""
    cells = [
        v4.new_code_cell("assert 0, 'expected'", metadata={"tags": ["raises-exception"]}),
        v4.new_code_cell("from IPython.display import HTML, Javascript\nJavascript('console.error(\"complaint\")')"),
        v4.new_code_cell("HTML('<img src=\"http://outside.invalid/a.png\">')"),
        v4.new_code_cell("assert 0, 'unexpected'"),
        v4.new_code_cell("1"),
    ]
    cells[2].outputs = [v4.new_output("stream", text="what it told\n")]
    cells[2].metadata = {"jupyter": {"outputs_hidden": True}}
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    write(v4.new_notebook(cells=cells, metadata=kernel), tmp_path / "bad.ipynb")
    lab = lab_page(tmp_path / "bad.ipynb")
    lab.page.wait_for_function("window.jupyterapp?.shell.currentWidget?.content?.widgets?.length === 5")
    folded = lab.page.evaluate(FOLDS)[2]
    ran = lab.run_all()
    lab.settle()

    assert ((True, True), "what it told") == (tuple(folded["output"]), folded["told"])
    assert ran.faults == ["AssertionError: unexpected"]
    assert (ran.executed, ran.cells) == (4, 5)
    assert "complaint" in lab.errors
    assert set(lab.requests) == {"http://outside.invalid/a.png"}
