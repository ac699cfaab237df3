"""Hostile names: markup, bidirectional text, overlong text, and spreadsheet formulas."""

import csv
import html
import io
import re

import pytest

from support.agents import set_rules
from support.faults import expect_none, overflow
from support.pages import Pages, error_of
from support.program import Server, reauthenticate
from support.rest import Api, create_administrator, create_token, ok
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
    """A server with such names everywhere, and its owner."""
    with Server(tmp_path_factory.mktemp("hostile")) as server:
        owner = Pages(server.url).set_up(server.setup_code, name=SCRIPT[:100])
        reauthenticate(server.data)
        for number, name in enumerate(NAMES):
            owner.create_project(f"project-{number}", name[:100])
        project = "project-0"
        api = Api(server.url, project, owner.api_key(project),
                  create_token(server.data, project, "owner"))
        api.switch_totp_on(1)
        owner.create_tenant(project, "a" * 20)
        set_rules(owner, f"/projects/{project}", actions_per_hour="1000", approval_over_users="2")
        for number, name in enumerate(NAMES):
            fill_user(owner, api, number, name)
        fill_lists(server, owner, api)
        fill_forms(owner, project)
        # From now on, every page for an action on a user shows these.
        set_rules(owner, f"/projects/{project}",
                  identity_proof="\n".join(line(name, 120) for name in NAMES))
        yield server, owner


def line(name, length):
    """Returns a name cut to the length of a one-line field."""
    return name[:length].replace("\n", " ")


def fill_user(owner, api, number, name):
    """Creates a user with a name and a factor of the same name. Every other user loses the
    factor; the others' factors are renamed and suspended."""
    uid, id_token = api.user(email(number))
    ok(api.admin("POST", "accounts:update", {"localId": uid, "displayName": name[:256]}))
    api.enroll(id_token, name="Phone" if number % 2 else name[:100])
    user = f"/projects/{api.project}/users/{uid}"
    answers = {"reason": "other", "note": name[:1_000], "ticket": line(name, 100)}
    page = owner.get(user).text
    if number % 2:
        rename = re.search(r'href="([^"]+/name)"', page)[1]
        saved(owner.post(rename, {**answers, "name": line(name, 100)}))
        saved(owner.post(rename.replace("/name", "/suspension"), {**answers, "until": "tomorrow"}))
    else:
        saved(owner.post(re.search(r'href="([^"]+/removal)"', page)[1], answers))


def email(number):
    return f"{number}+{'a' * 40}@example.com"


def saved(answer):
    assert answer.status_code == 303, re.findall(r'error">([^<]+)', answer.text)
    return answer.headers["location"]


def fill_lists(server, owner, api):
    """Creates bulk removals with such names: a preview, one that runs, one that is pending, and one
    that a second administrator rejects."""
    removals = f"/projects/{api.project}/bulk-removals"
    answers = {"reason": "other", "note": SCRIPT + NAMES[1] + "W" * 800, "ticket": line(NAMES[1], 100)}

    def paste(*numbers):
        return saved(owner.post(removals, {"list": "\r\n".join([*NAMES, *map(email, numbers)])}))

    paste(1)
    saved(owner.post(paste(1), answers))
    saved(owner.post(paste(3, 5, 7), answers))
    refused = paste(3, 5, 7)
    saved(owner.post(refused, answers))
    create_administrator(server.data, "eve@example.com", "owner", name=NAMES[1][:100])
    other = Pages(server.url)
    assert other.sign_in("eve@example.com").status_code == 303
    reauthenticate(server.data)
    approval = re.search(r'href="([^"]+/approvals/\d+)"', other.get(refused).text)[1]
    saved(other.post(
        approval + "/rejection", {"answer": (SCRIPT + NAMES[1] + "W" * 300)[:500]}, approval))


