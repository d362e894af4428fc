// The picture: marks and lines over a year axis, zoom and pan, labels that never cover one another.

const SVG = "http://www.w3.org/2000/svg";
const data = JSON.parse(document.getElementById("data").textContent);
const byId = new Map(data.nodes.map((node) => [node.id, node]));
const near = new Map(data.nodes.map((node) => [node.id, new Set([node.id])]));
// x and y are the place of the layout's origin, k the scale, tall how much further heights are spread to fill the screen.
const state = { k: 1, tall: 1, x: 0, y: 0, chosen: null, pointed: null, off: new Set(), most: Infinity, words: "" };
const picture = document.getElementById("picture");
// Works come best first; a repository counts as the best work that it is the code of.
const ranks = new Map(data.nodes.filter((node) => node.kind !== "code" && !node.target).map((node, i) => [node.id, i + 1]));
const rankOf = (node) => (node.target ? 0 : ranks.get(node.id) ?? Math.min(...data.edges.filter((edge) => edge.kind === "code" && edge.target === node.id).map((edge) => ranks.get(edge.source) ?? 0)));
const rankWords = (node) => (ranks.has(node.id) ? `rank ${ranks.get(node.id)} of ${ranks.size}` : "");

for (const edge of data.edges) {
  near.get(edge.source).add(edge.target);
  near.get(edge.target).add(edge.source);
}

// Text from outside only ever becomes a text node.
function make(tag, attributes, ...children) {
  const one = tag.startsWith("svg:") ? document.createElementNS(SVG, tag.slice(4)) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value !== null && value !== undefined && value !== false) one.setAttribute(name, value === true ? "" : value);
  }
  one.append(...children.filter((child) => child !== null && child !== undefined && child !== ""));
  return one;
}

const roleClass = (node) => (node.target ? "target" : node.kind === "code" ? "code" : node.role || "none");
const roleWords = (node) => {
  if (node.target) return "the paper itself";
  const roles = node.roles.map((role) => data.roles[role]).join(", ");
  return roles || (node.kind === "code" ? "code repository" : data.roles[""]);
};
const hidden = (node) => {
  if (node.target) return false;
  if (rankOf(node) > state.most) return true;
  if (node.kind !== "code") return state.off.has(roleClass(node));
  if (state.off.has("code")) return true;
  const papers = data.edges.filter((edge) => edge.kind === "code" && edge.target === node.id).map((edge) => byId.get(edge.source));
  return papers.length > 0 && papers.every((paper) => !paper.target && state.off.has(roleClass(paper)));
};

const when = (node) => (node.year !== null ? String(node.year) : node.kind === "code" ? "" : "year unknown");

function spoken(node) {
  return `${node.title}${when(node) && `, ${when(node)}`}. ${roleWords(node)}${rankWords(node) && `, ${rankWords(node)}`}.`;
}

function curve(a, b) {
  if (Math.abs(b.x - a.x) < 1) {
    const bend = Math.abs(b.y - a.y) > 60 ? Math.min(40, Math.abs(b.y - a.y) / 3) : 0;
    return `M${a.x} ${a.y}C${a.x + bend} ${a.y} ${b.x + bend} ${b.y} ${b.x} ${b.y}`;
  }
  const half = (b.x - a.x) / 2;
  return `M${a.x} ${a.y}C${a.x + half} ${a.y} ${b.x - half} ${b.y} ${b.x} ${b.y}`;
}

const bands = data.columns.map((column) => {
  const rect = make("svg:rect", { y: 0 });
  const text = make("svg:text", { class: "year", y: 18 });
  rect.setAttribute("class", column.year === null ? "band unknown" : "band");
  return { column, rect, text };
});
const breaks = data.columns.filter((column) => column.skipped).map((column) => ({ column, text: make("svg:text", { class: "year", y: 18 }, "…") }));
const lines = data.edges
  .filter((edge) => edge.source !== edge.target)
  .sort((a, b) => (a.score ?? 1) - (b.score ?? 1))
  .map((edge) => {
    const kind = edge.kind === "code" ? "code" : edge.role || "none";
    const width = edge.kind === "code" ? 1.2 : 0.7 + 3 * edge.score;
    const opacity = edge.kind === "code" ? 0.9 : 0.2 + 0.6 * edge.score;
    const path = make("svg:path", { class: `edge ${edge.kind} line-${kind}`, d: curve(byId.get(edge.target), byId.get(edge.source)) });
    path.setAttribute("stroke-width", width.toFixed(2));
    path.setAttribute("stroke-opacity", opacity.toFixed(2));
    return { edge, path };
  });
