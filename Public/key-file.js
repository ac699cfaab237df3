// Fills the field of a credential from a file, which isn't sent itself.
(() => {
  "use strict";
  const file = document.querySelector("[data-fills]");
  file.parentElement.hidden = false;
  file.onchange = async () => {
    document.getElementById(file.dataset.fills).value = await file.files[0]?.text() ?? "";
  };
})();
