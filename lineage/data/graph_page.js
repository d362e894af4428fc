// What a reader does: point, choose, search, filter, zoom, walk with keys.

const $ = (id) => document.getElementById(id);
const tip = $("tip");
const texts = new Map(data.nodes.map((node) => [node.id, [node.title, ...node.authors, node.id, node.venue].join(" ").toLowerCase()]));
for (const edge of data.edges) {
  const said = (edge.evidence || []).map((one) => (typeof one === "string" ? one : one.sentence)).join(" ");
  texts.set(edge.target, `${texts.get(edge.target)} ${said.toLowerCase()}`);
}

function matches(node) {
  return state.words.split(/\s+/).every((word) => texts.get(node.id).includes(word));
}

// What is emphasised: the pointed or chosen work with its neighbours, else what the search finds, else everything.
function emphasise() {
  const centre = state.pointed || state.chosen;
  const lit = (node) => (centre ? near.get(centre).has(node.id) : !state.words || matches(node));
  // What is only passed over dims the rest a little, what is chosen dims it well.
  picture.classList.toggle("pointing", Boolean(state.pointed));
  for (const mark of marks) {
    const away = hidden(mark.node);
    mark.group.toggleAttribute("hidden", away);
    mark.group.classList.toggle("faded", !lit(mark.node));
    mark.group.classList.toggle("hit", Boolean(state.words) && matches(mark.node));
    mark.group.classList.toggle("chosen", mark.node.id === state.chosen);
    mark.group.setAttribute("aria-pressed", String(mark.node.id === state.chosen));
  }
  for (const { edge, path } of lines) {
    const away = hidden(byId.get(edge.source)) || hidden(byId.get(edge.target));
    const touches = centre ? edge.source === centre || edge.target === centre : !state.words || matches(byId.get(edge.target));
    path.toggleAttribute("hidden", away);
    path.classList.toggle("faded", !touches);
  }
  draw();
}

function choose(id, walk) {
  const before = state.chosen;
  state.chosen = id;
  state.pointed = null;
  tip.hidden = true;
  if (id) show(byId.get(id));
  else welcome();
  emphasise();
  if (!table.hidden) tabulate();
  if (id) requestAnimationFrame(() => bring(markOf.get(id)));
  if (walk && id) panel.focus();
  if (!id && before && !$("picture-view").hidden) markOf.get(before).group.focus();
}

function point(mark) {
  state.pointed = mark ? mark.node.id : null;
  tip.hidden = !mark;
  if (mark) {
    const { node } = mark;
    tip.replaceChildren(make("div", {}, make("bdi", {}, node.title)), make("div", {}, [when(node), roleWords(node), rankWords(node)].filter(Boolean).join(" · ")));
    const { width, height } = size();
    tip.style.left = `${Math.max(8, Math.min(mark.sx + 14, width - 330))}px`;
    tip.style.top = mark.sy > height - 110 ? "" : `${mark.sy + 16}px`;
    tip.style.bottom = mark.sy > height - 110 ? `${height - mark.sy + 16}px` : "";
  }
  emphasise();
}

function neighbour(mark, key) {
  const [dx, dy] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[key];
  let best = null;
  let least = Infinity;
  for (const other of marks) {
    const x = other.node.x - mark.node.x;
    const y = other.node.y - mark.node.y;
    const along = x * dx + y * dy;
    if (other === mark || !shown(other) || along < 1) continue;
    const cost = along + 2.5 * Math.abs(x * dy + y * dx);
    if (cost < least) [least, best] = [cost, other];
  }
  return best;
}

for (const mark of marks) {
  mark.group.addEventListener("pointerenter", (event) => event.pointerType === "mouse" && !fingers.size && point(mark));
  mark.group.addEventListener("pointerleave", () => state.pointed && point(null));
  mark.group.addEventListener("focus", () => mark.group.matches(":focus-visible") && bring(mark));
  mark.group.addEventListener("click", () => !moved && choose(mark.node.id, false));
  mark.group.addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === " ") choose(mark.node.id, true);
    else if (event.key.startsWith("Arrow")) neighbour(mark, event.key)?.group.focus();
    else return;
    event.preventDefault();
  });
}

const fingers = new Map();
let moved = false;
picture.addEventListener("pointerdown", (event) => {
  if (!fingers.size) moved = false;
  fingers.set(event.pointerId, [event.clientX, event.clientY]);
});
window.addEventListener("pointermove", (event) => {
  const last = fingers.get(event.pointerId);
  if (!last) return;
  const [dx, dy] = [event.clientX - last[0], event.clientY - last[1]];
  // A hand is never quite still: less than this is a click.
  if (!moved && fingers.size === 1 && Math.hypot(dx, dy) < 5) return;
  moved = true;
  picture.classList.add("moving");
  const other = [...fingers].find(([id]) => id !== event.pointerId);
  fingers.set(event.pointerId, [event.clientX, event.clientY]);
  if (!other) {
    state.x += dx;
    state.y += dy;
    state.moved = true;
    draw();
    return;
  }
  const box = picture.getBoundingClientRect();
  const before = Math.hypot(last[0] - other[1][0], last[1] - other[1][1]) || 1;
  const after = Math.hypot(event.clientX - other[1][0], event.clientY - other[1][1]);
  zoom(after / before, (event.clientX + other[1][0]) / 2 - box.left, (event.clientY + other[1][1]) / 2 - box.top);
});
for (const name of ["pointerup", "pointercancel"]) {
  window.addEventListener(name, (event) => {
    fingers.delete(event.pointerId);
    if (!fingers.size) picture.classList.remove("moving");
  });
}
picture.addEventListener("click", (event) => !moved && !event.target.closest(".node") && state.chosen && choose(null, false));
picture.addEventListener("wheel", (event) => {
  event.preventDefault();
  const box = picture.getBoundingClientRect();
  const step = event.deltaMode === 1 ? 30 * event.deltaY : event.deltaY;
  zoom(Math.exp(-Math.max(-200, Math.min(200, step)) * 0.0016), event.clientX - box.left, event.clientY - box.top);
}, { passive: false });

