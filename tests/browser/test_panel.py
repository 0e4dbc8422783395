"""The panel as a person uses it: in JupyterLab, in a browser, offline. One page serves the whole file."""

import re
from statistics import median

import pytest
from nbformat import v4, write

import kvolsched

from .conftest import ARTEFACTS, VIEW, open_notebook

pytestmark = pytest.mark.browser

CELLS = [
    'import kvolsched\nc = kvolsched.scenario("zonal-example")\nlab = c.lab()\nlab',
    "lab",
    """from kvolsched.scenario import nodes, pods, storage_class
many = kvolsched.Cluster("design", name="twelve nodes")
many._load([storage_class("zonal"), *nodes(12), *pods(4, claims="zonal"), *pods(12, first=4)])
big = many.lab()
big""",
]
FIRST, SECOND, BIG = range(3)
# Everything that is drawn, without what only says where the focus is and what has just come in.
DRAWN = """([panel, views]) => {
  const look = at => at.nodeType === 3 ? at.nodeValue : '<' + at.nodeName + [...at.attributes]
    .filter(a => !['tabindex', 'data-lm-suppress-shortcuts'].includes(a.name)).map(a => [a.name, a.value.replace(/ ?k-new/, '')])
    .filter(([name, value]) => name !== 'class' || value).map(([name, value]) => ` ${name}="${value}"`).sort().join('')
    + '>' + [...at.childNodes].map(look).join('') + '</>';
  const root = document.querySelectorAll('.k-lab')[panel];
  return Object.fromEntries(views.map(name => [name, look(root.querySelector('.k-v-' + name))]));
}"""
ASK = """async expression => {
  const kernel = window.jupyterapp.shell.currentWidget.sessionContext.session.kernel;
  const reply = await kernel.requestExecute({code: '', store_history: false, user_expressions: {said: expression}}).done;
  const said = reply.content.user_expressions.said;
  return said.status === 'ok' ? said.data['text/plain'] : said.ename + ': ' + said.evalue;
}"""
FOCUSED = """() => {
  const now = document.activeElement;
  return now.matches('.k-lab') ? 'the panel' : now.closest('.k-lab') ? now.className : 'elsewhere: ' + now.nodeName;
}"""
# Keep, of each place that the toolbar comes to show, which of Back and Step is off at that moment.
PLACES = """() => {
  const of = name => document.querySelector('.k-lab .k-' + name), places = window.places = [];
  new MutationObserver(() => {
    const now = of('place').innerText;
    if (places.at(-1)?.[0] !== now) places.push([now, of('back').disabled, of('step').disabled]);
  }).observe(of('toolbar'), {childList: true, subtree: true, attributes: true});
}"""
NOTEBOOK = """() => JSON.stringify([...window.jupyterapp.shell.currentWidget.content.model.cells]
  .map(cell => [cell.type, cell.sharedModel.getSource()]))"""
# From the click until the frame is painted in which the sentence's number has changed.
PAINTED = """async ([panel, button]) => {
  const root = document.querySelectorAll('.k-lab')[panel];
  const number = root.querySelector('.k-step-no'), old = number.textContent, start = performance.now();
  root.querySelector(button).click();
  while (number.textContent === old && performance.now() < start + 10000) await new Promise(requestAnimationFrame);
  await new Promise(go => setTimeout(go));
  return performance.now() - start;
}"""


