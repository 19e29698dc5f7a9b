// Live progress of a job. Without scripts the page says where it stands when it is loaded.
"use strict";

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
