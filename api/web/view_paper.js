// Paper: what this paper does not tell you. Contradictions, open decisions by part with the ancestor's answer, what was decided; the lineage beside it.

import { address, addressed, announce, counted, make, noted, outward, problem, strange } from "./dom.js";
import { cited, quote } from "./evidence.js";
import { about, page } from "./panel.js";
import { get, post, remove, text } from "./server.js";
import { contradictions, grid, named, STATES, strength, told } from "./view_gaps.js";

const FIRST = 5;

export async function paper(view, { lineage, signal }) {
  view.replaceChildren(make("p", { class: "quiet", role: "status" }, "Comparing the paper with its lineage…"));
  try {
    const report = await get("/report", { lineage }, { signal });
    if (signal.aborted) return; // the reader has gone on to another view
    const again = async () => { await paper(view, { lineage, signal }); view.focus(); };
    const open = report.parts.flatMap((part) => part.decisions);
    view.replaceChildren(make("div", { class: "paper" },
      make("div", {}, head(report, open), contradictions(report.conflicts),
        decided(report.decided, lineage, again), make("h2", {}, `${counted(open.length, "open decision")}, and what the ancestors do`),
        ...report.parts.filter((part) => part.decisions.length).map((part) => section(part, lineage, again)), unconfirmed(report.unconfirmed, lineage, again)),
      beside(report, lineage)));
    announce(`${told(report.conflicts)}${counted(open.length, "open decision")}`);
    const row = document.getElementById(`detail-${addressed().get("detail") || ""}`);
    if (row) { row.scrollIntoView({ block: "center" }); row.focus(); }
  } catch (error) {
    if (!signal.aborted) view.replaceChildren(problem(error));
  }
}

function head(report, open) {
  const { target } = report;
  const names = target.authors.slice(0, 6).join(", ") + (target.authors.length > 6 ? " and others" : "");
  const answered = open.filter((gap) => gap.suggestions.some((offer) => offer.held.length)).length;
  return make("section", {}, make("p", { class: "small quiet" }, "What this paper does not tell you"), make("h2", { class: "title" }, strange(target.title || target.id)),
    make("p", { class: "small quiet" }, strange([names, target.year, target.venue].filter(Boolean).join(" · ")), " ", outward(page(target.id), target.id)),
    make("p", {}, `${told(report.conflicts)}${counted(open.length, "open decision")} (the lineage has a value for ${answered}), ${report.decided.length} decided, ${report.stated} stated.`));
}

// A decision by name, in the address, so that a link leads to it.
function detail(gap, lineage) {
  const name = gap.detail.name;
  return make("a", { id: `detail-${name}`, href: `#paper?${new URLSearchParams({ detail: name, lineage })}`, class: "detail", onclick: (event) => {
    event.preventDefault();
    address("paper", lineage, { detail: name });
  } }, strange(gap.detail.title));
}

function section(part, lineage, again) {
  const from = part.ancestors[0];
  const held = make("div", {});
  const wanted = part.decisions.findIndex((gap) => gap.detail.name === addressed().get("detail"));
  const draw = (count) => held.replaceChildren(table(part, count, lineage, again),
    part.decisions.length > count ? make("button", { type: "button", onclick: () => { draw(part.decisions.length); held.querySelectorAll("a.detail")[count].focus(); } }, `${part.decisions.length - count} more of ${part.part}`) : "");
  draw(wanted < FIRST ? FIRST : part.decisions.length);
  return make("section", { class: "part" }, make("h3", {}, part.part.charAt(0).toUpperCase() + part.part.slice(1)),
    from ? make("p", { class: "small" }, "taken from ", about(lineage, from.work, strange(from.title || from.work)), from.reason ? make("blockquote", {}, strange(from.reason)) : null) : null, held);
}

function unconfirmed(decisions, lineage, again) {
  if (!decisions.length) return null;
  const open = decisions.some((gap) => gap.detail.name === addressed().get("detail"));
  return make("details", { open }, make("summary", {}, `${counted(decisions.length, "decision")} that a second reading does not confirm`),
    table({ decisions }, decisions.length, lineage, again));
}

function table({ decisions }, count, lineage, again) {
  const words = `${count < decisions.length ? `${count} of ` : ""}${counted(decisions.length, "decision")}`;
  return grid(words, ["Detail", "Answer of the lineage", "Yours"], decisions.slice(0, count).map((gap) => [
    [detail(gap, lineage), make("div", { class: "small quiet" }, STATES[gap.state], gap.why ? make("bdi", {}, `: ${gap.why}`) : "")],
    answer(gap.suggestions[0]), [deciding(gap, lineage, again)]]));
}