class Shown:
    """The notebook above, open and run; mutable as its panels are."""

    def __init__(self, lab):
        self.lab, self.page = lab, lab.page

    def panel(self, place=FIRST):
        """Return one of the panels, top to bottom."""
        return self.page.locator(".k-lab").nth(place)

    def press(self, name, place=FIRST):
        """Press a button of the toolbar."""
        self.panel(place).locator(f".k-{name}").click()

    def at(self, step, place=FIRST):
        """Wait until a panel shows this step, everywhere."""
        self.panel(place).locator(".k-step-no").get_by_text(str(step), exact=True).wait_for()
        self.panel(place).locator(".k-place b").get_by_text(str(step), exact=True).wait_for()
        self.page.wait_for_function(f"document.querySelectorAll('.k-lab')[{place}].ariaBusy !== 'true'")

    def step(self, times, place=FIRST):
        """Press Step some times, waiting for each; give the step that is then shown."""
        start = self.number(place)
        for number in range(start + 1, start + times + 1):
            self.press("step", place)
            self.at(number, place)
        return start + times

    def number(self, place=FIRST):
        """Return the number of the step that is shown."""
        return int(self.panel(place).locator(".k-step-no").inner_text())

    def drawn(self, *views, place=FIRST):
        """Return the canonical text of what views show, elements and attributes included."""
        return self.page.evaluate(DRAWN, [place, list(views)])

    def tab(self, name, place=FIRST):
        """Open a tab and wait until it is drawn."""
        tab = self.panel(place).locator(".k-tab", has_text=re.compile(f"^{name}"))
        tab.click()
        self.panel(place).locator(".k-tab.k-on", has_text=re.compile(f"^{name}")).wait_for()
        self.page.wait_for_function(f"document.querySelectorAll('.k-lab')[{place}].ariaBusy !== 'true'")

    def tables(self, place=FIRST):
        """Return map, sentence and changes, then verdicts and events, each from its tab."""
        shown = self.drawn("map", "sentence", "side", place=place)
        for name in ("Events", "Verdicts"):
            self.tab(name, place)
            shown[name] = self.drawn("body", place=place)["body"]
        return shown

    def picture(self, name, place=FIRST):
        """Picture one panel as tests/artefacts/NAME.png."""
        ARTEFACTS.mkdir(exist_ok=True)
        self.page.set_viewport_size(VIEW | {"height": 2000})  # what is off the screen is not painted
        self.lab.settle(300)
        self.panel(place).screenshot(path=ARTEFACTS / f"{name}.png")
        self.page.set_viewport_size(VIEW)

    def form(self, act, place=FIRST):
        """Open the form of an act and give its field: a new one, which a slow kernel draws some time after the click."""
        field = self.panel(place).locator(".k-form input:not([data-old])")
        field.wait_for(state="hidden")
        field.evaluate_all("all => all.forEach(one => { one.dataset.old = true; })")
        self.panel(place).locator(".k-act", has_text=f"{act}…").click()
        field.wait_for()
        return field

    def ask(self, expression):
        """Let the kernel evaluate an expression; give its repr."""
        return self.page.evaluate(ASK, expression)

    def reset(self, place=FIRST):
        """Go to the start of the branch main, with nothing selected."""
        branches = self.panel(place).locator(".k-branches select")
        if branches.input_value() != "main":
            branches.select_option("main")
            self.panel(place).locator(".k-branch b").get_by_text("main", exact=True).wait_for(state="attached")
        if self.number(place):
            self.press("reset", place)
        self.at(0, place)


def notebook_of(cells, path):
    """Write a notebook of code cells."""
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    write(v4.new_notebook(cells=cells, metadata=kernel), path)
    return path


@pytest.fixture(scope="module")
def page_of_all(lab_server, browser, tmp_path_factory):
    """Open the notebook of CELLS once, run it, and wait for its panels."""
    context = browser.new_context(viewport=VIEW)
    context.set_default_timeout(30_000)
    path = notebook_of([v4.new_code_cell(source) for source in CELLS], tmp_path_factory.mktemp("panel") / "panel.ipynb")
    lab = open_notebook(lab_server, context, path, "panel")
    ran = lab.run_all()
    assert ran.faults == []
    shown = Shown(lab)
    for place in (FIRST, SECOND, BIG):
        shown.panel(place).locator(".k-v-map svg").wait_for()
    lab.settle(800)  # until the widths are known and drawn
    yield shown
    context.close()


@pytest.fixture
def shown(page_of_all):
    """Return the page with the first panel at its start; at the end nothing was complained about or asked for."""
    page_of_all.reset()
    yield page_of_all
    assert page_of_all.lab.errors == []
    assert page_of_all.lab.requests == []
    assert page_of_all.lab.page.locator("[data-n]").count() == 0  # the place of a piece that was not drawn


def test_step_ten_times_and_back_ten_times_is_the_start(shown):
    """Map, sentence, changes, verdicts and events are, element by element, what they were; the timeline knows more."""
    before = shown.tables()
    shown.picture("panel-start")
    lanes = shown.drawn("lanes")
    last = 0
    for _ in range(10):
        if shown.panel().locator(".k-step").is_disabled():
            break
        last = shown.step(1)
        if last == 5:
            shown.picture("panel-middle")
    shown.picture("panel-end")
    middle = shown.tables()
    for number in reversed(range(last)):
        shown.press("back")
        shown.at(number)
    after = shown.tables()

    assert last >= 9
    assert [name for name in before if before[name] == middle[name]] == []
    assert before == after
    assert lanes != shown.drawn("lanes")
    assert re.search("known from an earlier visit", shown.panel().locator(".k-v-lanes").inner_text())


