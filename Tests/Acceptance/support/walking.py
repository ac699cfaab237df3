"""Ways to navigate the console, so that one walk can be taken with each of them."""

import re

from .faults import expect_none, overflow

# The focused element, and whether it's visible, marked, and after the previous one.
FOCUSED = """() => {
  const at = document.activeElement, last = window.walkedFrom;
  if (!at || at === document.body) return null;
  window.walkedFrom = at;
  const marked = (element) => {
    const style = element && getComputedStyle(element);
    return style && style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2;
  };
  const box = at.getBoundingClientRect(), faults = [];
  const choice = at.closest(".choice"), label = at.labels && at.labels[0];
  // Fields of several parts, such as a day, mark the part.
  const isPart = last === at;
  if (!isPart && !marked(at) && !marked(choice)) faults.push("the focus is not visible");
  const left = Math.max(box.left, 0), right = Math.min(box.right, innerWidth);
  const top = Math.max(box.top, 0), bottom = Math.min(box.bottom, innerHeight);
  const hit = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
  if (!hit || !(at.contains(hit) || hit.contains(at) || (label && label.contains(hit))))
    faults.push("something covers it");
  const form = at.closest("dialog");
  const here = box.top + (form ? form.scrollTop : scrollY);
  if (last && last.isConnected && !isPart) {
    if (!(last.compareDocumentPosition(at) & Node.DOCUMENT_POSITION_FOLLOWING))
      faults.push("it comes before the previous element");
    if (at.form && at.form === last.form && here < window.walkedAt - 40)
      faults.push("it's above the previous element of the same form");
  }
  window.walkedAt = here;
  return {
    id: at.id, tag: at.tagName, address: at.getAttribute("href") || "",
    text: (at.ariaLabel || at.innerText).split(/\\s+/).filter(Boolean).join(" "), faults,
  };
}"""


# Whether the script opens or sends this element's form over the page.
IN_DIALOG = """(element) => Boolean(element.closest("[data-dialog], dialog"))
  && matchMedia("(scripting: enabled)").matches"""


class Walker:
    """A person at the console in a browser; all faults are collected."""

    def __init__(self, page):
        self.page = page
        self.faults = []
        page.on("pageerror", lambda error: self._fault(f"a script failed: {error}"))
        # A form with an error gets a 422, which the browser logs.
        page.on("console", lambda message: message.type == "error"
                and "422" not in message.text and self._fault(message.text))

    def _fault(self, text):
        self.faults.append((self.page.url, text))

    def arrive(self):
        """Checks the page that has loaded."""
        self.page.wait_for_load_state()
        if fault := overflow(self.page):
            self._fault(f"it scrolls sideways: {fault}")
        if self._main().locator("h1").count() != 1:
            self._fault("it doesn't have exactly one h1")
        return self

    def _main(self):
        """Returns the form over the page, or the page."""
        form = self.page.locator("dialog[open]")
        return form if form.count() else self.page

    def _lead(self, element, act):
        """Acts on an element, and waits for the page that it leads to, or for the form over it."""
        if element.evaluate(IN_DIALOG):
            act()
            self.page.locator("body[aria-busy]").wait_for(state="detached")
        else:
            with self.page.expect_navigation():
                act()
        return self.arrive()

    def start(self, path):
        """Opens the page where a task begins."""
        self.page.goto(path)
        return self.arrive()

    def heading(self):
        return self._main().locator("h1").inner_text()

    def status(self):
        """Returns the status message, without the characters that isolate names."""
        return re.sub("[\u2068\u2069]", "", self.page.locator("[role=status]").first.inner_text())

    def text(self):
        """Returns all text of the page."""
        return self.page.locator("main").inner_text()

    def end(self):
        expect_none(self.faults)


