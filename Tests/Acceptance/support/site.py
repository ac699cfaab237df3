"""Crawls the console link by link, over plain HTTP."""

import re
from dataclasses import dataclass, field
from functools import cached_property
from html import unescape
from html.parser import HTMLParser
from urllib.parse import urljoin, urlsplit


class Markup(HTMLParser):
    """The parts of a page that the tests check."""

    UNLABELLED = {"hidden", "submit", "button", "image", "reset"}
    VOID = {"br", "hr", "img", "input", "link", "meta"}

    def __init__(self, text):
        super().__init__()
        self.lang, self.titles, self.headings = None, [], 0
        self.ids, self.links, self.files = [], [], []
        self.labels, self.fields, self.inline = set(), [], []
        # Each element with its class, in the two around it: what its looks depend on.
        self.shapes = set()
        self._open = []
        self._title, self._label = False, 0
        self.feed(text)

    def handle_starttag(self, tag, pairs):
        attributes = {name: value or "" for name, value in pairs}
        self._open.append(f"{tag}.{attributes.get('class', '')}")
        self.shapes.add(tuple(self._open[-3:]))
        if tag in self.VOID:
            self._open.pop()
        if "id" in attributes:
            self.ids.append(attributes["id"])
        if "style" in attributes or any(name.startswith("on") for name in attributes):
            self.inline.append(self.get_starttag_text())
        if tag == "html":
            self.lang = attributes.get("lang")
        elif tag == "title":
            # SVG has titles too; the page's is the first one, in the head.
            self._title = not self.titles
            if self._title:
                self.titles.append("")
        elif tag == "h1":
            self.headings += 1
        elif tag == "a" and "href" in attributes:
            self.links.append(attributes["href"])
        elif tag in ("link", "script", "img") and ("href" in attributes or "src" in attributes):
            self.files.append(attributes.get("href") or attributes["src"])
        elif tag == "style" or tag == "script":
            self.inline.append(self.get_starttag_text())
        elif tag == "form" and attributes.get("method", "get").lower() == "get":
            self.links.append(attributes.get("action", ""))
        if tag == "label":
            self._label += 1
            self.labels.add(attributes.get("for", ""))
        elif tag in ("input", "select", "textarea"):
            if tag != "input" or attributes.get("type", "text") not in self.UNLABELLED:
                self.fields.append((attributes, self._label > 0))

    def handle_endtag(self, tag):
        # Some end tags are optional.
        while self._open and self._open.pop().split(".")[0] != tag:
            pass
        if tag == "title":
            self._title = False
        elif tag == "label":
            self._label -= 1

    def handle_data(self, data):
        if self._title:
            self.titles[-1] += data

    @property
    def unlabelled(self):
        """Returns the fields without a label."""
        return [attributes for attributes, inside in self.fields
                if not (inside or attributes.get("id") in self.labels
                        or attributes.get("aria-label") or attributes.get("aria-labelledby"))]


@dataclass
class Visit:
    """The response to a followed link."""

    path: str
    source: str
    status: int
    type: str
    text: str = field(repr=False)

    @property
    def html(self):
        return self.type == "text/html"

    @cached_property
    def markup(self):
        return Markup(self.text)


def kind(path):
    """Returns the kind of page at a URL, such as `S/users/…`, without IDs and queries."""
    path = urlsplit(path).path
    path = re.sub(r"^/projects/(?!new\b)[^/]+(/tenants/(?!new\b)[^/]+)?", "S", path)
    return re.sub(r"/(?:\d+(?=/|$)|(?=[^/]*\d|[A-Za-z]{24})[\w-]{12,})", "/…", path)


def family(path):
    """Returns the group of similar URLs: the kind and the names of the query parameters."""
    names = sorted({part.split("=")[0] for part in urlsplit(path).query.split("&") if part})
    own = "T/" if "/tenants/" in path and not re.search(r"/tenants/new\b", path) else ""
    return own + kind(path) + ("?" + "&".join(names) if names else "")


def crawl(pages, examples=4, start="/", downloads=True):
    """Follows every link shown to an administrator, up to `examples` of each family.

    Exports are audited, so tests that need an unchanged audit log leave downloads out.
    """
    waiting, queued, counts, visits = [(start, "")], {start}, {}, []
    while waiting:
        path, source = waiting.pop(0)
        answer = pages.get(path, follow_redirects=True)
        type = answer.headers.get("content-type", "").split(";")[0]
        visit = Visit(path, source, answer.status_code, type,
                      answer.text if type in ("text/html", "text/csv") else "")
        visits.append(visit)
        if not visit.html or answer.status_code != 200:
            continue
        for link in [*visit.markup.links, *visit.markup.files]:
            where = urlsplit(urljoin(str(answer.url), unescape(link)))
            address = where.path + (f"?{where.query}" if where.query else "")
            if where.scheme not in ("http", "https") or not str(answer.url).startswith(
                    f"{where.scheme}://{where.netloc}/"):
                continue
            if address in queued or not downloads and "csv" in address:
                continue
            queued.add(address)
            name = family(address)
            counts[name] = counts.get(name, 0) + 1
            if counts[name] <= examples:
                waiting.append((address, path))
    return visits


def kinds(visits):
    """Returns the longest example of each kind of page: name → path."""
    fullest = {}
    for visit in visits:
        if not visit.html or visit.status != 200:
            continue
        name = kind(visit.path)
        if name not in fullest or len(visit.text) > len(fullest[name].text):
            fullest[name] = visit
    return {name: visit.path for name, visit in sorted(fullest.items())}


def covering(visits):
    """Returns the fewest examples, chosen greedily, of kinds of pages that have together every shape
    that a page has: name → path."""
    found = {visit.path: visit for visit in visits}
    paths = kinds(visits)
    shapes = {name: found[path].markup.shapes for name, path in paths.items()}
    missing, chosen = set().union(*shapes.values()), []
    while missing:
        chosen.append(max(shapes, key=lambda name: len(shapes[name] & missing)))
        missing -= shapes[chosen[-1]]
    return {name: paths[name] for name in sorted(chosen)}
