"""Debian's Prometheus, with the alerts and the queries of the dashboard."""

import contextlib
import json
import re
import shutil
import subprocess

import httpx
import pytest

from .program import ROOT, free_port
from .waiting import until

INSTALLED = pytest.mark.skipif(
    not (shutil.which("promtool") and shutil.which("prometheus")),
    reason="Debian's prometheus isn't installed")
ALERTS = ROOT / "ops/prometheus/alerts.yml"
DASHBOARD = ROOT / "ops/grafana/countersign.json"
# The metrics that only a server with its database on PostgreSQL has.
ON_POSTGRESQL = {
    "countersign_database_connections_used", "countersign_database_queue_length",
    "countersign_database_connections_open", "countersign_database_connections_wanted",
    "countersign_database_connections_refused_total",
    "countersign_database_round_trip_seconds", "countersign_database_retries_total",
    "countersign_tasks_held"}


def dashboard_queries():
    """Returns the title of each panel with each of its queries, for all instances."""
    dashboard = json.loads(DASHBOARD.read_text())
    return [(panel["title"], target["expr"].replace("$instance", ".*").replace(
        "$__rate_interval", "5s"))
        for panel in dashboard["panels"] for target in panel.get("targets", [])]


@contextlib.contextmanager
def scraping(metrics, folder, alert_after=None):
    """Runs Prometheus, which scrapes a server's metrics every second and evaluates the alerts, which
    fire after as many seconds if given."""
    target = metrics.removeprefix("http://").removesuffix("/metrics")
    text = (ROOT / "ops/prometheus/prometheus.yml").read_text()
    text = text.replace("127.0.0.1:9090", target).replace("15s", "1s").replace(
        "scrape_timeout: 5s", "scrape_timeout: 1s")
    (folder / "prometheus.yml").write_text(text)
    alerts = ALERTS.read_text()
    if alert_after:
        alerts = re.sub(r"for: \w+", f"for: {alert_after}s", alerts)
    (folder / "alerts.yml").write_text(alerts)
    port = free_port()
    with open(folder / "log", "w") as log:
        process = subprocess.Popen(
            ["prometheus", f"--config.file={folder}/prometheus.yml",
             f"--storage.tsdb.path={folder}/data", f"--web.listen-address=127.0.0.1:{port}"],
            stdout=log, stderr=log, cwd=folder)
        url = f"http://127.0.0.1:{port}"

        def is_scraped():
            assert process.poll() is None, (folder / "log").read_text()
            try:
                starting = httpx.get(f"{url}/-/ready").status_code != 200
            except httpx.TransportError:
                return None
            return None if starting else query(url, "count_over_time(countersign_ready[1m]) > 4")
        try:
            until(is_scraped, "Prometheus has scraped the server", 60)
            yield url
        finally:
            process.terminate()
            process.wait(30)


def families(text):
    """Returns the metrics that a query or a text of metrics names, without the parts of histograms."""
    return {re.sub(r"_(bucket|sum|count)$", "", name)
            for name in re.findall(r"\b(?:countersign|process)_\w+", text)}


def query(url, text):
    """Returns what a query finds."""
    answer = httpx.get(f"{url}/api/v1/query", params={"query": text}).json()
    assert answer["status"] == "success", (text, answer)
    return answer["data"]["result"]
