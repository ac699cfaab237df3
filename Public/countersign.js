// Every page works without these.
(() => {
  "use strict";
  // The page's texts.
  const text = document.currentScript.dataset;
  const each = (selector, action) => document.querySelectorAll(selector).forEach(action);
  const first = (selector) => document.querySelector(selector);
  const make = (name, properties) => Object.assign(document.createElement(name), properties);

  // The account menu turns single-character shortcuts off (WCAG 2.1.4).
  const kept = "countersign-slash", single = () => localStorage.getItem(kept) !== "off";
  const menu = first(".account ul");
  if (menu) {
    const item = make("li"), button = make("button");
    const say = () => {
      button.textContent = single() ? text.keysOn : text.keysOff;
      first(".find")?.toggleAttribute("data-hint", single());
    };
    button.onclick = () => {
      localStorage.setItem(kept, single() ? "off" : "on");
      say();
    };
    say();
    item.append(button);
    menu.append(item);
  }

  // Ctrl+K, Cmd+K, and "/" focus the search field; "?" lists the shortcuts.
  addEventListener("keydown", (event) => {
    const { key, ctrlKey, metaKey, altKey } = event;
    const find = first("[data-shortcut='/'], #q"), isOver = first("dialog[open]");
    const search = () => { event.preventDefault(); find.focus(); find.select(); };
    if (key === "k" && ctrlKey !== metaKey && !altKey && find && !isOver) search();
    if (ctrlKey || metaKey || altKey || event.isComposing) return;
    if (key === "Escape")
      each("details:is(.menu, .drawer)[open]", (menu) => { menu.open = false; menu.querySelector("summary").focus(); });
    if (!single() || isOver || first(":is(input, textarea, select):focus")) return;
    if (key === "/" && find) search();
    if (key !== "?") return;
    const help = make("dialog", { className: "card", ariaLabel: text.keys });
    help.innerHTML = `<form class="stack" method="dialog"><h2></h2><dl class="facts"><dt>/ Ctrl+K ⌘K</dt><dd></dd>
      <dt>?</dt><dd></dd><dt>Esc</dt><dd></dd></dl><button></button></form>`;
    const texts = [text.keys, text.keysSearch, text.keysHelp, text.keysEscape, text.close];
    help.querySelectorAll("h2, dd, button").forEach((element, index) => { element.textContent = texts[index]; });
    help.onclose = () => help.remove();
    document.body.append(help);
    help.showModal();
  });

  // One menu is open at a time; a click elsewhere closes it.
  addEventListener("click", (event) => {
    each("details.menu[open]", (menu) => { menu.open = menu.contains(event.target); });
  });

  // Adds a Copy button to values; it copies what is visible.
  const status = make("output", { className: "visually-hidden" });
  if (navigator.clipboard) each("body [data-copy]", (source) => {
    const ariaLabel = text.copyName.replace("{name}", () => source.ariaLabel || source.textContent.trim());
    const button = make("button", { type: "button", className: "button copy", textContent: text.copy, ariaLabel });
    const say = (words, said = words) => { button.textContent = words; status.textContent = said; };
    button.onclick = () => navigator.clipboard.writeText(source.innerText.trim()).then(() => {
      say(text.copied);
      setTimeout(say, 2000, text.copy, "");
    }, () => say(text.copyFailed));
    source.after(" ", button);
    document.body.append(status);
  });

  // Remembers a guide's platform.
  each(".platforms", (form) => { form.onchange = (event) => {
    const secure = location.protocol === "https:" ? "; secure" : "";
    document.cookie = `${form.dataset.cookie}=${event.target.value}; path=/; max-age=31536000; samesite=strict${secure}`;
  }; });

  // Times of the last 30 days are relative, except in titles and on paper.
  const units = [["day", 86400], ["hour", 3600], ["minute", 60]];
  const words = new Intl.RelativeTimeFormat(document.documentElement.lang);
  const tell = () => each("time[data-ago]", (time) => {
    const seconds = (Date.parse(time.dateTime) - Date.now()) / 1000;
    if (seconds > 60 || seconds < -30 * 86400) return;
    time.dataset.ago = 1;
    const unit = units.find(([, size]) => -seconds >= size);
    time.textContent = unit ? words.format(Math.trunc(seconds / unit[1]), unit[0]) : text.now;
  });
  tell();
  setInterval(tell, 60000);
  addEventListener("beforeprint", () => each("time[data-ago='1']", (time) => { time.textContent = time.title; }));
  addEventListener("afterprint", tell);

  // Opens the form of an action over the page; anything else is a page.
  const asking = { headers: { "X-Requested-With": "fetch" } };
  const content = async (response) =>
    new DOMParser().parseFromString(await response.text(), "text/html").querySelector("main");
  const busy = (is) => { document.body.ariaBusy = is || null; };
  const show = (dialog, main) => {
    const heading = main.querySelector("h1");
    main.querySelector("nav:has(.crumbs)")?.remove();
    heading.tabIndex = -1;
    dialog.ariaLabel = heading.textContent;
    dialog.replaceChildren(...main.childNodes);
    tell();
    if (!dialog.open) dialog.showModal();
    dialog.scrollTop = 0;
    dialog.querySelector("[role=alert][tabindex], h1").focus();
    busy(false);
  };
  addEventListener("click", async (event) => {
    const link = event.target.closest("[data-dialog] a");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    if (document.body.ariaBusy) return;
    busy(true);
    const main = await fetch(link.href, asking).then(content).catch(() => null);
    if (!main?.querySelector("form[data-action]")) { location.assign(link.href); return; }
    const dialog = make("dialog", { className: "card action" });
    dialog.onclose = () => dialog.remove();
    dialog.onclick = (event) => {
      if (event.target.closest(".actions a")?.pathname === location.pathname) {
        event.preventDefault();
        dialog.close();
      }
    };
    dialog.onsubmit = async (event) => {
      const form = event.target;
      event.preventDefault();
      if (document.body.ariaBusy) return;
      busy(true);
      const body = new URLSearchParams(new FormData(form, event.submitter));
      let textContent = text.unanswered;
      try {
        let response = await fetch(event.submitter?.getAttribute("formaction") ?? form.action,
          { ...asking, method: "POST", body });
        const next = response.headers.get("Location");
        if (next && new URL(next, location).href !== form.action) { location.assign(next); return; }
        if (next) response = await fetch(next, asking);
        const main = await content(response);
        if (response.ok || main.querySelector("form")) { show(dialog, main); return; }
        textContent = main.querySelector(".card p").textContent;
      } catch { /* It may have been performed: only the person sends it again. */ }
      form.prepend(make("p", { className: "error", role: "alert", textContent }));
      dialog.scrollTop = 0;
      busy(false);
    };
    link.closest("main").append(dialog);
    show(dialog, main);
  });

  // Another script warns before the session ends. Other tabs learn that it was extended.
  const session = first("meta[name=session]");
  if (session) {
    const { idle, lifetime } = session.dataset, opened = session.dataset.opened = Date.now();
    try { localStorage.setItem("countersign-session-end", opened + idle * 1000); } catch { /* no storage */ }
    setTimeout(() => document.head.append(make("script", { src: session.content })),
      (Math.min(idle, lifetime) - 150) * 1000);
  }

  // Counts selected rows.
  each("[data-picked]", (count) => {
    const form = count.closest("form");
    (form.onchange = () => { count.textContent = form.querySelectorAll("tbody :checked").length; })();
    count.hidden = false;
  });

  // A double click doesn't send a form twice, and a download ends errors.
  let sent, at;
  addEventListener("submit", (event) => {
    if (event.target.method !== "dialog") each("[aria-labelledby=errors], .error", (error) => error.remove());
    if (event.target === sent && event.timeStamp < at + 1500) event.preventDefault();
    else [sent, at] = [event.target, event.timeStamp];
  });
})();
