// The side panel of a work: what it is, its code with license, what is said of it, and its BibTeX. Its address is that of the view, with `open`.

import { address, addressed, counted, license, make, outward, problem, role, strange } from "./dom.js";
import { overview, text } from "./server.js";

const PAGES = { arxiv: "https://arxiv.org/abs/", doi: "https://doi.org/", s2: "https://www.semanticscholar.org/paper/", repo: "https://" };
export const page = (id) => { const [scheme, ...rest] = id.split(":"); return PAGES[scheme] && PAGES[scheme] + rest.join(":"); };

const view = () => location.hash.slice(1).split("?")[0] || "paper";
// Every value of the address, with another work in the panel or, without `id`, none.
function remember(lineage, id) {
  const values = Object.fromEntries([...new Set(addressed().keys())].filter((name) => !["open", "lineage"].includes(name)).map((name) => [name, addressed().getAll(name)]));
  address(view(), lineage, { ...values, ...(id && { open: id }) });
}

// A link to a work that opens the panel.
export function about(lineage, id, ...words) {
  return make("a", { href: `#${view()}?${new URLSearchParams({ lineage, open: id })}`, onclick: (event) => {
    event.preventDefault();
    openPanel(lineage, id);
  } }, ...words);
}

export async function openPanel(lineage, id) {
  const panel = document.getElementById("panel");
  const held = make("div", { class: "held" }, make("p", { class: "quiet", role: "status" }, "Reading…"));
  panel.replaceChildren(make("button", { type: "button", class: "close", "aria-label": "Close", onclick: () => panel.close() }, "×"), held);
  panel.onclose = () => remember(lineage, "");
  if (!panel.open) panel.showModal();
  remember(lineage, id);
  try {
    held.replaceChildren(...content(lineage, id, await overview(lineage)).filter(Boolean));
  } catch (error) {
    held.replaceChildren(problem(error));
  }
  panel.setAttribute("aria-label", held.querySelector("h2")?.textContent || "A work");
}

function content(lineage, id, shown) {
  const own = shown.references.filter((one) => one.citing === shown.report.target.id);
  const edges = shown.references.filter((one) => one.cited === id);
  const links = shown.links.filter((one) => one.paper === id || one.repo === id);
  const work = edges.find((one) => one.work)?.work || links.find((one) => one.repo === id)?.repository || (shown.report.target.id === id ? shown.report.target : null);
  if (!work) return [make("h2", {}, id), make("p", {}, "This lineage knows no more of it. ", outward(page(id), id))];
  const rank = own.findIndex((one) => one.cited === id) + 1;
  return [make("h2", {}, strange(work.title || id)), facts(work), make("p", { class: "small row" }, outward(page(id), id.replace(/^repo:/, "")), make("a", { href: `#ask?${new URLSearchParams({ lineage, work: id })}` }, "Ask only this work")),
    rank ? make("div", { class: "badges" }, make("span", { class: "badge" }, `rank ${rank} of ${own.length}`), ...[...new Set(edges[0].roles.map((one) => one.role))].map(role)) : null,
    work.abstract ? make("p", { class: "small abstract" }, strange(work.abstract)) : null,
    ...code(lineage, id, links), edges.length ? bibtex(lineage, id) : null, ...sentences(shown, edges)];
}

function facts(work) {
  const cites = (name, words) => (Number.isFinite(work.meta?.[name]) ? words(work.meta[name]) : "");
  const names = work.authors.slice(0, 8).join(", ") + (work.authors.length > 8 ? " and others" : "");
  return make("p", { class: "small quiet" }, strange([names, work.year, work.venue, cites("citationCount", (n) => `cited ${counted(n, "time")}`),
    cites("referenceCount", (n) => `cites ${counted(n, "work")}`), work.kind === "code" ? license(work.license) : "", work.meta?.commit ? `commit ${work.meta.commit.slice(0, 8)}` : ""].filter(Boolean).join(" · ")));
}

function code(lineage, id, links) {
  if (!links.length) return [];
  return [make("h3", {}, links[0].repo === id ? "Code of" : "Code"), ...links.map((link) => {
    const other = link.repo === id ? link.paper : link.repo;
    const facts_ = [link.tier, link.repo === id ? "" : license(link.repository?.license), ...(link.state?.words || [])];
    return make("div", { class: "small" }, about(lineage, other, strange(other.replace(/^repo:/, ""))), ` ${facts_.filter(Boolean).join(" · ")}`, link.evidence.length ? make("blockquote", {}, strange(link.evidence[0].slice(0, 200))) : null);
  })];
}

function sentences(shown, edges) {
  return edges.filter((edge) => edge.mentions.length).flatMap((edge) => [
    make("h3", {}, edge.citing === shown.report.target.id ? "What the paper says of it" : `What ${edge.citing} says of it`),
    ...[...new Map(edge.mentions.map((one) => [one.sentence, one])).values()].map((one) => make("blockquote", {}, strange(one.sentence),
      one.section.length ? make("div", { class: "small" }, strange(one.section.join(" › "))) : null))]);
}

function bibtex(lineage, id) {
  const entry = make("pre", { tabindex: "0", "aria-label": "BibTeX" });
  const copy = make("button", { type: "button", hidden: !navigator.clipboard, onclick: async () => { await navigator.clipboard.writeText(entry.textContent); copy.textContent = "Copied"; } }, "Copy BibTeX");
  text(`/lineages/${encodeURIComponent(lineage)}/references`, { form: "bibtex", work: id }).then((all) => { entry.textContent = all.split("\n@")[0].trim(); }, () => entry.remove());
  return make("details", {}, make("summary", {}, "BibTeX"), entry, copy);
}
