// Says what the form of a policy would change, and warns when it's left without a review. Only its page loads this script.
(() => {
  "use strict";
  const line = document.querySelector(".savebar output"), { form } = line;
  const counts = [...line.nextElementSibling.children].map((count) => count.textContent);

  const words = (name, value) => {
    const choice = form.querySelector(
      `:is([type=radio][name=${name}], [name=${name}] option)[value="${CSS.escape(value)}"]`);
    return choice ? choice.dataset.text ?? (choice.labels?.[0] ?? choice).textContent.trim() : value || "–";
  };
  const changes = () => [...form.querySelectorAll("[data-stored]")].flatMap((control) => {
    const { name, field, stored } = control.dataset, { value } = form.elements[name];
    if (value === stored || !control.checkVisibility()) return [];
    return [`${field} ${words(name, stored)} → ${words(name, value)}`];
  });
  const say = () => {
    const found = changes();
    line.textContent = found.length ? `${counts[found.length - 1]} ${found.join("; ")}` : line.dataset.none;
    line.hidden = false;
    line.parentElement.classList.toggle("clean", !found.length);
  };

  let isLeft = false;
  form.addEventListener("input", say);
  form.addEventListener("submit", () => { isLeft = true; });
  form.querySelector(".savebar a").addEventListener("click", () => { isLeft = true; });
  addEventListener("pageshow", () => { isLeft = false; say(); });
  addEventListener("beforeunload", (event) => { if (!isLeft && changes().length) event.preventDefault(); });
})();
