import Crypto
import HTTP
import Identity
import JSON

extension Routes {
  mutating func addEmulatorWidget() {
    let handler: Path<> = Path("emulator", "auth", "handler")
    add(
      handler.route(.get) { [methods] request in await methods.showWidget(request) },
      Methods.emulatorHandler, .emulator, .both, isPage: true)
    let frame: Path<> = Path("emulator", "auth", "iframe")
    add(
      frame.route(.get) { request in Methods.showFrame(request) }, Methods.emulatorFrame, .emulator,
      .both, isPage: true)
  }
}

extension Methods {
  private static let ofApplication: Schema = ["apiKey": .text, "appName": .text, "v": .text]

  static let emulatorHandler = Declaration(
    "emulator.auth.handler", "Shows a page for choosing the user who signs in with a provider.",
    query: .message(
      ofApplication,
      [
        "authType": .text, "providerId": .text, "redirectUrl": .text, "eventId": .text,
        "scopes": .text, "customParameters": .text, "tid": .text, "tenantId": .text,
        "clientId": .text, "appId": .text, "apn": .text, "ibi": .text, "error": .text,
      ]),
    gives: ["authEmulator": .object.required])
  static let emulatorFrame = Declaration(
    "emulator.auth.iframe", "Shows the frame that tells the web SDK who signed in.",
    query: ofApplication, gives: ["authEmulator": .object.required])

  private static let offered = 50

  /// `GET /emulator/auth/handler`: a page that replaces the provider's sign-in page.
  fileprivate func showWidget(_ request: Request) async -> Response {
    guard let provider = request.parameter("providerId"), !provider.isEmpty,
      let key = request.parameter("apiKey"), !key.isEmpty
    else { return Self.refusal("missing apiKey or providerId query parameters") }
    let tenant = request.parameter("tid") ?? request.parameter("tenantId") ?? ""
    do {
      let pool = try await identity.pools.find(
        project: identity.defaultProject ?? ID(""), tenant: tenant.isEmpty ? nil : ID(tenant))
      return WidgetPages.handler(
        try await identity.federation.identities(at: provider, in: pool, limit: Self.offered))
    } catch {
      return Self.refusal("tenant not found, or server unavailable")
    }
  }

  /// `GET /emulator/auth/iframe`: the page that connects popups and applications.
  fileprivate static func showFrame(_ request: Request) -> Response {
    for name in ["apiKey", "appName"] where (request.parameter(name) ?? "").isEmpty {
      return refusal("missing apiKey or appName query parameters")
    }
    return WidgetPages.frame()
  }

  private static func refusal(_ text: String) -> Response {
    .json(["authEmulator": ["error": .string(text)]], status: .badRequest)
  }
}

