// Ask: a question, the short answer tied to its evidence, and the hits.

import { address, addressed, announce, counted, make, note, outward, problem, strange } from "./dom.js";
import { card, isCode } from "./evidence.js";
import { marked } from "./source.js";
import { get, post } from "./server.js";

let asked = { text: "", kind: "", no_target_code: false, work: "" };
let place = null;
let running = null;

export function ask(view, { lineage, signal }) {
  const given = addressed();
  if (given.has("q")) asked = { ...asked, text: given.get("q"), work: given.get("work") || "" };
  if (place && place !== lineage) asked.work = ""; // works are those of one lineage
  place = lineage;
  const results = make("div", { tabindex: "-1" });
  const input = make("input", { type: "search", id: "question", "aria-label": "Question", placeholder: "Ask as you would ask a colleague", maxlength: "4096", autocomplete: "off" });
  input.value = asked.text;
  const kind = make("select", { "aria-label": "Only hits of this kind" }, ...[["", "everything"], ["paper", "papers"], ["code", "code"], ["config", "settings"], ["docs", "docs"]].map(([value, words]) => make("option", { value, selected: value === asked.kind }, words)));
  const without = make("input", { type: "checkbox", id: "without" });
  without.checked = asked.no_target_code;
  const works = make("datalist", { id: "works" });
  const work = make("input", { type: "search", id: "work", list: "works", form: "asking", placeholder: "every paper and repository", maxlength: "300", autocomplete: "off" });
  work.value = asked.work;
  const go = () => {
    asked = { text: input.value.trim(), kind: kind.value, no_target_code: without.checked, work: work.value.trim() };
    address("ask", lineage, { q: asked.text, ...(asked.work && { work: asked.work }) });
    search(results, lineage, only);
  };
  // The button that asked is gone with the results; the focus stays where they come.
  const only = (id) => { work.value = id; go(); results.focus(); };
  const example = (text) => make("li", {}, make("button", { type: "button", onclick: () => { input.value = text; go(); } }, text));
  const examples = make("ul", { class: "chips", "aria-label": "Examples" });
  view.replaceChildren(make("div", { class: "column" },
    make("form", { id: "asking", class: "ask", role: "search", onsubmit: (event) => { event.preventDefault(); go(); } }, input, kind, make("button", { type: "submit", class: "first" }, "Ask")),
    make("p", { class: "small quiet check" }, make("label", { for: "work" }, "only in"), work, works, without, make("label", { for: "without" }, "leave the target's own code out")),
    examples, results));
  if (input.value) go();
  else input.focus();
  get(`/lineages/${encodeURIComponent(lineage)}`, {}, { signal }).then(({ texts, questions }) => {
    works.replaceChildren(...texts.map((one) => make("option", { value: one.work, label: one.title })));
    examples.replaceChildren(...questions.map(example)); // those that this lineage supports
  }, () => {}); // an identifier can be typed as well
}

async function search(results, lineage, only) {
  if (running) running.abort();
  if (!asked.text) return;
  running = new AbortController();
  const { signal } = running;
  results.replaceChildren(make("p", { class: "quiet", role: "status" }, "Searching…"));
  const { text, work, no_target_code } = asked;
  // The short answer is one of the whole lineage.
  const answered = work ? null : post("/answer", { text, lineage, no_target_code }, { signal }).catch(() => null);
  const every = work ? make("p", {}, "Only hits of ", strange(work), " ", make("button", { type: "button", onclick: () => only("") }, "Ask every work")) : null;
  try {
    const found = await post("/search", { ...asked, lineage, k: 10 }, { signal });
    const short = make("div", {});
    results.replaceChildren(make("h2", { class: "unseen" }, "What was found"), every || short, ...found.notes.map((words) => note(words)), ...found.hits.map((hit) => card(hit, lineage, work ? null : only)),
      found.hits.length ? "" : note("Nothing in this lineage matches. Other words, or another kind of source, may."));
    announce(`${counted(found.hits.length, "hit")}`);
    const composed = await answered;
    if (composed && !signal.aborted) short.replaceChildren(answer(composed));
  } catch (error) {
    if (error.name !== "AbortError") results.replaceChildren(...[every, problem(error)].filter(Boolean));
  }
}

function answer(composed) {
  if (!composed.sentences || !composed.sentences.length) return make("span", {});
  const numbered = new Map();
  const paragraphs = composed.sentences.map((sentence) => make("div", { class: "statement" }, ...marked(sentence.text, sentence.evidence.every(isCode) && sentence.evidence.length ? sentence.evidence[0].source.path : ""), ...sentence.evidence.map((hit) => {
    if (!numbered.has(hit.citation)) numbered.set(hit.citation, { n: numbered.size + 1, hit });
    const { n } = numbered.get(hit.citation);
    return make("sup", {}, outward(hit.source.url, `[${n}]`));
  })));
  const sources = [...numbered.values()].map(({ n, hit }) => make("li", { value: String(n) }, outward(hit.source.url, make("span", { class: "cite" }, hit.citation))));
  const by = composed.by === "extract" ? "Taken from the evidence, word for word" : `Written by ${composed.by}; every sentence was checked against its evidence`;
  return make("section", { class: "answer", "aria-label": "Short answer" }, ...paragraphs,
    make("details", {}, make("summary", {}, counted(sources.length, "source")), make("ol", {}, ...sources)), make("p", { class: "small quiet" }, by));
}
