import HTTP
import Identity
import Templating

struct SettingsView: ViewModel {
  let frame: FrameView
  let context: ScopeContext
  let values: UserPool
  let answers: SettingsAnswers
  let keyRows: [KeyRow]
  let tokenRows: [TokenRow]
  let revoked: [TokenRow]
  let history: [HistoryRow]?
  let isUnchanged: Bool
  /// The authorization fields for a change that weakens security; nil unless one is being saved.
  let fields: ActionFields?

  init(
    frame: FrameView, context: ScopeContext, values: UserPool, answers: SettingsAnswers,
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
    self.history = history?.map { HistoryRow($0, times, frame.catalog) }
    self.isUnchanged = isUnchanged
  }

  private var scope: Scope { context.scope }
  private var mayChange: Bool { context.may(.changeScope) }
  private var isProject: Bool { scope.tenant == nil }

  private var methods: [MethodChoice] {
    [
      MethodChoice(
        id: "password", label: "Email/Password", field: answers.password,
        hint: "Supports a second factor."),
      MethodChoice(
        id: "email-link", label: "Email link", field: answers.emailLink,
        hint:
          "Sends a sign-in link by email instead of using a password. Supports a second factor."),
      MethodChoice(
        id: "anonymous", label: "Anonymous", field: answers.anonymous,
        hint: "Guest accounts without credentials. They can’t enroll a second factor."),
    ] + (isProject ? [phone] : [])
  }

  private var phone: MethodChoice {
    MethodChoice(
      id: "phone", label: "Phone", field: answers.phone,
      hint:
        "Sends a code to a phone instead of using a password. Doesn’t support a second factor, so users who have one can’t sign in this way. Not available for tenants."
    )
  }

  /// The link to delete the scope; nil without the permission.
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
        "Unenrollment",
        values.withdrawalNeedsFactor ? "requires a second factor" : "unrestricted"))
    facts.append(Fact("Password policy", (values.passwords ?? PasswordPolicy()).formatted))
    let permissions = values.userPermissions
    facts.append(Fact("Enable create (sign-up)", permissions.signUp ? "on" : "off"))
    facts.append(Fact("Enable delete", permissions.deletion ? "on" : "off"))
    facts.append(Fact("Email enumeration protection", values.hidesUsers ? "on" : "off"))
    if let project = values.project {
      facts.append(
        Fact(
          "Authorized domains",
          project.authorizedDomains.isEmpty
            ? "none" : project.authorizedDomains.joined(separator: ", ")))
      facts.append(
        Fact("Anonymous users", project.expiresAnonymous ? "deleted after 30 days" : "kept"))
      facts.append(Fact("TOTP secrets in user imports", project.importsTOTP ? "on" : "off"))
    }
    return facts
  }

  static let keys: Keys<Self> = [
    .object("frame") { $0.frame },
    .optional("authorization") { $0.fields },
    .list("links") { $0.context.links },
    .text("scopeName") { $0.scope.name },
    .text("action") { ConsolePaths.settings($0.scope) },
    .text("csrf") { $0.context.signedIn.session.csrfToken },
    .flag("mayChange") { $0.mayChange },
    .flag("isProject") { $0.isProject },
    .text("unchanged") {
      $0.isUnchanged ? "No changes made. These settings are already in effect." : nil
    },
    .text("name") { $0.answers.name.now },
    .text("wasName") { $0.answers.name.was },
    .text("nameError") { $0.frame.error(at: "name") },
    .text("nameHint") {
      $0.isProject
        ? "Shown in the console, in any script; 1 to 100 characters. The ID doesn’t change."
        : "4 to 20 letters, digits, and hyphens, starting with a letter. The ID doesn’t change."
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

/// A checkbox with its current and original value.
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
  /// Whether the key was created with its project, in which case one audit entry covers both.
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

  /// The link to the audit log of the scope that the token belongs to.
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
      row.token.tenant.map { "tenant \($0.text)" } ?? "project and its tenants"
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
  /// The name shown in lists and forms.
  var name: String {
    switch self {
    case .owner: "Owner"
    case .policy: "Policy"
    case .support: "Support"
    case .auditor: "Auditor"
    case .application: "Application"
    }
  }

  /// The description shown in the form.
  var hint: String {
    switch self {
    case .owner: "Full access: policy, settings, tenants, and users."
    case .policy: "Reads and changes the configuration and creates tenants. No access to users."
    case .support: "Looks up users."
    case .auditor: "Looks up users."
    case .application: "For an application’s backend: finds, creates, changes, and deletes users."
    }
  }
}
