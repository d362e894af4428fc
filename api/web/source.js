// Source as it stands in its file: line numbers, colours for what is said in every language, the lines that answer marked.

import { make } from "./dom.js";

const WORDS = new Set(
  ("and as assert async await break case catch class const continue def default del do elif else enum except export extends false finally float fn for " +
    "from func function global if impl import in int interface is lambda let local match module mut namespace new nil None nonlocal not null or package " +
    "pass private protected public raise return self static struct super switch template this throw True False true try type typedef typename union use " +
    "using var virtual void while with yield end then").split(" "),
);
const HASHED = new Set(["py", "python", "sh", "shell", "bash", "yaml", "yml", "toml", "r", "jl", "julia", "rb", "ruby", "gin", "cfg", "ini", "txt", "md", ""]);
const TOKEN = /("""[^]*?(?:"""|$)|'''[^]*?(?:'''|$)|\/\*[^]*?(?:\*\/|$))|("(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?|`(?:[^`\\]|\\.)*`?)|(#[^\n]*)|(\/\/[^\n]*)|(\b\d[\w.]*(?:[eE][+-]?\d+)?)|([A-Za-z_]\w*)|([^])/g;

function kinds(text, path) {
  const ending = /\.(\w+)$/.exec(path || "");
  const hashed = HASHED.has(ending ? ending[1].toLowerCase() : "");
  const found = [];
  for (const match of text.matchAll(TOKEN)) {
    const [all, long, string, hash, slashes, number, word] = match;
    if (long) found.push([all, all.startsWith("/*") ? "c" : "s"]);
    else if (string) found.push([all, "s"]);
    else if (hash && hashed) found.push([all, "c"]);
    else if (slashes && !hashed) found.push([all, "c"]);
    else if (number) found.push([all, "d"]);
    else if (word && WORDS.has(word)) found.push([all, "k"]);
    else found.push([all, ""]);
  }
  return found;
}

function lines(text, path) {
  const rows = [[]];
  for (const [words, kind] of kinds(text, path)) {
    words.split("\n").forEach((part, i) => {
      if (i) rows.push([]);
      const row = rows[rows.length - 1];
      if (!part) return;
      if (!kind && row.length && typeof row[row.length - 1] === "string") row[row.length - 1] += part;
      else row.push(kind ? make("span", { class: kind }, part) : part);
    });
  }
  return rows;
}

// `first` is the number of the first line, `focus` {start_line, end_line} or null; `label` names the table for a screen reader.
export function source(text, path, first, focus, label) {
  const on = (n) => focus && n >= focus.start_line && n <= focus.end_line;
  const rows = lines(text.replace(/\n$/, ""), path).map((row, i) => {
    const n = first + i;
    return make("tr", { class: on(n) ? "on" : null }, make("td", { class: "n", "aria-hidden": "true" }, String(n)), make("td", {}, ...row));
  });
  return make("div", { class: "code", role: "group", "aria-label": label, tabindex: "0" }, make("table", { role: "presentation" }, make("tbody", {}, ...rows)));
}

export function passage(text, first, focus) {
  const rows = text.replace(/\n$/, "").split("\n");
  return make("div", { class: "passage" }, ...rows.map((row, i) => {
    const n = first + i;
    const on = focus && n >= focus.start_line && n <= focus.end_line && focus.end_line - focus.start_line + 1 < rows.length;
    return make("span", { class: on ? "on" : null }, row + (i < rows.length - 1 ? "\n" : ""));
  }));
}

// Words with `names` in backticks, as elements.
const spans = (text) => text.split(/(`[^`\n]+`)/).filter(Boolean).map((part) => (/^`[^`]+`$/.test(part) ? make("code", {}, part.slice(1, -1)) : make("bdi", {}, part)));

function block(code, path) {
  const rows = code.split("\n");
  const indent = Math.min(...rows.filter((row) => row.trim()).map((row) => row.search(/\S/)));
  const text = rows.map((row) => row.slice(indent)).join("\n");
  return make("pre", { tabindex: "0" }, make("code", {}, ...lines(text, path).flatMap((row, i) => (i ? ["\n", ...row] : row))));
}

// Text with fenced blocks as paragraphs and code. `path` is given where all of it is code: without fences, what follows its first line is a block.
export function marked(text, path) {
  const parts = text.split(/^ *(`{3,})([^`\n]*)\n([^]*?)\n?(?:^ *\1`*[ \t]*$|$(?![^]))/m);
  if (parts.length === 1 && path && text.includes("\n")) {
    const [first, ...rest] = text.split("\n");
    return first.startsWith("`") ? [make("p", {}, ...spans(first)), block(rest.join("\n"), path)] : [block(text, path)];
  }
  return parts.flatMap((part, i) => {
    if (i % 4 === 3) return [block(part, path || `.${parts[i - 1].trim().split(" ")[0]}`)];
    return i % 4 === 0 && part.trim() ? [make("p", {}, ...spans(part.trim()))] : [];
  });
}
