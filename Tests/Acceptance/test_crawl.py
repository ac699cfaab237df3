"""Every link in the demo that each role sees."""

import pytest

from support.faults import expect_none
from support.site import crawl, kinds

ROLES = {
    "policy": ("policy", "(instance)"), "support": ("support", "(instance)"),
    "auditor": ("auditor", "(instance)"),
    "support-of-one-tenant": ("support", "clinic-north"),
}


@pytest.fixture(scope="module", params=["owner", *ROLES])
def tour(request, demo):
    """A role's name, and its visit to every page it can reach."""
    if request.param == "owner":
        return "owner", request.getfixturevalue("owner_visits")
    return request.param, crawl(demo.browse(demo.person(*ROLES[request.param])), 2)


def test_no_link_is_dead(tour):
    role, visits = tour
    dead = [(visit.source, visit.path, visit.status) for visit in visits if visit.status != 200]
    expect_none(dead)
    assert len(visits) >= 20, role


def test_every_page_is_valid(tour):
    _, visits = tour
    faults = []
    for visit in visits:
        if not visit.html:
            continue
        page = visit.markup
        if not page.titles or not page.titles[0].strip():
            faults.append((visit.path, "no title"))
        if page.headings != 1:
            faults.append((visit.path, f"{page.headings} h1"))
        if not page.lang:
            faults.append((visit.path, "no lang"))
        if page.inline:
            faults.append((visit.path, "inline", page.inline[:1]))
        if page.unlabelled:
            faults.append((visit.path, "unlabelled", page.unlabelled[:2]))
        if len(set(page.ids)) != len(page.ids):
            twice = {name for name in page.ids if page.ids.count(name) > 1}
            faults.append((visit.path, "duplicate ids", twice))
        lost = [link for link in page.links if link.startswith("#") and link[1:] not in page.ids]
        if lost:
            faults.append((visit.path, "broken fragment", lost))
    expect_none(faults)


def test_titles_are_unique(tour):
    """Two kinds of pages of one pool never have the same title."""
    _, visits = tour
    titles = {}
    for name, path in kinds(visits).items():
        if path == "/":
            # It leads to the page that the role's work begins with.
            continue
        [visit] = [visit for visit in visits if visit.path == path]
        titles.setdefault(visit.markup.titles[0].strip(), []).append(name)
    expect_none(names for names in titles.values() if len(names) > 1)
