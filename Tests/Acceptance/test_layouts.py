"""Pages on small screens, with large text, in forced colors, mirrored, and in print."""

import datetime
import functools
import gzip
import re
from urllib.parse import urlsplit

import pytest

from support.support_states import OPEN, user
from support.faults import expect_none, overflow
from support.program import ROOT
from support.rest import ok
from support.states import SIGNED_IN

STYLESHEET = ROOT / "Public/countersign.css"
SCRIPT = ROOT / "Public/countersign.js"


@pytest.fixture
def open_page(demo, chromium):
    """Opens pages in which the owner is signed in, with their own browser settings."""
    contexts = []

    def make(width, height=900, browser=chromium, **settings):
        context = demo.context(
            browser, demo.owner, viewport={"width": width, "height": height}, **settings)
        contexts.append(context)
        return context.new_page()

    yield make
    for context in contexts:
        context.close()


def test_the_browser_has_the_fonts_of_the_tests(open_page, chromium_with_noto):
    """Whatever else the machine has."""
    def fonts(page):
        page.goto("/")
        tools = page.context.new_cdp_session(page)
        tools.send("DOM.enable"), tools.send("CSS.enable")
        root = tools.send("DOM.getDocument")["root"]["nodeId"]
        found = set()
        for selector in ("h1", "main a"):
            node = tools.send("DOM.querySelector", {"nodeId": root, "selector": selector})["nodeId"]
            used = tools.send("CSS.getPlatformFontsForNode", {"nodeId": node})["fonts"]
            found |= {font["familyName"] for font in used}
        return found
    assert fonts(open_page(1280)) == {"DejaVu Sans"}
    assert fonts(open_page(1280, browser=chromium_with_noto)) == {"Noto Sans"}


def test_tables_are_condensed_as_soon_as_their_rows_are_not_stacked(open_page):
    """Up to 640 pixels, a table's rows are stacked, and its box is at most 606 pixels wide."""
    page = open_page(640)
    page.goto("/")
    sizes = []
    for width in (641, 642, 643):
        page.set_viewport_size({"width": width, "height": 900})
        sizes.append(page.locator(".dense td").first.evaluate(
            "(cell) => getComputedStyle(cell).fontSize"))
    assert sizes == ["13px"] * 3


def test_no_width_hides_a_chosen_column_or_a_figure(open_page, demo):
    page = open_page(641)
    tenant = next(link for link in demo.tenants("harbour-bank") if "/retail-" in link)
    for address, count in [
            (f"{tenant}/users?column=&column=phone", 2), ("/users?q=an&column=&column=phone", 2),
            (f"{tenant}/policy", 9)]:
        page.goto(address)
        for summary in page.locator("details#windows > summary").all():
            summary.click()
        for width in (641, 768, 1088):
            page.set_viewport_size({"width": width, "height": 900})
            columns = page.locator(".scroll table").last.locator("thead th").all()
            shown = [column for column in columns if column.is_visible()]
            assert len(shown) == count, (address, width)


@pytest.mark.parametrize("javascript", [True, False], ids=["with-scripts", "without-scripts"])
def test_the_drawer_has_the_sidebar_of_wide_windows(open_page, demo, javascript):
    """Below 1100 pixels, a button opens the list; the list is the same."""
    page = open_page(1100, java_script_enabled=javascript)
    page.goto(demo.tenants("harbour-bank")[0] + "/users")
    entries = page.locator(".side a")
    assert not page.locator(".drawer").is_visible() and entries.first.is_visible()
    page.set_viewport_size({"width": 1099, "height": 900})
    assert not entries.first.is_visible()
    page.locator(".drawer summary").focus()
    page.keyboard.press("Enter")
    assert all(entry.is_visible() for entry in entries.all())
    assert page.locator(".side [aria-current=page]").inner_text().startswith("Users")
    page.get_by_role("link", name="MFA policy").click()
    assert page.url.endswith("/policy") and not entries.first.is_visible()


def test_bar_sidebar_and_content_share_their_edges(open_page, demo):
    """The brand is over the sidebar, and the pool menu over the content."""
    page = open_page(1440)
    page.goto(demo.tenants("harbour-bank")[0] + "/policy")

    def start(selector):
        return page.locator(selector).first.evaluate("""(element) => {
          const range = document.createRange();
          range.selectNodeContents(element);
          return Math.round(range.getBoundingClientRect().left);
        }""")
    assert start(".brand") == start(".side a")
    assert start(".scope summary") == start("main h1") == start(".foot")
    assert page.locator("main").evaluate("(main) => main.clientWidth") <= 72 * 16 + 48