def test_a_chip_lets_its_actor_act(shown):
    """The second chip's actor acts, not the one that a plain step stands for."""
    chip = shown.panel().locator(".k-chip-b").nth(1)
    who = chip.locator("b").inner_text()
    chip.click()
    shown.at(1)

    assert who == shown.panel().locator(".k-who").inner_text()
    assert shown.panel().locator(".k-v-sentence").get_attribute("role") == "status"


def test_a_cell_of_the_matrix_shows_the_rules_words_everywhere(shown):
    """A click shows both sides below the matrix, marks the map, and is `lab.selection` in the kernel."""
    shown.step(1)
    shown.panel().locator('.k-v-body [data-ref="verdict/node-a-small/NodeResourcesFit"]').click()
    shown.panel().locator(".k-v-body", has_text="Insufficient cpu").wait_for()
    marked = shown.panel().locator('.k-v-map [aria-pressed="true"]')
    marked.first.wait_for()

    assert shown.ask("lab.selection") == "'verdict/node-a-small/NodeResourcesFit'"
    assert marked.evaluate_all("all => all.map(one => one.dataset.ref)") == ["node/node-a-small"]
    shown.page.keyboard.press("Escape")
    marked.first.wait_for(state="detached")
    assert shown.ask("lab.selection") == "''"


def test_a_line_of_a_page_of_words_selects(shown):
    """A click on an event selects its object, whose story a tab tells; a click on a line there shows that step."""
    shown.step(3)
    shown.tab("Events")
    body = shown.panel().locator(".k-v-body")
    body.locator("tr[data-ref='pvc/my-pvc']").first.click()
    body.locator("tr.k-chosen").first.wait_for()
    shown.panel().locator(".k-v-side tr.k-chosen, .k-v-lanes tr.k-chosen").first.wait_for()

    assert shown.ask("lab.selection") == "'pvc/my-pvc'"
    shown.tab("Story")
    body.locator("tr[data-ref='step/1']").first.click()
    shown.at(1)
    shown.page.keyboard.press("Escape")
    shown.tab("Verdicts")


def test_the_kernel_can_select(shown):
    """A selection that is set in Python shows in the map."""
    shown.ask("lab.set_trait('selection', 'node/node-b')")
    marked = shown.panel().locator('.k-v-map [data-ref="node/node-b"][aria-pressed="true"]')
    marked.wait_for()
    shown.ask("lab.set_trait('selection', '')")
    marked.wait_for(state="detached")


def test_the_slider_ends_at_the_value_shown(shown):
    """A press on the timeline's rail goes to that step, in the page and in the kernel."""
    shown.step(4)
    rail = shown.panel().locator(".k-slider .noUi-target")
    box = rail.bounding_box()
    shown.page.mouse.click(box["x"] + box["width"] * 2 / int(shown.ask("c.world.known_steps")), box["y"] + 3)
    shown.at(2)

    assert shown.ask("c.world.step_number") == "2"
    assert shown.panel().locator(".noUi-handle").get_attribute("aria-valuenow") == "2.0"


def test_run_goes_to_the_end(shown):
    """Run stops where nobody has anything to do, and says so."""
    shown.press("run")
    shown.panel().get_by_text("nobody: the cluster is idle").wait_for()

    assert shown.ask("c['pod/my-pod'].status.phase") == "'Running'"
    assert shown.panel().locator(".k-step").is_disabled()


def test_keys_step_and_the_notebook_stays(shown):
    """With the focus on the map, keys move the run; not one of JupyterLab's own commands takes place."""
    before = shown.page.evaluate(NOTEBOOK)
    focused = shown.panel().locator('.k-v-map [data-ref="node/node-c"]')
    focused.focus()
    for key in "..,.":
        shown.page.keyboard.press(key)
    shown.at(2)
    for key in ("a", "b", "m", "x", "d", "d", "z", "y", "l", "o", "s", "0", "Shift"):
        shown.page.keyboard.press(key)
    shown.page.keyboard.press("Home")
    shown.at(0)
    shown.page.keyboard.press("2")
    shown.at(1)

    assert shown.page.evaluate("document.activeElement.dataset.ref") == "node/node-c"
    assert before == shown.page.evaluate(NOTEBOOK)


