import HTTP
import Identity
import Templating

struct SettingsView: ViewModel {
  let frame: FrameView
  let context: ScopeContext
  let values: ScopeValues
  let answers: SettingsAnswers
  let keyRows: [KeyRow]
  let tokenRows: [TokenRow]
  let revoked: [TokenRow]
  let history: [HistoryRow]?
  let isUnchanged: Bool
  /// What saving requires when security would be weaker; nil before anybody asks for that.
  let fields: ActionFields?

  init(
    frame: FrameView, context: ScopeContext, values: ScopeValues, answers: SettingsAnswers,
    keys: [APIKey], tokens: [ServiceToken], history: [AuditRow]?, isUnchanged: Bool,
    fields: ActionFields?
  ) {
    self.frame = frame
    self.fields = fields
    self.context = context
    self.values = values
    self.answers = answers
    let scope = context.scope
    let times = frame.times
    let showsHistory = context.may(.readAudit)
    keyRows = keys.map {
      KeyRow(
        key: $0, project: scope.project, isFirst: $0.createdAt == values.createdAt, times: times,
        showsHistory: showsHistory)
    }
    func row(_ token: ServiceToken) -> TokenRow {
      TokenRow(token: token, scope: scope, times: times, showsHistory: showsHistory)
    }
    tokenRows = tokens.filter { $0.revokedAt == nil }.map(row)
    revoked = tokens.filter { $0.revokedAt != nil }.prefix(20).map(row)
    self.history = history?.map { HistoryRow($0, times) }
    self.isUnchanged = isUnchanged
  }

  private var scope: Scope { context.scope }
  private var mayChange: Bool { context.may(.changeScope) }
  private var isProject: Bool { scope.tenant == nil }

  private var methods: [MethodChoice] {
    [
      MethodChoice(
        id: "password", label: "Email and password", field: answers.password,
        hint: "Takes a second factor."),
      MethodChoice(
        id: "email-link", label: "Email link", field: answers.emailLink,
        hint: "A link sent by mail instead of a password. Takes a second factor."),
      MethodChoice(
        id: "anonymous", label: "Anonymous", field: answers.anonymous,
        hint: "Guests without any credential; they cannot enroll a second factor."),
    ] + (isProject ? [phone] : [])
  }

  private var phone: MethodChoice {
    MethodChoice(
      id: "phone", label: "Phone number", field: answers.phone,
      hint:
        "A code sent to a phone instead of a password. Takes no second factor, and does not let in who has one. Tenants do not have it."
    )
  }

  /// Where it can be deleted, for those who may.
  private var deletion: String? {
    let administrator = context.signedIn.administrator
    guard let tenant = scope.tenant else {
      return context.may(.deleteProject) ? ConsolePaths.projectDeletion(scope.project.text) : nil
    }
    return administrator.may(.manageTenants, project: scope.project, tenant: nil)
      ? ConsolePaths.tenantDeletion(scope.project.text, tenant.text) : nil
  }

  private var facts: [Fact] {
    var facts = [Fact("Name", HTML.isolated(values.displayName))]
    facts.append(Fact("Sign-in methods", values.signIn.words))
    facts.append(
      Fact(
        "Withdrawal of factors", values.withdrawalNeedsFactor ? "with a second factor" : "freely"))
    facts.append(Fact("Passwords", (values.passwords ?? PasswordPolicy()).formatted))
    let permissions = values.userPermissions
    facts.append(Fact("Accounts made by users", permissions.signUp ? "yes" : "no"))
    facts.append(Fact("Accounts deleted by users", permissions.deletion ? "yes" : "no"))
    facts.append(Fact("Email privacy", values.emailPrivacy ? "on" : "off"))
    if let project = values.project {
      facts.append(
        Fact(
          "Authorized domains",
          project.domains.isEmpty ? "none" : project.domains.joined(separator: ", ")))
      facts.append(
        Fact("Anonymous users", project.expiresAnonymous ? "go after 30 days" : "stay"))
      facts.append(Fact("Import of TOTP secrets", project.importsTOTP ? "on" : "off"))
    }
    return facts
  }

