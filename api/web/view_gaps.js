// Gaps: where sources contradict each other; then what a reproduction needs, what the paper states of it, and where the rest comes from.

import { address, addressed, announce, counted, make, note, noted, problem, strange, worded } from "./dom.js";
import { cited, quote } from "./evidence.js";
import { get } from "./server.js";

export const STATES = { UNSPECIFIED: "not stated", PARTIALLY_SPECIFIED: "mentioned, no value", SPECIFIED: "stated" };
const SAYS = "says: "; // what begins the reason that quotes the sentence itself
const SUGGESTIONS = 3;
const OPEN = ["UNSPECIFIED", "PARTIALLY_SPECIFIED"]; // what is shown unless the address says otherwise

export async function gaps(view, { lineage, signal }) {
  view.replaceChildren(make("p", { class: "quiet", role: "status" }, "Comparing the paper with its lineage…"));
  try {
    const report = await get("/gaps", { lineage });
    if (signal.aborted) return; // the reader has gone on to another view
    view.replaceChildren(make("div", { class: "column" }, ...report.notes.map(noted), contradictions(report.conflicts), ...details(report.gaps, lineage)));
    announce(`${told(report.conflicts)}${counted(report.gaps.filter((gap) => gap.state === "UNSPECIFIED").length, "detail")} not stated`);
  } catch (error) {
    if (signal.aborted) return;
    view.replaceChildren(problem(error));
  }
}

export const told = (conflicts) => (conflicts.length ? `${counted(conflicts.length, "contradiction")}, ` : "");

export function contradictions(conflicts) {
  if (!conflicts.length) return null; // only a chat model reads them
  return make("section", { class: "contradictions" }, make("h2", {}, counted(conflicts.length, "contradiction")), ...conflicts.map(contradiction));
}

// A side for each value: the first source that has it with its words, the others by name.
function sides(conflict) {
  const byValue = Map.groupBy(conflict.sides, ({ fact }) => [fact.value, fact.unit].join(" "));
  return [...byValue.values()].map(([first, ...others]) => make("div", { class: "side" }, value(first.fact), make("div", {}, cited(first.evidence)), quote(first.evidence),
    others.length ? make("details", {}, make("summary", {}, `also in ${counted(others.length, "other place")}`), ...others.map((side) => make("div", {}, cited(side.evidence)))) : null));
}

function contradiction(conflict) {
  return make("div", { class: "card" },
    make("div", { class: "head row spread" }, make("h3", {}, conflict.title), make("span", { class: "small quiet" }, conflict.kind.replace("-", " against "))),
    make("div", { class: "body" }, conflict.why ? make("p", {}, make("bdi", {}, conflict.why)) : null,
      make("div", { class: "sides" }, ...sides(conflict))));
}

function details(every, lineage) {
  const shown = new Set(addressed().has("state") ? addressed().getAll("state") : OPEN);
  const table = make("div", { class: "scroll" });
  const total = make("p", { class: "quiet" });
  const draw = () => {
    const listed = every.filter((gap) => shown.has(gap.state));
    total.textContent = `${listed.length} of ${every.length} listed`;
    table.replaceChildren(...tables(listed));
  };
  const filters = Object.entries(STATES).map(([state, words]) => {
    const button = make("button", { type: "button", "aria-pressed": String(shown.has(state)), onclick: () => {
      if (!shown.delete(state)) shown.add(state);
      address("gaps", lineage, { state: shown.size ? [...shown] : [""] });
      button.setAttribute("aria-pressed", String(shown.has(state)));
      draw();
    } }, `${words} (${every.filter((gap) => gap.state === state).length})`);
    return button;
  });
  draw();
  return [make("h2", {}, "What the paper states and what it leaves open"),
    make("p", { class: "quiet" }, "Where the paper gives no value, the values of its lineage stand beside it. Open one to see where it comes from."),
    make("div", { class: "row", role: "group", "aria-label": "Show details by state" }, ...filters), total, table];
}

const isUnconfirmed = (gap) => gap.confirmed === false && !gap.decision;
const isSetting = (gap) => gap.state !== "SPECIFIED" && gap.detail.name.startsWith("setting:");

