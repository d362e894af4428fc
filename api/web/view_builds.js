// Builds: start one, watch it, stop it, resume it.

import { announce, counted, make, note, problem } from "./dom.js";
import { follow, get, post, remove } from "./server.js";

const IDLE = new Set(["done", "failed", "cancelled"]);

export async function builds(view, { signal, refresh, empty }) {
  const list = make("div", {});
  const said = make("div", {});
  const target = make("input", { name: "target", required: true, maxlength: "2048", placeholder: "arxiv:2504.17192, a DOI, a URL, or a title in quotes", autocomplete: "off" });
  const papers = make("input", { name: "papers", type: "number", min: "0", max: "1000", placeholder: "20" });
  const repos = make("input", { name: "repos", type: "number", min: "0", max: "500", placeholder: "12" });
  const start = async (event) => {
    event.preventDefault();
    said.replaceChildren();
    try {
      const job = await post("/lineages", { target: target.value.trim(), ...(papers.value && { papers: Number(papers.value) }), ...(repos.value && { repos: Number(repos.value) }) });
      target.value = "";
      announce("The build is in the queue");
      if (!list.querySelector(`[data-job="${CSS.escape(job.id)}"]`)) list.prepend(row(job, signal, refresh));
    } catch (error) {
      said.replaceChildren(problem(error));
    }
  };
  view.replaceChildren(make("div", { class: "column" },
    empty ? make("section", {}, make("h2", {}, "Nothing is built yet"), make("p", {}, "A lineage is what a paper took for granted: the works it builds on, and their code. Name a paper; its references are found, the ones it inherits from are fetched with their repositories, and then you can ask.")) : make("h2", {}, "Build a lineage"),
    make("form", { class: "form", onsubmit: start }, make("label", {}, "Paper", target), make("label", {}, "cited papers", papers), make("label", {}, "repositories", repos), make("button", { type: "submit", class: "first" }, "Build")),
    said, list));
  try {
    const { jobs } = await get("/jobs");
    list.replaceChildren(...jobs.map((job) => row(job, signal, refresh)), jobs.length ? "" : note("No builds were started here. Lineages built on the command line are in the list at the top."));
  } catch (error) {
    list.replaceChildren(problem(error));
  }
}

function row(job, signal, refresh) {
  const bar = make("progress", { "aria-label": "Progress", max: "1" });
  const now = make("p", { class: "small quiet" });
  const log = make("ul", { class: "log" });
  const head = make("div", { class: "head row spread" });
  const foot = make("div", { class: "foot" });
  const one = make("section", { class: "card", "data-job": job.id, "aria-label": `Build of ${job.request.target}` }, head, make("div", { class: "body" }, bar, now, log), foot);
  const tell = (kind, data) => {
    if (kind === "stage") {
      const known = data.total > 0;
      if (known) bar.value = data.done / data.total;
      else bar.removeAttribute("value");
      now.textContent = [data.name, known ? `${data.done} of ${data.total}` : "", data.detail || ""].filter(Boolean).join(" · ");
    } else if (kind === "waiting" || kind === "note") {
      log.append(make("li", {}, String(data.text || data.detail || "")));
      while (log.childElementCount > 200) log.firstChild.remove();
      log.scrollTop = log.scrollHeight;
    } else if (kind === "end") {
      draw(data);
      announce(`Build ${data.state}`);
      refresh();
    } else if (kind === "state") draw({ ...job, ...data });
  };
  const act = (what) => async () => {
    try {
      const after = await what();
      draw(after);
      if (!IDLE.has(after.state)) follow(`/jobs/${job.id}/events`, tell, signal);
    } catch (error) {
      foot.append(problem(error));
    }
  };
  function draw(next) {
    job = { ...job, ...next };
    head.replaceChildren(make("h3", {}, make("bdi", {}, job.lineage || job.request.target)), make("span", { class: `state ${job.state}` }, job.cancelling ? "stopping" : job.state));
    bar.hidden = IDLE.has(job.state);
    if (job.report) now.textContent = [counted(job.report.chunks, "chunk"), counted(job.report.repositories, "repository", "repositories"), counted(job.report.lineage_papers, "paper")].join(", ");
    if (job.error) now.textContent = [job.error.message, job.error.hint].filter(Boolean).join(". ");
    foot.replaceChildren(
      IDLE.has(job.state) ? "" : make("button", { type: "button", onclick: act(() => remove(`/jobs/${job.id}`)) }, "Stop"),
      job.state === "failed" || job.state === "cancelled" ? make("button", { type: "button", onclick: act(() => post(`/jobs/${job.id}/resume`)) }, "Resume") : "",
      make("span", { class: "quiet" }, job.created));
  }
  draw(job);
  if (!IDLE.has(job.state)) follow(`/jobs/${job.id}/events`, tell, signal);
  return one;
}
