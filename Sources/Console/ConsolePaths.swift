import HTTP
import Identity

/// The paths of the console, which routes match and pages link to.
enum ConsolePaths {
  static let projects = Path()
  static let setup = Path("setup")
  static let signIn = Path("sign-in")
  static let signInCode = Path("sign-in", "code")
  static let signInPasskey = Path("sign-in", "passkey")
  static let signInCodePasskey = Path("sign-in", "code", "passkey")
  static let providerSignIn = Path("sign-in", "provider")
  static let providerCallback = Path("sign-in", "provider", "callback")
  static let providerLogout = Path("sign-in", "provider", "logout")
  static let keptAnswers = Path("sign-in", "answers")
  static let signOut = Path("sign-out")
  static let invitation = Path("invitation")
  /// The page that email action links open, at the same path as in Firebase.
  static let actionLink = Path("__", "auth", "action")

  static let clock = Path("clock")

  static let newProject = Path("projects", "new")
  static let tenants = Path("projects", nil, "tenants", parameters: String.self)
  static let newTenant = Path("projects", nil, "tenants", "new", parameters: String.self)

  static let tenant = Path(
    "projects", nil, "tenants", nil, parameters: String.self, String.self)
  static let overview = ScopePath(Path("projects", nil, parameters: String.self), tenant)
  static let users = ScopePath(
    Path("projects", nil, "users", parameters: String.self),
    Path("projects", nil, "tenants", nil, "users", parameters: String.self, String.self))
  static let user = ScopePath(
    Path("projects", nil, "users", nil, parameters: String.self, String.self),
    Path(
      "projects", nil, "tenants", nil, "users", nil,
      parameters: String.self, String.self, String.self))
  static let removal = ScopePath(
    Path(
      "projects", nil, "users", nil, "factors", nil, "removal",
      parameters: String.self, String.self, String.self),
    Path(
      "projects", nil, "tenants", nil, "users", nil, "factors", nil, "removal",
      parameters: String.self, String.self, String.self, String.self))
  static let activity = ScopePath(
    Path("projects", nil, "activity", parameters: String.self),
    Path("projects", nil, "tenants", nil, "activity", parameters: String.self, String.self))
  static let enrollmentFile = activityFile("enrollment.csv")
  static let attemptsFile = activityFile("attempts.csv")
  static let rejectionsFile = activityFile("rejections.csv")
  static let audit = ScopePath(
    Path("projects", nil, "audit", parameters: String.self),
    Path("projects", nil, "tenants", nil, "audit", parameters: String.self, String.self))

  static let auditFile = ScopePath(
    Path("projects", nil, "audit.csv", parameters: String.self),
    Path("projects", nil, "tenants", nil, "audit.csv", parameters: String.self, String.self))

