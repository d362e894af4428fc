// Elements, and words told to those who do not see the page. Text from outside only ever becomes a text node.

export function make(tag, attributes, ...children) {
  const one = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith("on")) one.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) one.setAttribute(name, value === true ? "" : value);
  }
  one.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== "" && child !== false));
  return one;
}

export const strange = (text) => make("bdi", {}, text);

// Only addresses of the web are followed: a javascript: link stays text.
export function outward(url, ...words) {
  if (!/^https?:\/\//.test(url || "")) return make("span", {}, ...words);
  return make("a", { href: url, target: "_blank", rel: "noopener noreferrer" }, ...words);
}

export function announce(words) {
  document.getElementById("said").textContent = words;
}

export function note(words, bad) {
  return make("p", { class: bad ? "note bad" : "note", role: bad ? "alert" : null }, words);
}

// A note of a report: what it was taken to be about is no warning.
export const noted = (words) => (words.startsWith("detected domains") ? make("p", { class: "small quiet" }, words) : note(words));

export function problem(error) {
  const hint = error.hint ? ` ${error.hint}` : "";
  return note(`${error.message}.${hint}`.replace(/\.\./g, "."), true);
}

// The address says what is seen: the view, what was asked, and of which lineage. Whoever is sent it sees the same.
export const addressed = () => new URLSearchParams(location.hash.split("?")[1] || "");
export function address(view, lineage, values = {}) {
  const said = String(new URLSearchParams(Object.entries({ ...values, ...(lineage && { lineage }) }).flatMap(([name, value]) => [value].flat().map((one) => [name, one]))));
  history.replaceState(null, "", `#${view}${said && `?${said}`}`);
}

// Light or dark: as the system has it until the reader chooses. A frame is told, since no style reaches into it everywhere.
const system = matchMedia("(prefers-color-scheme: dark)");
export function paint() {
  const scheme = localStorage.getItem("scheme") || "";
  document.documentElement.style.colorScheme = scheme;
  document.getElementById("scheme").setAttribute("aria-pressed", String(scheme ? scheme === "dark" : system.matches));
  document.querySelector("iframe")?.contentWindow.postMessage({ scheme }, "*");
}
system.addEventListener("change", paint);

// A license as people read it.
export const license = (name) => ({ custom: "custom license", unknown: "no license stated" })[name] || name || "no license stated";

// A value as people read it: a schedule comes as JSON with its kind and what is known of it.
export function worded({ value, unit }) {
  let words = value;
  if (value.startsWith('{"kind"')) {
    try {
      const { kind, ...more } = JSON.parse(value);
      const known = Object.entries(more).map((each) => each.join(" ")).join(", ");
      words = known ? `${kind} (${known})` : kind;
    } catch { /* something else in braces */ }
  }
  return make("bdi", {}, [words, unit].filter(Boolean).join(" "));
}

export const counted = (n, word, many = `${word}s`) => `${n.toLocaleString("en")} ${n === 1 ? word : many}`;

export const ROLES = {
  base: "built upon", method: "method used", setup: "settings followed", data: "data",
  metric: "metric", baseline: "compared with", background: "background",
};

export function role(name) {
  return name ? make("span", { class: "badge" }, make("span", { class: `dot ${name}`, "aria-hidden": "true" }), ROLES[name] || name) : null;
}