const marks = data.nodes.map((node) => {
  const heavy = node.kind === "paper" && node.score >= 0.5 ? " heavy" : node.score < 0.3 ? " light" : "";
  const shape = make(node.kind === "code" ? "svg:rect" : "svg:circle", { class: `mark role-${roleClass(node)}`, rx: node.kind === "code" ? 1.5 : null });
  const second = node.kind === "paper" && node.roles[1] ? make("svg:circle", { class: `second line-${node.roles[1]}` }) : null;
  const ring = node.target ? make("svg:circle", { class: "ring" }) : null;
  const grip = make("svg:circle", { class: "grip" });
  const text = make("svg:text", {}, node.label);
  const group = make("svg:g", { class: `node${heavy}`, tabindex: "0", role: "button", "aria-label": spoken(node) }, grip, second, shape, ring, node.target ? null : text);
  // The target's name is drawn over everything, since no place beside it is free of lines.
  const over = node.target ? make("svg:g", { class: "over", "aria-hidden": "true" }, text) : null;
  return { node, group, over, shape, second, ring, grip, text, width: 0, side: "" };
});
const markOf = new Map(marks.map((mark) => [mark.node.id, mark]));
const layers = { bands: make("svg:g", {}), lines: make("svg:g", {}), marks: make("svg:g", {}), axis: make("svg:g", { class: "axis", "aria-hidden": "true" }) };
const strip = make("svg:rect", { class: "strip", height: 27 });
layers.bands.append(...bands.map((band) => band.rect));
layers.axis.append(strip, ...bands.map((band) => band.text), ...breaks.map((one) => one.text));
layers.lines.append(...lines.map((line) => line.path));
// In the order of rank: that is the order of the Tab key.
layers.marks.append(...marks.map((mark) => mark.group));
picture.append(layers.bands, layers.lines, layers.marks, ...marks.map((mark) => mark.over).filter(Boolean), layers.axis);

const size = () => ({ width: picture.clientWidth || 800, height: picture.clientHeight || 500 });
const shown = (mark) => !mark.group.hasAttribute("hidden");
const scale = () => Math.min(1.5, Math.max(0.3, state.k < 0.7 ? 0.25 + 0.65 * state.k : state.k));

function placeMark(mark) {
  const { node } = mark;
  const r = Math.max(1.8, node.radius * (node.target ? Math.max(0.6, scale()) : scale()));
  mark.sx = state.x + state.k * node.x;
  mark.sy = state.y + state.k * state.tall * node.y;
  mark.r = r;
  for (const one of [mark.group, mark.over]) one?.setAttribute("transform", `translate(${mark.sx.toFixed(1)} ${mark.sy.toFixed(1)})`);
  mark.grip.setAttribute("r", Math.max(12, r + 3));
  if (node.kind === "code") {
    for (const name of ["x", "y"]) mark.shape.setAttribute(name, -r);
    for (const name of ["width", "height"]) mark.shape.setAttribute(name, 2 * r);
  } else mark.shape.setAttribute("r", r);
  if (mark.second) mark.second.setAttribute("r", r + 1.6);
  if (mark.ring) mark.ring.setAttribute("r", Math.max(1, r - 4));
}

const SIDES = ["left", "right", "upper left", "lower left", "upper right", "lower right"];

function beside(mark, side) {
  const [x, y] = side.includes("er ") ? [mark.r * 0.4, side.startsWith("upper") ? -mark.r - 4 : mark.r + 13] : [mark.r + 5, 4];
  return side.endsWith("left") ? { anchor: "end", x: -x, y } : { anchor: "start", x, y };
}

// Labels in the order of what matters; one that would cover a mark or another label waits for a larger zoom.
function placeLabels(width, height) {
  const inside = marks.filter((mark) => shown(mark) && mark.sx > -20 && mark.sx < width + 220 && mark.sy > 20 && mark.sy < height + 20);
  const taken = inside.map((mark) => ({ of: mark, l: mark.sx - mark.r - 1, r: mark.sx + mark.r + 1, t: mark.sy - mark.r, b: mark.sy + mark.r }));
  const first = (mark) => {
    if (mark.node.target) return 0;
    if (mark.node.id === state.chosen || mark.node.id === state.pointed) return 1;
    return (mark.group.classList.contains("hit") ? 2 : 4) + (mark.node.kind === "code" ? 1 : 0);
  };
  const free = (box, mark) => taken.every((other) => other.of === mark || box.r < other.l || box.l > other.r || box.b < other.t || box.t > other.b);
  for (const mark of marks) mark.side = "";
  for (const mark of inside.slice().sort((a, b) => first(a) - first(b) || b.node.score - a.node.score)) {
    const must = first(mark) < 2;
    if (mark.node.target) {
      mark.side = "above";
      const r = Math.min(width - 4, Math.max(mark.width + 4, mark.sx + mark.r));
      mark.nudge = r - mark.sx;
      taken.push({ of: null, l: r - mark.width - 2, r, t: mark.sy - mark.r - 20, b: mark.sy - mark.r });
      continue;
    }
    for (const side of mark.node.score >= 0.3 || must ? SIDES : SIDES.slice(0, 2)) {
      const spot = beside(mark, side);
      const l = spot.anchor === "end" ? mark.sx + spot.x - mark.width : mark.sx + spot.x;
      const box = { of: null, l: l - 2, r: l + mark.width + 2, t: mark.sy + spot.y - 12, b: mark.sy + spot.y + 4 };
      if (box.l < 2 || box.r > width - 2 || !free(box, mark)) continue;
      mark.side = side;
      taken.push(box);
      break;
    }
    if (!mark.side && must) mark.side = mark.sx - mark.width - mark.r > 4 ? "left" : "right";
  }
  for (const mark of marks) {
    mark.text.toggleAttribute("hidden", !mark.side);
    if (!mark.side) continue;
    const spot = mark.side === "above" ? { anchor: "end", x: mark.nudge, y: -mark.r - 6 } : beside(mark, mark.side);
    mark.text.setAttribute("text-anchor", spot.anchor);
    mark.text.setAttribute("x", spot.x);
    mark.text.setAttribute("y", spot.y);
  }
}