  static let settings = ScopePath(
    Path("projects", nil, "settings", parameters: String.self),
    Path("projects", nil, "tenants", nil, "settings", parameters: String.self, String.self))
  static let signInMethods = ScopePath(
    Path("projects", nil, "settings", "sign-in-methods", parameters: String.self),
    Path(
      "projects", nil, "tenants", nil, "settings", "sign-in-methods",
      parameters: String.self, String.self))
  static let signInSwitch = ScopePath(
    Path("projects", nil, "settings", "sign-in", parameters: String.self),
    Path(
      "projects", nil, "tenants", nil, "settings", "sign-in", parameters: String.self, String.self))
  static let signInDisabling = signInSwitch("disabling")
  static let signInEnabling = signInSwitch("enabling")
  /// The API keys of a project, and the service tokens of a pool.
  static let keys = ScopePath(
    Path("projects", nil, "settings", "keys", parameters: String.self),
    Path(
      "projects", nil, "tenants", nil, "settings", "keys", parameters: String.self, String.self))
  static let keyRevocation = Path(
    "projects", nil, "settings", "keys", nil, "revocation", parameters: String.self, String.self)
  static let newToken = ScopePath(
    Path("projects", nil, "settings", "tokens", "new", parameters: String.self),
    Path(
      "projects", nil, "tenants", nil, "settings", "tokens", "new",
      parameters: String.self, String.self))
  static let tokenRevocation = ScopePath(
    Path(
      "projects", nil, "settings", "tokens", nil, "revocation",
      parameters: String.self, String.self),
    Path(
      "projects", nil, "tenants", nil, "settings", "tokens", nil, "revocation",
      parameters: String.self, String.self, String.self))
  static let providers = ScopePath(
    Path("projects", nil, "settings", "providers", parameters: String.self),
    Path(
      "projects", nil, "tenants", nil, "settings", "providers",
      parameters: String.self, String.self))
  static let newProvider = ScopePath(
    Path("projects", nil, "settings", "providers", "new", parameters: String.self),
    Path(
      "projects", nil, "tenants", nil, "settings", "providers", "new",
      parameters: String.self, String.self))
  static let provider = ScopePath(
    Path(
      "projects", nil, "settings", "providers", nil, parameters: String.self, String.self),
    Path(
      "projects", nil, "tenants", nil, "settings", "providers", nil,
      parameters: String.self, String.self, String.self))
  static let providerRemoval = ScopePath(
    Path(
      "projects", nil, "settings", "providers", nil, "removal",
      parameters: String.self, String.self),
    Path(
      "projects", nil, "tenants", nil, "settings", "providers", nil, "removal",
      parameters: String.self, String.self, String.self))
  static let trustedTokenKeys = Path(
    "projects", nil, "settings", "custom-token-keys", parameters: String.self)
  static let newTrustedTokenKey = Path(
    "projects", nil, "settings", "custom-token-keys", "new", parameters: String.self)
  static let trustedTokenKeyRevocation = Path(
    "projects", nil, "settings", "custom-token-keys", nil, "revocation",
    parameters: String.self, String.self)
  static let projectDeletion = Path(
    "projects", nil, "settings", "deletion", parameters: String.self)
  static let tenantDeletion = Path(
    "projects", nil, "tenants", nil, "settings", "deletion", parameters: String.self, String.self)
  static let messages = ScopePath(
    Path("projects", nil, "messages", parameters: String.self),
    Path("projects", nil, "tenants", nil, "messages", parameters: String.self, String.self))
  static let message = ScopePath(
    Path("projects", nil, "messages", nil, parameters: String.self, String.self),
    Path(
      "projects", nil, "tenants", nil, "messages", nil,
      parameters: String.self, String.self, String.self))
  static let messageText = ScopePath(
    Path("projects", nil, "messages", nil, "text", parameters: String.self, String.self),
    Path(
      "projects", nil, "tenants", nil, "messages", nil, "text",
      parameters: String.self, String.self, String.self))

  static let findUsers = Path("users")
  static let signInSimulator = Path("sign-in-simulator")
  static let instanceAudit = Path("audit")
  static let instanceAuditFile = Path("audit.csv")
  static let auditRetention = Path("audit", "retention")
  static let eventStreams = Path("event-streams")
  static let newEventStream = Path("event-streams", "new")
  static let eventStream = Path("event-streams", nil, parameters: String.self)
  static let eventStreamSettings = Path("event-streams", nil, "settings", parameters: String.self)
  static let eventStreamTest = Path("event-streams", nil, "test", parameters: String.self)
  static let eventStreamPause = Path("event-streams", nil, "pause", parameters: String.self)
  static let eventStreamResumption = Path(
    "event-streams", nil, "resumption", parameters: String.self)
  static let eventStreamDeletion = Path("event-streams", nil, "deletion", parameters: String.self)
  static let deadLetterRetry = Path(
    "event-streams", nil, "rejected-entries", nil, "retry", parameters: String.self, String.self)
  static let deadLetterRemoval = Path(
    "event-streams", nil, "rejected-entries", nil, "removal", parameters: String.self, String.self)
  static let administrators = Path("administrators")
  static let sessionLimits = Path("administrators", "session-limits")
  static let newAdministrator = Path("administrators", "new")
  static let administrator = Path("administrators", nil, parameters: String.self)
  static let grants = Path("administrators", nil, "grants", parameters: String.self)
  static let grantRemoval = Path(
    "administrators", nil, "grants", "removal", parameters: String.self)
  static let grantEnd = Path("administrators", nil, "grants", "end", parameters: String.self)
  static let administratorSessions = Path(
    "administrators", nil, "sessions", parameters: String.self)
  static let administratorSessionsRemoval = Path(
    "administrators", nil, "sessions", "removal", parameters: String.self)
  static let factorReset = Path("administrators", nil, "factor-reset", parameters: String.self)
  static let administratorRemoval = Path(
    "administrators", nil, "removal", parameters: String.self)
  static let invitationRemoval = Path("invitations", nil, "removal", parameters: String.self)