function answer(offer) {
  if (!offer) return [make("span", { class: "quiet" }, "nothing in the lineage")];
  const hit = offer.held.length ? { ...offer.held[0].evidence, citation: offer.held[0].citation } : offer.evidence[0];
  return [named(offer), " ", offer.held.length ? strength(offer) : null, hit ? make("div", {}, cited(hit)) : null,
    make("details", {}, make("summary", {}, "Why"), make("p", { class: "small" }, strange(offer.reason)), make("ol", { class: "small" }, ...offer.chain.map((words) => make("li", {}, strange(words)))), hit ? quote(hit) : null)].filter(Boolean);
}

// What the reader decides, with the lines that it rests on; lines that do not state it are refused unless it is recorded all the same.
function deciding(gap, lineage, again) {
  const [offer] = gap.suggestions;
  const held = offer && offer.held[0];
  const field = (words, attributes) => { const input = make("input", { maxlength: "600", autocomplete: "off", ...attributes }); return [input, make("label", {}, words, input)]; };
  const [value, ofValue] = field("Value", { required: true, value: held && !held.fact.end_line ? held.fact.value : "" });
  const [because, ofLines] = field("Because of", { required: true, value: held ? held.citation : "" });
  const [by, ofName] = field("By", { value: localStorage.getItem("by") || "", maxlength: "200" });
  const said = make("div", {});
  const record = async (force) => {
    localStorage.setItem("by", by.value);
    try {
      await post("/decisions", { name: gap.detail.name, value: value.value, because: because.value, by: by.value, lineage, force });
      announce(`Decided: ${gap.detail.title}`);
      again();
    } catch (error) {
      said.replaceChildren(problem(error), error.status === 422 ? make("button", { type: "button", onclick: () => record(true) }, "Record it as unsupported") : "");
    }
  };
  return make("details", {}, make("summary", { "aria-label": `Decide: ${gap.detail.title}` }, "Decide"),
    make("form", { class: "decide", onsubmit: (event) => { event.preventDefault(); record(false); } }, ofValue, ofLines, ofName, make("button", { type: "submit", class: "first" }, "Record"), said));
}

function decided(gaps, lineage, again) {
  if (!gaps.length) return "";
  const said = make("div", {});
  const withdraw = async (name) => {
    try {
      await remove("/decisions", { name, lineage, by: localStorage.getItem("by") || "" });
      announce("Withdrawn");
      again();
    } catch (error) { said.replaceChildren(problem(error)); }
  };
  return make("section", { class: "decided" }, make("h2", {}, `${gaps.length} decided`), said, grid("What was decided, and because of what", ["Detail", "Value", "Withdraw"], gaps.map(({ detail: { title }, decision }) => [
    [strange(title)], [make("bdi", { class: "value" }, decision.value), make("div", { class: "small quiet" }, strange([decision.by, decision.at.slice(0, 10), decision.citation, decision.support === "stated" ? "" : decision.support, decision.note].filter(Boolean).join(" · ")))],
    [make("button", { type: "button", "aria-label": `Withdraw: ${title}`, onclick: () => withdraw(decision.name) }, "Withdraw")]])));
}

function beside(report, lineage) {
  const { target, parts } = report;
  const save = (words, path, values, name) => make("button", { type: "button", onclick: async () => {
    const file = URL.createObjectURL(new Blob([await text(path, values)]));
    make("a", { href: file, download: name }).click();
    URL.revokeObjectURL(file);
  } }, words);
  const whose = parts.filter((part) => part.ancestors.length).map((part) => [make("dt", {}, part.part),
    ...part.ancestors.slice(0, 3).map((one) => make("dd", { title: one.reason }, about(lineage, one.work, strange(one.title || one.work))))]);
  return make("aside", { class: "beside", "aria-label": "The lineage" }, make("h2", {}, "Its lineage"),
    whose.length ? make("dl", {}, ...whose.flat()) : make("p", { class: "quiet" }, "No ancestor of a part was found."),
    make("p", {}, make("a", { href: `#picture?${new URLSearchParams({ lineage })}` }, "The whole lineage as a picture")),
    target.abstract ? make("details", {}, make("summary", {}, "Abstract"), make("p", { class: "small" }, strange(target.abstract))) : null,
    ...report.notes.map(noted), make("h2", {}, "Export"), make("div", { class: "row" },
      save("Report", "/report", { lineage, form: "html" }, `${lineage}.html`),
      save("Markdown", "/report", { lineage, form: "markdown" }, `${lineage}.md`),
      save("BibTeX", `/lineages/${encodeURIComponent(lineage)}/references`, { form: "bibtex" }, `${lineage}.bib`)));
}
