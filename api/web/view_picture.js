// The picture: the page that `lineage graph` exports, in a frame that may do nothing but show itself.

import { make, paint, problem } from "./dom.js";
import { text } from "./server.js";

export async function picture(view, { lineage, signal }) {
  view.classList.add("whole");
  view.replaceChildren(make("p", { class: "quiet", role: "status" }, "Drawing…"));
  try {
    const page = await text(`/lineages/${encodeURIComponent(lineage)}/graph`, { form: "html" });
    if (signal.aborted) return; // the reader has gone on to another view
    view.replaceChildren(make("iframe", { title: `The lineage ${lineage} as a graph`, sandbox: "allow-scripts allow-popups allow-popups-to-escape-sandbox", srcdoc: page, onload: paint }));
  } catch (error) {
    if (signal.aborted) return;
    view.classList.remove("whole");
    view.replaceChildren(problem(error));
  }
}
