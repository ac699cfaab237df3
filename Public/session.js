// Warns before the session ends, and extends it on request. countersign.js loads it shortly before.
// The page's footer says when the session ends.
(() => {
  "use strict";
  const data = document.querySelector("meta[name=session]").dataset;
  const kept = "countersign-session-end", lead = 120;
  const later = (seconds, from = Date.now()) => from + seconds * 1000;
  const opened = Number(data.opened);
  let end = later(data.idle, opened);
  const last = later(data.lifetime, opened);
  let dialog = null, hasEnded = false, isDismissed = false;

  // A page that is opened in another tab extends the session of this one, too.
  const share = () => { try { localStorage.setItem(kept, String(end)); } catch { /* no storage */ } };
  try { end = Math.max(end, Number(localStorage.getItem(kept))); } catch { /* no storage */ }
  addEventListener("storage", (event) => {
    const other = Number(event.key === kept && event.newValue);
    if (!hasEnded && other > end) { end = other; update(); }
  });

  const unit = (name) => new Intl.NumberFormat(document.documentElement.lang || "en", { style: "unit", unit: name, unitDisplay: "long" });
  const [minutes, seconds] = [unit("minute"), unit("second")];
  const time = (left) => left > 90 ? minutes.format(Math.round(left / 60)) : seconds.format(Math.max(left, 0));

  // Closing returns the focus to where it was.
  const close = () => { dialog?.close(); dialog?.remove(); dialog = null; };
  const open = () => {
    dialog = document.createElement("dialog");
    dialog.className = "card session";
    dialog.setAttribute("role", "alertdialog");
    dialog.setAttribute("aria-labelledby", "session-heading");
    dialog.setAttribute("aria-describedby", "session-text");
    dialog.innerHTML = `<div class="stack"><h2 id="session-heading"></h2><p id="session-text"></p>
      <div class="actions"><button type="button" class="primary"></button></div></div>`;
    dialog.querySelector("button").addEventListener("click", () => hasEnded || last <= end ? dismiss() : extend());
    dialog.addEventListener("cancel", (event) => { event.preventDefault(); if (hasEnded || last <= end) dismiss(); else extend(); });
    document.body.append(dialog);
    dialog.showModal();
  };
  const dismiss = () => { isDismissed = true; close(); };
  const show = (heading, text, button) => {
    if (!dialog) open();
    const parts = { h2: heading, p: text, button };
    for (const [name, value] of Object.entries(parts)) {
      const element = dialog.querySelector(name);
      if (element.textContent !== value) element.textContent = value;
    }
  };

  const extend = async () => {
    const body = new URLSearchParams({ csrf: data.csrf });
    const response = await fetch(data.extension, { method: "POST", body, redirect: "manual" }).catch(() => null);
    // Without a connection, or if the server is busy, the warning stays, and the button can be used again.
    if (!response || response.status >= 429) return;
    if (!response.ok) { finish(); return; }
    const [idle] = (await response.text()).split(" ").map(Number);
    end = later(idle);
    share();
    close();
    update();
  };
  const finish = () => {
    hasEnded = true;
    show(data.endedHeading, data.ended, data.close);
  };

  const update = () => {
    if (hasEnded) return;
    const left = Math.ceil((Math.min(end, last) - Date.now()) / 1000);
    if (left <= 0) { finish(); return; }
    if (left > lead) { close(); return; }
    if (isDismissed) return;
    const isLast = last <= end;
    show(data.heading, (isLast ? data.lifetimeEnds : data.idleEnds).replace("{time}", () => time(left)), isLast ? data.close : data.stay);
  };
  setInterval(update, 1000);
  update();
})();
