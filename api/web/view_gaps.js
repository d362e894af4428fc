// Gaps: what a reproduction needs, what the target states of it, and where the rest comes from; then the conflicts.

import { announce, counted, make, note, problem, strange } from "./dom.js";
import { cited, quote } from "./evidence.js";
import { get } from "./server.js";

const STATES = { UNSPECIFIED: "nobody says in the paper", PARTIALLY_SPECIFIED: "mentioned, no value", SPECIFIED: "stated" };
const SAYS = "says: "; // what begins the reason that holds the sentence itself
const shown = new Set(["UNSPECIFIED", "PARTIALLY_SPECIFIED"]);

export async function gaps(view, { lineage, signal }) {
  view.replaceChildren(make("p", { class: "quiet", role: "status" }, "Reading the target against its lineage…"));
  try {
    const found = await get("/gaps", { lineage });
    if (signal.aborted) return; // the reader has gone on to another view
    const table = make("div", { class: "scroll" });
    const draw = () => table.replaceChildren(...tables(found.gaps.filter((gap) => shown.has(gap.state))));
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

const isSetting = (gap) => gap.state !== "SPECIFIED" && gap.detail.name.startsWith("setting:");
const isSteps = (gap) => gap.state !== "SPECIFIED" && gap.detail.topic === "method";

function tables(found) {
  if (!found.length) return [note("Nothing in these states.")];
  const details = found.filter((gap) => !isSetting(gap) && !isSteps(gap));
  return [rows(details), settings(found.filter(isSetting)), steps(found.filter(isSteps))].filter(Boolean);
}

function rows(found) {
  if (!found.length) return null;
  const told = new Set();
  return listed(counted(found.length, "detail"), ["Detail", "In the paper", "Where it is said"], found.map((gap) => [
    [make("strong", {}, gap.detail.title), make("div", { class: "small quiet" }, gap.detail.topic)],
    [make("span", { class: `state ${gap.state.toLowerCase()}` }, gap.state.toLowerCase().replace(/_/g, " "))],
    said(gap, told)]));
}

function settings(found) {
  if (!found.length) return null;
  return listed(`${counted(found.length, "further setting")} of its own code, or of code that it follows, that the text does not give`, ["Setting", "Others", "Where"], found.map((gap) => {
    const [first, ...others] = gap.suggestions;
    return [[named(first), " ", sure(first)], others.map((one) => make("div", { class: "small" }, named(one))), [cited(first.held[0].evidence)]];
  }));
}

function steps(found) {
  if (!found.length) return null;
  return listed(`${counted(found.length, "passage")} whose steps its own code has`, ["Passage", "Besides", "Where"], found.map((gap) => [
    [make("bdi", {}, gap.detail.title)], [make("bdi", {}, gap.why)], [cited(gap.stated[0]), make("br"), cited(gap.suggestions[0].evidence[0])]]));
}

function listed(caption, heads, body) {
  return make("table", { class: "wide stack" }, make("caption", {}, caption), make("thead", {}, make("tr", {}, ...heads.map((words) => make("th", { scope: "col" }, words)))),
    make("tbody", {}, ...body.map((cells) => make("tr", {}, ...cells.map((some) => make("td", {}, ...some))))));
}

// `told` are the sentences that stand above: many details defer with the same one.
function said(gap, told) {
  const stated = gap.facts.map((held) => make("div", {}, value(held.fact), " ", cited(held.evidence)));
  const places = stated.length ? stated : gap.stated.slice(0, 1).map((hit) => make("div", {}, cited(hit), sentence(hit, told)));
  return [...places, ...gap.suggestions.slice(0, 3).map(suggestion), gap.why && !places.length && !gap.suggestions.length ? make("span", { class: "quiet" }, gap.why) : null];
}

function sentence(hit, told) {
  const words = ((hit.why || []).find((one) => one.startsWith(SAYS)) || "").slice(SAYS.length);
  if (!words) return quote(hit);
  if (told.has(words)) return make("span", { class: "small quiet" }, " quoted above");
  told.add(words);
  return make("blockquote", {}, strange(words));
}

const value = (fact) => make("span", { class: "value" }, make("bdi", {}, [fact.value, fact.unit].filter(Boolean).join(" ")));

const sure = (one) => make("span", { class: "small quiet", title: one.reason }, one.grade);

// A value with the name by which its holder has it: a detail may be offered several.
function named(one) {
  const fact = one.held.length ? one.held[0].fact : null;
  if (!fact) return "evidence without a value";
  return make("span", {}, make("bdi", {}, fact.name), " = ", value(fact), fact.scope ? make("span", { class: "small quiet" }, " ", make("bdi", {}, fact.scope)) : null);
}

function suggestion(one) {
  const hits = [...one.held.map((held) => held.evidence), ...one.evidence];
  return make("details", {}, make("summary", {}, named(one), " ", sure(one)),
    make("div", { class: "small quiet" }, make("bdi", {}, one.reason)),
    make("ol", {}, ...one.chain.map((words) => make("li", {}, make("bdi", {}, words)))), ...hits.slice(0, 3).map((hit) => make("div", {}, cited(hit), quote(hit))));
}

function conflicts(found) {
  if (!found.length) return make("p", { class: "quiet" }, "No two sources were found to contradict each other.");
  return make("section", {}, make("h2", {}, counted(found.length, "conflict")), ...found.map((one) => make("div", { class: "card" },
    make("div", { class: "head row spread" }, make("h3", {}, one.title), make("span", { class: "meter" }, make("meter", { min: "0", max: "1", value: String(one.severity), "aria-label": "how likely it matters" }), one.kind.replace("-", " against "))),
    make("div", { class: "body" }, one.why ? make("p", {}, make("bdi", {}, one.why)) : null, make("div", { class: "sides" }, ...one.sides.map((side) => make("div", { class: "side" }, value(side.fact), make("div", {}, cited(side.evidence)), quote(side.evidence))))))));
}
