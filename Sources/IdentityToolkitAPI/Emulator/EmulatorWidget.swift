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

  private static let handlerScript = script(PackageResources.handler_js)

  private static let frameScript = script(PackageResources.frame_js)

  private static func script(_ file: [UInt8]) -> String {
    String(decoding: file.dropLast(), as: UTF8.self)
  }
}
