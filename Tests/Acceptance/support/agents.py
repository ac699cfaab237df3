"""Support rules of a user pool."""

import re
from html import unescape

from .program import Server, reauthenticate


def set_rules(pages, scope, **changes):
    """Changes some of a pool's support rules on their page and keeps the others."""
    reauthenticate(Server.folders[pages.url])
    path = f"{scope}/settings/support"
    text = pages.get(path).text
    form = dict(re.findall(r'<input id="([\w-]+)" name="[\w-]+"[^>]*? value="(\d*)"', text))
    switched_on = re.findall(r'<input type="checkbox" id="([\w-]+)"[^>]* checked', text)
    form |= dict.fromkeys(switched_on, "on")
    form["identity-proof"] = unescape(
        re.search(r'<textarea id="identity-proof"[^>]*>(.*?)</textarea>', text, re.S)[1])
    form |= {name.replace("_", "-"): value for name, value in changes.items()}
    answer = pages.post(path, form)
    assert answer.status_code == 303, re.findall(r'error">([^<]+)', answer.text)
