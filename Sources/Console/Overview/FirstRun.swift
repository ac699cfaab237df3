import HTTP
import Identity
import Localization
import Templating

/// The steps from an empty instance to the first enrolled user, each with its state.
struct FirstRun: ViewModel {
  let progress: Message
  let steps: [FirstRunStep]

  /// The number of users up to which a pool without enrolled users counts as new.
  private static let mostUsers = 10

  /// The steps of a pool; nil once a user of its project has enrolled.
  init?(
    _ context: PoolContext, _ policy: Policy, _ identity: Identity
  ) async throws {
    guard policy.enrolledUsers == 0, policy.users < Self.mostUsers else { return nil }
    let (pool, now) = (context.pool, identity.clock.now())
    let project = try await identity.activity.enrollment(
      of: pool, isWhole: true, at: [], until: now)
    guard project.allSatisfy({ $0.enrolled == 0 && $0.users < Self.mostUsers }) else { return nil }
    let isConnected = try await identity.isConnected(pool)
    let isOn = policy.configuration.isTOTPOn
    self.init(
      project: pool.projectName, newProject: nil,
      application: isConnected, connect: context.may(.manageKeys) ? "#connect" : nil,
      isTOTPOn: isOn,
      turnOn: context.may(.changePolicy) && !isOn
        ? PolicyLinks.turnOn(ConsolePaths.policy(pool)) : nil,
      guide: ConsolePaths.guides())
  }

  /// The steps of an instance without users; nil if there are users, or several projects.
  init?(
    _ projects: [ProjectSummary], _ administrator: Administrator, _ identity: Identity
  ) async throws {
    guard projects.count < 2, projects.allSatisfy({ $0.users == 0 }),
      administrator.may(.createProject, in: nil)
    else { return nil }
    let project = projects.first
    var isConnected = false
    if let project {
      isConnected = try await identity.apiKeys.list(project.id).contains {
        $0.lastUsedAt != nil
      }
    }
    let isOn = project.map { MFAConfiguration(totp: $0.totp).isTOTPOn } ?? false
    self.init(
      project: project?.displayName, newProject: CreateProject.path(),
      application: isConnected,
      connect: project.map { ConsolePaths.overview.ofProject($0.id.text) + "#connect" },
      isTOTPOn: isOn,
      turnOn: isOn
        ? nil : project.map { PolicyLinks.turnOn(ConsolePaths.policy.ofProject($0.id.text)) },
      guide: ConsolePaths.guides())
  }

  private init(
    project: String?, newProject: String?, application: Bool, connect: String?, isTOTPOn: Bool,
    turnOn: String?, guide: String
  ) {
    let done = [project != nil, application, isTOTPOn, false]
    let next = done.firstIndex(of: false)
    let titles = [
      Message("Create a project"), Message("Connect an application"),
      Message("Turn on TOTP"), Message("Enroll the first user"),
    ]
    let sentences = [
      project.map { Message.verbatim(Formatted.short($0)) }
        ?? Message("A project contains the users of your applications."),
      Message("Point its Firebase SDK at this server’s address, with the project’s API key."),
      Message("Users can then enroll an authenticator app."),
      Message("Sign in to your application as a test user and scan the QR code."),
    ]
    let links = [
      newProject.map { Link(text: Message("New project"), href: $0) },
      connect.map { Link(text: Message("Connect an application"), href: $0) },
      turnOn.map { Link(text: Message("Turn on TOTP…"), href: $0) },
      Link(text: Message("Read the guides"), href: guide),
    ]
    steps = titles.indices.map { index in
      FirstRunStep(
        number: index + 1, title: titles[index], sentence: sentences[index],
        state: done[index]
          ? Chip.on(Message("done"))
          : index == next
            ? Chip.next(Message("next step"))
            : Chip.off(Message("not started")),
        link: done[index] ? nil : links[index])
    }
    progress = Message(
      one: "{number} of {count} step done", other: "{number} of {count} steps done",
      ["number": .number(done.count { $0 }), "count": .number(done.count)])
  }

  static let keys: Keys<Self> = [
    .text(\.progress),
    .list(\.steps),
  ]
}

extension Identity {
  /// Whether an application called the API with a key of the project, or a user of the pool signed
  /// in.
  fileprivate func isConnected(_ pool: Pool) async throws -> Bool {
    if try await apiKeys.list(pool.project).contains(where: {
      $0.lastUsedAt != nil
    }) {
      return true
    }
    let latest = try await accounts.list(pool, sort: .lastSignIn, limit: 1).items.first
    return latest?.lastLoginAt != nil
  }
}

struct FirstRunStep: ViewModel {
  let number: Int
  let title: Message
  let sentence: Message
  let state: Markup
  let link: Link?

  static let keys: Keys<Self> = [
    .text("number") { Message.value(.number($0.number)) },
    .text(\.title),
    .text(\.sentence),
    .markup(\.state),
    .optional(\.link),
  ]
}

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
