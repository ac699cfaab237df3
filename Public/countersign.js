// Progressive enhancements. Every page works without them.
(() => {
  "use strict";
  // The page's texts, in its language.
  const text = document.currentScript.dataset;
  const each = (selector, action) => document.querySelectorAll(selector).forEach(action);
  const make = (name) => document.createElement(name);

  // Single-character shortcuts can be turned off in the account menu (WCAG 2.1.4).
  const kept = "countersign-slash", single = () => localStorage.getItem(kept) !== "off";
  const menu = document.querySelector(".account ul");
  if (menu) {
    const item = make("li"), button = make("button");
    const say = () => { button.textContent = single() ? text.keysOn : text.keysOff; };
    button.addEventListener("click", () => {
      localStorage.setItem(kept, single() ? "off" : "on");
      say();
    });
    say();
    item.append(button);
    menu.append(item);
  }

  // "/" focuses the search field and "?" lists the shortcuts, except while typing.
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const field = document.activeElement;
    if (event.key === "Escape") {
      each("details:is(.menu, .drawer)[open]", (menu) => { menu.open = false; menu.querySelector("summary").focus(); });
      return;
    }
    if (field && (field.isContentEditable || /^(input|textarea|select)$/i.test(field.tagName))) return;
    if (!single() || document.querySelector("dialog[open]")) return;
    const find = document.querySelector("[data-shortcut='/']") || document.querySelector("#q");
    if (event.key === "/" && find) { event.preventDefault(); find.focus(); find.select(); }
    if (event.key !== "?") return;
    const help = make("dialog");
    help.className = "card";
    help.ariaLabel = text.keys;
    help.innerHTML = `<form class="stack" method="dialog"><h2></h2><dl class="facts"><dt>/</dt><dd></dd>
      <dt>?</dt><dd></dd><dt>Esc</dt><dd></dd></dl><button></button></form>`;
    const texts = [text.keys, text.keysSearch, text.keysHelp, text.keysEscape, text.close];
    help.querySelectorAll("h2, dd, button").forEach((element, index) => { element.textContent = texts[index]; });
    help.onclose = () => help.remove();
    document.body.append(help);
    help.showModal();
  });

  // Only one menu is open at a time, and a click elsewhere closes it.
  document.addEventListener("click", (event) => {
    each("details.menu[open]", (menu) => { if (!menu.contains(event.target)) menu.open = false; });
  });

  // Adds a Copy button to values such as secrets and links; it copies what is visible.
  if (navigator.clipboard) each("[data-copy]", (source) => {
    const button = make("button");
    button.type = "button";
    button.className = "button copy";
    button.textContent = text.copy;
    const name = source.ariaLabel || source.textContent.trim();
    button.ariaLabel = text.copyName.replace("{name}", () => name);
    button.addEventListener("click", () => navigator.clipboard.writeText(source.innerText.trim()).then(() => {
      button.textContent = text.copied;
      setTimeout(() => { button.textContent = text.copy; }, 2000);
    }));
    source.after(" ", button);
  });

  // Remembers the platform chosen in a guide.
  each(".platforms", (form) => form.addEventListener("change", (event) => {
    const secure = location.protocol === "https:" ? "; secure" : "";
    document.cookie = `${form.dataset.cookie}=${event.target.value}; path=/; max-age=31536000; samesite=strict${secure}`;
  }));

  // Shows times in the last 30 days as relative; the title has the exact time.
  const units = [["day", 86400], ["hour", 3600], ["minute", 60]];
  const words = new Intl.RelativeTimeFormat(document.documentElement.lang || "en", { numeric: "auto" });
  const tell = () => each("time[data-ago]", (time) => {
    const seconds = (Date.parse(time.dateTime) - Date.now()) / 1000;
    if (seconds > 60 || seconds < -30 * 86400) return;
    time.title ||= time.textContent;
    const unit = units.find(([, size]) => -seconds >= size);
    time.textContent = unit ? words.format(Math.round(seconds / unit[1]), unit[0]) : text.now;
  });
  tell();
  setInterval(tell, 60000);
  // Paper has the exact times.
  addEventListener("beforeprint", () => each("time[data-ago][title]", (time) => { time.textContent = time.title; }));
  addEventListener("afterprint", tell);

  // Opens the form of an action over the page. Whatever isn't a form is a separate page.
  const asking = { "X-Requested-With": "fetch" };
  const content = async (response) =>
    new DOMParser().parseFromString(await response.text(), "text/html").querySelector("main");
  const busy = (is) => { document.body.ariaBusy = is ? "true" : null; };
  const show = (dialog, main) => {
    const heading = main.querySelector("h1");
    main.querySelector(".crumbs")?.parentElement.remove();
    heading.tabIndex = -1;
    dialog.ariaLabel = heading.textContent;
    dialog.replaceChildren(...main.childNodes);
    tell();
    if (!dialog.open) dialog.showModal();
    dialog.scrollTop = 0;
    (dialog.querySelector("[role=alert]") || heading).focus();
    busy(false);
  };
  document.addEventListener("click", async (event) => {
    const link = event.target.closest("[data-dialog] a");
    if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    if (document.body.ariaBusy) return;
    busy(true);
    const main = await fetch(link.href, { headers: asking }).then(content).catch(() => null);
    if (!main || !main.querySelector("form[data-action]")) { location.assign(link.href); return; }
    const dialog = make("dialog");
    dialog.className = "card action";
    dialog.onclose = () => dialog.remove();
    dialog.addEventListener("click", (event) => {
      if (event.target.closest(".actions a")?.pathname !== location.pathname) return;
      event.preventDefault();
      dialog.close();
    });
    dialog.addEventListener("submit", async (event) => {
      const form = event.target;
      event.preventDefault();
      if (document.body.ariaBusy) return;
      busy(true);
      const body = new URLSearchParams(new FormData(form, event.submitter));
      try {
        const address = event.submitter?.getAttribute("formaction") ?? form.action;
        let response = await fetch(address, { method: "POST", headers: asking, body });
        const next = response.headers.get("Location");
        if (next && new URL(next, location).href !== form.action) { location.assign(next); return; }
        if (next) response = await fetch(next, { headers: asking });
        show(dialog, await content(response));
      } catch {
        // It may have been performed: only the person sends it again.
        form.prepend(Object.assign(make("p"), { className: "error", role: "alert", textContent: text.unanswered }));
        dialog.scrollTop = 0;
        busy(false);
      }
    });
    link.closest("main").append(dialog);
    show(dialog, main);
  });

  // Near its end, another script warns that the session ends. Other tabs learn that this page extended it.
  const session = document.querySelector("meta[name=session]");
  if (session) {
    const { idle, lifetime } = session.dataset, opened = session.dataset.opened = Date.now();
    try { localStorage.setItem("countersign-session-end", opened + idle * 1000); } catch { /* no storage */ }
    setTimeout(() => {
      const script = make("script");
      script.src = session.content;
      document.head.append(script);
    }, Math.max(Math.min(idle, lifetime) - 150, 0) * 1000);
  }

  // A double click doesn't send a form twice. A download leaves the page, but not its errors.
  let sent, at;
  document.addEventListener("submit", (event) => {
    if (event.target === sent && event.timeStamp < at + 1500) { event.preventDefault(); return; }
    [sent, at] = [event.target, event.timeStamp];
    each("[aria-labelledby=errors], .error", (error) => error.remove());
  });

  // A start date is one of the mandatory pattern.
  each("#from", (day) => day.addEventListener("input", () => { day.form.elements.pattern.value = "mandatory"; }));
})();
