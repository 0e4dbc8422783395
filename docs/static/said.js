// Finds statements of the design documents as `kvolsched.said` does (kvolsched/learn/said.py), without a kernel.
const SMALL = /^(?:a|an|and|any|are|as|at|be|but|by|can|does|for|from|has|have|if|in|into|is|it|its|may|no|not|of|on|one|only|or|so|than|that|the|their|them|then|there|they|this|to|was|we|what|when|where|which|will|with|you)$/;
const ENDING = /(?<=\w{3})(?:es|s|e|ed|ing|ly)$/;
const MOST = 8;

function terms(text) {
  const found = [];
  for (const word of text.match(/[A-Za-z0-9]+/g) || []) {
    const parts = word.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+/g) || [];
    found.push(word.toLowerCase(), ...(parts.length > 1 ? parts.map((part) => part.toLowerCase()) : []));
  }
  return found.filter((term) => !SMALL.test(term)).map((term) => term.replace(ENDING, ""));
}

function ranked(data, words) {
  const named = words.trim().match(/^s\d-\d+(?:-\w+)?$/i);
  if (named) {
    const name = `${words.trim()[0].toUpperCase()}${words.trim().slice(1).toLowerCase()}-`;
    return data.statements.flatMap(({ anchor }, place) => (`${anchor}-`.startsWith(name) ? [place] : []));
  }
  const asked = [...new Set(terms(words))], known = (term) => Object.hasOwn(data.rarity, term);
  const everything = asked.reduce((sum, term) => sum + (known(term) ? data.rarity[term] : data.unknown), 0);
  const least = everything * (asked.length < data.many ? data.least : data.leastOfMany);
  const scores = data.statements.map(({ weights, length }, place) => {
    const held = asked.filter((term) => Object.hasOwn(weights, term));
    const weight = held.reduce((sum, term) => sum + data.rarity[term], 0);
    const score = held.reduce((sum, term) => sum + data.rarity[term] * 2 * weights[term] / (weights[term] + length), 0);
    return [place, least > 0 && weight >= least ? score : -1];
  }).filter(([, score]) => score >= 0);
  const best = Math.max(0, ...scores.map(([, score]) => score));
  return scores.filter(([, score]) => score >= data.beside * best).sort((a, b) => b[1] - a[1] || a[0] - b[0])
    .slice(0, MOST).map(([place]) => place);
}

function showSaid(data, field, list) {
  const rows = ranked(data, field.value).map((place) => {
    const { anchor, section, sentence } = data.statements[place];
    const row = document.createElement("li"), link = document.createElement("a");
    link.href = `../notebooks/documents/${anchor.slice(0, 2)}.html#${anchor}`;
    link.textContent = anchor;
    row.append(link, ` · ${section}: ${sentence}`);
    return row;
  });
  list.replaceChildren(...rows);
  if (!rows.length && field.value.trim()) list.append("no statement fits; for example: ActualSkew");
}

document.addEventListener("DOMContentLoaded", () => {
  const field = document.getElementById("said-words"), list = document.getElementById("said-found");
  if (!field || !window.SAID) return;
  field.value = new URLSearchParams(window.location.search).get("q") || "";
  field.addEventListener("input", () => showSaid(window.SAID, field, list));
  showSaid(window.SAID, field, list);
});