const middle = (factor) => zoom(factor, size().width / 2, size().height / 2);
$("zoom-in").addEventListener("click", () => middle(1.35));
$("zoom-out").addEventListener("click", () => middle(1 / 1.35));
$("zoom-fit").addEventListener("click", fit);
document.addEventListener("keydown", (event) => {
  if (event.target.tagName === "INPUT" || event.ctrlKey || event.metaKey || event.altKey) return;
  const act = { "+": () => middle(1.35), "=": () => middle(1.35), "-": () => middle(1 / 1.35), "0": fit, Escape: () => state.chosen && choose(null, false), "/": () => $("search").focus() }[event.key];
  if (!act) return;
  event.preventDefault();
  act();
});

function refresh() {
  const shown = data.nodes.filter((node) => !hidden(node));
  const found = shown.filter(matches).length;
  const whole = shown.length === data.nodes.length;
  $("found").textContent = state.words ? `${found} of ${shown.length} match` : whole ? "" : `${shown.length} of ${data.nodes.length} shown`;
  emphasise();
  if (!table.hidden) tabulate();
}

// While somebody types the picture stays still.
let typing = 0;
$("search").addEventListener("input", (event) => {
  state.words = event.target.value.trim().toLowerCase();
  refresh();
  clearTimeout(typing);
  typing = setTimeout(() => (state.words ? fitTo(data.nodes.filter((node) => !hidden(node) && matches(node))) : fit()), 200);
});

function filters() {
  const count = (name) => data.nodes.filter((node) => roleClass(node) === name).length;
  const named = [...Object.entries(data.roles).map(([role, words]) => [role || "none", words]), ["code", "code repository"]];
  for (const [name, words] of named.filter(([one]) => count(one))) {
    const mark = make("span", { class: `dot role-${name}`, "aria-hidden": "true" });
    const button = make("button", { type: "button", "aria-pressed": "true", title: `Show or hide: ${words}` }, mark, words, make("b", {}, String(count(name))));
    button.addEventListener("click", () => {
      if (!state.off.delete(name)) state.off.add(name);
      button.setAttribute("aria-pressed", String(!state.off.has(name)));
      refresh();
    });
    $("filters").append(button);
  }
}

function form(isTable) {
  $("picture-view").hidden = isTable;
  table.hidden = !isTable;
  $("show-picture").setAttribute("aria-pressed", String(!isTable));
  $("show-table").setAttribute("aria-pressed", String(isTable));
  if (isTable) tabulate();
  else fit();
}

$("show-picture").addEventListener("click", () => form(false));
$("show-table").addEventListener("click", () => form(true));
$("skip").addEventListener("click", (event) => {
  event.preventDefault();
  form(true);
  table.focus();
});

function limit(most) {
  state.most = most;
  $("most").value = String(most);
  $("most-now").textContent = most < ranks.size ? String(most) : "all";
}

$("most").max = String(ranks.size);
$("most").addEventListener("input", (event) => {
  limit(Number(event.target.value));
  refresh();
});

// Light or dark: as the system has it until the reader chooses. In a frame the page around it has the button and says so.
const system = matchMedia("(prefers-color-scheme: dark)");
$("scheme").hidden = window.parent !== window;
$("scheme").addEventListener("click", () => {
  const dark = $("scheme").getAttribute("aria-pressed") !== "true";
  document.documentElement.style.colorScheme = dark ? "dark" : "light";
  $("scheme").setAttribute("aria-pressed", String(dark));
});
const follow = () => document.documentElement.style.colorScheme || $("scheme").setAttribute("aria-pressed", String(system.matches));
system.addEventListener("change", follow);
follow();
window.addEventListener("message", (event) => {
  if (event.source === window.parent && ["", "light", "dark"].includes(event.data?.scheme)) document.documentElement.style.colorScheme = event.data.scheme;
});

// A very large lineage starts with its first works; the line above says so, and the slider brings the others.
const CROWD = 400;
$("limit").hidden = data.nodes.length < 30;
limit(ranks.size);
while (state.most > 10 && data.nodes.filter((node) => !hidden(node)).length > CROWD) limit(Math.floor(state.most * 0.9));
filters();
welcome();
measure();
refresh();
fit();

// Before anything is moved the whole stays in sight; afterwards the middle stays where it is.
let held = size();
new ResizeObserver(() => {
  const now = size();
  if (!state.moved) fit();
  else {
    state.x += (now.width - held.width) / 2;
    state.y += (now.height - held.height) / 2;
    draw();
  }
  held = now;
}).observe(picture);
