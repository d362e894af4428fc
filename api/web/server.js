// The server's REST interface: problem documents become errors, a missing token is asked for once, streams are read as they come.

const ROOT = "/api/v1";

export class Refused extends Error {
  constructor(status, document) {
    super(document.detail || document.title || `the server answered ${status}`);
    this.status = status;
    this.hint = document.hint || "";
  }
}

// `lineage serve --private` prints an address with the token of its start.
const [, given] = location.hash.match(/^#\?token=(.+)$/) || [];
if (given) {
  sessionStorage.setItem("token", given);
  history.replaceState(null, "", location.pathname);
}

function headers(more) {
  const token = sessionStorage.getItem("token");
  return token ? { ...more, authorization: `Bearer ${token}` } : more;
}

async function askForToken() {
  const door = document.getElementById("door");
  if (!door.open) door.showModal();
  await new Promise((done) => door.addEventListener("close", done, { once: true }));
  sessionStorage.setItem("token", document.getElementById("token").value);
}

async function send(path, options = {}) {
  let answer;
  try {
    answer = await fetch(ROOT + path, { ...options, headers: headers(options.headers || {}) });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refused(0, { detail: "The server cannot be reached", hint: "Is `lineage serve` still running?" });
  }
  if (answer.status === 401) {
    await askForToken();
    return send(path, options);
  }
  if (!answer.ok) throw new Refused(answer.status, await answer.json().catch(() => ({})));
  return answer;
}

const query = (values) => {
  const held = Object.entries(values).filter(([, value]) => value !== "" && value !== undefined && value !== null);
  return held.length ? `?${new URLSearchParams(held)}` : "";
};

export const get = async (path, values = {}, options = {}) => (await send(path + query(values), options)).json();
export const text = async (path, values = {}) => (await send(path + query(values))).text();
export const remove = async (path, values = {}) => (await send(path + query(values), { method: "DELETE" })).json();

// A lineage at a glance, asked for once as long as the page shows the same lineage.
let glance = { lineage: "", shown: null };
export const renew = () => { glance = { lineage: "", shown: null }; };
export function overview(lineage) {
  if (glance.lineage !== lineage) {
    glance = { lineage, shown: get(`/lineages/${encodeURIComponent(lineage)}`) };
    glance.shown.catch(renew);
  }
  return glance.shown;
}

export async function post(path, body, options = {}) {
  const made = await send(path, { ...options, method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body ?? {}) });
  return made.json();
}

// Server-sent events by fetch, because EventSource cannot send a token. Ends when the server says so or `signal` aborts.
export async function follow(path, heard, signal) {
  let last = "";
  for (let tries = 0; tries < 5 && !signal.aborted; tries += 1) {
    try {
      const answer = await send(path, { headers: last ? { "last-event-id": last } : {}, signal });
      const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
      let rest = "";
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        tries = 0;
        const parts = (rest + value).replace(/\r\n/g, "\n").split("\n\n");
        rest = parts.pop();
        for (const part of parts) {
          const event = { kind: "message", data: "" };
          for (const line of part.split("\n")) {
            if (line.startsWith("event:")) event.kind = line.slice(6).trim();
            else if (line.startsWith("id:")) last = line.slice(3).trim();
            else if (line.startsWith("data:")) event.data += line.slice(5).trim();
          }
          if (!event.data) continue;
          heard(event.kind, JSON.parse(event.data));
          if (event.kind === "end") return;
        }
      }
    } catch (error) {
      if (signal.aborted || (error instanceof Refused && error.status >= 400 && error.status < 500)) return;
    }
    await new Promise((done) => setTimeout(done, 1000));
  }
}
