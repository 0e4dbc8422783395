// Shows strings that Python drew; knows no Kubernetes. It morphs the page by key so that moved things glide and
// keep their focus, sends clicks and keys to Python as commands, and reports its width. The same file drives a
// saved page, whose model is a few lines of script.
const VIEWS = { sentence: "what happened", map: "cluster", side: "what changed", lanes: "timeline", body: "details" };
const ALONE = "data-lm-suppress-shortcuts", OURS = new Set(["tabindex", "role", "aria-label", ALONE]);
const give = (n, k, v) => n.hasAttribute(k) || n.setAttribute(k, v);
const put = (n, k, v) => n.getAttribute(k) !== String(v) && n.setAttribute(k, v);
const box = (n) => n.getBoundingClientRect();
const key = (n) => n.getAttribute?.("data-key") || n.getAttribute?.("data-ref");

// Keep moved elements in place, or their transition restarts: drop the gone first, siblings come sorted by key.
// A piece is parsed only if it is another string than the one that the kept element was made of.
function morph(a, b, first, pieces) {
  for (const name of b.getAttributeNames()) put(a, name, b.getAttribute(name));
  for (const name of a.getAttributeNames()) if (!b.hasAttribute(name) && !OURS.has(name)) a.removeAttribute(name);
  const goal = [...b.childNodes], now = new Set(goal.map(key)), old = new Map();
  for (const c of [...a.childNodes]) { const k = key(c); if (k) now.has(k) ? old.set(k, c) : c.remove(); }
  let at = a.firstChild;
  for (let c of goal) {
    const k = key(c), piece = k && pieces[c.dataset.n];
    let mine = k ? old.get(k) : at && !key(at) && at;
    const fresh = !mine || mine.nodeName !== c.nodeName, same = piece && mine?.piece === piece;
    if (piece && !same) {
      c.insertAdjacentHTML("afterend", piece);
      c = c.nextSibling;
    }
    if (fresh && k && !first) c.classList.add("k-new");
    if (fresh) mine = c.querySelector?.("[data-n]") ? c.cloneNode() : c;
    if (mine === at) at = at.nextSibling; else a.insertBefore(mine, at);
    mine.piece = piece;
    if (same || mine === c) continue;
    if (mine.dataset) morph(mine, c, first || fresh, pieces); else if (mine.nodeValue !== c.nodeValue) mine.nodeValue = c.nodeValue;
  }
  while (at) { const next = at.nextSibling; at.remove(); at = next; }
}