def test_arrows_go_to_the_last_step_and_back(shown):
    """Buttons are disabled at both ends; the focus stays in the panel, and the arrows go on working."""
    shown.page.evaluate(PLACES)
    shown.panel().locator(".k-step").focus()
    last = 0
    while not shown.panel().locator(".k-step").is_disabled() and last < 20:
        last += 1
        shown.page.keyboard.press("ArrowRight")
        shown.at(last)
    at_the_end = shown.page.evaluate(FOCUSED)
    for number in reversed(range(last)):
        shown.page.keyboard.press("ArrowLeft")
        shown.at(number)
    again = shown.page.evaluate(FOCUSED)
    shown.page.keyboard.press("ArrowRight")
    shown.at(1)

    assert last >= 9
    assert (at_the_end, "k-step" in again) == ("the panel", True)
    places = [(int(place.split("/")[0]), *off) for place, *off in shown.page.evaluate("window.places")]
    assert {number for number, *_ in places} == set(range(last + 1))
    assert [each for each in places if each[1:] != (each[0] == 0, each[0] == last)] == []


def test_an_act_by_keys_begins_a_branch_that_stands_beside_the_other(shown):
    """Enter carries out the form, what is typed is no command, Escape leaves it; both branches are marked."""
    field = shown.form("taint")
    field.fill("r.p=1:NoSchedule")
    field.press("Escape")
    field.wait_for(state="hidden")
    assert shown.ask("len(lab.history), lab.playing").endswith(", False)")
    shown.form("taint")
    field.fill("r=<script>alert(1)</script>:NoSchedule")
    field.press("Enter")
    shown.panel().locator(".k-refusal").wait_for()
    shown.page.keyboard.press("Escape")
    shown.form("taint")
    field.fill("r=p:NoSchedule")
    field.press("Enter")
    shown.at(1)

    assert shown.ask("list(lab.history)[-1]") == """'c.taint("node-a", "r=p:NoSchedule")'"""
    assert shown.ask("lab.branches[0]") == "'node-a tainted'"
    shown.panel().locator(".k-with select").select_option("main")
    shown.panel().locator(".k-v-map .k-half").nth(1).wait_for()
    shown.panel().locator(".k-v-map .k-differs").nth(1).wait_for()
    shown.picture("panel-pair")
    shown.panel().locator(".k-with select").select_option("alone")
    shown.panel().locator(".k-half").first.wait_for(state="detached")


def test_play_goes_on_until_a_key(shown):
    """The kernel steps by itself; any key stops it where it is."""
    shown.panel().locator(".k-speed select").select_option("4/s")
    shown.panel().locator(".k-step").focus()
    shown.page.keyboard.press("p")
    shown.page.wait_for_function("+document.querySelector('.k-lab .k-step-no').textContent >= 2")
    shown.page.keyboard.press("x")
    shown.panel().locator(".k-play", has_text="Play").wait_for()
    number = shown.number()
    shown.lab.settle(600)

    assert (shown.number(), shown.ask("lab.playing")) == (number, "False")


def test_hostile_texts_in_the_dark_on_a_small_screen(shown):
    """What an annotation holds stays text; in the dark theme at 1000 px nothing is wider than the panel."""
    shown.ask("c.annotate('pod/my-pod', {'said': '<script>window.bad = 1</script><img src=x onerror=window.bad=1>'})")
    shown.ask("lab.do('select', ref='pod/my-pod')")
    shown.tab("Story")
    shown.panel().locator(".k-v-body", has_text="<script>").first.wait_for()
    shown.page.evaluate("jupyterapp.commands.execute('apputils:change-theme', {theme: 'JupyterLab Dark'})")
    shown.page.set_viewport_size({"width": 1000, "height": 900})
    shown.page.wait_for_function("document.body.dataset.jpThemeLight === 'false'")
    shown.page.wait_for_function("document.querySelector('.k-v-map svg').width.baseVal.value < 900")
    shown.lab.settle()
    paper = shown.page.evaluate("getComputedStyle(document.querySelector('.k-lab')).backgroundColor")
    wide, room = shown.page.evaluate("(one => [one.scrollWidth, one.clientWidth])(document.querySelector('.k-lab'))")
    shown.panel().screenshot(path=ARTEFACTS / "panel-dark-1000.png")
    shown.page.set_viewport_size(VIEW)
    shown.page.evaluate("jupyterapp.commands.execute('apputils:change-theme', {theme: 'JupyterLab Light'})")
    shown.page.wait_for_function("document.body.dataset.jpThemeLight === 'true'")
    shown.page.keyboard.press("Escape")
    shown.ask("lab.do('clear')")
    shown.tab("Verdicts")

    assert shown.page.evaluate("window.bad") is None
    assert paper == "rgb(20, 24, 31)"
    assert wide <= room


