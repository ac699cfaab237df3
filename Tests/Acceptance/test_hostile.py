"""Names that want to break out: of the page, of its direction, of its width, of a cell."""

import csv
import io
import re

import pytest

from support.faults import expect_none, overflow
from support.pages import Pages
from support.program import Server, prove
from support.rest import Api, make_token, ok
from support.site import crawl, kind, kinds

SCRIPT = "<script>window.broken=1</script><img src=x onerror=window.broken=1>\"'><svg onload=broken=1>"
NAMES = [
    SCRIPT,
    "\u202egnp.evil\u202c \u2067\u05d0\u05d1\u05d2 and what follows",
    "W" * 4_000,
    "👩‍👩‍👧‍👦🏳️‍🌈" * 12,
    "=cmd|'/c calc'!A1",
    "{{name}} {{{csrf}}} ${name} %n%s",
    "Z̶̧̛̙͓͇̱͚̘̫̻̰͊̽̐̓̽̿͛͝͠a̴̡̢̖̟̰̱͚̝͋̒̈́̑̈́l̷̢̛̙̟̮̭̾͊̃g̷̨̧̺̟̭̈́̾o̵̝̎" * 3,
    "+1-2@SUM(1)",
]
MARKDOWN = "\n".join([
    "# " + "heading " * 60, "<script>window.broken=1</script>", "[a](javascript:window.broken=1)",
    "![b](data:image/svg+xml;base64,AAAA)", "> " * 90 + "deep", "W" * 3_000,
    "| a | b |\n|---|---|\n| " + "x" * 500 + " | y |", "```\n" + "code " * 400 + "\n```",
    "[x](https://evil.example/\"onclick=broken=1)", "\u202e reversed",
])


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """A server full of such names, and the owner who looks at them."""
    with Server(tmp_path_factory.mktemp("hostile")) as server:
        owner = Pages(server.url).set_up(server.setup_code, name=SCRIPT[:100])
        prove(server.data)
        for number, name in enumerate(NAMES):
            owner.create_project(f"project-{number}", name[:100])
        project = "project-0"
        api = Api(server.url, project, owner.api_key(project),
                  make_token(server.data, project, "owner"))
        api.switch_totp_on(1)
        owner.create_tenant(project, "a" * 20)
        for number, name in enumerate(NAMES):
            fill_user(owner, api, number, name)
        fill_forms(owner, project)
        yield server, owner


def fill_user(owner, api, number, name):
    """A user of a name, with a factor of the same; every other one loses it, with a note."""
    uid, id_token = api.user(f"{number}+{'a' * 40}@example.com")
    ok(api.admin("POST", "accounts:update", {"localId": uid, "displayName": name[:256]}))
    _, done = api.enrol(id_token, name=name[:100])
    if number % 2:
        return
    page = owner.get(f"/projects/{api.project}/users/{uid}").text
    removal = re.search(r'href="([^"]+/removal)"', page).group(1)
    answer = owner.post(removal, {"reason": "other", "note": name[:1_000]})
    assert answer.status_code in (303, 422), answer.text


def fill_forms(owner, project):
    """Whatever else takes words of one's own, where its page is there."""
    for path, field, text in [
        (f"/projects/{project}/guidance/edit", "text", MARKDOWN),
        (f"/projects/{project}/settings/tokens/new", "name", SCRIPT[:100]),
    ]:
        page = owner.get(path)
        if page.status_code == 200 and f'name="{field}"' in page.text:
            fields = dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', page.text))
            fields |= dict(re.findall(r'type="radio"[^>]*name="([^"]+)" value="([^"]*)"', page.text))
            owner.post(path, {**fields, field: text, "step": "save"})


def test_no_page_has_their_markup(hostile):
    _, owner = hostile
    visits = crawl(owner, 24)
    expect_none(visit for visit in visits if visit.status != 200)
    for visit in visits:
        if visit.html:
            assert "<script>window" not in visit.text, visit.path
            assert not re.search(r"href=\"(javascript|data):", visit.text), visit.path
            assert visit.markup.inline == [], visit.path


def test_no_script_runs_and_nothing_sticks_out(hostile, chromium):
    server, owner = hostile
    visits = crawl(owner, 10)
    users = [visit.path for visit in visits if kind(visit.path) == "S/users/…"]
    paths = [*kinds(visits).values(), *users]
    faults = []
    context = chromium.new_context(
        base_url=server.url, viewport={"width": 320, "height": 900})
    context.add_cookies([{"name": cookie.name, "value": cookie.value, "url": server.url}
                         for cookie in owner.http.cookies.jar])
    page = context.new_page()
    page.on("dialog", lambda dialog: faults.append((page.url, "a dialog")))
    page.on("pageerror", lambda error: faults.append((page.url, str(error))))
    page.on("console", lambda message: message.type == "error" and faults.append(
        (page.url, message.text)))
    for path in paths:
        page.goto(path)
        if page.evaluate("window.broken") or page.locator("body script").count():
            faults.append((path, "a script ran"))
        if fault := overflow(page):
            faults.append((path, fault))
    context.close()
    expect_none(faults)


def test_a_name_does_not_turn_what_follows_it(hostile, chromium):
    """Text behind a name that turns the direction stands where it would stand without."""
    server, owner = hostile
    context = chromium.new_context(base_url=server.url)
    context.add_cookies([{"name": cookie.name, "value": cookie.value, "url": server.url}
                         for cookie in owner.http.cookies.jar])
    page = context.new_page()
    page.goto("/projects/project-0/users")
    # Wherever such a name stands, something isolates it.
    loose = page.evaluate("""() => {
      const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), loose = [];
      for (let node; (node = walker.nextNode());) {
        if (!/[\\u202a-\\u202e\\u2066-\\u2069]/.test(node.data)) continue;
        let isolated = false;
        for (let at = node.parentElement; at && !isolated; at = at.parentElement)
          isolated = at.tagName === "BDI"
            || /isolate|plaintext/.test(getComputedStyle(at).unicodeBidi) && at.tagName === "SPAN";
        if (!isolated) loose.push(node.data.slice(0, 40));
      }
      return loose;
    }""")
    context.close()
    expect_none(loose)


def test_no_download_calculates(hostile):
    _, owner = hostile
    tables = [visit for visit in crawl(owner, 24) if visit.type == "text/csv"]
    cells = [cell for visit in tables
             for row in csv.reader(io.StringIO(visit.text.lstrip("\ufeff"))) for cell in row]
    expect_none(cell for cell in cells if cell.strip().startswith(tuple("=+-@＝＋－＠")))
    if tables:
        assert any("cmd|" in cell for cell in cells)
