"""Fixtures: servers shared by many tests, and user pools that each test has for itself."""

import functools
import itertools
import os
import time
from dataclasses import asdict

import httpx
import pytest

from support.browser import launch
from support.demo import SAVED, Demo
from support.nodes import deployment
from support.pages import Pages
from support.presses import wait_for_whole_pages
from support.program import DATABASES, Server, free_port
from support.rest import Api, create_token
from support.site import Visit, covering, crawl, kinds

numbers = itertools.count(1)

# The same on every machine, for the program, the browser, and what else the tests start.
for name in [name for name in os.environ if name.startswith(("LANG", "LC_"))]:
    del os.environ[name]
os.environ.update(LANG="C.UTF-8", TZ="UTC")
time.tzset()
# A client reads the certificates of all authorities for 30 ms of processor time, also if it uses none.
httpx._transports.default.create_ssl_context = functools.cache(httpx.create_ssl_context)

# Tests look at the layout of pages, not at a picture of them, which would take a third of the browser's time.
UNDRAWN = "--blink-settings=acceleratedCompositingEnabled=false"

# A file runs in one process; these take minutes, so that no process is left with one at the end. Each process
# begins with one of the first six, and goes on with the one that is six further: what waits is next to what computes.
LONG = ["test_layouts.py", "test_openapi.py", "test_mail.py", "test_soak.py", "test_nodes_races.py",
        "test_text_messages.py",
        "test_package.py", "test_axe.py", "test_crawl.py", "test_clicks.py", "test_failover.py",
        "test_nodes_failures.py",
        "test_release.py", "test_connections.py", "test_move.py", "test_demo.py", "test_postgresql_watched.py",
        "test_audit_file.py", "test_hostile.py", "test_support_tour.py", "test_without_postgresql.py",
        "test_metrics.py", "test_readme.py", "test_postgresql.py", "test_csv.py"]


def pytest_collection_modifyitems(config, items):
    """Begins with the longest files, and gives tests that open every kind of page the time that so
    many pages take."""
    if DATABASES.has_all:
        kept, left = [], []
        for item in items:
            (left if item.get_closest_marker("sqlite") else kept).append(item)
        config.hook.pytest_deselected(items=left)
        items[:] = kept
    order = {name: index for index, name in enumerate(LONG)}
    items.sort(key=lambda item: order.get(item.path.name, len(LONG)))
    for item in items:
        if {"page_kinds", "covering_kinds"} & set(item.fixturenames):
            item.add_marker(pytest.mark.timeout(600))


@pytest.fixture(scope="session", autouse=True)
def saved_demo(tmp_path_factory):
    """Tells where all processes of this run find the demo that they copy."""
    base = tmp_path_factory.getbasetemp()
    SAVED.folder = (base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base) / "saved-demo"


@pytest.fixture(scope="session")
def standalone(tmp_path_factory):
    """A server whose owner is ada@example.com."""
    with deployment(tmp_path_factory.mktemp("standalone")) as server:
        Pages(server.url).set_up(server.setup_code)
        yield server


@pytest.fixture(scope="session")
def emulator(tmp_path_factory):
    with deployment(tmp_path_factory.mktemp("emulator"), profile="emulator") as server:
        yield server


@pytest.fixture
def sdk(emulator):
    """firebase-admin, connected to an emulator without users."""
    from support.sdk import Sdk

    with Sdk(emulator) as sdk:
        yield sdk


@pytest.fixture(scope="session")
def demo(tmp_path_factory):
    """A server with the demo, for tests that don't mind what others have done to it."""
    with Demo(tmp_path_factory.mktemp("demo")) as demo:
        yield demo


@pytest.fixture(scope="module")
def own_demo(tmp_path_factory):
    """A server with the demo, for one file of tests, which defines `demo` as this one."""
    with Demo(tmp_path_factory.mktemp("demo")) as demo:
        yield demo


@pytest.fixture(scope="session")
def owner_visits(demo):
    """What the demo's owner finds by following links."""
    found = SAVED.kept("visits", lambda: [asdict(visit) for visit in crawl(demo.browse(demo.owner))])
    return [Visit(**visit) for visit in found]


def found_kinds(request):
    """Returns all kinds of pages, and fewer that show everything that any of them does."""
    def find():
        visits = request.getfixturevalue("owner_visits")
        return [kinds(visits), covering(visits)]
    return SAVED.kept("kinds", find)


@pytest.fixture(scope="session")
def page_kinds(demo, request):
    """A URL of every kind of page that the demo's owner can reach."""
    return found_kinds(request)[0]


@pytest.fixture(scope="session")
def covering_kinds(demo, request):
    """A URL of as many of these kinds as have together everything that any of them shows."""
    return found_kinds(request)[1]


@pytest.fixture(scope="session")
def owner_browser(standalone):
    return SignedIn(standalone.url)


@pytest.fixture
def owner(owner_browser):
    """The owner, signed in to the console so lately that no action asks for the password."""
    return owner_browser.pages()


class SignedIn:
    """A browser that signs in again well before actions ask for the password."""

    def __init__(self, url):
        self._pages, self._until = Pages(url), 0

    def pages(self):
        if time.monotonic() > self._until:
            self._pages.http.cookies.clear()
            assert self._pages.sign_in().status_code == 303
            self._until = time.monotonic() + 300
        return self._pages


def new_project(server, owner):
    """Creates a project, with an API key and an owner's service token."""
    project = f"project-{next(numbers)}"
    owner.create_project(project)
    token = create_token(server.data, project, "owner")
    return Api(server.url, project, owner.api_key(project), token)


@pytest.fixture
def api(standalone, owner):
    """A project of the standalone server, for this test only."""
    return new_project(standalone, owner)


@pytest.fixture
def tenant_api(api, owner):
    """A tenant, for this test only."""
    tenant = owner.create_tenant(api.project, "acme")
    return Api(api.url, api.project, api.key, api.token, tenant)


@pytest.fixture(scope="module")
def provider(tmp_path_factory):
    """A provider of OpenID Connect, one per file of tests."""
    from support.provider import Provider, is_installed

    if not is_installed():
        pytest.skip("Debian's glewlwyd isn't installed")
    with Provider(tmp_path_factory.mktemp("provider")) as provider:
        yield provider


@pytest.fixture
def new_site(tmp_path, provider):
    """A server that could be a client of the provider, on another site than the provider's."""
    from support.provider_console import ALLOW, Site

    port = free_port()
    with Server(tmp_path / "data", *ALLOW, "--public-url", f"http://localhost:{port}",
                listen=f"127.0.0.1:{port}") as server:
        yield Site(server, provider)


@pytest.fixture
def site(new_site):
    """A server that is a client of the provider, with two roles of groups."""
    new_site.configure()
    return new_site


@pytest.fixture(scope="session")
def chromium():
    """Debian's Chromium, headless, with the DejaVu fonts, which draws nothing."""
    from playwright.sync_api import sync_playwright

    wait_for_whole_pages()
    with sync_playwright() as playwright:
        browser = launch(playwright.chromium, UNDRAWN)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def chromium_with_noto(chromium):
    """The same with Noto Sans, which is wider and taller."""
    browser = launch(chromium.browser_type, UNDRAWN, fonts="noto")
    yield browser
    browser.close()
