"""Support rules of a user pool."""

import re
from html import unescape

from .program import Server, reauthenticate


def set_rules(pages, pool, **changes):
    """Changes some of a pool's support rules on their page and keeps the others."""
    reauthenticate(Server.folders[pages.url])
    path = f"{pool}/settings/support"
    text = pages.get(path).text
    form = dict(re.findall(r'<input id="([\w-]+)" name="[\w-]+"[^>]*? value="([\d.]*)"', text))
    switched_on = re.findall(r'<input type="radio" id="([\w-]+)" name="[\w-]+" value="on" checked', text)
    form |= dict.fromkeys(switched_on, "on")
    form["identity-proof"] = unescape(
        re.search(r'<textarea id="identity-proof"[^>]*>(.*?)</textarea>', text, re.S)[1])
    form |= {name.replace("_", "-"): value for name, value in changes.items()}
    answer = pages.post(path, form)
    assert answer.status_code == 303, re.findall(r'error">([^<]+)', answer.text)


def exempt(pages, pool, filter="none"):
    """Exempts the first user of a pool's list from MFA for a week; returns their uid."""
    reauthenticate(Server.folders[pages.url])
    listed = pages.get(f"{pool}/users?factor={filter}").text
    uid = re.search(rf'href="{pool}/users/(\w{{28}})"', listed)[1]
    answer = pages.post(f"{pool}/users/{uid}/exemption", {
        "until": "week", "reason": "other", "note": "Waits for a new phone."})
    assert answer.status_code == 303, re.findall(r'error">([^<]+)', answer.text)
    return uid
