"""One request, sent to all nodes as often and as fast as possible."""

import asyncio
import itertools
import json
import re
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlencode

# How many connections there are to each node.
CONNECTIONS = 8


def call(nodes, path, body):
    """Returns the bytes of an application's call."""
    return request(nodes, "POST", f"{path}?key={nodes.api.key}", {
        "Content-Type": "application/json"}, json.dumps(body))


def submission(nodes, path, form, cookies):
    """Returns the bytes of a browser's form."""
    return request(nodes, "POST", path, {
        "Content-Type": "application/x-www-form-urlencoded", "Origin": nodes.url,
        "Cookie": cookie_header(cookies)}, form if isinstance(form, str) else urlencode(form))


def visit(nodes, path, cookies):
    """Returns the bytes of a browser's request for a page."""
    return request(nodes, "GET", path, {"Cookie": cookie_header(cookies)})


def cookie_header(cookies):
    return "; ".join(f"{name}={value}" for name, value in cookies.items())


def request(nodes, method, path, headers, body=""):
    lines = [f"{method} {path} HTTP/1.1", f"Host: {nodes.url.split('//')[1]}",
             f"Content-Length: {len(body.encode())}",
             *(f"{name}: {value}" for name, value in headers.items())]
    return "\r\n".join([*lines, "", body]).encode()


def flood(nodes, requests, total):
    """Sends the requests in turn, each to the next node, until there were `total` of them.

    Returns how often there was each answer: its status and `Location`.
    """
    # Playwright has a loop of its own in the test's thread.
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, _flood(nodes.ports, requests, total)).result()


async def _flood(ports, requests, total):
    answers, pairs = Counter(), itertools.islice(itertools.cycle(requests), total)
    opened = await asyncio.gather(*(
        asyncio.open_connection("127.0.0.1", port) for port in ports for _ in range(CONNECTIONS)))

    async def send(reader, writer):
        for one in pairs:
            writer.write(one)
            head = await reader.readuntil(b"\r\n\r\n")
            if length := re.search(rb"(?i)\r\ncontent-length: *(\d+)", head):
                await reader.readexactly(int(length[1]))
            else:
                assert b"chunked" in head.lower(), head
                while (size := int(await reader.readline(), 16)) > 0:
                    await reader.readexactly(size + 2)
                await reader.readexactly(2)
            location = re.search(rb"(?i)\r\nlocation: *(\S*)", head)
            answers[int(head[9:12]), location[1].decode() if location else None] += 1
        writer.close()
    # Those whose connection is open begin with the others.
    await asyncio.gather(*(send(*one) for one in opened))
    return answers
