// The page: which lineage, which view. Views are functions of their element; nothing else holds state.

import { address, addressed, announce, counted, make, note, paint, problem } from "./dom.js";
import { openPanel } from "./panel.js";
import { get, renew } from "./server.js";
import { ask } from "./view_ask.js";
import { builds } from "./view_builds.js";
import { gaps } from "./view_gaps.js";
import { paper } from "./view_paper.js";
import { picture } from "./view_picture.js";
import { values } from "./view_values.js";

const VIEWS = { paper, picture, ask, gaps, values, builds };
const TITLES = { paper: "Paper", picture: "Picture", ask: "Ask", gaps: "Gaps", values: "Values", builds: "Builds" };
const $ = (id) => document.getElementById(id);
let known = [];
let leaving = new AbortController();

const chosen = () => $("lineage").value || "";
const wanted = () => {
  const name = location.hash.slice(1).split("?")[0];
  if (!known.length) return "builds";
  return VIEWS[name] ? name : "paper";
};

// The values of an address by name; a name that stands there twice has several.
const every = (pairs) => [...pairs].reduce((all, [name, value]) => ({ ...all, [name]: Object.hasOwn(all, name) ? [all[name], value].flat() : value }), {});

function open() {
  leaving.abort();
  leaving = new AbortController();
  const name = wanted();
  for (const tab of document.querySelectorAll("#tabs a")) {
    if (tab.dataset.view === name) tab.setAttribute("aria-current", "page");
    else tab.removeAttribute("aria-current");
  }
  const view = $("view");
  view.classList.remove("whole");
  const { lineage: named, ...asked } = every(addressed());
  if (named && name !== "builds" && !known.some((row) => row.lineage === named)) {
    view.replaceChildren(note(`There is no lineage ${named} here; the views above are those of ${chosen()}.`, true));
    return;
  }
  if (named && name !== "builds") choose(named);
  address(name, name === "builds" ? "" : chosen(), asked);
  document.title = `${TITLES[name]} · ${chosen() || "Lineage"}`;
  $("panel").onclose = null;
  $("panel").close();
  if (asked.open) openPanel(chosen(), asked.open);
  VIEWS[name](view, { lineage: chosen(), signal: leaving.signal, refresh: load, empty: !known.length });
}

const when = (moment) => (moment ? `built ${moment.slice(0, 10)}` : "");

function origin({ built, upstream, bundle }) {
  if (bundle) return `imported from a bundle of ${bundle.imported.slice(0, 10)}`;
  if (built === "unknown") return "of unknown origin";
  return upstream === "mirror" ? "built through a mirror" : "";
}

function describe() {
  const one = known.find((row) => row.lineage === chosen());
  const about = $("about");
  about.hidden = !one;
  if (!one) return;
  const facts = one.problem ? [`damaged: ${one.problem}`] : [counted(one.counts.chunks, "chunk"), one.counts.facts ? counted(one.counts.facts, "fact") : "", one.embedder ? "" : "dense vectors are still being computed", when(one.created), origin(one.provenance)];
  about.replaceChildren(make("bdi", {}, facts.filter(Boolean).join(" · ")));
}

async function load() {
  const before = chosen() || localStorage.getItem("lineage") || "";
  renew();
  known = (await get("/lineages")).lineages;
  $("which").hidden = !known.length;
  $("lineage").replaceChildren(...known.map((row) => make("option", { value: row.lineage, selected: row.lineage === before }, row.title ? `${row.lineage} · ${row.title}` : row.lineage)));
  describe();
}

function choose(lineage) {
  $("lineage").value = lineage;
  localStorage.setItem("lineage", lineage);
  describe();
}

$("lineage").addEventListener("change", () => {
  choose(chosen());
  address(wanted(), chosen(), every([...addressed()].filter(([name]) => !["lineage", "detail", "with", "open", "work"].includes(name))));
  open();
  announce(`Lineage ${chosen()}`);
});
window.addEventListener("hashchange", open);
document.addEventListener("keydown", (event) => {
  const typing = /^(input|select|textarea)$/i.test(event.target.tagName);
  if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && known.length) {
    event.preventDefault();
    location.hash = "#ask";
    requestAnimationFrame(() => $("question")?.focus());
  }
  if ((event.key === "j" || event.key === "k") && !typing && !event.ctrlKey && !event.metaKey) {
    const cards = [...document.querySelectorAll("article.card")];
    const at = cards.indexOf(document.activeElement.closest("article.card"));
    cards[Math.max(0, Math.min(cards.length - 1, at + (event.key === "j" ? 1 : -1)))]?.focus();
  }
});

if (navigator.clipboard) {
  $("link").hidden = false;
  $("link").addEventListener("click", async () => {
    await navigator.clipboard.writeText(location.href);
    announce("The address of this view is copied");
  });
}
$("scheme").addEventListener("click", () => {
  localStorage.setItem("scheme", $("scheme").getAttribute("aria-pressed") === "true" ? "light" : "dark");
  paint();
});
paint();

load().then(open, (error) => $("view").replaceChildren(problem(error)));
