"use strict";

// Live progress of a job. Without scripts the page says where it stands when it is loaded.

const job = document.querySelector("#job[data-events]");
if (job) {
  const events = new EventSource(job.dataset.events);
  const put = (id, text) => {
    const element = document.getElementById(id);
    if (element) element.textContent = text;
  };
  const told = (event) => {
    const { state, progress } = JSON.parse(event.data);
    // Another state has another page: what can be done, the release, what went wrong.
    if (state !== job.dataset.state) {
      events.close();
      location.reload();
      return;
    }
    const bar = document.getElementById("progress");
    if (bar) bar.value = progress.fraction;
    put("step", progress.step);
    put("steps", progress.steps);
    put("label", progress.label);
  };
  events.addEventListener("state", told);
  events.addEventListener("progress", told);
}

// A part of a page that changes by itself is loaded again: more and more rarely, only
// while somebody sees it, and no longer than a session lasts that nobody uses.
const watched = document.querySelector("[data-watch]");
if (watched) {
  const place = watched.dataset.watch;
  const end = Date.now() + 25 * 60 * 1000;
  let pause = 1500;
  const look = async () => {
    if (Date.now() > end) return;
    pause = Math.min(pause * 1.2, 30000);
    try {
      if (!document.hidden) {
        const answer = await fetch(location.pathname);
        const page = new DOMParser().parseFromString(await answer.text(), "text/html");
        const fresh = answer.ok && page.querySelector(place);
        if (!fresh) return;
        const shown = watched.querySelector(place);
        // What has not changed stays: somebody may be at it.
        if (fresh.innerHTML !== shown.innerHTML) shown.replaceWith(document.adoptNode(fresh));
        if (!page.querySelector("[data-watch]")) return;
      }
    } catch {
      // The service does not answer: perhaps the next time.
    }
    setTimeout(look, pause);
  };
  setTimeout(look, pause);
}

// From a file to a dataset: the file is looked at, the proposal corrected, the file sent.
const intake = document.getElementById("intake");
if (intake) {
  const part = (id) => document.getElementById(id);
  const file = part("file");
  const said = (text) => (part("said").textContent = text);
  const kind = (chosen) => {
    const name = chosen.name.toLowerCase();
    if (name.endsWith(".parquet")) return "application/vnd.apache.parquet";
    if (name.endsWith(".ndjson") || name.endsWith(".jsonl")) return "application/x-ndjson";
    return "text/csv";
  };

  // Progress is told for what is sent; fetch cannot tell it.
  const send = (place, body, type) =>
    new Promise((resolve, reject) => {
      const request = new XMLHttpRequest();
      const bar = part("sent");
      request.open("POST", place);
      request.setRequestHeader("content-type", type);
      request.setRequestHeader("x-form-token", intake.dataset.token);
      bar.hidden = false;
      request.upload.addEventListener("progress", (event) => {
        if (event.lengthComputable) bar.value = event.loaded / event.total;
      });
      const end = (settle) => () => {
        bar.hidden = true;
        settle(request);
      };
      request.addEventListener("load", end((sent) => (sent.status < 300 ? resolve : reject)(sent)));
      request.addEventListener("error", end(reject));
      request.send(body);
    });

  // What went wrong: two sentences, and errors by line. Texts alone, never markup.
  const wrong = (request) => {
    let problem = {};
    try {
      problem = JSON.parse(request.responseText);
    } catch {
      problem = { title: "The service did not answer", detail: "Try again in a moment." };
    }
    const box = document.createElement("div");
    box.className = "wrong";
    box.setAttribute("role", "alert");
    const line = (name, text) => {
      const element = document.createElement(name);
      element.textContent = text;
      return element;
    };
    box.append(line("h2", problem.title), line("p", problem.detail));
    const lines = problem.errors || [];
    if (lines.length) {
      const list = document.createElement("ul");
      for (const error of lines) {
        const where = [`line ${error.line}`, error.attribute].filter(Boolean).join(", ");
        list.append(line("li", `${where}: ${error.message || error.code}`));
      }
      box.append(list);
    }
    box.tabIndex = -1;
    part("wrong").replaceChildren(box);
    box.focus();
    said("");
  };

  // What is sent is the file of which the proposal is.
  const keep = async (chosen) => {
    const controls = document.querySelectorAll("#proposal select, #proposal textarea, #keep");
    const lock = (locked) => controls.forEach((control) => (control.disabled = locked));
    part("wrong").replaceChildren();
    lock(true);
    file.disabled = true;
    try {
      if (!intake.dataset.dataset) {
        said("The dataset is being made.");
        const made = await send("/datasets/new/dataset", part("schema").value, "application/json");
        intake.dataset.dataset = JSON.parse(made.responseText).id;
      }
      said("The file is being sent and read.");
      await send(`/datasets/${intake.dataset.dataset}/records`, chosen, kind(chosen));
      location.assign(`/datasets/${intake.dataset.dataset}`);
    } catch (request) {
      wrong(request);
      file.disabled = false;
      if (intake.dataset.dataset) {
        // The dataset has these roles now: other ones are of another dataset.
        said("The dataset is made, and the file was refused. Mend the file and choose it again; what is here stays as it was made.");
      } else {
        lock(false);
      }
    }
  };

  // The roles stand in the schema; where that is changed by hand, they are changed there.
  const correct = (event) => {
    const choices = document.querySelectorAll("select[data-attribute]");
    const choice = event.target.closest("select[data-attribute]");
    if (event.target === part("schema")) choices.forEach((one) => (one.disabled = true));
    if (!choice) return;
    const proposed = JSON.parse(part("schema").value);
    for (const attribute of proposed.schema?.attributes || []) {
      if (attribute.name === choice.dataset.attribute) attribute.role = choice.value;
    }
    part("schema").value = JSON.stringify(proposed, null, 2);
  };

  file.addEventListener("change", async () => {
    const chosen = file.files[0];
    if (!chosen) return;
    part("proposal").replaceChildren();
    part("wrong").replaceChildren();
    delete intake.dataset.dataset;
    file.disabled = true;
    said("The file is being looked at.");
    // Parquet says what it is at its end.
    const looked = chosen.name.toLowerCase().endsWith(".parquet") ? chosen : chosen.slice(0, 64 << 20);
    const name = encodeURIComponent(chosen.name.replace(/\.[^.]*$/, "").slice(0, 64) || "dataset");
    try {
      const found = await send(`/datasets/new/inspection?name=${name}`, looked, kind(chosen));
      part("proposal").innerHTML = found.responseText;
      part("keep").addEventListener("click", () => keep(chosen));
      said("Here is a proposal. Nothing was kept of the file.");
      document.getElementById("found").focus();
    } catch (request) {
      wrong(request);
    }
    file.disabled = false;
  });
  part("proposal").addEventListener("change", correct);
}