/// The two pages with which the web SDK signs in with a provider, in a popup or by redirect.
///
/// In place of a provider's sign-in page, the tester chooses who signs in, and the page returns
/// what a provider would return.
enum WidgetPages {
  /// `identities` are those that signed in with the provider before; the page can run only its own
  /// script.
  static func handler(_ identities: [ProviderLink]) -> Response {
    let known = identities.map { link -> JSON in
      var claims: JSON.Object = ["sub": .string(link.rawID)]
      UserMessage.append("name", link.displayName, to: &claims)
      UserMessage.append("email", link.email, to: &claims)
      UserMessage.append("picture", link.photoURL, to: &claims)
      return .object(claims)
    }
    // Escaped so that no name can end the element that contains it.
    let data = String(decoding: JSON.array(known).serialized(), as: UTF8.self)
      .replacing("<", with: #"\u003c"#)
    let page = """
      <!DOCTYPE html>
      <html lang="en">
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <title>Emulator sign-in</title>
      <style>\(style)</style>
      <main>
      <h1>Sign in with <bdi id="provider"></bdi></h1>
      <p>The emulator doesn't contact the provider. Choose the user who signs in.</p>
      <p id="trouble" role="alert" hidden></p>
      <noscript><p>This page requires JavaScript.</p></noscript>
      <ul id="known"></ul>
      <form id="new">
      <h2>New user</h2>
      <label>Email address <input name="email" type="email" required autocomplete="off"></label>
      <label>Name <input name="name" autocomplete="off"></label>
      <label>Screen name <input name="screen_name" autocomplete="off"></label>
      <label>Picture URL <input name="picture" type="url" autocomplete="off"></label>
      <p><button>Sign in</button> <button type="button" id="invent">Generate user</button></p>
      </form>
      </main>
      <script type="application/json" id="identities">\(data)</script>
      <script>\(handlerScript)</script>
      </html>

      """
    var response = Response.html(Array(page.utf8))
    let (script, style) = (
      HashFunction.policySource(handlerScript), HashFunction.policySource(style)
    )
    response.fields[.contentSecurityPolicy] = """
      default-src 'none'; script-src \(script); style-src \(style); \
      base-uri 'none'; form-action 'none'; frame-ancestors 'none'
      """
    return response
  }

  /// Returns the page of the application's iframe, which forwards events to the SDK.
  ///
  /// The SDK communicates with the iframe through a script of Google's, which may load further
  /// scripts, so the page has no content security policy.
  static func frame() -> Response {
    let page = """
      <!DOCTYPE html>
      <html lang="en">
      <meta charset="utf-8">
      <title>Emulator frame</title>
      <script>\(frameScript)</script>
      <script src="https://apis.google.com/js/api.js"></script>
      </html>

      """
    return .html(Array(page.utf8))
  }

  private static let style = """
    :root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif }
    main { max-inline-size: 32rem; margin-inline: auto; padding: 1rem }
    ul { padding: 0; list-style: none }
    li button { inline-size: 100%; text-align: start; overflow-wrap: anywhere }
    li, label { display: block; margin-block: .5rem }
    input { display: block; inline-size: 100%; box-sizing: border-box }
    button, input { font: inherit; padding: .5rem }
    #trouble { border: 1px solid; padding: .5rem }
    """

  private static let handlerScript = #"""
    'use strict';
    (() => {
      const query = new URLSearchParams(location.search);
      const given = (name) => query.get(name) || '';
      const find = (id) => document.getElementById(id);
      const type = given('authType');
      const provider = given('providerId');
      const key = given('apiKey') + ':' + given('appName');

      const refuse = (text) => {
        find('trouble').textContent = text;
        find('trouble').hidden = false;
      };

      // The application's frame is a sibling of the opener and has this origin.
      const relay = (event) => {
        const frames = window.opener ? window.opener.frames : [];
        let isSent = false;
        for (let index = 0; index < frames.length; index += 1) {
          try {
            const asked = new URLSearchParams(frames[index].location.search);
            if (asked.get('apiKey') + ':' + asked.get('appName') !== key) continue;
            frames[index].postMessage({
              eventType: 'sendAuthEvent', eventId: String(Math.random()).slice(2),
              data: { storageKey: key, authEvent: event },
            }, location.origin);
            isSent = true;
          } catch (error) {
            // A frame of another origin can't be read.
          }
        }
        if (!isSent) {
          refuse('The application that opened this window is closed. Close this window.');
        }
      };

      const leadToAndroid = (event) => {
        const extras = [
          ['S.authType', event.type], ['S.eventId', event.eventId || ''],
          ['S.link', event.urlResponse],
          ['S.browser_fallback_url', location.href + '&error=No+application+opens+the+link.'],
        ].filter(([, value]) => value).map(([name, value]) => `${name}=${encodeURIComponent(value)};`);
        location.replace('intent://firebase.auth/#Intent;scheme=genericidp;'
          + `package=${encodeURIComponent(given('apn'))};${extras.join('')}`
          + 'B.encryptionEnabled=false;end;');
      };

      const leadToApple = (event) => {
        const back = new URL('/__/auth/callback', location.origin);
        back.searchParams.set('authType', event.type);
        back.searchParams.set('link', event.urlResponse);
        if (event.eventId) back.searchParams.set('eventId', event.eventId);
        const client = given('clientId');
        const app = given('appId');
        const scheme = client ? client.split('.').reverse().join('.')
          : app ? 'app-' + app.replaceAll(':', '-') : given('ibi');
        const host = client || app ? 'firebaseauth' : 'google';
        location.replace(`${scheme}://${host}/link?deep_link_id=${encodeURIComponent(back.href)}`);
      };

      const leadBack = (event) => {
        let target = null;
        try { target = new URL(given('redirectUrl')); } catch (error) { /* reported below */ }
        if (!target || /^(javascript|data|blob|file):$/.test(target.protocol)) {
          refuse('The application has no valid redirect address: redirectUrl is missing or invalid.');
          return;
        }
        sessionStorage.setItem('firebase:redirectEvent:' + key, JSON.stringify(event));
        location.assign(target.href);
      };

      const finish = (claims) => {
        const event = {
          type, eventId: given('eventId') || null,
          urlResponse: location.origin + location.pathname
            + '?providerId=' + encodeURIComponent(provider)
            + '&id_token=' + encodeURIComponent(JSON.stringify(claims)),
          sessionId: 'emulator', postBody: '',
          tenantId: given('tid') || given('tenantId') || null, error: null,
        };
        if (/popup/i.test(type)) relay(event);
        else if (given('apn')) leadToAndroid(event);
        else if (given('ibi')) leadToApple(event);
        else leadBack(event);
      };

      const claimsOf = (known) => ({
        iss: '', aud: '', iat: 0, exp: 0, email_verified: true, ...known,
      });

      find('provider').textContent = provider;
      if (given('error')) refuse(given('error'));
      for (const known of JSON.parse(find('identities').textContent)) {
        const button = document.createElement('button');
        const name = document.createElement('bdi');
        name.textContent = [known.name, known.email].filter(Boolean).join(', ') || known.sub;
        button.append(name);
        button.addEventListener('click', () => finish(claimsOf(known)));
        const line = document.createElement('li');
        line.append(button);
        find('known').append(line);
      }
      find('new').addEventListener('submit', (submission) => {
        submission.preventDefault();
        const digits = crypto.getRandomValues(new Uint8Array(21));
        const claims = { sub: Array.from(digits, (digit) => digit % 10).join('') };
        for (const [name, value] of new FormData(find('new'))) if (value) claims[name] = value;
        finish(claimsOf(claims));
      });
      find('invent').addEventListener('click', () => {
        const number = Math.floor(Math.random() * 9000) + 1000;
        const fields = find('new').elements;
        fields.email.value = `tester.${number}@example.com`;
        fields.name.value = `Tester ${number}`;
        fields.screen_name.value = `tester_${number}`;
      });
    })();
    """#

  private static let frameScript = #"""
    'use strict';
    (() => {
      const query = new URLSearchParams(location.search);
      const key = query.get('apiKey') + ':' + query.get('appName');
      const place = 'firebase:redirectEvent:' + key;
      let application = null;

      const send = (event) => {
        const nothing = { type: 'unknown', error: { code: 'auth/no-auth-event' } };
        application.send('authEvent', { type: 'authEvent', authEvent: event || nothing }, (answers) => {
          const last = answers && answers[answers.length - 1];
          if (!last || last.status !== 'ACK') console.error('The application did not accept the event.');
        }, gapi.iframes.CROSS_ORIGIN_IFRAMES_FILTER);
      };

      // Events come from the window alone, which is of this origin.
      addEventListener('message', ({ origin, data }) => {
        if (origin !== location.origin || !data || data.eventType !== 'sendAuthEvent') return;
        if (!data.data || data.data.storageKey !== key) return;
        if (application) send(data.data.authEvent);
        else sessionStorage.setItem(place, JSON.stringify(data.data.authEvent));
      });

      const begin = () => {
        application = gapi.iframes.getContext().getParentIframe();
        application.register('webStorageSupport', () => ({ status: 'ACK', webStorageSupport: true }),
          gapi.iframes.CROSS_ORIGIN_IFRAMES_FILTER);
        let kept = null;
        try { kept = JSON.parse(sessionStorage.getItem(place)); } catch (error) { /* nothing kept */ }
        sessionStorage.removeItem(place);
        send(kept);
      };

      window.gapi_onload = () => gapi.load('gapi.iframes', {
        callback: begin, timeout: 10000,
        ontimeout: () => console.error('https://apis.google.com cannot be reached.'),
      });
    })();
    """#
}
