"""Every CSV file that the console offers, read by Python's csv module."""

import csv
import io
import re
from collections import Counter
from html import unescape
from html.parser import HTMLParser

import pytest

from support.agents import exempt
from support.program import reauthenticate
from support.site import crawl, kind

BANK = "/projects/harbour-bank"

# A filter for lists that get longer while they're read: downloads are in the audit log.
QUIET = {"/audit.csv": "?action=removal", "S/audit.csv": "?action=removal"}

# The list of tenants offers this file too, without a row for the project.
PAGES = {"S/review.csv": f"{BANK}/review"}


class Tables(HTMLParser):
    """Counts the rows in the body of each table of a page."""

    def __init__(self, text):
        super().__init__()
        self.lengths, self._in_body = [], False
        self.feed(text)

    def handle_starttag(self, tag, pairs):
        if tag == "table":
            self.lengths.append(0)
        elif tag == "tbody":
            self._in_body = True
        elif tag == "tr" and self._in_body:
            self.lengths[-1] += 1

    def handle_endtag(self, tag):
        if tag == "tbody":
            self._in_body = False


def totals(pages, path):
    """Returns the number of rows of each table of a page; a list goes on on the next pages."""
    text = pages.get(path).text
    lengths = Tables(text).lengths
    total = lengths[-1] if lengths else 0
    while following := re.search(r'<a[^>]* rel="next"[^>]* href="([^"]+)"', text):
        text = pages.get(unescape(following[1])).text
        total += Tables(text).lengths[-1]
    return {*lengths[:-1], total}


def files(visits):
    """Returns a file of each kind that the pages offer, by link or form: kind → (page, file)."""
    found = {}
    for visit in visits:
        if visit.type == "text/csv" and visit.status == 200:
            found.setdefault(kind(visit.path), (visit.source, visit.path))
        for action in re.findall(r'<form[^>]* method="post" action="([^"]+\.csv[^"]*)"', visit.text):
            # The page of a list that isn't its first shows the rest.
            if "after=" not in visit.path:
                found.setdefault(kind(unescape(action)), (visit.path, unescape(action)))
    return found


@pytest.fixture(scope="module")
def demo(own_demo):
    return own_demo


@pytest.fixture(scope="module")
def pages(demo):
    owner = demo.browse(demo.owner)
    exempt(owner, BANK)
    return owner


@pytest.fixture(scope="module")
def offered(pages):
    return files(crawl(pages, 1))


def read(pages, offered, name):
    """Downloads a file; returns its lines as lists, and the page that offers it."""
    page, file = offered[name]
    page = PAGES.get(name, page)
    if filter := QUIET.get(name):
        page, file = page.split("?")[0] + filter, file.split("?")[0] + filter
    answer = pages.get(file)
    if answer.status_code == 405:
        answer = pages.post(file, {}, page=page)
    assert answer.status_code == 200, (name, answer.status_code)
    assert answer.headers["content-type"].startswith("text/csv; charset=utf-8")
    assert "attachment" in answer.headers["content-disposition"]
    text = answer.content.decode("utf-8-sig")
    return list(csv.reader(io.StringIO(text, newline=""), strict=True)), page


def test_every_file_is_read_and_has_as_many_rows_as_its_page(demo, pages, offered):
    assert {"/audit.csv", "S/audit.csv", "S/users.csv", "S/review.csv", "/exemptions.csv",
            "S/reports/exemptions.csv",
            "S/policy/evidence.csv", "S/policy/offsets.csv", "S/policy/affected.csv",
            "S/bulk-removals/…/result.csv", "S/activity/enrollment.csv", "S/activity/attempts.csv",
            "S/activity/rejections.csv"} <= set(offered)
    reauthenticate(demo.server.data)
    # The page of this one has the projects, and the file their pools.
    for name in sorted(set(offered) - {"/review.csv"}):
        (head, *rows), page = read(pages, offered, name)
        assert len(head) > 1 and all(head) and len(set(head)) == len(head), (name, head)
        assert {len(row) for row in rows} <= {len(head)}, name
        assert len(rows) in totals(pages, page), (name, page, len(rows), totals(pages, page))
        formulas = [cell for row in [head, *rows] for cell in row
                    if cell.startswith(tuple("=+-@\t\r\0＝＋－＠"))
                    # A negative number is no formula.
                    and not re.fullmatch(r"-\d+", cell)]
        assert not formulas, (name, formulas)


def test_the_review_file_has_the_pools_of_every_project(pages, offered):
    (_, *rows), page = read(pages, offered, "/review.csv")
    pools = Counter(project for project, *_ in rows)
    assert len(pools) > 1 and len(pools) in totals(pages, page)
    for project, count in pools.items():
        assert count in totals(pages, f"/projects/{project}/review"), project
