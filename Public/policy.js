// Says what a form of settings would change, and warns when it's left unsaved.
(() => {
  "use strict";
  const line = document.querySelector(".savebar output"), { form, dataset } = line;
  const counts = [...line.nextElementSibling.children];

  const words = (name, value) => {
    const choice = form.querySelector(
      `:is([type=radio][name=${name}], [name=${name}] option)[value="${CSS.escape(value)}"]`);
    return choice ? choice.dataset.text ?? (choice.labels?.[0] ?? choice).textContent.trim() : value && `\u2068${value}\u2069` || "–";
  };
  const changes = () => [...form.querySelectorAll("[data-stored]")].flatMap((row) => {
    const { name, stored } = row.dataset, control = form.elements[name], { value } = control;
    const field = row.dataset.field ?? row.querySelector("label, .label").firstChild.textContent.trim();
    const before = words(name, stored), was = row.querySelector(".was");
    if (was) was.textContent = dataset.was.replace("{value}", () => before);
    if (!row.classList.toggle("changed", value !== stored && row.checkVisibility())) return [];
    return control.matches?.("textarea, [type=password]") ? field : `${field} ${before} → ${words(name, value)}`;
  });
  const say = () => {
    const found = changes(), count = counts[found.length - 1]?.textContent;
    line.textContent = count ? `${count} ${found.join("; ")}` : dataset.none;
    line.hidden = false;
    line.parentElement.classList.toggle("clean", !count);
    for (const mark of document.querySelectorAll(".index small")) {
      const { length } = document.querySelectorAll(`${mark.parentElement.hash} .changed`);
      mark.textContent = counts[length - 1]?.dataset.section ?? "";
    }
  };

  let isLeft = false;
  form.oninput = say;
  form.onsubmit = form.querySelector(".savebar a").onclick = () => { isLeft = true; };
  addEventListener("pageshow", () => { isLeft = false; say(); });
  addEventListener("beforeunload", (event) => { if (!isLeft && changes().length) event.preventDefault(); });
})();
