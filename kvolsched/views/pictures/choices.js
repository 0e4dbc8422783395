// Plays one or more clusters without a kernel: every state that the offered acts reach was drawn before. A game that is
// played once takes one act; the last line counts the stars of all games on the page.
((data) => (element) => {
  const at = element[0] || element, many = data.games.length > 1, stars = (window.kvolschedStars ||= {});
  const kept = (name, given) => { // what was done outlives a reload of the page
    try {
      if (given) sessionStorage.setItem(`kvolsched ${name}`, JSON.stringify(given));
      return JSON.parse(sessionStorage.getItem(`kvolsched ${name}`)) || [];
    } catch { return given || []; }
  };
  const make = (name, text, classes = "") => Object.assign(document.createElement(name), { textContent: text, className: classes });
  const root = make("figure", "", `${data.root} k-fig`), style = make("style", data.style), total = make("p", "", "t");
  total.setAttribute("role", "status");
  root.append(style);
  const drawn = (count) => "★".repeat(count) + "☆".repeat(3 - count);
  const play = (game, place) => {
    const box = make("section", ""), view = make("div", ""), acts = make("div", ""), end = make("div", ""), told = make("pre", "");
    const undo = make("button", "Undo"), why = make("button", ""), said = make("b", "", "s");
    let taken = kept(game.name);
    if (!(taken.join() in game.states)) taken = [];
    said.setAttribute("role", "status");
    const buttons = game.acts.map((words, number) => {
      const button = make("button", words);
      button.onclick = () => { taken.push(number); kept(game.name, taken); show(); };
      return button;
    });
    undo.onclick = () => { taken.pop(); kept(game.name, taken); show(); };
    why.onclick = () => { told.hidden = !told.hidden; };
    told.hidden = true;
    function show() {
      const state = game.states[taken.join()], wide = view.clientWidth || 828;
      const widths = data.widths.filter((width) => width <= wide), layout = Math.max(0, widths.length - 1);
      view.innerHTML = state.maps[layout].map((part) => data.pool[part]).join("");
      told.textContent = state.why;
      why.textContent = state.asks;
      why.hidden = !state.why;
      if (!state.why) told.hidden = true;
      said.textContent = taken.length ? `${drawn(state.stars)} ${state.said}` : "☆☆☆ no act yet";
      buttons.forEach((button, number) => {
        button.disabled = !(taken.concat(number).join() in game.states);
        button.className = taken.includes(number) ? "on" : "";
      });
      undo.disabled = !taken.length;
      if (taken.length) stars[game.name] = state.stars; else delete stars[game.name];
      document.dispatchEvent(new Event("kvolsched-stars"));
    }
    acts.append(...buttons);
    end.append(...(game.once ? [] : [undo]), why, said);
    box.append(make("h3", (many ? `${place + 1}. ` : "") + game.question), view, acts, end, told);
    root.append(box);
    new ResizeObserver(show).observe(view);
    return show;
  };
  const shows = data.games.map(play);
  const count = () => {
    const counted = Object.values(stars), sum = counted.reduce((a, b) => a + b, 0);
    total.textContent = `${data.reader}: ${counted.map((each) => drawn(each) + " · ").join("")}${sum} of ${3 * data.of} stars`;
  };
  if (many) {
    root.append(total);
    document.addEventListener("kvolsched-stars", count);
  }
  at.append(root);
  shows.forEach((show) => show());
})
