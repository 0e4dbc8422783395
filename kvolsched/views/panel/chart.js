// Shows an altair chart. Vega is in one widget a kernel, which every chart names; it is unpacked once a page. What is
// picked in a chart travels to Python, what Python selects to the chart, and of a table only its rows.
const KEY = "__kvolsched_vega", PARTS = ["hconcat", "vconcat", "concat"], FIRST = 240, NEAR = 4; // px
const STYLE = "svg{user-select:none}:host{display:block}h4{margin:4px 0 2px;font-size:14px;color:var(--jp-ui-font-color0)}p{margin:0 0 8px;line-height:1.4}";

// Vega-Lite fits a chart to its page, but none that is joined or faceted, and Vega may miss the last of two resizes that
// are close: all parts without a width of their own get one here.
const fills = (spec) => [...(spec.width === "container" ? [spec] : []), ...(spec.spec ? fills(spec.spec) : []),
  ...PARTS.flatMap((name) => (spec[name] ?? []).flatMap(fills))];
function engine(model) {
  return globalThis[KEY] ??= (async () => {
    const holder = await model.widget_manager.get_model(model.get("engine").replace("IPY_MODEL_", ""));
    const packed = holder.get("packed"), unpacked = new DecompressionStream("gzip");
    const text = await new Response(new Blob([packed]).stream().pipeThrough(unpacked)).text();
    return import(URL.createObjectURL(new Blob([text], { type: "text/javascript" })));
  })().catch((error) => { delete globalThis[KEY]; throw error; });
}
async function render({ model, el }) {
  const { vegaEmbed } = await engine(model), box = document.createElement("div");
  const style = document.createElement("style"), head = document.createElement("div");
  let view, wide, at = FIRST, gone = false, behind = false, last = Promise.resolve();
  style.textContent = STYLE; box.style.width = "100%";
  el.classList.add("k-chart");
  el.attachShadow({ mode: "open" }).append(style, head, box); // the sheet of the views has sizes and inks for all text
  function entitle() {
    const tags = ["h4", "p"].map((name) => document.createElement(name));
    tags.forEach((tag, place) => { tag.textContent = model.get("title")[place] ?? ""; });
    head.replaceChildren(...tags.filter((tag) => tag.textContent));
  }
  const picked = () => Object.entries(model.get("picked"));
  function give() {
    for (const [name, value] of picked()) {
      if (typeof value === "number") { view.signal(name, value); continue; }
      const found = value === "" ? [] : [{ unit: "", fields: [{ type: "E", field: name }], values: [value] }];
      view.data(name + "_store", found);
    }
  }
  async function drawn() {
    const spec = { ...structuredClone(model.get("spec")), datasets: structuredClone(model.get("tables")) };
    for (const part of fills(spec)) part.width = at;
    const theme = document.body.dataset.jpThemeLight === "false" ? "dark" : "excel";
    view?.finalize();
    view = (await vegaEmbed(box, spec, { renderer: "svg", actions: false, tooltip: { theme } })).view;
    return box.querySelector("svg").width.baseVal.value;
  }
  async function embed() {
    if (!Object.keys(model.get("spec")).length) return; // the first chart is still to come
    behind = false;
    wide = box.clientWidth;
    let found = await drawn(), slope = 1; // how many stand beside each other; titles may be wider than they
    const filling = fills(model.get("spec")).length && wide;
    for (let turn = filling ? 8 : 0; turn && !(found <= wide && wide < found + NEAR); turn--) {
      const [before, was] = [at, found];
      at = Math.max(40, Math.floor(at + (wide - found) / slope));
      if (at === before) break;
      found = await drawn();
      slope = Math.max(1, (found - was) / (at - before));
    }
    if (wide < found && (filling || found < wide * 1.1)) { // what no turn took off; a width of one's own stays
      Object.assign(box.querySelector("svg").style, { maxWidth: "100%", height: "auto" });
    }
    if (gone) { view.finalize(); return; }
    give();
    for (const [name, before] of picked()) {
      if (typeof before === "number") continue;
      view.addSignalListener(name, (_, value) => {
        const now = (value[name] ?? [])[0] ?? "";
        if (model.get("picked")[name] === now) return;
        model.set("picked", { ...model.get("picked"), [name]: now });
        model.save_changes();
      });
    }
    await view.runAsync();
  }
  async function rows() {
    if (!view || behind) return;
    for (const [name, table] of Object.entries(model.get("tables"))) view.data(name, structuredClone(table));
    await view.runAsync();
  }
  async function pick() {
    if (!view || behind) return;
    give();
    await view.runAsync();
  }
  // One after the other: several traits may change in one message, and the rows and picks of another chart are none of
  // the one that is still shown.
  const hears = { "change:spec": embed, "change:tables": rows, "change:picked": pick, "change:title": entitle };
  const queued = Object.entries(hears).map(([name, f]) => [name, () => { behind ||= f === embed; last = last.then(f).catch((error) => console.error(error)); }]);
  for (const [name, f] of queued) model.on(name, f);
  const fit = async () => { if (view && box.clientWidth !== wide) await embed(); };
  const watch = new ResizeObserver(() => { last = last.then(fit).catch((error) => console.error(error)); });
  entitle();
  await embed();
  watch.observe(el);
  return () => {
    gone = true;
    watch.disconnect();
    for (const [name, f] of queued) model.off(name, f);
    view?.finalize();
  };
}
export default { render };