  static let keys: Keys<Self> = [
    .object("frame") { $0.frame },
    .optional("authorization") { $0.fields },
    .list("links") { $0.context.links },
    .text("kind") { $0.scope.kind },
    .text("kindInSentence") { $0.scope.kindInSentence },
    .text("scopeName") { $0.scope.name },
    .text("action") { ConsolePaths.settings($0.scope) },
    .text("csrf") { $0.context.signedIn.session.csrfToken },
    .flag("mayChange") { $0.mayChange },
    .flag("isProject") { $0.isProject },
    .text("unchanged") { $0.isUnchanged ? "These settings are in force already." : nil },
    .text("name") { $0.answers.name.now },
    .text("wasName") { $0.answers.name.was },
    .text("nameError") { $0.frame.error(at: "name") },
    .text("nameHint") {
      $0.isProject
        ? "For people, in any script; 1 to 100 characters. The id stays as it is."
        : "4 to 20 letters, digits and hyphens, a letter first. The id stays as it is."
    },
    .list("methods") { $0.methods },
    .flag("withdrawal") { $0.answers.withdrawal.now },
    .flag("wasWithdrawal") { $0.answers.withdrawal.was },
    .list("passwords") { $0.answers.passwords.choices },
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
    .flag("isOff") { $0.scope.isDisabled },
    .markup("signInState") { $0.scope.isDisabled ? Chip.bad("off") : Chip.on("on") },
    .text("signInSwitch") { $0.mayChange ? ConsolePaths.signInSwitch($0.scope) : nil },
    .flag("showsKeys") { $0.context.may(.manageKeys) },
    .flag("hasKeys") { !$0.keyRows.isEmpty },
    .list("keys") { $0.keyRows },
    .text("makeKey") { ConsolePaths.keys($0.scope.project.text) },
    .flag("hasTokens") { !$0.tokenRows.isEmpty },
    .list("tokens") { $0.tokenRows },
    .flag("hasRevoked") { !$0.revoked.isEmpty },
    .text("revokedCount") {
      Words.count($0.revoked.count, "revoked token", "revoked tokens")
    },
    .list("revoked") { $0.revoked },
    .text("newToken") { ConsolePaths.newToken($0.scope) },
    .text("deletion") { $0.deletion },
    .flag("showsHistory") { $0.history != nil },
    .flag("hasHistory") { !($0.history ?? []).isEmpty },
    .list("history") { $0.history ?? [] },
  ]
}

/// A sign-in method to tick.
struct MethodChoice: ViewModel {
  let id: String
  let label: String
  let field: SettingsAnswers.Field<Bool>
  let hint: String

  static let keys: Keys<Self> = [
    .text("id") { $0.id },
    .text("label") { $0.label },
    .text("hint") { $0.hint },
    .flag("isOn") { $0.field.now },
    .flag("wasOn") { $0.field.was },
  ]
}

/// An API key in the list.
struct KeyRow: ViewModel {
  let key: APIKey
  let project: ID<Project>
  /// Whether the key was made with its project, of which one entry tells.
  let isFirst: Bool
  let times: Times
  let showsHistory: Bool

  private var history: String? {
    guard showsHistory else { return nil }
    let query: Form =
      isFirst
      ? ["kind": "project", "object": project.text] : ["kind": "api key", "object": key.id.text]
    return query.query(of: ConsolePaths.audit.ofProject(project.text))
  }

  static let keys: Keys<Self> = [
    .text("text") { $0.key.text },
    .text("label") { $0.key.label },
    .markup("created") { $0.times.day($0.key.createdAt) },
    .markup("lastUsed") { $0.key.lastUsedAt.map($0.times.moment) ?? AccountChips.never },
    .text("history") { $0.history },
    .text("revocation") { ConsolePaths.keyRevocation($0.project.text, $0.key.id.text) },
  ]
}

/// A service token in the list.
struct TokenRow: ViewModel {
  let token: ServiceToken
  let scope: Scope
  let times: Times
  let showsHistory: Bool

  /// In the log of the pool that the token is for.
  private var history: String? {
    guard showsHistory else { return nil }
    let log =
      token.tenant.map { ConsolePaths.audit.ofTenant(scope.project.text, $0.text) }
      ?? ConsolePaths.audit.ofProject(scope.project.text)
    return (["kind": "service token", "object": token.id.text] as Form).query(of: log)
  }

  static let keys: Keys<Self> = [
    .text("name") { $0.token.name },
    .text("role") { $0.token.role.name },
    .text("reach") { row in
      row.token.tenant.map { "tenant \($0.text)" } ?? "project with its tenants"
    },
    .text("maker") { $0.token.createdBy },
    .markup("created") { $0.times.day($0.token.createdAt) },
    .markup("lastUsed") { $0.token.lastUsedAt.map($0.times.moment) ?? AccountChips.never },
    .markup("revoked") { $0.token.revokedAt.map($0.times.moment) },
    .text("history") { $0.history },
    .text("revocation") { ConsolePaths.tokenRevocation($0.scope, $0.token.id.text) },
  ]
}

extension ServiceTokenRole {
  /// The role in lists and forms.
  var name: String {
    switch self {
    case .owner: "Owner"
    case .policy: "Policy"
    case .support: "Support"
    case .auditor: "Auditor"
    case .application: "Application"
    }
  }

  /// What it is for.
  var hint: String {
    switch self {
    case .owner: "Everything here: policy, settings, tenants and users."
    case .policy: "Reads and changes the configuration and makes tenants; nothing about users."
    case .support: "Looks users up."
    case .auditor: "Looks users up."
    case .application: "An application’s own back end: finds, makes, changes and deletes users."
    }
  }
}