class Pointer(Walker):
    """Uses a mouse."""

    def find(self, text):
        """Searches for a user with the field that every page has."""
        self.page.locator("#find").fill(text)
        with self.page.expect_navigation():
            self.page.locator("#find").press("Enter")
        return self.arrive()

    def link(self, text=None, to=None):
        """Follows a link by its text, or the first one to a path."""
        link = (self.page.locator(f"main a[href*='{to}']") if to
                else self.page.get_by_role("link", name=text, exact=True))
        return self._lead(link.first, link.first.click)

    def error(self, field):
        """Follows the error summary to a field."""
        self.page.locator(f"[role=alert] a[href='#{field}']").click()
        return self

    def button(self, text):
        button = self._main().get_by_role("button", name=text, exact=True)
        return self._lead(button, button.click)

    def unfold(self, text):
        self.page.locator("summary", has_text=text).click()
        return self

    def choose(self, field, words):
        """Selects an option by the start of its text."""
        entry = self.page.locator(f"#{field} option", has_text=re.compile(f"^{words}"))
        self.page.locator(f"#{field}").select_option(entry.first.get_attribute("value"))
        return self

    def tick(self, field):
        self.page.locator(f"label[for={field}]").click()
        return self

    def type(self, field, text):
        self.page.locator(f"#{field}").fill(text)
        return self


class Keyboard(Walker):
    """Uses Tab, Enter, Space, and letters, and checks the focus at each stop."""

    MOST_STOPS = 90

    def arrive(self):
        super().arrive()
        # The focus is in a form over the page.
        self.is_new = not self.page.locator("dialog[open]").count()
        return self

    def _stop(self):
        """Presses Tab and returns the focused element."""
        self.page.keyboard.press("Tab")
        at = self.page.evaluate(FOCUSED)
        for fault in at["faults"] if at else []:
            self._fault(f"{at['tag']} {at['id'] or at['text'][:40]}: {fault}")
        return at

    def _go(self, what, is_it, in_bar=False):
        """Tabs to an element, past the end of the page once if it is above.

        On a new page, first skips to the main content.
        """
        if self.is_new and not self.page.locator("[autofocus]").count():
            first = self._stop()
            assert first["text"] == "Skip to main content", first
            if not in_bar:
                self.page.keyboard.press("Enter")
        self.is_new = False
        seen, ends = [], 0
        for _ in range(self.MOST_STOPS):
            at = self._stop()
            if at is None:
                ends += 1
                if ends > 1:
                    break
                self.page.evaluate("() => { window.walkedFrom = null }")
                continue
            if is_it(at):
                return
            seen.append(at["id"] or at["text"])
        raise AssertionError(f"Tab does not lead to {what} on {self.page.url}: {seen}")

    def _enter(self):
        return self._lead(
            self.page.locator(":focus"), lambda: self.page.keyboard.press("Enter"))

    def find(self, text):
        self._go("the search", lambda at: at["id"] == "find", in_bar=True)
        self.page.keyboard.type(text)
        return self._enter()

    def link(self, text=None, to=None):
        self._go(text or to, lambda at: at["tag"] == "A" and (
            to in at["address"] if to else at["text"] == text))
        return self._enter()

    def error(self, field):
        self._go("the error", lambda at: at["address"] == f"#{field}")
        self.page.keyboard.press("Enter")
        return self

    def button(self, text):
        self._go(text, lambda at: at["tag"] == "BUTTON" and at["text"] == text)
        return self._enter()

    def unfold(self, text):
        self._go(text, lambda at: at["tag"] == "SUMMARY" and text in at["text"])
        self.page.keyboard.press("Enter")
        return self

    def _field(self, field):
        focused = self.page.locator(":focus")
        # The error summary has already moved the focus here.
        if not (focused.count() and focused.get_attribute("id") == field):
            self._go(field, lambda at: at["id"] == field)

    def choose(self, field, words):
        self._field(field)
        self.page.keyboard.type(words)
        return self

    def tick(self, field):
        self._field(field)
        self.page.keyboard.press("Space")
        return self

    def type(self, field, text):
        self._field(field)
        # Lists are pasted.
        if "\n" in text:
            self.page.keyboard.insert_text(text)
        else:
            self.page.keyboard.type(text)
        return self
