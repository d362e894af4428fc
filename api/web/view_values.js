// Values: one detail across the whole lineage. Who holds which value, since when, who dissents, what the target inherits.

import { address, addressed, announce, counted, make, note, problem, worded } from "./dom.js";
import { around, cited, isCode, quote } from "./evidence.js";
import { get } from "./server.js";

let picked = []; // citations of the sources that stand side by side

export async function values(view, { lineage }) {
  const input = make("input", { type: "search", id: "name", list: "names", "aria-label": "Detail", placeholder: "learning rate, weight decay, batch size …", maxlength: "200", autocomplete: "off" });
  const names = make("datalist", { id: "names" });
  const results = make("div", {});
  const go = () => {
    address("values", lineage, { name: input.value });
    picked = [];
    look(results, lineage, input.value.trim(), open);
  };
  const open = (name) => { input.value = name; go(); };
  view.replaceChildren(make("div", { class: "column" }, make("h2", {}, "Values across the lineage"),
    make("form", { class: "ask", onsubmit: (event) => { event.preventDefault(); go(); } }, input, names, make("button", { type: "submit", class: "first" }, "Show")), results));
  const given = addressed().get("name");
  if (given) input.value = given;
  picked = given ? addressed().getAll("with") : [];
  look(results, lineage, input.value, open, names);
}

async function look(results, lineage, name, open, names) {
  try {
    const found = await (name ? get("/facts", { name, lineage }) : get("/details", { lineage }));
    results.replaceChildren(found.values ? consensus(found, lineage) : table(found, open, names));
    document.getElementById("view").scrollTop = 0;
    announce(found.values ? counted(found.values.length, "value") : "");
  } catch (error) {
    results.replaceChildren(problem(error));
  }
}

// What there are facts about, to choose from.
function table(found, open, names) {
  const { rows } = found;
  if (names) names.replaceChildren(...rows.map((row) => make("option", { value: row.title })));
  if (!rows.length) return note("No values were found in this lineage.");
  return make("table", { class: "wide" }, make("caption", {}, `${counted(rows.length, "detail")} with values; choose one`),
    make("thead", {}, make("tr", {}, ...["Detail", "Topic", "Facts", "Values", "Sources"].map((words) => make("th", { scope: "col" }, words)))),
    make("tbody", {}, ...rows.map((row) => make("tr", {}, make("td", {}, make("button", { type: "button", onclick: () => open(row.name) }, row.title)),
      make("td", {}, row.topic), make("td", {}, String(row.facts)), make("td", {}, String(row.values)), make("td", {}, String(row.works))))));
}

function consensus(found, lineage) {
  const most = Math.max(1, ...found.values.map((value) => value.held.length));
  const both = make("div", { tabindex: "-1" });
  const pick = (citation) => {
    picked = picked.includes(citation) ? picked.filter((one) => one !== citation) : [...picked.slice(-1), citation];
    for (const button of document.querySelectorAll("button[data-citation]")) button.setAttribute("aria-pressed", String(picked.includes(button.dataset.citation)));
    address("values", lineage, { name: found.name, with: picked });
    compare(both, found, lineage);
  };
  if (picked.length) compare(both, found, lineage);
  return make("div", {}, make("h2", {}, found.title), ...found.why.map((words) => make("p", {}, make("bdi", {}, words))), ...found.notes.map((words) => note(words)), both,
    ...found.values.map((value) => make("section", { class: "card" },
      make("div", { class: "head row spread" }, make("h3", { class: "value" }, worded(value)),
        make("span", { class: "row" }, value.inherited ? make("span", { class: "state specified" }, "inherited by the target") : null,
          make("span", { class: "meter" }, make("meter", { min: "0", max: String(most), value: String(value.held.length), "aria-label": "support" }), counted(value.held.length, "place")))),
      make("div", { class: "body" }, ...value.held.slice(0, 6).map((held) => holder(held, pick)), value.held.length > 6 ? make("details", {}, make("summary", {}, `${value.held.length - 6} more`), ...value.held.slice(6).map((held) => holder(held, pick))) : null))));
}

// Two sources of the detail side by side, each with the lines around it.
async function compare(both, found, lineage) {
  const sides = picked.map((citation) => found.values.flatMap((value) => value.held).find((held) => held.citation === citation)).filter(Boolean);
  if (sides.length < 2) {
    both.replaceChildren(sides.length ? note(`Choose another source to compare ${sides[0].citation} with.`) : "");
    return;
  }
  try {
    const lines = await Promise.all(sides.map((held) => around(held.evidence, lineage, isCode(held.evidence) ? 10 : 1)));
    both.replaceChildren(make("section", { class: "sides compared", "aria-label": "Two sources side by side" }, ...sides.map((held, i) => make("div", { class: "side" },
      make("div", { class: "value" }, worded(held.fact)), cited(held.evidence), lines[i]))));
    both.scrollIntoView({ block: "start" });
    announce("Two sources side by side");
  } catch (error) {
    both.replaceChildren(problem(error));
  }
}

function holder(held, pick) {
  const { fact } = held;
  const over = held.overridden.map((one) => `${one.value} (${one.kind})`).join(", ");
  return make("div", { class: "holder" }, cited({ ...held.evidence, citation: held.citation }), make("span", { class: "small quiet" }, " · ", [fact.kind, fact.scope, held.since && `since ${held.since}`, over && `overrides ${over}`, fact.literal ? "" : "computed, not run"].filter(Boolean).join(" · ")), " ",
    make("button", { type: "button", class: "small", "data-citation": held.citation, "aria-pressed": String(picked.includes(held.citation)), "aria-label": `Compare ${held.citation}`, onclick: () => pick(held.citation) }, "Compare"), quote(held.evidence));
}