function placeBands(width, height) {
  strip.setAttribute("width", width);
  let last = -1e9;
  const names = [];
  for (const { column, rect, text } of bands) {
    const left = state.x + state.k * column.left;
    const wide = Math.max(1, state.k * (column.right - column.left));
    rect.setAttribute("x", left);
    rect.setAttribute("width", wide);
    rect.setAttribute("height", height);
    // Two digits stand for years from 1950 to 2049 only.
    const short = column.year === null ? wide < 84 && (wide < 44 ? "?" : "no year") : column.year >= 1950 && wide < 40 && `’${column.name.slice(-2)}`;
    const name = short || column.name;
    const half = name.length * 3.5;
    text.textContent = name;
    const middle = left + wide / 2;
    text.setAttribute("x", middle);
    text.toggleAttribute("hidden", middle - half < last);
    if (middle - half < last) continue;
    names.push([middle - half, middle + half]);
    last = middle + half + 3;
  }
  for (const { column, text } of breaks) {
    const middle = state.x + state.k * column.left;
    text.setAttribute("x", middle);
    text.toggleAttribute("hidden", names.some(([left, right]) => left < middle + 8 && right > middle - 8));
  }
}

let waiting = false;
function draw() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => {
    waiting = false;
    const { width, height } = size();
    placeBands(width, height);
    layers.lines.setAttribute("transform", `translate(${state.x} ${state.y}) scale(${state.k} ${state.k * state.tall})`);
    marks.forEach(placeMark);
    placeLabels(width, height);
  });
}

// The reach of labels to the left of the first column and of marks beyond the last one is inside the box.
function fit() {
  const { width, height } = size();
  const [left, top, right, bottom] = data.box;
  // The axis stands above, the slider below.
  const [head, foot] = [28, document.getElementById("limit").hidden ? 10 : 50];
  const room = Math.max(80, height - head - foot);
  const whole = Math.min((width - 24) / (right - left), room / (bottom - top));
  const least = width < 600 ? 0.5 : 0.2;
  state.k = Math.min(1.45, Math.max(least, whole));
  const spare = width - state.k * (right - left);
  const target = byId.get(data.target);
  // What does not fit is left out on the old side: the target stays in sight.
  state.x = spare >= 0 ? spare / 2 - state.k * left : width - 12 - state.k * right;
  state.tall = Math.min(2.2, Math.max(1, room / (state.k * (bottom - top))));
  const over = state.k * (bottom - top) > room + 1;
  state.y = head + room / 2 - (over && target ? state.k * target.y : (state.k * state.tall * (top + bottom)) / 2);
  state.moved = false;
  draw();
}

// As near as these works can be seen together, with their labels; heights stay spread as they are.
function fitTo(nodes) {
  if (!nodes.length) return;
  const { width, height } = size();
  const room = Math.max(80, height - 78);
  const left = Math.min(...nodes.map((node) => node.x - node.radius - 7 * node.label.length - 12));
  const right = Math.max(...nodes.map((node) => node.x + node.radius + 12));
  const top = Math.min(...nodes.map((node) => node.y)) - 30;
  const bottom = Math.max(...nodes.map((node) => node.y)) + 30;
  state.k = Math.min(1.45, Math.max(0.2, Math.min((width - 24) / (right - left), room / (state.tall * (bottom - top)))));
  state.x = (width - state.k * (left + right)) / 2;
  state.y = 28 + room / 2 - (state.k * state.tall * (top + bottom)) / 2;
  state.moved = true;
  draw();
}

function zoom(factor, cx, cy) {
  const k = Math.min(6, Math.max(0.12, state.k * factor));
  state.x = cx - ((cx - state.x) * k) / state.k;
  state.y = cy - ((cy - state.y) * k) / state.k;
  state.k = k;
  state.moved = true;
  draw();
}

function bring(mark) {
  const { width, height } = size();
  const x = state.x + state.k * mark.node.x;
  const y = state.y + state.k * state.tall * mark.node.y;
  if (x < 60) state.x += 60 - x + width / 4;
  if (x > width - 20) state.x -= x - width + 20 + width / 4;
  if (y < 40) state.y += 40 - y + height / 4;
  if (y > height - 20) state.y -= y - height + 20 + height / 4;
  draw();
}

function measure() {
  for (const mark of marks) {
    mark.text.removeAttribute("hidden");
    mark.width = mark.text.getComputedTextLength() || mark.node.label.length * 6.6;
  }
}
