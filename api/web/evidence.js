// A hit as a card: where it stands, why it counts, the lines that answer; and the short form of it for tables.

import { counted, license, make, outward, problem, role, strange } from "./dom.js";
import { about } from "./panel.js";
import { get } from "./server.js";
import { passage, source } from "./source.js";

const SHOWN = 16;
const ofTarget = (hit) => (hit.source.work.startsWith("repo:") ? "the target's own code" : "the target itself");
export const isCode = (hit) => hit.kind === "code" || hit.kind === "config";

function place(hit) {
  const { source: at } = hit;
  if (at.section) return [...at.section, at.page ? `page ${at.page}` : ""].filter(Boolean).join(" › ");
  return at.symbol || at.path || "";
}

// The window of lines around the focus that is shown first: whole, if it is short.
function window_(hit) {
  const rows = hit.text.replace(/\n$/, "").split("\n");
  const first = hit.source.start_line || 1;
  if (!isCode(hit) || rows.length <= SHOWN) return { rows, first, cut: false };
  const middle = ((hit.focus ? hit.focus.start_line + hit.focus.end_line : 2 * first) / 2) - first;
  const start = Math.max(0, Math.min(rows.length - SHOWN, Math.round(middle - SHOWN / 2)));
  return { rows: rows.slice(start, start + SHOWN), first: first + start, cut: true };
}

function body(hit, rows, first) {
  const text = rows.join("\n");
  const focus = hit.focus && hit.focus.end_line - hit.focus.start_line + 1 < hit.text.replace(/\n$/, "").split("\n").length ? hit.focus : null; // all of it is marked by nothing
  return isCode(hit) ? source(text, hit.source.path, first, focus, `Lines of ${hit.source.path}`) : passage(text, first, focus);
}

// `only`, if given, asks one work.
export function card(hit, lineage, only) {
  const { rows, first, cut } = window_(hit);
  const held = make("div", {}, body(hit, rows, first));
  const all = make("button", { type: "button", hidden: !cut, onclick: () => {
    held.replaceChildren(body(hit, hit.text.replace(/\n$/, "").split("\n"), hit.source.start_line || 1));
    all.hidden = true;
  } }, "The whole unit");
  const wider = make("button", { type: "button", onclick: () => widen(hit, lineage, held, wider) }, "More around it");
  const kin = hit.lineage || {};
  return make("article", { class: "card", tabindex: "-1", id: hit.chunk, "aria-label": `Hit ${hit.rank}: ${hit.citation}` },
    make("div", { class: "head" },
      make("div", { class: "row spread" }, make("h3", {}, `${hit.rank}. `, about(lineage, hit.source.work, strange(hit.source.title))), make("span", { class: "small quiet" }, strange(place(hit)))),
      make("div", { class: "cite" }, outward(hit.source.url, hit.citation)),
      make("div", { class: "badges" }, hit.from_target ? make("span", { class: "badge" }, ofTarget(hit)) : role(kin.role),
        make("span", { class: "badge" }, license(hit.license)),
        ...(hit.flags || []).map((flag) => make("span", { class: "badge" }, flag)),
        hit.copies && hit.copies.length ? make("span", { class: "badge", title: hit.copies.join("\n") }, `also in ${counted(hit.copies.length, "other place")}`) : null),
      kin.why ? make("blockquote", {}, strange(kin.why)) : null),
    held,
    make("div", { class: "foot" }, all, wider, pictured(hit, lineage, held), only ? make("button", { type: "button", onclick: () => only(hit.source.work) }, "Ask only this work") : null, copier(hit), make("details", {}, make("summary", {}, "Why this rank"), make("ul", {}, ...(hit.why || []).map((words) => make("li", {}, words))))));
}

// The page of the PDF that a passage was read from, with a box around it.
function pictured(hit, lineage, held) {
  if (!hit.source.box) return null;
  const button = make("button", { type: "button", onclick: async () => {
    button.disabled = true;
    try {
      const { page, width, height, png } = await get(`/crops/${hit.chunk}`, { lineage });
      held.append(make("img", { class: "crop", src: `data:image/png;base64,${png}`, width, height, alt: `Page ${page} of ${hit.source.title} with a box around this passage` }));
      button.hidden = true;
    } catch (error) {
      held.append(problem(error));
    }
  } }, "On its page");
  return button;
}

function copier(hit) {
  if (!navigator.clipboard) return null;
  const button = make("button", { type: "button", onclick: async () => {
    await navigator.clipboard.writeText(hit.citation);
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy citation"; }, 1500);
  } }, "Copy citation");
  return button;
}

// The lines around a hit, its own marked.
export async function around(hit, lineage, lines) {
  const found = await get(`/evidence/${hit.chunk}`, { lineage, before: lines, after: lines });
  return body({ ...found.hit, focus: hit.focus }, found.hit.text.replace(/\n$/, "").split("\n"), found.start_line);
}

async function widen(hit, lineage, held, button) {
  button.disabled = true;
  try {
    const found = await get(`/evidence/${hit.chunk}`, { lineage, before: 40, after: 40 });
    held.replaceChildren(body(found.hit, found.hit.text.replace(/\n$/, "").split("\n"), found.start_line));
    button.hidden = true;
  } catch (error) {
    held.append(problem(error));
    button.disabled = false;
  }
}

// A hit in one line: its citation, and what it belongs to.
export function cited(hit) {
  const kin = hit.lineage || {};
  return make("span", {}, outward(hit.source && hit.source.url, make("span", { class: "cite" }, hit.citation)), " ",
    hit.from_target ? make("span", { class: "small quiet" }, ofTarget(hit)) : role(kin.role));
}

// The line or sentence that says it. Some answers carry these lines only, others the whole unit.
export function quote(hit) {
  const first = hit.source.start_line || 1;
  const focus = hit.focus || { start_line: first, end_line: first };
  const rows = hit.text.replace(/\n$/, "").split("\n");
  const whole = rows.length > focus.end_line - focus.start_line + 1 || focus.start_line === first;
  const from = whole ? Math.min(rows.length - 1, Math.max(0, focus.start_line - first)) : 0;
  const words = rows.slice(from, from + Math.min(4, focus.end_line - focus.start_line + 1)).join("\n").trim().slice(0, 400);
  if (!words) return null;
  return isCode(hit) ? source(words, hit.source.path, focus.start_line, null, "The lines that say it") : make("blockquote", {}, strange(words));
}