def test_a_user_with_long_names_fits_a_phone(chromium, standalone, owner, tenant_api):
    """The line that identifies the user wraps anywhere."""
    email = f"{'x' * 60}@{'y' * 60}.{'z' * 60}.example.com"
    uid = tenant_api.sign_up(email)["localId"]
    ok(tenant_api.admin("POST", "accounts:update", {
        "localId": uid, "displayName": "W" * 200, "phoneNumber": "+393331234567"}))
    context = chromium.new_context(base_url=standalone.url, viewport={"width": 390, "height": 844})
    context.add_cookies([{"name": cookie.name, "value": cookie.value, "url": standalone.url}
                         for cookie in owner.http.cookies.jar])
    page = context.new_page()
    pool = f"/projects/{tenant_api.project}/tenants/{tenant_api.tenant}"
    for action in ("disabling", "deletion", "sessions/end"):
        page.goto(f"{pool}/users/{uid}/{action}")
        line = page.locator("dl.identity")
        assert email in line.inner_text() and uid[-6:] in line.inner_text()
        assert overflow(page) is None, action
    context.close()


def test_a_project_with_a_long_name_fits_a_phone(chromium, standalone, owner):
    """The first steps name the project, and wrap it anywhere."""
    owner.create_project("wide-name", "W" * 100)
    context = chromium.new_context(base_url=standalone.url, viewport={"width": 390, "height": 844})
    context.add_cookies([{"name": cookie.name, "value": cookie.value, "url": standalone.url}
                         for cookie in owner.http.cookies.jar])
    page = context.new_page()
    for path in ("", "/tenants", "/settings"):
        page.goto(f"/projects/wide-name{path}")
        assert overflow(page) is None, path
    context.close()


def test_a_users_email_keeps_to_one_line_of_a_heading_on_a_phone(open_page, demo):
    page = open_page(390)
    user(OPEN, "factor.rename")(page, demo)
    address = page.url
    for action in ("sessions/end", "code-attempts"):
        page.goto(f"{address}/{action}")
        lines = page.locator("h1 bdi").evaluate("(name) => name.getClientRects().length")
        assert lines == 1, action


def test_long_entries_of_the_audit_log_are_printed_whole(open_page, demo):
    page = open_page(718)
    page.emulate_media(media="print")
    page.goto("/projects/harbour-bank/audit?action=account.update")
    cut = page.locator(".clamp").evaluate_all(
        "(texts) => texts.filter((text) => text.scrollHeight > text.clientHeight + 1).length")
    assert cut == 0
    assert not page.locator(".no-print").first.is_visible()


def test_forced_colors_preserve_state(open_page, demo):
    """Current entries, selected options, windows, and chips are distinguishable without our colors."""
    page = open_page(1280, forced_colors="active")
    retail = next(link for link in demo.tenants("harbour-bank") if "/retail-" in link)
    page.goto(f"{retail}/policy")

    def style(selector, name):
        return page.locator(selector).first.evaluate(
            "(element, name) => getComputedStyle(element)[name]", name)
    assert page.evaluate("matchMedia('(forced-colors: active)').matches")
    assert style(".side a[aria-current]", "outlineStyle") != style(
        ".side a:not([aria-current])", "outlineStyle")
    assert style("button.primary", "borderTopWidth") != style(
        "label.button", "borderTopWidth")
    assert style(".seg label:has(:checked)", "outlineStyle") != style(
        ".seg label:has(input:not(:checked))", "outlineStyle")
    background = """(cell) => getComputedStyle(cell, '::before').backgroundColor"""
    assert page.locator(".cells .d0").first.evaluate(background) != page.locator(
        ".cells .d10").first.evaluate(background)
    page.goto(retail)
    assert style(".tabbed label:has(:checked)", "outlineStyle") != style(
        ".tabbed label:has(input:not(:checked))", "outlineStyle")
    page.goto(retail.split("/tenants/")[0] + "/tenants")
    chip = page.locator(".chip:not(.plain)").first
    assert chip.inner_text().strip()
    assert chip.evaluate("(element) => getComputedStyle(element, '::before').content") not in (
        "none", "normal")
    strokes = {style(f"symbol path{which}, .strip path{which}", "stroke") for which in (
        ".lit", ".now", ":not(.lit):not(.now)")}
    assert len(strokes) >= 2
    assert page.evaluate("""() => {
        const button = document.createElement("button");
        button.className = "destroy";
        document.querySelector("main").append(button);
        return getComputedStyle(button, "::before").content;
    }""") not in ("none", "normal")


