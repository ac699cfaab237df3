import HTTP
import Identity
import Localization
import Templating

/// Shows how to connect an application to this server.
///
/// In the emulator profile, a call or an environment variable sets the address of every SDK. In the
/// standalone profile, the web SDK accepts any address, the Android and iOS SDKs accept only http
/// addresses, and the Admin SDKs have no setting, so the samples show alternatives for these.
struct ConnectView: ViewModel {
  let pool: Pool
  let url: PublicURL
  let profile: Profile
  /// The project that every API key maps to; nil in the standalone profile.
  let defaultProject: ID<Project>?
  /// An API key of the project; nil if there is none or the administrator can't read it.
  let key: String?
  let note: Message?

  private var facts: [Fact] {
    [
      Fact(Message("Address"), Self.copied(url.origin)),
      Fact(Message("Project ID"), Self.copied(pool.project.text)),
      pool.tenant.map { Fact(Message("Tenant ID"), Self.copied($0.text)) },
      key.map { Fact(Message("API key"), Self.copied($0)) },
    ].compactMap { $0 }
  }

  /// A monospaced value that the script adds a copy button to.
  static func copied(_ text: String) -> Markup {
    var html = HTML()
    html.raw("<span class=\"mono\" data-copy>")
    html.text(text)
    html.raw("</span>")
    return html.markup
  }

  private var otherProject: Message? {
    guard let defaultProject, defaultProject != pool.project else { return nil }
    return Message(
      """
      In the emulator profile, every API key maps to the project {project}, so applications \
      connect to that project instead of this one.
      """, ["project": .text(defaultProject.text)])
  }

  private static let configPath = Path("v2", "projects", nil, "config", parameters: String.self)
  private static let tenantPath = Path(
    "v2", "projects", nil, "tenants", nil, parameters: String.self, String.self)

  /// The path of the configuration, percent-encoded so an ID can't end the quotes in the shell.
  private var path: String {
    pool.tenant.map { Self.tenantPath(pool.project.text, $0.text) }
      ?? Self.configPath(pool.project.text)
  }

  static let keys: Keys<Self> = [
    .list("facts") { $0.facts },
    .text(\.note),
    .flag("isEmulator") { $0.profile == .emulator },
    .flag("isSecure") { $0.url.isSecure },
    .text("url") { $0.url.origin },
    .text("key") { $0.key ?? "YOUR-API-KEY" },
    .text("configPath") { $0.path },
    .text("otherProject") { $0.otherProject },
    .text("port") { $0.url.port },
    // These are literals in the language of the sample, including the quotes.
    .text("keyLiteral") { Quoted.script($0.key ?? "YOUR-API-KEY") },
    .text("project") { Quoted.script($0.pool.project.text) },
    .text("tenant") { $0.pool.tenant.map { Quoted.script($0.text) } },
    // The claim `firebase.tenant` of the pool's ID tokens, which the project's own users don't have.
    .text("scriptClaim") { $0.pool.tenant.map { Quoted.script($0.text) } ?? "undefined" },
    .text("pythonClaim") { $0.pool.tenant.map { Quoted.script($0.text) } ?? "None" },
    .text("goClaim") { Quoted.script($0.pool.tenant?.text ?? "") },
    .text("kotlinTenant") { $0.pool.tenant.map { Quoted.kotlin($0.text) } },
    .text("swiftTenant") { $0.pool.tenant.map { Quoted.swift($0.text) } },
    .text("origin") { Quoted.script($0.url.origin) },
    .text("authority") { Quoted.script($0.url.authority) },
    .text("host") { Quoted.script($0.url.host) },
    .text("keyList") {
      Quoted.script(
        $0.url.origin + "/service_accounts/v1/jwk/securetoken@system.gserviceaccount.com")
    },
    .text("issuer") { Quoted.script("https://securetoken.google.com/\($0.pool.project.text)") },
  ]
}
