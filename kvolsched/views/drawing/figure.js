// Shows a figure that Python drew: the widest layout that fits, in the colours of the page. A click on a mark writes
// its name below the picture and dims what has no tie with it; arrows move between marks.
((data) => (element) => {
  const at = element[0] || element, make = (name, classes) => Object.assign(document.createElement(name), { className: classes });
  const root = make("figure", `${data.root} k-fig`), style = make("style", ""), view = make("div", ""), said = make("p", "k-said");
  style.textContent = data.style;
  said.setAttribute("role", "status");
  said.hidden = true;
  root.append(style, view, said);
  at.append(root);
  let shown = null, picked = "";
  const marks = () => [...view.querySelectorAll("[data-ref]")];
  const ties = (mark) => (mark.dataset.tie || "").split(" ").filter(Boolean);
  const name = (mark) => mark.getAttribute("aria-label") || mark.dataset.ref;
  function mark() {
    const chosen = marks().find((one) => one.dataset.ref === picked), mine = chosen ? ties(chosen) : [];
    said.hidden = !chosen;
    said.textContent = chosen ? name(chosen) : "";
    for (const one of marks()) one.setAttribute("aria-pressed", one === chosen);
    for (const one of view.querySelectorAll("[data-tie]")) {
      one.classList.toggle("k-dim", mine.length > 0 && !ties(one).some((tie) => mine.includes(tie)));
    }
  }
  function show() {
    const wide = view.clientWidth || 828, layout = data.layouts.findLast(([width]) => width <= wide) || data.layouts[0];
    if (layout === shown) return;
    const folds = () => [...view.querySelectorAll("details")], open = folds().map((one) => one.open);
    shown = layout;
    view.innerHTML = layout[1];
    open.forEach((is, place) => { folds()[place].open = is; });
    marks().forEach((one, place) => {
      one.setAttribute("tabindex", place ? -1 : 0);
      if (!one.ownerSVGElement) { one.title = name(one); return; }
      const title = document.createElementNS("http://www.w3.org/2000/svg", "title");
      title.textContent = name(one);
      one.prepend(title);
    });
    mark();
  }
  const pick = (one) => { picked = one && one.dataset.ref !== picked ? one.dataset.ref : ""; mark(); };
  view.addEventListener("click", (event) => pick(event.target.closest("[data-ref]")));
  view.addEventListener("keydown", (event) => {
    const all = marks(), here = event.target.closest("[data-ref]");
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!here || event.ctrlKey || event.metaKey || event.altKey) return;
    if (step) {
      const next = all[(all.indexOf(here) + step + all.length) % all.length];
      all.forEach((one) => one.setAttribute("tabindex", one === next ? 0 : -1));
      next.focus();
    } else if (event.key === "Enter" || event.key === " ") pick(here);
    else if (event.key === "Escape") pick(null);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  view.addEventListener("focusin", (event) => event.target.setAttribute("data-lm-suppress-shortcuts", true));
  new ResizeObserver(show).observe(view);
  show();
})