def test_forced_colors_distinguish_a_code_from_the_current_interval(open_page, demo):
    """In a code attempt's strip, the mark of the code looks different from the window's lines."""
    page = open_page(1280, forced_colors="active")
    user(OPEN, "factor.rename")(page, demo)
    attempt = page.locator(
        ".timeline li", has=page.locator(".strip .miss"), has_text="late").first
    looks = {
        kind: attempt.locator(f".strip {kind}").first.evaluate("""(shape) => {
            const style = getComputedStyle(shape);
            return [shape.tagName, style.fill, style.stroke, style.strokeWidth].join();
        }""") for kind in (".miss", ".now", ".lit")}
    assert len(set(looks.values())) == 3, looks
    assert looks[".miss"].startswith("rect") and looks[".now"].startswith("path")


def test_printed_pages_have_exact_times(open_page, demo):
    """Times are relative on the screen, exact on paper, and relative again afterward."""
    page = open_page(1280)
    page.goto("/account")
    times = page.locator("time[data-ago='1']")

    def differing():
        return times.evaluate_all(
            "(times) => times.filter((time) => time.textContent !== time.title).length")
    relative = differing()
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    printed = differing()
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert relative == times.count() > 0
    assert printed == 0 and differing() == relative


def test_relative_times_are_never_longer_than_the_time(open_page):
    """Neither the day of the week nor rounding makes a time older than it is."""
    page = open_page(1280)
    page.goto("/account")
    time = page.locator("time[data-ago='1']").first
    moment = datetime.datetime.fromisoformat(time.get_attribute("datetime"))
    shown = {}
    for age in ("0:00:59", "0:01:59", "0:59:40", "23:40:00", "24:00:00", "47:59:00", "48:00:00"):
        hours, minutes, seconds = map(int, age.split(":"))
        page.clock.set_fixed_time(moment + datetime.timedelta(
            hours=hours, minutes=minutes, seconds=seconds))
        page.evaluate("dispatchEvent(new Event('afterprint'))")
        shown[age] = time.inner_text()
    assert shown == {
        "0:00:59": "just now", "0:01:59": "1 minute ago", "0:59:40": "59 minutes ago",
        "23:40:00": "23 hours ago", "24:00:00": "1 day ago", "47:59:00": "1 day ago",
        "48:00:00": "2 days ago"}


def test_static_files_are_small():
    assert STYLESHEET.stat().st_size < 50 * 1024
    assert SCRIPT.stat().st_size < 8 * 1024


WIDTHS = [320, 390, 780, 800, 820, 1099, 1100, 1440, 1920]


def fits_every_width(page):
    """The page is loaded once, and its window changes its width."""
    faults = []
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        if fault := overflow(page):
            faults.append((width, fault))
    return faults


def tables_fit_from_tablets_up(page):
    """No table scrolls sideways from 768 pixels up, except data in a closed disclosure."""
    faults = []
    for width in (768, 1024, 1100, 1280):
        page.set_viewport_size({"width": width, "height": 900})
        wide = page.locator(".scroll").evaluate_all("""(tables) => tables
          .filter((table) => !table.closest("details:not([open])"))
          .map((table) => table.scrollWidth - table.clientWidth).filter((excess) => excess > 0)""")
        if wide:
            faults.append((width, wide))
    return faults


