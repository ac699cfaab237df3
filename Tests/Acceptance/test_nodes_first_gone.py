"""The first of several nodes is killed or stopped, after which the others finish what it began: sign-ins,
tasks, and what it showed."""

import json
import time

import pytest

from support.audit_file import AuditFile, has_all
from support.mail import MailServer
from support.nodes import MARKS, TAKEOVER, Nodes
from support.program import reauthenticate, run
from support.provider_console import ALLOW, BEGIN, Site, assert_signed_in
from support.rest import create_administrator, ok
from support.waiting import until
from test_passkeys import Browser

pytestmark = MARKS

# The audit log's entries that are written while the first node ends.
ENTRIES = 20


def export(nodes, **more):
    """Writes the policy file of each node, with changes to the project's policy."""
    exported = run("policy", "export", "--data", nodes.data)
    assert exported.returncode == 0, exported.stderr
    policies = json.loads(exported.stdout)
    for pool in policies["pools"]:
        # Other projects have no TOTP configuration.
        if pool["totp"]:
            pool["totp"].update(more)
    for number in range(Nodes.COUNT):
        (nodes.folder / f"policies-{number}.json").write_text(json.dumps(policies))


def shows_drift(nodes):
    """Whether the nodes that are left show that the policy differs from their files."""
    return ["differs from the policy file" in browser.get("/projects").text
            for browser in nodes.at_each(nodes.owner)[1:]]


def at_first(nodes, look):
    """Repeats a request until the first node is the one that answers it."""
    for _ in range(4 * Nodes.COUNT):
        answer = look()
        if nodes.number_of(answer) == 0:
            return answer
    raise AssertionError("the first node doesn't answer")


class Scene:
    """What's begun at the first node, which then ends."""

    def __init__(self, nodes, mail, files, site, chromium):
        self.nodes, self.mail, self.files, self.site = nodes, mail, files, site
        # A sign-in by the provider, before the browser is there.
        self.eva = site.browser(site.add_person("platform"))
        self.address = at_first(nodes, lambda: self.eva.get(BEGIN)).headers["location"]
        assert self.address.startswith(f"{site.provider.issuer}/auth?")
        # A passkey to add, and one to sign in with.
        for email in ("noa@example.com", "olga@example.com"):
            create_administrator(nodes.data, email, "auditor")
        self.noa = Browser(chromium, nodes)
        self.noa.enter_password("noa@example.com")
        self.show(self.noa, "/account/passkeys/new")
        self.noa.page.get_by_label("Name").fill("Laptop")
        self.olga = Browser(chromium, nodes)
        self.olga.enter_password("olga@example.com")
        self.olga.add_passkey("Phone")
        self.olga.sign_out()
        self.show(self.olga, "/sign-in/passkey")
        self.write()

    def show(self, browser, path):
        class Answer:
            def __init__(self, response):
                self.headers = response.headers
        at_first(self.nodes, lambda: Answer(browser.page.goto(path)))

    def write(self):
        """Adds entries to the audit log, and returns the place of the last one."""
        ok(self.nodes.api.admin("POST", "accounts", {}))
        self.nodes.owner.post("/account/preferences", {"zone": "UTC", "theme": "dark"})
        [[entry]] = self.nodes.execute("SELECT max(audit_id) FROM audit")
        return int(until(lambda: self.nodes.execute(f"""
            SELECT sequence FROM audit_link WHERE audit_id >= {entry} ORDER BY 1 LIMIT 1"""),
            "the entries are sealed", TAKEOVER)[0][0])

    def end(self, how):
        self.holder = self.nodes.holder
        for number in range(ENTRIES):
            self.nodes.owner.create_project(f"project-{number}")
        first = self.nodes.servers[0]
        assert {"killed": first.kill, "stopped": first.stop}[how]() in (0, -9)
        self.how, self.ended = how, time.monotonic()


@pytest.fixture(scope="module", params=["killed", "stopped"])
def scene(request, tmp_path_factory, provider, chromium):
    with MailServer() as mail:
        nodes = Nodes(
            tmp_path_factory.mktemp("nodes"), *ALLOW, "--smtp", f"smtp://127.0.0.1:{mail.port}",
            "--smtp-from", "accounts@example.com", host="localhost")
        export(nodes)
        files = [AuditFile(nodes.folder / f"audit-{number}.jsonl") for number in range(Nodes.COUNT)]
        for number, file in enumerate(files):
            nodes.own[number] = ["--policy-file", nodes.folder / f"policies-{number}.json",
                                 "--audit-file", file.path]
        with nodes:
            site = Site(nodes, provider)
            site.configure()
            nodes.set_up(site.owner).allow_email_links()
            export(nodes)
            scene = Scene(nodes, mail, files, site, chromium)
            scene.end(request.param)
            yield scene


def test_a_sign_in_by_the_provider_is_finished(scene):
    back = scene.site.provider.authorize(scene.eva.person, scene.address)
    assert_signed_in(scene.eva.get(back))
    assert scene.eva.is_signed_in
    # Only once.
    assert scene.eva.get(back).status_code != 303


def test_passkeys_answer_challenges_of_the_node_that_is_gone(scene):
    scene.noa.press("Add passkey")
    scene.noa.page.get_by_text("Passkey “Laptop” added.").wait_for()
    scene.olga.press("Use passkey")
    scene.olga.page.wait_for_url("**/review")
    added = scene.nodes.execute("""
        SELECT count(*) FROM audit WHERE action = 'administrator.passkey-create'""")
    assert int(added[0][0]) == 2


def test_tasks_continue_in_order(scene):
    nodes = scene.nodes
    last = scene.write()
    # Each node that is left goes on with its file.
    for file in scene.files[1:]:
        has_all(file, last, TAKEOVER)
    assert time.monotonic() - scene.ended < TAKEOVER + 20
    assert nodes.holder not in ([], scene.holder), "the first node didn't do the tasks"
    for file in scene.files[1:]:
        places = [e["sequence"] for e in file.events() if e["type"] == "audit"]
        assert places == list(range(1, places[-1] + 1))
    ok(nodes.api.admin("POST", "accounts:sendOobCode", {
        "requestType": "EMAIL_SIGNIN", "email": "after@example.com",
        "continueUrl": "http://localhost/in"}))
    until(lambda: "after@example.com" in [one["to"] for one in scene.mail.mails],
          "the mail is sent", TAKEOVER)
    verified = run("audit", "verify", "--data", nodes.data)
    assert verified.returncode == 0, verified.stdout + verified.stderr


def test_policies_that_differ_from_the_file_are_shown(scene):
    nodes = scene.nodes
    export(nodes)
    until(lambda: shows_drift(nodes) == [False, False], "nothing differs", 10)
    export(nodes, adjacentIntervals=7)
    until(lambda: shows_drift(nodes) == [True, True], "both nodes show it", 10)
