"""Violations of the content security policy, as a browser reports them."""

import httpx

from support.pages import Pages
from support.program import Server

INJECTED = """() => {
  const script = document.createElement("script");
  script.textContent = "document.title = 'injected'";
  document.body.append(script);
}"""


def test_c6_a_violation_in_a_browser_arrives(tmp_path, chromium):
    with Server(tmp_path, "--metrics-listen", "127.0.0.1:0") as server:
        metrics = server.wait_for_line(r"Metrics: (\S+)")
        Pages(server.url).set_up(server.setup_code)
        context = chromium.new_context(base_url=server.url)
        page = context.new_page()
        page.goto("/sign-in?next=secret")
        page.evaluate(INJECTED)
        assert page.title() != "injected"
        line = server.wait_for_line(r"(Browser reported a violation.*)")
        context.close()
        text = httpx.get(metrics).text
    assert line.endswith("script-src-elem on /sign-in blocked inline")
    assert 'countersign_csp_violations_total{directive="script-src-elem"} 1' in text