function tables(listed) {
  if (!listed.length) return [note("Nothing in these states.")];
  const [doubted, others] = [listed.filter(isUnconfirmed), listed.filter((gap) => !isUnconfirmed(gap))];
  const more = doubted.length ? make("details", {}, make("summary", {}, `${counted(doubted.length, "decision")} that a second reading does not confirm`), rows(doubted)) : null;
  return [rows(others.filter((gap) => !isSetting(gap))), settings(others.filter(isSetting)), more].filter(Boolean);
}

function rows(listed) {
  if (!listed.length) return null;
  const quoted = new Set();
  return grid(counted(listed.length, "detail"), ["Detail", "In the paper", "Where it is given"], listed.map((gap) => [
    [make("strong", {}, gap.detail.title), make("div", { class: "small quiet" }, gap.detail.topic)],
    [make("span", { class: `state ${gap.state.toLowerCase()}` }, STATES[gap.state]), gap.decision ? decided(gap.decision) : null],
    evidence(gap, quoted)]));
}

function decided(decision) {
  return make("div", { class: "small" }, "decided: ", make("bdi", { class: "value" }, decision.value), make("div", { class: "quiet" }, make("bdi", {}, `${decision.by}, ${decision.citation}`)));
}

function settings(listed) {
  if (!listed.length) return null;
  return grid(`${counted(listed.length, "setting")} in the code, not in the text`, ["Setting", "Others", "Where"], listed.map((gap) => {
    const [first, ...others] = gap.suggestions;
    return [[named(first), " ", strength(first)], others.map((other) => make("div", { class: "small" }, named(other))), [cited(first.held[0].evidence)]];
  }));
}

export function grid(caption, heads, body) {
  return make("table", { class: "wide stack" }, make("caption", {}, caption), make("thead", {}, make("tr", {}, ...heads.map((words) => make("th", { scope: "col" }, words)))),
    make("tbody", {}, ...body.map((cells) => make("tr", {}, ...cells.map((content) => make("td", {}, ...content))))));
}

// `quoted` are the sentences that stand above: many details refer to the same one.
function evidence(gap, quoted) {
  const stated = gap.facts.map((held) => make("div", {}, value(held.fact), " ", cited(held.evidence)));
  const places = stated.length ? stated : gap.stated.slice(0, 1).map((hit) => make("div", {}, cited(hit), sentence(hit, quoted)));
  const first = gap.suggestions.slice(0, SUGGESTIONS).map(suggestion);
  const more = gap.suggestions.slice(SUGGESTIONS).map(suggestion);
  return [...places, ...first, more.length ? make("details", {}, make("summary", {}, `${more.length} more`), ...more) : null,
    gap.why && !places.length && !first.length ? make("span", { class: "quiet" }, gap.why) : null];
}

function sentence(hit, quoted) {
  const words = ((hit.why || []).find((reason) => reason.startsWith(SAYS)) || "").slice(SAYS.length);
  if (!words) return quote(hit);
  if (quoted.has(words)) return make("span", { class: "small quiet" }, " quoted above");
  quoted.add(words);
  return make("blockquote", {}, strange(words));
}

const value = (fact) => make("span", { class: "value" }, worded(fact));

export const strength = (offer) => make("span", { class: "badge", title: offer.reason || null }, offer.grade);

// A value with the name it has in its source: several settings can belong to one detail.
export function named(offer) {
  const fact = offer.held.length ? offer.held[0].fact : null;
  if (!fact) return "evidence without a value";
  if (fact.end_line) return value(fact); // a statement of code
  return make("span", {}, make("bdi", {}, fact.name), " = ", value(fact), fact.scope ? make("span", { class: "small quiet" }, " ", make("bdi", {}, fact.scope)) : null);
}

function suggestion(offer) {
  const hits = [...offer.held.map((held) => held.evidence), ...offer.evidence];
  return make("details", {}, make("summary", {}, named(offer), " ", strength(offer)), make("div", { class: "small quiet" }, make("bdi", {}, offer.reason)),
    make("ol", {}, ...offer.chain.map((words) => make("li", {}, make("bdi", {}, words)))), ...hits.slice(0, 3).map((hit) => make("div", {}, cited(hit), quote(hit))));
}