def fill_forms(owner, project):
    """Fills in the other forms with free text, where their page exists."""
    for path, field, text in [
        (f"/projects/{project}/guidance/edit", "text", MARKDOWN),
        (f"/projects/{project}/settings/tokens/new", "name", SCRIPT[:100]),
    ]:
        page = owner.get(path)
        if page.status_code == 200 and f'name="{field}"' in page.text:
            fields = dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', page.text))
            fields |= dict(re.findall(r'type="radio"[^>]*name="([^"]+)" value="([^"]*)"', page.text))
            target = path.replace("/guidance/edit", "/guidance/versions")
            owner.post(target, {**fields, field: text}, path)


@pytest.fixture(scope="module")
def visits(hostile):
    """What the owner finds by following links, with every hostile user."""
    return crawl(hostile[1], 24)


def test_no_page_contains_unescaped_markup(visits):
    expect_none(visit for visit in visits if visit.status != 200)
    for visit in visits:
        if visit.html:
            assert "<script>window" not in visit.text, visit.path
            assert not re.search(r"href=\"(javascript|data):", visit.text), visit.path
            assert visit.markup.inline == [], visit.path


def test_no_script_runs_and_nothing_overflows(hostile, visits, chromium):
    server, owner = hostile
    users = [visit.path for visit in visits if kind(visit.path) == "S/users/…"]
    paths = dict.fromkeys([*kinds(visits).values(), *users[:10]])
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
        if page.evaluate("window.broken") or page.locator("body script:not([src])").count():
            faults.append((path, "a script ran"))
        if fault := overflow(page):
            faults.append((path, fault))
    context.close()
    expect_none(faults)


def test_a_names_direction_does_not_affect_the_text_after_it(hostile, chromium):
    """Every name with bidirectional control characters is isolated."""
    server, owner = hostile
    context = chromium.new_context(base_url=server.url)
    context.add_cookies([{"name": cookie.name, "value": cookie.value, "url": server.url}
                         for cookie in owner.http.cookies.jar])
    page = context.new_page()
    page.goto("/projects/project-0/users")
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


def test_c10_no_download_contains_a_formula(hostile, visits):
    _, owner = hostile
    tables = {visit.path: visit.text for visit in visits if visit.type == "text/csv"}
    # Downloads with users are forms.
    for name in ("users.csv", "policy/affected.csv", "reports/locked.csv", "reports/factors.csv",
                 "reports/exemptions.csv", "/exemptions.csv"):
        path = name if name.startswith("/") else f"/projects/project-0/{name}"
        answer = owner.post(path, {}, "/account")
        assert answer.status_code == 200, (name, answer.text)
        assert answer.headers["content-type"].startswith("text/csv"), name
        tables[path] = answer.text
    cells = {path: [cell for row in csv.reader(io.StringIO(text.lstrip("\ufeff"))) for cell in row]
             for path, text in tables.items()}
    # A negative number is no formula.
    expect_none((path, cell) for path in cells for cell in cells[path]
                if cell.strip().startswith(tuple("=+-@＝＋－＠")) and not re.fullmatch(r"-\d+", cell))
    for path in ("/projects/project-0/users.csv", "/audit.csv"):
        assert any("cmd|" in cell for cell in cells[path]), path


@pytest.mark.parametrize("field, longest", [
    ("note", 1_000), ("ticket", 100), ("device name", 100)])
def test_overlong_text_is_preserved_and_reported(hostile, field, longest):
    """Text over a field's limit isn't silently truncated."""
    _, owner = hostile
    users = owner.get("/projects/project-0/users?factor=totp").text
    user = re.search(r'href="(/projects/project-0/users/\w{28})"', users)[1]
    rename = re.search(r'href="([^"]+/name)"', owner.get(user).text)[1]
    proof = {"proof": [line(name, 120) for name in NAMES]}
    text = "👩‍👩‍👧‍👦<i>" * 1_000
    path, name, more = {
        "note": (rename.replace("/name", "/removal"), "note", {"reason": "other", **proof}),
        "ticket": (rename.replace("/name", "/removal"), "ticket", {"reason": "lost", **proof}),
        "device name": (rename, "name", {"reason": "asked", **proof}),
    }[field]
    answer = owner.post(path, {**more, name: text}, page=user)
    assert answer.status_code == 422
    assert f"{longest:,}" in error_of(answer.text, name)
    assert html.escape(text) in answer.text
