"use strict";

// A link brings its code behind `#`, which no server sees: it goes into the field, out
// of the address, and on its way. Without scripts it is pasted.
const field = document.querySelector("input[data-begins]");
const take = () => {
  const code = location.hash.slice(1);
  if (!field || !code.startsWith(field.dataset.begins)) return;
  history.replaceState(null, "", location.pathname + location.search);
  field.value = code;
  field.form.submit();
};
take();
// A link that is opened where the page is open already changes the address alone.
addEventListener("hashchange", take);
