import HTTP
import Identity
import Localization
import Templating

struct SettingsView: ViewModel {
  let frame: FrameView
  let part: SettingsPage.Part
  let context: PoolContext
  let values: PoolSettings
  let answers: SettingsAnswers
  let history: [AuditRow]?
  /// The authorization fields for a change that weakens security; nil unless one is being saved.
  let fields: ActionFields?
  /// The users with a second factor whom the changes would leave without a way to sign in; nil if
  /// there are none.
  let outside: LeftOutside?
  let carriesText: Bool

  private var pool: Pool { context.pool }
  private var mayChange: Bool { context.may(.changePool) }
  private var isProject: Bool { pool.tenant == nil }

  private var methods: [MethodChoice] {
    [
      MethodChoice(
        id: "password", label: Message("Email/Password"), field: answers.password,
        hint: Message("Supports a second factor.")),
      MethodChoice(
        id: "email-link", label: Message("Email link"),
        field: answers.emailLink,
        hint: Message(
          "Sends a sign-in link by email instead of using a password. Supports a second factor.")),
      MethodChoice(
        id: "anonymous", label: Message("Anonymous"),
        field: answers.anonymous,
        hint: Message("Guest accounts without credentials. They can’t enroll a second factor.")),
    ] + (isProject ? [phone] : [])
  }

  private var phone: MethodChoice {
    let hint = Message(
      """
      Sends a code to a phone instead of using a password. Doesn’t support a second factor, so \
      users who have one can’t sign in this way. Not available for tenants.
      """)
    return MethodChoice(
      id: "phone", label: Message("Phone"), field: answers.phone,
      hint: carriesText
        ? hint
        : Message(
          "{hint} {warning}",
          ["hint": .message(hint), "warning": .message(MessagesText.noGateway)]))
  }

  /// The link to delete the pool; nil without the permission.
  private var deletion: String? {
    let administrator = context.signedIn.administrator
    guard pool.tenant != nil else {
      return context.may(.deleteProject) ? DeleteProject.path(pool.project.text) : nil
    }
    return administrator.may(.manageTenants, project: pool.project, tenant: nil)
      ? DeleteTenant.path(pool) : nil
  }

  private var facts: [Fact] {
    switch part {
    case .signInMethods: signInFacts
    case .general: generalFacts
    }
  }

  private var signInFacts: [Fact] {
    let permissions = values.userPermissions
    var facts = [
      Fact(Message("Sign-in methods"), values.signIn.words),
      Fact(Message("Password policy"), (values.passwords ?? PasswordPolicy()).formatted),
      Fact(Message("Enable create (sign-up)"), onOrOff(permissions.signUp)),
      Fact(Message("Enable delete"), onOrOff(permissions.deletion)),
    ]
    if let project = values.project {
      facts.append(
        Fact(
          Message("Anonymous users"),
          project.expiresAnonymous
            ? Message("deleted after 30 days") : Message("kept")))
    }
    facts.append(
      Fact(Message("Email enumeration protection"), onOrOff(values.hidesUsers)))
    return facts
  }

  private var generalFacts: [Fact] {
    var facts = [
      Fact(Message("Name"), HTML.isolated(values.displayName)),
      Fact(
        Message("Changes of sign-in"),
        values.changesNeedFactor
          ? Message("require a second factor")
          : Message("unrestricted")),
    ]
    if let project = values.project {
      let domains = project.authorizedDomains.map(Message.verbatim)
      facts.append(
        Fact(
          Message("Authorized domains"),
          domains.isEmpty ? Message("none") : Message.value(.sequence(domains))))
      facts.append(Fact(Message("TOTP secrets in user imports"), onOrOff(project.importsTOTP)))
    }
    return facts
  }

  /// The link to the audit log's entries about the pool's settings; nil without the permission.
  private var allHistory: String? {
    guard history != nil else { return nil }
    let query: Form = ["kind": isProject ? "project" : "tenant", "object": pool.objectID]
    return query.query(of: ConsolePaths.audit(pool))
  }