def is_mirrored(page):
    """`dir=rtl` mirrors the whole page without overflow, on a phone too."""
    before = page.evaluate("document.documentElement.dir")
    page.evaluate("document.documentElement.dir = 'rtl'")
    faults = []
    for width in (320, 1280):
        page.set_viewport_size({"width": width, "height": 900})
        if fault := overflow(page):
            faults.append((width, fault))
    faults += page.evaluate("""() => {
      const width = document.documentElement.clientWidth, faults = [];
      const middle = (selector) => {
        const element = document.querySelector(selector);
        if (!element) return null;
        const box = element.getBoundingClientRect();
        return (box.left + box.right) / 2;
      };
      if (middle(".brand") < width / 2) faults.push("the brand isn't on the right");
      const account = middle(".bar .account");
      if (account !== null && account > width / 2) faults.push("the account isn't on the left");
      const side = middle(".side");
      if (side !== null && side < width / 2) faults.push("the sidebar isn't on the right");
      const aside = middle("main .split > aside");
      if (aside !== null && aside > width / 2) faults.push("the aside isn't on the left");
      for (const heading of document.querySelectorAll("h1")) {
        const range = document.createRange();
        range.selectNodeContents(heading);
        const box = heading.getBoundingClientRect(), text = range.getBoundingClientRect();
        if (getComputedStyle(heading).textAlign !== "center"
            && Math.abs(box.right - text.right) > box.width / 2)
          faults.push("the heading doesn't start on the right");
      }
      return faults;
    }""")
    page.evaluate("(before) => { document.documentElement.dir = before }", before)
    return faults


@functools.cache
def devtools(page):
    return page.context.new_cdp_session(page)


