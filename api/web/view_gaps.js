// Gaps: what a reproduction needs, what the target states of it, and where the rest comes from; then the conflicts.

import { announce, counted, make, note, problem } from "./dom.js";
import { cited, quote } from "./evidence.js";
import { get } from "./server.js";

const STATES = { UNSPECIFIED: "nobody says in the paper", PARTIALLY_SPECIFIED: "mentioned, no value", SPECIFIED: "stated" };
const shown = new Set(["UNSPECIFIED", "PARTIALLY_SPECIFIED"]);

export async function gaps(view, { lineage, signal }) {
  view.replaceChildren(make("p", { class: "quiet", role: "status" }, "Reading the target against its lineage…"));
  try {
    const found = await get("/gaps", { lineage });
    if (signal.aborted) return; // the reader has gone on to another view
    const table = make("div", { class: "scroll" });
    const draw = () => table.replaceChildren(rows(found.gaps.filter((gap) => shown.has(gap.state))));
    const counts = (state) => found.gaps.filter((gap) => gap.state === state).length;
    const filters = Object.entries(STATES).map(([state, words]) => {
      const button = make("button", { type: "button", "aria-pressed": String(shown.has(state)), onclick: () => {
        if (shown.has(state)) shown.delete(state);
        else shown.add(state);
        button.setAttribute("aria-pressed", String(shown.has(state)));
        draw();
      } }, `${words} (${counts(state)})`);
      return button;
    });
    view.replaceChildren(make("div", { class: "column" }, make("h2", {}, "What the paper leaves unsaid"),
      make("p", { class: "quiet" }, "For what is missing, the best-supported value of its lineage stands beside it; open it to see the chain."),
      ...found.notes.map((words) => note(words)), make("div", { class: "row", role: "group", "aria-label": "Show details by state" }, ...filters), make("p", {}), table, conflicts(found.conflicts)));
    draw();
    announce(`${counted(counts("UNSPECIFIED"), "detail")} unspecified`);
  } catch (error) {
    if (signal.aborted) return;
    view.replaceChildren(problem(error));
  }
}

function rows(found) {
  if (!found.length) return note("Nothing in these states.");
  const body = found.map((gap) => make("tr", {},
    make("td", {}, make("strong", {}, gap.detail.title), make("div", { class: "small quiet" }, gap.detail.topic)),
    make("td", {}, make("span", { class: `state ${gap.state.toLowerCase()}` }, gap.state.toLowerCase().replace(/_/g, " "))),
    make("td", {}, ...said(gap))));
  return make("table", { class: "wide stack" }, make("caption", {}, counted(found.length, "detail")),
    make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "Detail"), make("th", { scope: "col" }, "In the paper"), make("th", { scope: "col" }, "Where it is said"))), make("tbody", {}, ...body));
}

function said(gap) {
  const stated = gap.facts.map((held) => make("div", {}, value(held.fact), " ", cited(held.evidence)));
  const places = stated.length ? stated : gap.stated.slice(0, 1).map((hit) => make("div", {}, cited(hit), quote(hit)));
  return [...places, ...gap.suggestions.slice(0, 3).map(suggestion), gap.why && !places.length && !gap.suggestions.length ? make("span", { class: "quiet" }, gap.why) : null];
}

const value = (fact) => make("span", { class: "value" }, make("bdi", {}, [fact.value, fact.unit].filter(Boolean).join(" ")));

function suggestion(one) {
  const hits = [...one.held.map((held) => held.evidence), ...one.evidence];
  const sure = make("span", { class: "meter" }, make("meter", { min: "0", max: "1", value: String(one.confidence), "aria-label": `confidence ${Math.round(100 * one.confidence)} %` }), `${Math.round(100 * one.confidence)} %`);
  return make("details", {}, make("summary", {}, one.value ? make("span", { class: "value" }, make("bdi", {}, [one.value, one.unit].filter(Boolean).join(" "))) : "evidence without a value", " ", sure),
    make("ol", {}, ...one.chain.map((words) => make("li", {}, make("bdi", {}, words)))), ...hits.slice(0, 3).map((hit) => make("div", {}, cited(hit), quote(hit))));
}

function conflicts(found) {
  if (!found.length) return make("p", { class: "quiet" }, "No two sources were found to contradict each other.");
  return make("section", {}, make("h2", {}, counted(found.length, "conflict")), ...found.map((one) => make("div", { class: "card" },
    make("div", { class: "head row spread" }, make("h3", {}, one.title), make("span", { class: "meter" }, make("meter", { min: "0", max: "1", value: String(one.severity), "aria-label": "how likely it matters" }), one.kind.replace("-", " against "))),
    make("div", { class: "body" }, one.why ? make("p", {}, make("bdi", {}, one.why)) : null, make("div", { class: "sides" }, ...one.sides.map((side) => make("div", { class: "side" }, value(side.fact), make("div", {}, cited(side.evidence)), quote(side.evidence))))))));
}
