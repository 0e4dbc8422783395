// Drives the host in a saved page: a model of a few lines over the pool of strings and the steps that use them.
const run = JSON.parse(document.getElementById("run").textContent), heard = {};
let at = run.at, tab = "verdicts", tick = 0;
const dark = matchMedia("(prefers-color-scheme: dark)");
const theme = () => { document.body.dataset.jpThemeLight = !dark.matches; };
theme();
dark.addEventListener("change", theme);
const text = (name) => run.lists[run.steps[at][name]]?.map((i) => run.pool[i]).join("");
const model = {
  get: (name) => name === "root" ? run.root : name === "tick" ? tick : text(name === "body" ? tab : name),
  on: (name, f) => (heard[name] = heard[name] || []).push(f), off() {},
  send: ({ cmd, ref }) => {
    const last = run.steps.length - 1, to = /^(?:step|mark)\/(\d+)/.exec(ref || "");
    const goal = { step: at + 1, back: at - 1, reset: 0, run: last }[cmd] ?? (cmd === "select" && to ? +to[1] : at);
    go(Math.max(0, Math.min(last, goal)));
  },
};
function go(step) {
  at = step;
  tick += 1;
  for (const name of ["sentence", "map", "side", "lanes", "body", "tick"]) {
    for (const f of heard["change:" + name] || []) f();
  }
  for (const c of document.querySelectorAll("[data-show]")) c.innerHTML = text(c.dataset.show);
  document.querySelector(".k-slider").value = at;
  for (const b of document.querySelectorAll("[data-cmd]")) {
    b.disabled = at === (/reset|back/.test(b.dataset.cmd) ? 0 : run.steps.length - 1);
  }
  for (const b of document.querySelectorAll("[data-tab]")) b.classList.toggle("k-on", b.dataset.tab === tab);
}
render({ model, el: document.getElementById("host") });
document.querySelector(".k-slider").addEventListener("input", (e) => go(+e.target.value));
for (const b of document.querySelectorAll("[data-cmd]")) {
  b.addEventListener("click", () => model.send({ cmd: b.dataset.cmd }));
}
for (const b of document.querySelectorAll("[data-tab]")) {
  b.addEventListener("click", () => { tab = b.dataset.tab; go(at); });
}
go(at);