def test_two_views_of_one_panel_agree(shown):
    """What is pressed in one view is shown by the other."""
    shown.step(3)
    shown.at(3, SECOND)
    assert shown.drawn("map", "sentence", "side", "body") == shown.drawn("map", "sentence", "side", "body", place=SECOND)
    shown.press("back", SECOND)
    shown.at(2)
    assert shown.drawn("lanes") == shown.drawn("lanes", place=SECOND)


def test_the_fine_gear_steps_single_writes(shown):
    """Counting in turns, what is one step of several writes is one step a write; back in steps, it is one again."""
    gear = shown.panel().locator(".k-gear select")
    shown.step(5)
    gear.select_option("turns")
    shown.page.wait_for_function("document.querySelector('.k-lab').ariaBusy !== 'true'")
    shown.step(1)
    written = shown.panel().locator(".k-v-sentence b").inner_text()
    gear.select_option("steps")

    assert re.fullmatch(r"PV controller sets the phase of pv/\S+ to Bound\.", written)
    assert shown.ask("len([turn for turn in c._last_step.turns if turn.outcomes])") == "1"


def test_the_domains_tab_is_the_chart(shown):
    """The tab shows the chart of `c.domains()`, with a bar of every node."""
    shown.step(1)
    shown.tab("Domains")
    shown.panel().locator(".k-chart").wait_for()
    said = shown.page.evaluate("document.querySelector('.k-chart').shadowRoot.textContent")
    shown.tab("Verdicts")

    assert [node for node in ("node-a", "node-b", "node-c") if node not in said] == []


def test_click_to_paint_at_twelve_nodes(shown, capsys):
    """Twelve nodes, sixteen pods: the median of 20 clicks is printed, not judged; every click is answered."""
    shown.panel(BIG).scroll_into_view_if_needed()
    times = [shown.page.evaluate(PAINTED, [BIG, ".k-step"]) for _ in range(20)]
    with capsys.disabled():
        print(f"\nclick to paint at 12 nodes: median {median(times):.0f} ms, worst {max(times):.0f} ms of 20")

    assert shown.number(BIG) == 20


def test_a_saved_page_steps_without_a_kernel(browser, tmp_path):
    """From a file, offline: it opens at the start, keys go to the end and back, every tab and the scores open."""
    panel = kvolsched.scenario("zonal-example").lab()
    panel.do("run")
    path = panel.save(tmp_path / "run.html")
    context = browser.new_context(viewport=VIEW, offline=True)
    page = context.new_page()
    errors = []
    page.on("console", lambda said: said.type == "error" and errors.append(said.text))
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(path.as_uri())
    number = page.locator(".k-step-no")
    start = number.inner_text()
    page.locator(".k-step").focus()
    for _ in range(12):
        page.keyboard.press("ArrowRight")
    end = number.inner_text()
    for _ in range(4):
        page.keyboard.press("ArrowLeft")
    middle = number.inner_text()
    said = []
    for tab in page.locator("[data-tab]").all():
        tab.click()
        said.append(page.locator(".k-v-body").inner_text())
    page.locator("[data-tab=scores]").click()
    scores = page.locator(".k-v-body").inner_text()
    page.screenshot(path=ARTEFACTS / "panel-page.png")
    context.close()

    assert (start, end, middle) == ("0", "9", "5")
    assert len(set(said)) == len(said) >= 6
    assert "274" in scores
    assert errors == []


def test_reopened_untrusted_it_is_a_picture(lab_page, tmp_path):
    """A saved notebook that nobody trusts and nobody runs shows the PNG, with the widget's key still in it."""
    cluster = kvolsched.scenario("zonal-example")
    cluster.step()
    data = cluster.lab()._repr_mimebundle_()
    cell = v4.new_code_cell("c.lab()", outputs=[v4.new_output("display_data", data=data)])
    lab = lab_page(notebook_of([cell], tmp_path / "saved.ipynb"))
    picture = lab.page.locator(".jp-OutputArea-output img")
    picture.wait_for()
    said = lab.page.locator(".jp-OutputArea").inner_text()

    assert picture.get_attribute("src").startswith("data:image/png")
    assert picture.evaluate("one => one.naturalWidth") >= 1000
    assert "rror" not in said
    assert lab.errors == []
