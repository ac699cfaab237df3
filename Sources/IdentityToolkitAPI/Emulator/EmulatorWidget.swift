import HTTP
import Identity
import JSON

extension Routes {
  mutating func addEmulatorWidget() {
    let handler: Path<> = Path("emulator", "auth", "handler")
    add(
      handler.route(.get) { [methods] request in await methods.showWidget(request) },
      .emulatorHandler, .emulator, .both, isPage: true)
    let frame: Path<> = Path("emulator", "auth", "iframe")
    add(
      frame.route(.get) { request in Methods.showFrame(request) }, .emulatorFrame, .emulator,
      .both, isPage: true)
  }
}

extension Declaration {
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
}

extension Methods {
  /// The maximum number of identities that the page offers.
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