  private func onOrOff(_ isOn: Bool) -> Message {
    isOn ? Message("on") : Message("off")
  }

  static let keys: Keys<Self> = [
    .object(\.frame),
    .optional("authorization") { $0.fields },
    .text("outside") { $0.outside?.warning },
    .text("poolName") { $0.pool.name },
    .text("action") { $0.part.path($0.pool) },
    .flag("mayChange") { $0.mayChange },
    .text("roles") { _ in Message.value(Permission.changePool.roleNames) },
    .text("linkRoles") { _ in Message.value(Permission.changeLinks.roleNames) },
    .flag("isProject") { $0.isProject },
    .text("name") { $0.answers.name.now },
    .text("wasName") { $0.answers.name.was },
    .text("nameError") { $0.frame.error(at: "name") },
    .text("nameHint") {
      $0.isProject
        ? Message(
          "Shown in the console. 1 to 100 characters, in any language. The ID doesn’t change.")
        : Message(
          "4 to 20 letters, digits, and hyphens, starting with a letter. The ID doesn’t change.")
    },
    .list("methods") { $0.methods },
    .flag("factorForChanges") { $0.answers.factorForChanges.now },
    .flag("hadFactorForChanges") { $0.answers.factorForChanges.was },
    .list("passwords") { $0.answers.passwords.choices },
    .flag("isEnforced") { $0.answers.passwords.enforced.now },
    .flag("wasEnforced") { $0.answers.passwords.enforced.was },
    .list("userChoices") { $0.answers.passwords.userChoices(isProject: $0.isProject) },
    .text("shortest") { $0.answers.passwords.shortest.now },
    .text("wasShortest") { $0.answers.passwords.shortest.was },
    .text("shortestError") { $0.frame.error(at: "password-shortest") },
    .text("domains") { $0.answers.typedDomains },
    .flag("mayChangeLinks") { $0.context.may(.changeLinks) },
    .text("wasDomains") { $0.answers.domains.was.joined(separator: "\n") },
    .text("domainsError") { $0.frame.error(at: "domains") },
    .flag("privacy") { $0.answers.privacy.now },
    .flag("wasPrivacy") { $0.answers.privacy.was },
    .flag("importsTOTP") { $0.answers.importsTOTP.now },
    .flag("importedTOTP") { $0.answers.importsTOTP.was },
    .list("facts") { $0.facts },
    .flag("isOff") { $0.pool.isDisabled },
    .markup("signInState") {
      $0.pool.isDisabled ? Chip.bad(Message("off")) : Chip.on(Message("on"))
    },
    .text("signInSwitch") { $0.mayChange ? ConsolePaths.signInSwitch($0.pool) : nil },
    .text("deletion") { $0.deletion },
    .flag("showsHistory") { $0.history != nil },
    .text("allHistory") { $0.allHistory },
    .flag("hasHistory") { !($0.history ?? []).isEmpty },
    .list("history") { $0.frame.history($0.history) },
  ]
}

struct MethodChoice: ViewModel {
  let id: String
  let label: Message
  let field: SettingsAnswers.Field<Bool>
  let hint: Message

  static let keys: Keys<Self> = [
    .text(\.id),
    .text(\.label),
    .text(\.hint),
    .flag("isOn") { $0.field.now },
    .flag("wasOn") { $0.field.was },
  ]
}

extension ServiceTokenRole {
  var name: Message {
    switch self {
    case .owner: Message("Owner")
    case .policy: Message("Policy")
    case .support: Message("Support")
    case .auditor: Message("Auditor")
    case .application: Message("Application")
    }
  }

  var hint: Message {
    switch self {
    case .owner: Message("Full access: policy, settings, tenants, and users.")
    case .policy:
      Message(
        "Reads and changes the configuration, and creates and deletes tenants. No access to users.")
    case .support: Message("Looks up users.")
    case .auditor: Message("Reads the configuration and looks up users.")
    case .application:
      Message("For an application’s backend: finds, creates, changes, and deletes users.")
    }
  }
}