function render({ model, el }) {
  const stop = [];
  let root, waiting, tip, hover, width;
  const all = (css) => root.querySelectorAll(css), one = (css) => root.querySelector(css), on = (name, f) => el.addEventListener(name, f);
  const hear = (name, f) => { model.on(name, f); stop.push(() => model.off(name, f)); };
  const tell = (cmd, more) => { try { model.send({ cmd, ...more }); } catch {} };
  tell("seen");
  el.classList.add("k-host");
  for (const name in VIEWS) {
    const part = document.createElement("div");
    part.className = "k-view k-v-" + name;
    put(part, "role", name === "sentence" ? "status" : "region");
    put(part, "aria-label", { ...VIEWS, ...model.get("names") }[name]);
    el.append(part);
    const show = () => {
      const pieces = [], goal = part.cloneNode();
      goal.innerHTML = model.get(name).replace(/(<g data-key="[^"]*")[^]*?<\/g\s>/g, (piece, head) => head + ` data-n=${pieces.push(piece) - 1}></g>`);
      morph(part, goal, !part.firstChild, pieces);
      dress(part);
      hide();
    };
    show();
    hear("change:" + name, show);
  }
  // Roles, names and the one tab stop of a view.
  function dress(part) {
    for (const c of part.querySelectorAll("[data-ref]:not([tabindex])")) {
      const say = c.closest("[data-say]");
      give(c, "role", "button");
      give(c, "aria-label", c.dataset.ref.replace(/^\w+\//, "") + (say ? " " + say.dataset.say : ""));
      give(c, "tabindex", -1);
    }
    const find = (css) => part.querySelector("[data-ref]" + css);
    const stopped = find('[tabindex="0"]') || find(":is([aria-pressed=true],[aria-selected=true])") || find("");
    if (stopped) put(stopped, "tabindex", 0);
  }
  function focus(c) {
    for (const o of c.closest(".k-view").querySelectorAll('[tabindex="0"]')) put(o, "tabindex", -1);
    put(c, "tabindex", 0);
    c.focus();
  }
  function busy() {
    clearTimeout(waiting);
    waiting = setTimeout(() => root && put(root, "aria-busy", true), 300);
  }
  function send(cmd, more) { busy(); tell(cmd, more); }
  function answered() {
    clearTimeout(waiting);
    if (!root) return;
    root.removeAttribute("aria-busy");
    root.classList.remove("k-dead");
    for (const b of all("[data-dead]")) { b.disabled = false; delete b.dataset.dead; }
  }
  hear("change:tick", answered);
  // The comm closed or changed hands: ask once; without an answer this is only a picture.
  function ask() {
    const tick = model.get("tick");
    tell("ping");
    setTimeout(() => {
      if (!root || model.get("tick") !== tick) return;
      answered();
      root.classList.add("k-dead");
      for (const b of all("button:not(:disabled)")) { b.disabled = true; b.dataset.dead = 1; }
    }, 2500);
  }
  hear("comm:close", ask);
  hear("comm_live_update", ask);

  const of = (e) => e.target.closest?.("[data-ref]");
  on("click", (e) => {
    const c = of(e);
    if (c) { focus(c); send("select", { ref: c.dataset.ref }); }
  });
  // The full name is the tooltip.
  function hide() { clearTimeout(hover); if (tip) tip.hidden = true; }
  function show(c, late) {
    clearTimeout(hover);
    hover = setTimeout(() => {
      const say = c.getAttribute("aria-label");
      if (!say || !root || !c.isConnected) return;
      if (!tip) {
        root.append((tip = document.createElement("div")));
        tip.className = "k-tip";
        put(tip, "aria-hidden", true);
      }
      tip.textContent = say;
      tip.hidden = false;
      const r = box(root), b = box(c);
      tip.style.left = Math.max(4, Math.min(b.left - r.left, r.width - tip.offsetWidth - 4)) + "px";
      tip.style.top = b.bottom - r.top + 6 + "px";
    }, late);
  }
  on("mouseover", (e) => of(e) ? show(of(e), 450) : hide());
  on("mouseleave", hide);
  on("focusin", (e) => of(e)?.matches(":focus-visible") && show(of(e), 250));
  on("focusout", hide);

  function nearest(c, dx, dy) {
    const middle = (o) => { const b = box(o); return [b.left + b.right, b.top + b.bottom]; };
    const [x, y] = middle(c);
    let best, least = Infinity;
    for (const o of c.closest(".k-view").querySelectorAll("[data-ref]")) {
      const [ox, oy] = middle(o), along = (ox - x) * dx + (oy - y) * dy;
      const far = along + 2.5 * Math.abs((ox - x) * dy + (oy - y) * dx);
      if (along > 2 && far < least) { least = far; best = o; }
    }
    return best;
  }
  const ARROWS = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] };
  const KEYS = { ".": "step", ",": "back", r: "run", p: "toggle", ArrowRight: "step", ArrowLeft: "back", Home: "reset", Escape: "clear" };
  function keydown(e) {
    if (e.ctrlKey || e.metaKey || e.altKey || e.defaultPrevented) return;
    if (e.target.closest("[role=slider]") && (ARROWS[e.key] || e.key === "Home")) return;
    entered = e.key === "Enter";
    if (e.target.closest("input,textarea,select") && e.key !== "Escape") return;
    const c = el.contains(e.target) && of(e);
    const tab = e.target.closest(".k-tab"), side = tab && { ArrowRight: tab.nextSibling, ArrowLeft: tab.previousSibling }[e.key];
    if (side) { side.focus(); side.click(); }
    else if (c && ARROWS[e.key]) { const o = nearest(c, ...ARROWS[e.key]); if (o) focus(o); }
    else if (c && (e.key === "Enter" || e.key === " ")) send("select", { ref: c.dataset.ref });
    else if (KEYS[e.key]) { if (e.key === "Escape") { hide(); keepFocus(1); } send(KEYS[e.key]); }
    else if (/^[1-9]$/.test(e.key)) send("act", { number: +e.key });
    else if (root.classList.contains("k-playing") && e.key.length < 2) send("pause");
    else return;
    e.preventDefault();
    e.stopPropagation();
  }
  // Give ipywidgets' buttons what Python cannot: a chip's actor in bold, the tabs' roles.
  // A button that is disabled, or gone, takes the focus with it: the panel keeps it, or no key would arrive any more.
  let held, last, asked, entered;
  const rest = (c = root) => c.focus({ preventScroll: true });
  function keepFocus(leave) {
    const now = document.activeElement, mine = root.contains(now), field = one(".k-form:not(.k-hidden) :is(select,input,textarea)");
    if (mine && (now.disabled || now.closest(leave ? ".k-form" : ".k-hidden"))) { held = now; rest(); }
    else if (held && !held.disabled && now === root) { rest(held); held = null; }
    else if (last && !last.isConnected && now === document.body) { last = null; rest(); }
    if (field && field !== asked && mine) rest(field);
    asked = field;
  }
  // The browser tells of a changed field before the key is up: what was written arrives before the order.
  const keyup = (e) => { if (e.key === "Enter" && entered && e.target.closest(".k-form input")) one(".k-do").click(); };
  function tune() {
    keepFocus();
    for (const b of all(".k-chip-b")) {
      const [who, what] = b.textContent.split("\u2002");
      if (what === undefined || b.querySelector("b")) continue;
      const bold = document.createElement("b");
      bold.textContent = who;
      b.replaceChildren(bold, " " + what);
      put(b, "aria-label", b.textContent);
    }
    for (const h of all(".noUi-handle")) {
      const low = +h.ariaValueMin;
      put(h, "aria-label", h.closest(".k-control")?.firstChild.textContent || "timeline");
      h.closest(".noUi-target").style.setProperty("--k-at", 100 * (h.ariaValueNow - low) / (h.ariaValueMax - low || 1) + "%");
    }
    for (const b of all(".k-tab")) {
      put(b, "role", "tab");
      const open = b.classList.contains("k-on");
      put(b, "aria-selected", open);
      b.tabIndex = open ? 0 : -1;
      put(b.parentElement, "role", "tablist");
    }
  }
  (function attach(tries) {
    root = el.closest("." + model.get("root"));
    if (!root) { if (tries < 250) setTimeout(attach, 20, tries + 1); return; }
    put(root, "role", "region");
    put(root, "aria-label", "kvolsched panel");
    root.tabIndex = -1;
    const click = (e) => {
      const script = e.target.closest(".k-copy") && one(".k-script textarea");
      if (script) { script.select(); navigator.clipboard?.writeText(script.value); }
      else if (e.target.closest("button")) busy();
    };
    // JupyterLab hears keys first, and looks for ":focus" before it looks at what is around it.
    const focusin = (e) => { last = e.target; put(e.target, ALONE, true); };
    const watch = new MutationObserver(tune), size = new ResizeObserver(() => {
      const now = Math.floor(root.clientWidth / 20 - 1) * 20;
      if (now > 0 && now !== width) { width = now; tell("width", { px: now }); }
    });
    const ends = new AbortController(), hears = { keydown, keyup, click, focusin };
    for (const name in hears) root.addEventListener(name, hears[name], { signal: ends.signal, capture: true });
    watch.observe(root, { childList: true, subtree: true, attributes: true, attributeFilter: ["class", "aria-valuenow", "disabled"] });
    size.observe(root);
    tune();
    stop.push(() => { watch.disconnect(); size.disconnect(); ends.abort(); });
  })(0);
  return () => { tell("gone"); stop.forEach((end) => end()); };
}
export default { render };
