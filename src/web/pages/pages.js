"use strict";

// Live progress of a job. Without scripts the page says where it stands when it is loaded.

const job = document.querySelector("#job[data-events]");
if (job) {
  const events = new EventSource(job.dataset.events);
  const put = (id, text) => {
    const element = document.getElementById(id);
    if (element) element.textContent = text;
  };
  events.addEventListener("state", (event) => {
    const told = JSON.parse(event.data);
    const bar = document.getElementById("progress");
    if (bar) bar.value = told.progress.fraction;
    put("step", told.progress.step);
    put("label", told.progress.label);
    if (!["queued", "running"].includes(told.state)) {
      events.close();
      location.reload();
    } else if (told.state !== job.dataset.state) {
      if (job.dataset.state) location.reload();
      job.dataset.state = told.state;
    }
  });
}

// From a file to a dataset: the file is looked at, the proposal corrected, the file sent.
const intake = document.getElementById("intake");
if (intake) {
  const part = (id) => document.getElementById(id);
  const file = part("file");
  const said = (text) => (part("said").textContent = text);
  const kind = () => {
    const name = file.files[0].name.toLowerCase();
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
      request.addEventListener("load", end(request => (request.status < 300 ? resolve : reject)(request)));
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
    part("wrong").replaceChildren(box);
    said("");
  };

  const keep = async () => {
    part("wrong").replaceChildren();
    part("keep").disabled = true;
    try {
      let id = intake.dataset.dataset;
      if (!id) {
        said("The dataset is made.");
        const made = await send("/datasets/new/dataset", part("schema").value, "application/json");
        id = JSON.parse(made.responseText).id;
        intake.dataset.dataset = id;
      }
      said("The file is sent and read.");
      await send(`/datasets/${id}/records`, file.files[0], kind());
      location.assign(`/datasets/${id}`);
    } catch (request) {
      wrong(request);
      part("keep").disabled = false;
    }
  };

  const correct = (event) => {
    const choice = event.target.closest("select[data-attribute]");
    if (!choice) return;
    const proposed = JSON.parse(part("schema").value);
    for (const attribute of proposed.schema.attributes) {
      if (attribute.name === choice.dataset.attribute) attribute.role = choice.value;
    }
    part("schema").value = JSON.stringify(proposed, null, 2);
  };

  file.addEventListener("change", async () => {
    if (!file.files.length) return;
    part("proposal").replaceChildren();
    part("wrong").replaceChildren();
    delete intake.dataset.dataset;
    said("The file is looked at.");
    try {
      const found = await send("/datasets/new/inspection", file.files[0].slice(0, 64 << 20), kind());
      part("proposal").innerHTML = found.responseText;
      part("keep").addEventListener("click", keep);
      said("Here is a proposal. Nothing was kept of the file.");
    } catch (request) {
      wrong(request);
    }
  });
  part("proposal").addEventListener("change", correct);
}
