import HTTP
import Identity
import Templating

/// The box that says how an application is pointed at this server.
///
/// In the emulator profile every SDK is told so by a call or a variable. In the standalone profile
/// the web SDK can be told any address, those of Android and iOS an http address only, and the Admin
/// SDKs none: they get what works in their place.
struct ConnectView: ViewModel {
  let scope: Scope
  let url: PublicURL
  let profile: Profile
  /// The project that applications reach with any key; nil in the standalone profile.
  let defaultProject: ID<Project>?
  /// An API key of the project; nil when there is none, or none to be shown.
  let key: String?
  /// Why no key is shown, or what to do without one.
  let note: String?

  private var facts: [Fact] {
    [
      Fact("Address", Self.copied(url.origin)),
      Fact("Project id", Self.copied(scope.project.text)),
      scope.tenant.map { Fact("Tenant id", Self.copied($0.text)) },
      key.map { Fact("API key", Self.copied($0)) },
    ].compactMap { $0 }
  }

  /// A value in monospace that the script gives a copy button.
  static func copied(_ text: String) -> Markup {
    var html = HTML()
    html.raw("<span class=\"mono\" data-copy>")
    html.text(text)
    html.raw("</span>")
    return html.markup
  }

  private var otherProject: String? {
    guard let defaultProject, defaultProject != scope.project else { return nil }
    return
      "In this profile any key means the project \(defaultProject.text), so applications reach that one and not this."
  }

  private var adminNote: String {
    let tenant =
      scope.tenant == nil
      ? "" : " The tenant in the token counts too: the project signs for all of them."
    return
      "The Admin SDK knows Google’s address and an emulator’s, and cannot be told this one. Check ID tokens by the server’s keys, and call the REST methods with a service token.\(tenant)"
  }

  private static let configPath = Path("v2", "projects", nil, "config", parameters: String.self)
  private static let tenantPath = Path(
    "v2", "projects", nil, "tenants", nil, parameters: String.self, String.self)

  /// Percent-coded, so nothing in an id ends the quotes of a shell.
  private var path: String {
    scope.tenant.map { Self.tenantPath(scope.project.text, $0.text) }
      ?? Self.configPath(scope.project.text)
  }

  static let keys: Keys<Self> = [
    .list("facts") { $0.facts },
    .text("note") { $0.note },
    .flag("isEmulator") { $0.profile == .emulator },
    .flag("isSecure") { $0.url.isSecure },
    .text("url") { $0.url.origin },
    .text("key") { $0.key ?? "YOUR-API-KEY" },
    .text("configPath") { $0.path },
    .text("otherProject") { $0.otherProject },
    .text("adminNote") { $0.adminNote },
    .text("port") { String($0.url.port) },
    // What follows is a literal of the sample's language, with its quotes.
    .text("keyLiteral") { Quoted.script($0.key ?? "YOUR-API-KEY") },
    .text("project") { Quoted.script($0.scope.project.text) },
    .text("tenant") { $0.scope.tenant.map { Quoted.script($0.text) } },
    .text("kotlinTenant") { $0.scope.tenant.map { Quoted.kotlin($0.text) } },
    .text("swiftTenant") { $0.scope.tenant.map { Quoted.swift($0.text) } },
    .text("origin") { Quoted.script($0.url.origin) },
    .text("authority") { Quoted.script($0.url.authority) },
    .text("host") { Quoted.script($0.url.host) },
    .text("keyList") {
      Quoted.script(
        $0.url.origin + "/service_accounts/v1/jwk/securetoken@system.gserviceaccount.com")
    },
    .text("issuer") { Quoted.script("https://securetoken.google.com/\($0.scope.project.text)") },
  ]
}
