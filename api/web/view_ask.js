// Ask: a question, the short answer tied to its evidence, and the hits.

import { address, addressed, announce, counted, make, note, outward, problem, strange } from "./dom.js";
import { card, isCode } from "./evidence.js";
import { marked } from "./source.js";
import { overview, post } from "./server.js";

let asked = { text: "", kind: "", no_target_code: false, work: "" };
let place = null;
let running = null;

export function ask(view, { lineage, signal }) {
  const given = addressed();
  if (given.has("q") || given.has("work")) asked = { text: given.get("q") || "", kind: given.get("kind") || "", no_target_code: given.has("without"), work: given.get("work") || "" };
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
    address("ask", lineage, addressOf(asked));
    keep.hidden = !asked.text;
    search(results, lineage, only);
  };
  // The button that asked is gone with the results; the focus stays where they come.
  const only = (id) => { work.value = id; go(); results.focus(); };
  const keep = make("button", { type: "button", hidden: !asked.text, onclick: () => { remember(lineage, asked); saved.replaceChildren(...kept()); announce("The question is saved"); } }, "Save question");
  const saved = make("ul", { class: "chips", "aria-label": "Saved questions" });
  const kept = () => questionsOf(lineage).map((one) => make("li", {}, make("a", { href: `#ask?${new URLSearchParams({ ...addressOf(one), lineage })}` }, strange(one.text), one.work ? make("span", { class: "quiet" }, ` in ${one.work}`) : null),
    make("button", { type: "button", "aria-label": `Forget: ${one.text}`, onclick: () => { forget(lineage, one); saved.replaceChildren(...kept()); keep.focus(); } }, "×")));
  saved.append(...kept());
  const example = (text) => make("li", {}, make("button", { type: "button", onclick: () => { input.value = text; go(); } }, text));
  const examples = make("ul", { class: "chips", "aria-label": "Examples" });
  view.replaceChildren(make("div", { class: "column" },
    make("form", { id: "asking", class: "ask", role: "search", onsubmit: (event) => { event.preventDefault(); go(); } }, input, kind, make("button", { type: "submit", class: "first" }, "Ask")),
    make("p", { class: "small quiet check" }, make("label", { for: "work" }, "only in"), work, works, without, make("label", { for: "without" }, "leave the target's own code out"), keep),
    saved, examples, results));
  if (input.value) go();
  else input.focus();
  overview(lineage).then(({ texts, questions }) => {
    if (signal.aborted) return;
    works.replaceChildren(...texts.map((one) => make("option", { value: one.work, label: one.title })));
    examples.replaceChildren(...questions.map(example)); // those that this lineage supports
  }, () => {}); // an identifier can be typed as well
}

// The question as it stands in an address; what is not chosen is left out.
const addressOf = ({ text, kind, no_target_code, work }) => ({ q: text, ...(kind && { kind }), ...(work && { work }), ...(no_target_code && { without: "target-code" }) });

// Saved questions stay in this browser, beside the choice of light or dark.
const SAVED = 50;
const every = () => JSON.parse(localStorage.getItem("questions") || "[]");
const questionsOf = (lineage) => every().filter((one) => one.lineage === lineage);
const same = (one, lineage, other) => one.lineage === lineage && JSON.stringify(addressOf(one)) === JSON.stringify(addressOf(other));
const forget = (lineage, question) => localStorage.setItem("questions", JSON.stringify(every().filter((one) => !same(one, lineage, question))));
function remember(lineage, question) {
  forget(lineage, question);
  localStorage.setItem("questions", JSON.stringify([{ ...question, lineage }, ...every()].slice(0, SAVED)));
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
  const stated = composed.sentences || [], said = stated.length ? stated : composed.quotes || [];
  if (!said.length) return make("span", {});
  const numbered = new Map();
  const paragraphs = said.map((sentence) => make("div", { class: "statement" }, ...marked(sentence.text, sentence.evidence.every(isCode) && sentence.evidence.length ? sentence.evidence[0].source.path : ""), ...sentence.evidence.map((hit) => {
    if (!numbered.has(hit.citation)) numbered.set(hit.citation, { n: numbered.size + 1, hit });
    const { n } = numbered.get(hit.citation);
    return make("sup", {}, outward(hit.source.url, `[${n}]`));
  })));
  const sources = [...numbered.values()].map(({ n, hit }) => make("li", { value: String(n) }, outward(hit.source.url, make("span", { class: "cite" }, hit.citation))));
  const by = stated.length ? "Stated by the paper, word for word" : "Quoted, word for word: the passages that come nearest";
  return make("section", { class: "answer", "aria-label": "Short answer" }, make("p", { class: "small quiet" }, by), ...paragraphs,
    make("details", {}, make("summary", {}, counted(sources.length, "source")), make("ol", {}, ...sources)));
}