  static let account = Path("account")
  static let ownPassword = Path("account", "password")
  static let ownFactor = Path("account", "totp")
  static let ownFactorRemoval = Path("account", "totp", "removal")
  static let recoveryCodes = Path("account", "recovery-codes")
  static let ownSessions = Path("account", "sessions")
  static let ownOtherSessions = Path("account", "sessions", "others")
  static let sessionExtension = Path("account", "session-extension")
  static let preferences = Path("account", "preferences")
  static let newPasskey = Path("account", "passkeys", "new")
  static let ownPasskey = Path("account", "passkeys", nil, parameters: String.self)
  static let ownPasskeyRemoval = Path(
    "account", "passkeys", nil, "removal", parameters: String.self)
  static let reauthentication = Path("account", "reauthentication")
  static let passkeyReauthentication = Path("account", "reauthentication", "passkey")
  static let providerReauthentication = Path("account", "reauthentication", "provider")
  static let ownProvider = Path("account", "provider")
  static let ownProviderRemoval = Path("account", "provider", "removal")
  static let signInProvider = Path("administrators", "sign-in-provider")
  static let signInProviderPreview = Path("administrators", "sign-in-provider", "preview")
  static let signInProviderRemoval = Path("administrators", "sign-in-provider", "removal")
  static let passwordSignIn = Path("administrators", "password-sign-in")
  static let passkeyRequirement = Path("administrators", "passkeys")

  /// The page of every chart, which only demos have.
  static let styleguide = Path("styleguide")

  static let guidance = Path("guidance")
  static let guide = Path("guidance", nil, parameters: String.self)

  private static func activityFile(_ word: PathComponent) -> ScopePath0 {
    ScopePath(
      Path("projects", nil, "activity", word, parameters: String.self),
      Path(
        "projects", nil, "tenants", nil, "activity", word, parameters: String.self, String.self))
  }

  private static func signInSwitch(_ word: PathComponent) -> ScopePath0 {
    ScopePath(
      Path("projects", nil, "settings", "sign-in", word, parameters: String.self),
      Path(
        "projects", nil, "tenants", nil, "settings", "sign-in", word,
        parameters: String.self, String.self))
  }
}

/// The path of a page that every pool has: below the project, or below one of its tenants.
///
/// A parameter pack can't follow other parameters (Swift 6.3.1), so there's an extension for each
/// number of parameters.
struct ScopePath<OfProject: Sendable, OfTenant: Sendable>: Sendable {
  let ofProject: OfProject
  let ofTenant: OfTenant

  init(_ ofProject: OfProject, _ ofTenant: OfTenant) {
    self.ofProject = ofProject
    self.ofTenant = ofTenant
  }
}

typealias ScopePath0 = ScopePath<Path<String>, Path<String, String>>
typealias ScopePath1 = ScopePath<Path<String, String>, Path<String, String, String>>
typealias ScopePath2 = ScopePath<Path<String, String, String>, Path<String, String, String, String>>

extension ScopePath0 {
  /// The address of the page in a pool.
  func callAsFunction(_ scope: Scope) -> String {
    guard let tenant = scope.tenant else { return ofProject(scope.project.text) }
    return ofTenant(scope.project.text, tenant.text)
  }
}

extension ScopePath1 {
  /// The address of the page in a pool.
  func callAsFunction(_ scope: Scope, _ one: String) -> String {
    guard let tenant = scope.tenant else { return ofProject(scope.project.text, one) }
    return ofTenant(scope.project.text, tenant.text, one)
  }
}

extension ScopePath2 {
  /// The address of the page in a pool.
  func callAsFunction(_ scope: Scope, _ one: String, _ other: String) -> String {
    guard let tenant = scope.tenant else { return ofProject(scope.project.text, one, other) }
    return ofTenant(scope.project.text, tenant.text, one, other)
  }
}