def set_text_size(page, size):
    """Sets the browser's font size, as a person would."""
    devtools(page).send(
        "Page.setFontSizes", {"fontSizes": {"standard": size, "fixed": size * 13 // 16}})


def supports_text_of_twice_the_size(page):
    page.set_viewport_size({"width": 1280, "height": 900})
    set_text_size(page, 32)
    assert page.evaluate("parseFloat(getComputedStyle(document.documentElement).fontSize)") == 32
    # Clipped text can't be read.
    cut = page.evaluate("""() => [...document.querySelectorAll("button, .button, h1, h2:not(.visually-hidden), dt")]
      .filter((element) => element.clientWidth && element.scrollWidth > element.clientWidth + 2
        && getComputedStyle(element).overflowX !== "visible")
      .map((element) => element.textContent.trim().slice(0, 40))""")
    fault = overflow(page) or cut
    set_text_size(page, 16)
    return fault


# Without colors: what's left is shape, width, and weight. For charts, fills and lines are compared.
FORCED = """() => {
  const faults = [], name = (element) => `${element.tagName}.${element.className} ` +
    `${element.textContent.trim().slice(0, 30)}`;
  const look = (element) => ["", "::before", "::after", "strong"].map((part) => {
    const inner = part === "strong";
    const style = getComputedStyle(inner && element.querySelector(part) || element, inner ? "" : part);
    return [style.content, style.fontWeight, style.textDecorationLine, style.outlineStyle,
      style.outlineWidth, ...["Top", "Bottom", "Left", "Right"].map((side) => style[`border${side}Width`])];
  }).join();
  const shown = (selector) => [...document.querySelectorAll(selector)].filter((element) =>
    element.checkVisibility());
  for (const current of shown("a[aria-current], button[aria-current]")) {
    const list = current.closest("nav, ul, ol");
    const other = list && [...list.querySelectorAll(current.tagName)].find((each) =>
      !each.hasAttribute("aria-current") && each.className === current.className);
    if (other && look(current) === look(other)) faults.push(`current: ${name(current)}`);
  }
  for (const checked of shown("input:checked")) {
    // A native input shows its state itself.
    if (getComputedStyle(checked).opacity !== "0") continue;
    const part = (input) => input.closest("label") || input.parentElement;
    const other = shown(`input[name="${CSS.escape(checked.name)}"]:not(:checked)`)[0];
    // The number of intervals is text.
    if (other && part(checked) !== part(other) && look(part(checked)) === look(part(other)))
      faults.push(`checked: ${name(part(checked))}`);
  }
  for (const key of shown(".key")) {
    const swatches = [...key.querySelectorAll("svg")].map((svg) =>
      [...svg.querySelectorAll("*")].map((shape) => {
        const style = getComputedStyle(shape);
        return [shape.tagName, shape.getAttribute("d"), style.fill, style.stroke, style.strokeWidth,
          style.strokeDasharray, style.r, style.rx];
      }).join());
    if (new Set(swatches).size < swatches.length) faults.push(`key: ${name(key)}`);
  }
  return faults.join(", ");
}"""


def is_told_apart_in_forced_colors(page):
    """Current entries, choices, and marks differ by more than a color; those of a chart also by fill."""
    page.set_viewport_size({"width": 1280, "height": 900})
    page.emulate_media(forced_colors="active")
    fault = page.evaluate(FORCED)
    page.emulate_media(forced_colors="none")
    return fault


def is_printed_with_a_footer_and_without_navigation(page):
    """The navigation isn't printed, and the footer has the page's URL and time."""
    page.set_viewport_size({"width": 794, "height": 1123})
    page.emulate_media(media="print")
    faults = [f"{selector} is printed" for selector in (".bar", ".side", ".skip")
              if page.locator(selector).count() and page.locator(selector).first.is_visible()]
    address = page.locator(".foot .print")
    path = urlsplit(page.url).path
    if not address.is_visible() or path not in address.inner_text():
        faults.append("the footer doesn't have its URL")
    if not page.locator(".foot time").first.is_visible():
        faults.append("the footer has no time")
    if fault := overflow(page):
        faults.append(fault)
    page.emulate_media(media="screen")
    return faults


def is_printed_without_buttons(page):
    page.set_viewport_size({"width": 794, "height": 1123})
    page.emulate_media(media="print")
    shown = [button.inner_text() for button in page.locator("main .button, main button").all()
             if button.is_visible()]
    fault = (shown, overflow(page)) if shown or overflow(page) else None
    page.emulate_media(media="screen")
    return fault


@pytest.mark.timeout(900)
@pytest.mark.parametrize("width, browser, checks, of_kinds", [
    (390, "chromium", [fits_every_width, is_mirrored], [tables_fit_from_tablets_up]),
    (390, "chromium_with_noto", [fits_every_width], [tables_fit_from_tablets_up]),
    (1440, "chromium", [supports_text_of_twice_the_size, is_told_apart_in_forced_colors],
     [is_printed_with_a_footer_and_without_navigation])], ids=["390", "390-noto", "1440"])
def test_pages_fit_every_window(
        request, open_page, demo, covering_kinds, width, browser, checks, of_kinds):
    """Every kind of page and every state is loaded in a narrow and in a wide window, whose width,
    direction, text size, colors, or medium then change. `of_kinds` are checks of kinds only."""
    page, faults = open_page(width, browser=request.getfixturevalue(browser)), []

    def check(name, checks):
        # Scripts that run when a page is loaded keep it within its window.
        for one in [overflow, *checks]:
            if fault := one(page):
                faults.append((name, one.__name__, fault))
        page.set_viewport_size({"width": width, "height": 900})
    for path in covering_kinds.values():
        page.goto(path)
        check(path, [*checks, *of_kinds])
    printed = ("a user whose clock is slow", "a user with a suspended factor",
               "a user with a removed factor", "a completed list")
    for name, state in SIGNED_IN.items():
        state(page, demo)
        check(name, [*checks, *([is_printed_without_buttons] if name in printed and width > 390 else [])])
    expect_none(faults)


def test_pages_take_few_requests_and_little_data_and_have_no_errors(open_page, demo, page_kinds):
    """With an empty cache, a page takes up to three requests and 60 KiB compressed, in addition to
    redirections and the script of the policy page; those of passkeys, which the demo doesn't have
    without a host name, are in test_passkeys.py. No script fails, nothing violates the content
    security policy, and no file is missing.

    Static files are compressed by the server. Pages aren't, because attackers could learn secrets
    from the size of a compressed response that contains their input; the test compresses them as
    a proxy could. The browser requests the tab's icon on its own.
    """
    page, faults, requests = open_page(1280), [], []
    page.context.new_cdp_session(page).send("Network.setCacheDisabled", {"cacheDisabled": True})
    page.on("request", lambda request: request.redirected_from or requests.append(request.url))
    page.on("console", lambda message: message.type in ("error", "warning") and faults.append(
        (page.url, message.text)))
    page.on("pageerror", lambda error: faults.append((page.url, str(error))))
    page.on("response", lambda answer: answer.status >= 400 and faults.append(
        (answer.url, answer.status)))
    for path in page_kinds.values():
        requests.clear()
        size = len(gzip.compress(page.goto(path).body(), 6))
        own = [url for url in requests if not re.search(r"/static/(mark\.svg|policy\.js)", url)]
        if len(own) > 3 or any(not url.startswith((demo.url, "data:")) for url in own):
            faults.append((path, own))
        if size > 60 * 1024:
            faults.append((path, size))
    expect_none(faults)
