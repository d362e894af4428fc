// The evidence of one work, and the same graph as a table.

const panel = document.getElementById("panel");
const table = document.getElementById("table-view");
const order = { key: "rank", down: false };

const dot = (node) => make("span", { class: `dot role-${roleClass(node)}`, "aria-hidden": "true" });
const links = (id, way, kind) => data.edges.filter((edge) => edge[way] === id && edge.kind === kind && edge.source !== edge.target);

function outward(url, ...words) {
  // Only addresses of the web are followed: a javascript: link stays text.
  if (!/^https?:\/\//.test(url || "")) return make("span", {}, ...words);
  return make("a", { href: url, target: "_blank", rel: "noopener noreferrer" }, ...words);
}

function to(id, trail) {
  const node = byId.get(id);
  const button = make("button", { type: "button", class: "to" }, dot(node), make("bdi", {}, node.title), trail ? make("span", { class: "weight" }, trail) : null);
  button.addEventListener("click", () => choose(id, true));
  return button;
}

function section(title, ...content) {
  const held = content.flat().filter(Boolean);
  return held.length ? [make("h3", {}, title), ...held] : [];
}

function list(name, items) {
  return items.length ? make("ul", { class: name }, ...items.map((item) => make("li", {}, item))) : null;
}

function quotes(edge) {
  const sentences = [...new Set(edge.evidence.map((one) => one.sentence))];
  return sentences.map((sentence) => {
    const said = edge.evidence.filter((one) => one.sentence === sentence);
    const roles = said.map((one) => (one.role ? data.roles[one.role] : "also cited")).join(", ");
    const where = said.find((one) => one.section);
    const words = [roles, where ? `section ${where.section}` : ""].filter(Boolean).join(" · ");
    return make("blockquote", {}, make("bdi", {}, `“${sentence}”`), make("footer", {}, words));
  });
}

function citedBy(node) {
  return links(node.id, "target", "cites").flatMap((edge) => {
    const source = byId.get(edge.source);
    const more = edge.mentions > edge.evidence.length ? `${edge.mentions} mentions in all` : "";
    return [
      ...section(source.target ? "What the target says of it" : `What “${source.label}” says of it`, quotes(edge), more ? make("p", { class: "meta" }, more) : null),
      ...section("Why it ranks here", list("words", edge.why)),
      ...section("One work out of several records", list("words", edge.merged)),
    ];
  });
}

function repository(edge) {
  const node = byId.get(edge.target);
  const at = node.commit ? `${node.url}/tree/${node.commit}` : node.url;
  const facts = [edge.tier, node.commit ? `commit ${node.commit.slice(0, 10)}` : "no commit pinned", node.licence || "no license stated", node.archived ? "archived" : ""];
  return make("div", {}, outward(at, make("code", {}, node.title)), make("div", { class: "meta" }, facts.filter(Boolean).join(" · ")), ...edge.evidence.map((words) => make("blockquote", {}, make("bdi", {}, words))));
}

function facts(node) {
  return [
    node.authors.length ? make("p", { class: "meta" }, make("bdi", {}, node.authors.join(", "))) : null,
    make("p", { class: "meta" }, [when(node), node.venue, node.commit ? `commit ${node.commit.slice(0, 10)}` : "", node.licence ? `license ${node.licence}` : "license not known"].filter(Boolean).join(" · ")),
    node.url ? make("p", { class: "meta" }, outward(node.url, node.url.replace(/^https:\/\//, ""))) : make("p", { class: "meta" }, "No service has a page for it."),
  ];
}

function badges(node) {
  const roles = node.target || !node.roles.length ? [[roleClass(node), roleWords(node)]] : node.roles.map((role) => [role, data.roles[role]]);
  const shown = roles.map(([role, words]) => make("span", { class: "badge" }, make("span", { class: `dot role-${role}`, "aria-hidden": "true" }), words));
  return make("div", { class: "badges" }, ...shown, ranks.has(node.id) ? make("span", { class: "badge" }, rankWords(node)) : null);
}

function heaviest(id) {
  const edges = links(id, "source", "cites").sort((a, b) => b.score - a.score).slice(0, 8);
  return edges.length ? make("ol", {}, ...edges.map((edge) => make("li", {}, to(edge.target)))) : null;
}

function welcome() {
  const target = byId.get(data.target);
  const code = data.nodes.filter((node) => node.kind === "code").length;
  panel.classList.add("idle");
  panel.replaceChildren(
    make("h2", {}, "Where it comes from"),
    make("p", { class: "meta" }, `${data.nodes.length - code - 1} works and ${code} repositories. Choose a mark to read what the citing paper says of it. A ring is a second role, a square is a code repository.`),
    ...(target ? section("Carries most of the lineage", heaviest(target.id)) : []),
    ...(target ? section("Its own code", links(target.id, "source", "code").map(repository)) : []),
  );
}

function show(node) {
  panel.classList.remove("idle");
  const close = make("button", { type: "button", class: "close", "aria-label": "Close" }, "×");
  close.addEventListener("click", () => choose(null, false));
  const papers = links(node.id, "target", "code").map((edge) => to(edge.source, edge.tier));
  panel.replaceChildren(
    close,
    make("h2", {}, make("bdi", {}, node.title)),
    ...facts(node).filter(Boolean),
    badges(node),
    ...citedBy(node),
    ...section("Code", links(node.id, "source", "code").map(repository)),
    ...section("Code of", papers, links(node.id, "target", "code").flatMap((edge) => edge.evidence.map((words) => make("blockquote", {}, make("bdi", {}, words))))),
    ...section(node.target ? "Carries most of the lineage" : "Builds on, in this lineage", heaviest(node.id)),
    ...(node.target ? [] : section("Cited in this lineage by", links(node.id, "target", "cites").map((edge) => to(edge.source)))),
    make("p", { class: "meta" }, "Titles and quoted sentences are the papers' own words."),
  );
  panel.scrollTop = 0;
}

const columns = [
  ["title", "Work", (node) => node.title.toLowerCase()],
  ["year", "Year", (node) => node.year ?? -1],
  ["role", "Role", (node) => roleWords(node)],
  ["rank", "Rank", rankOf],
  ["code", "Code", (node) => links(node.id, "source", "code").length],
  ["licence", "License", (node) => node.licence || ""],
];

function sorter([key, name]) {
  const sort = order.key === key ? (order.down ? "descending" : "ascending") : "none";
  const button = make("button", { type: "button" }, name, make("span", { "aria-hidden": "true" }, sort === "none" ? "" : order.down ? " ↓" : " ↑"));
  button.addEventListener("click", () => {
    order.down = order.key === key ? !order.down : key === "year" || key === "code";
    order.key = key;
    tabulate();
  });
  return make("th", { scope: "col", "aria-sort": sort, class: key === "licence" || key === "code" ? "wide" : null }, button);
}

function row(node) {
  const code = links(node.id, "source", "code").map((edge) => outward(byId.get(edge.target).url, byId.get(edge.target).title));
  const cells = [
    make("td", {}, to(node.id), make("div", { class: "meta quiet" }, make("bdi", {}, node.authors.join(", ")))),
    make("td", { class: "number" }, when(node).replace("year ", "")),
    make("td", {}, roleWords(node)),
    make("td", { class: "number" }, String(ranks.get(node.id) ?? "")),
    make("td", { class: "wide" }, ...code.flatMap((one, i) => (i ? [make("br"), one] : [one]))),
    make("td", { class: "wide" }, node.licence || ""),
  ];
  return make("tr", { class: node.id === state.chosen ? "chosen" : null }, ...cells);
}

function tabulate() {
  const key = columns.find(([name]) => name === order.key)[2];
  const compare = (a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0) * (order.down ? -1 : 1);
  const rows = data.nodes.filter((node) => !hidden(node) && matches(node)).sort(compare);
  const caption = make("caption", {}, `${rows.length} works and repositories. Choose one to read its evidence.`);
  table.replaceChildren(make("table", {}, caption, make("thead", {}, make("tr", {}, ...columns.map(sorter))), make("tbody", {}, ...rows.map(row))));
}
