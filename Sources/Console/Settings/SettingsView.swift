import HTTP
import Identity
import Localization
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
        id: "password", label: Message("settings.method-password"), field: answers.password,
        hint: Message("settings.method-password-hint")),
      MethodChoice(
        id: "email-link", label: Message("settings.method-email-link"),
        field: answers.emailLink, hint: Message("settings.method-email-link-hint")),
      MethodChoice(
        id: "anonymous", label: Message("settings.method-anonymous"),
        field: answers.anonymous, hint: Message("settings.method-anonymous-hint")),
    ] + (isProject ? [phone] : [])
  }

  private var phone: MethodChoice {
    MethodChoice(
      id: "phone", label: Message("settings.method-phone"), field: answers.phone,
      hint: Message("settings.method-phone-hint"))
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
    var facts = [Fact(Message("common.name"), HTML.isolated(values.displayName))]
    facts.append(Fact(Message("settings.sign-in-methods"), values.signIn.words))
    facts.append(
      Fact(
        Message("settings.unenrollment"),
        values.withdrawalNeedsFactor
          ? Message("settings.unenrollment-with-factor")
          : Message("settings.unenrollment-unrestricted")))
    facts.append(
      Fact(
        Message("settings.password-policy"), (values.passwords ?? PasswordPolicy()).formatted))
    let permissions = values.userPermissions
    facts.append(Fact(Message("settings.enable-create"), onOrOff(permissions.signUp)))
    facts.append(Fact(Message("settings.enable-delete"), onOrOff(permissions.deletion)))
    facts.append(
      Fact(Message("settings.email-enumeration-protection"), onOrOff(values.hidesUsers)))
    if let project = values.project {
      let domains = project.authorizedDomains.map(Message.verbatim)
      facts.append(
        Fact(
          Message("settings.authorized-domains"),
          domains.isEmpty ? Message("settings.no-domains") : Message.value(.sequence(domains))))
      facts.append(
        Fact(
          Message("settings.anonymous-users"),
          project.expiresAnonymous
            ? Message("settings.anonymous-expire") : Message("settings.anonymous-kept")))
      facts.append(Fact(Message("settings.imports-totp"), onOrOff(project.importsTOTP)))
    }
    return facts
  }

  private func onOrOff(_ isOn: Bool) -> Message {
    isOn ? Message("common.on") : Message("common.off")
  }

  static let keys: Keys<Self> = [
    .object(\.frame),
    .optional("authorization") { $0.fields },
    .list("links") { $0.context.links },
    .text("scopeName") { $0.scope.name },
    .text("action") { ConsolePaths.settings($0.scope) },
    .text("csrf") { $0.context.signedIn.session.csrfToken },
    .flag("mayChange") { $0.mayChange },
    .text("holder") { _ in Permission.changeScope.startingHolder },
    .text("linkHolder") { _ in Permission.changeLinks.holder },
    .flag("isProject") { $0.isProject },
    .text("unchanged") {
      $0.isUnchanged ? Message("settings.unchanged") : nil
    },
    .text("name") { $0.answers.name.now },
    .text("wasName") { $0.answers.name.was },
    .text("nameError") { $0.frame.error(at: "name") },
    .text("nameHint") {
      $0.isProject
        ? Message("settings.project-name-hint") : Message("settings.tenant-name-hint")
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
    .markup("signInState") {
      $0.scope.isDisabled ? Chip.bad(Message("common.off")) : Chip.on(Message("common.on"))
    },
    .text("signInSwitch") { $0.mayChange ? ConsolePaths.signInSwitch($0.scope) : nil },
    .flag("showsKeys") { $0.context.may(.manageKeys) },
    .flag("hasKeys") { !$0.keyRows.isEmpty },
    .list("keys") { $0.keyRows },
    .text("makeKey") { ConsolePaths.keys($0.scope.project.text) },
    .flag("hasTokens") { !$0.tokenRows.isEmpty },
    .list("tokens") { $0.tokenRows },
    .flag("hasRevoked") { !$0.revoked.isEmpty },
    .text("revokedCount") {
      Message("settings.revoked-tokens", ["count": .number($0.revoked.count)])
    },
    .list(\.revoked),
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
      row.token.tenant.map { Message("settings.for-tenant", ["tenant": .text($0.text)]) }
        ?? Message("settings.for-project")
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
  var name: Message {
    switch self {
    case .owner: Message("settings.token-owner")
    case .policy: Message("settings.token-policy")
    case .support: Message("settings.token-support")
    case .auditor: Message("settings.token-auditor")
    case .application: Message("settings.token-application")
    }
  }

  /// The description shown in the form.
  var hint: Message {
    switch self {
    case .owner: Message("settings.token-owner-hint")
    case .policy: Message("settings.token-policy-hint")
    case .support, .auditor: Message("settings.token-support-hint")
    case .application: Message("settings.token-application-hint")
    }
  }
}
