"""Sign-in with a provider in a popup and by redirect, as the web SDK does it.

The SDK's messenger is a Google script that tests can't load; a test double passes messages on.
"""

import http.server
import threading
from urllib.parse import urlencode

import pytest

APPLICATION = """<!DOCTYPE html><title>Shop</title><script>
window.events = [];
addEventListener("message", (message) => {
  if (message.data && message.data.shopEvent) window.events.push(message.data.shopEvent);
});
</script><iframe src="%s"></iframe>"""

# The parts of the script that the frame uses: register, send, and the context's parent.
MESSENGER = """window.gapi = {
  load: (name, options) => options.callback(),
  iframes: {
    CROSS_ORIGIN_IFRAMES_FILTER: () => true,
    getContext: () => ({ getParentIframe: () => ({
      register: (name, handler) => { window.supports = handler(); },
      send: (name, message, answered) => {
        parent.postMessage({ shopEvent: message }, "*");
        answered([{ status: "ACK" }]);
      },
    }) }),
  },
};
window.gapi_onload();"""

KEY = {"apiKey": "k", "appName": "[DEFAULT]"}


@pytest.fixture
def shop(emulator):
    """An application on another origin, with the frame that the SDK embeds."""
    # The same site as the application, so that the frame shares storage with the popup.
    site = emulator.url.replace("127.0.0.1", "localhost")

    class Shop(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            frame = f"{site}/emulator/auth/iframe?{urlencode(KEY)}"
            self.wfile.write((APPLICATION % frame.replace("&", "&amp;")).encode())

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Shop) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://localhost:{server.server_port}/", site
        server.shutdown()


@pytest.fixture
def page(chromium, shop):
    """The application in a browser; its frame has reported that no one signed in."""
    context = chromium.new_context()
    context.route("https://apis.google.com/js/api.js", lambda route: route.fulfill(
        content_type="text/javascript", body=MESSENGER))
    page = context.new_page()
    errors = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(shop[0])
    page.wait_for_function("events.length === 1")
    signed_out = {"type": "authEvent", "authEvent": {
        "type": "unknown", "error": {"code": "auth/no-auth-event"}}}
    assert page.evaluate("events[0]") == signed_out
    yield page
    assert errors == []
    context.close()


def handler(site, **members):
    query = {**KEY, "providerId": "google.com", "eventId": "42", "v": "12.18.0", **members}
    return f"{site}/emulator/auth/handler?{urlencode(query)}"


def sign_in(page, event, emulator):
    """Signs in with an event, as the SDK does."""
    return page.evaluate("""async ([url, event]) => {
      const answer = await fetch(
        url + "/identitytoolkit.googleapis.com/v1/accounts:signInWithIdp?key=k", {
          method: "POST", headers: {"Content-Type": "application/json"},
          body: JSON.stringify({requestUri: event.urlResponse, sessionId: event.sessionId,
            postBody: event.postBody, tenantId: event.tenantId, returnSecureToken: true,
            returnIdpCredential: true})});
      return await answer.json();
    }""", [emulator.url, event])


def test_a_popup_signs_a_user_in_and_offers_the_user_again(page, shop, emulator):
    with page.expect_popup() as opened:
        page.evaluate("url => { window.open(url); }", handler(shop[1], authType="signInViaPopup"))
    window = opened.value
    window.fill("[name=email]", "mallory@example.com")
    window.fill("[name=name]", "<b>Mallory</b>")
    window.click("text='Sign in'")
    page.wait_for_function("events.length === 2")
    event = page.evaluate("events[1].authEvent")
    assert (event["type"], event["eventId"], event["tenantId"]) == ("signInViaPopup", "42", None)
    first = sign_in(page, event, emulator)
    assert (first["email"], first["displayName"]) == ("mallory@example.com", "<b>Mallory</b>")
    assert first["isNewUser"] and first["idToken"]
    window.reload()
    window.click("text='<b>Mallory</b>, mallory@example.com'")
    page.wait_for_function("events.length === 3")
    again = sign_in(page, page.evaluate("events[2].authEvent"), emulator)
    assert again["localId"] == first["localId"] and "isNewUser" not in again


def test_a_redirect_signs_a_user_in(page, shop, emulator):
    page.goto(handler(
        shop[1], authType="signInViaRedirect", redirectUrl=shop[0], tid="some-tenant"))
    page.click("text='Generate user'")
    page.click("text='Sign in'")
    page.wait_for_url(shop[0])
    page.wait_for_function("events.length === 1")
    event = page.evaluate("events[0].authEvent")
    assert (event["type"], event["tenantId"]) == ("signInViaRedirect", "some-tenant")
    answer = sign_in(page, event, emulator)
    assert answer["email"].startswith("tester.") and answer["tenantId"] == "some-tenant"
    # An event is delivered once.
    page.reload()
    page.wait_for_function("events.length === 1")
    assert page.evaluate("events[0].authEvent.type") == "unknown"


@pytest.mark.parametrize("target", ["javascript:document.title='x'", "", "nowhere"])
def test_a_sign_in_redirects_to_http_addresses_only(page, shop, target):
    page.goto(handler(shop[1], authType="signInViaRedirect", redirectUrl=target))
    page.click("text='Generate user'")
    page.click("text='Sign in'")
    assert page.locator("#trouble").inner_text().startswith("The application has no valid redirect")
    assert page.title() == "Emulator sign-in"


def test_a_popup_without_its_application_says_so(page, shop):
    page.goto(handler(shop[1], authType="linkViaPopup"))
    page.click("text='Generate user'")
    page.click("text='Sign in'")
    assert "is closed" in page.locator("#trouble").inner_text()
