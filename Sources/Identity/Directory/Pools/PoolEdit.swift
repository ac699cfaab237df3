import Database
import JSON
import Synchronization
import Text

/// The settings and the MFA configuration of a pool, which can be edited and are specified
/// when a tenant is created.
public struct PoolEdit: Equatable, Sendable {
  /// The display name: 1 to 100 characters for a project; for a tenant 4 to 20 letters, digits, and
  /// hyphens, beginning with a letter.
  public var displayName: String
  public var signIn: SignInMethods
  public var disableAuth: Bool
  /// Configuration members that are only stored and returned, as JSON text.
  ///
  /// New text is parsed when it's set, which is before the write if the edit was prepared.
  public var members: String {
    get { storedMembers.text }
    set {
      guard !newValue.isSameBytes(as: members) else { return }
      storedMembers = StoredMembers(newValue, isTenant: project == nil)
      _ = storedMembers.content
    }
  }
  private(set) var storedMembers: StoredMembers
  public var userPermissions: UserPermissions
  /// The password policy; nil if never set.
  public var passwords: PasswordPolicy?
  public var configuration: MFAConfiguration
  /// Whether users whose sign-in requires a second factor can change how they sign in
  /// (``SignInChange``) only in a session that passed one.
  public var changesNeedFactor: Bool
  /// The settings that only projects have; nil for a tenant.
  public var project: ProjectSettings? {
    didSet {
      let isTenant = project == nil
      guard isTenant != storedMembers.isTenant else { return }
      storedMembers = StoredMembers(members, isTenant: isTenant)
    }
  }

  public init(
    displayName: String,
    signIn: SignInMethods = SignInMethods(password: false, emailLink: false, anonymous: false),
    disableAuth: Bool = false, members: String = "{}",
    userPermissions: UserPermissions = UserPermissions(), passwords: PasswordPolicy? = nil,
    configuration: MFAConfiguration = MFAConfiguration(),
    changesNeedFactor: Bool = true
  ) {
    self.displayName = displayName
    self.signIn = signIn
    self.disableAuth = disableAuth
    storedMembers = StoredMembers(members, isTenant: true)
    self.userPermissions = userPermissions
    self.passwords = passwords
    self.configuration = configuration
    self.changesNeedFactor = changesNeedFactor
  }

  /// The columns of a pool's settings, except the password policy and the MFA configuration.
  static let columnNames: SQL = """
    display_name, password, email_link, anonymous, phone, disabled, members,
      withdrawal_needs_factor, sign_up_off, deletion_off, anonymous_expire
    """

  var values: SQL {
    """
    \(displayName), \(signIn.password), \(signIn.emailLink), \(signIn.anonymous), \(signIn.phone),
      \(disableAuth), \(members), \(changesNeedFactor), \(!userPermissions.signUp),
      \(!userPermissions.deletion), \(project?.expiresAnonymous ?? false)
    """
  }

  /// Returns the values after an edit; settings that only projects have stay out of tenants.
  func changed(
    by edit: (inout PoolEdit) throws(PoolError) -> Void
  ) throws(PoolError) -> PoolEdit {
    var new = self
    try edit(&new)
    new.project = project == nil ? nil : new.project ?? project
    if project == nil { new.signIn.phone = false }
    return new
  }

  mutating func setMembers(_ object: JSON.Object) {
    storedMembers = StoredMembers(object, isTenant: project == nil)
  }

  /// Returns the settings that differ, without the MFA configuration.
  func settingChanges(since old: PoolEdit) -> [AuditChange] {
    // Most changes are of the MFA configuration alone.
    guard !hasSameSettings(as: old) else { return [] }
    let hasNewMembers = storedMembers != old.storedMembers
    func fields(_ edit: PoolEdit) -> [AuditField] {
      hasNewMembers ? edit.auditFields + edit.memberFields : edit.auditFields
    }
    return AuditChange.between(fields(old), fields(self))
  }

  /// The settings that a pool is compared with when it's created: those of every new project, or of a
  /// tenant without any.
  var beforeCreation: PoolEdit {
    guard project != nil else { return PoolEdit(displayName: "") }
    var edit = self
    edit.displayName = ""
    edit.passwords = nil
    return edit
  }

  /// The settings and the MFA configuration that differ from ``beforeCreation``, without values
  /// before.
  var creationChanges: [AuditChange] {
    let before = beforeCreation
    func fields(_ edit: PoolEdit) -> [AuditField] {
      edit.auditFields + edit.memberFields
        + PolicyEdit(configuration: edit.configuration, pattern: nil).auditFields
    }
    return AuditChange.between(fields(before), fields(self)).compactMap { change in
      change.field.map { AuditChange($0, to: change.new) }
    }
  }

  /// Returns whether all settings are the same, text byte by byte, regardless of the MFA
  /// configuration.
  func hasSameSettings(as old: PoolEdit) -> Bool {
    let domains = project?.authorizedDomains ?? []
    // Equal text can differ in bytes, and comparing such text is slow, so bytes come first.
    guard displayName.isSameBytes(as: old.displayName), storedMembers == old.storedMembers,
      domains.elementsEqual(old.project?.authorizedDomains ?? [], by: { $0.isSameBytes(as: $1) })
    else { return false }
    var settings = self
    settings.configuration = old.configuration
    return settings == old
  }

  /// The fields except ``memberFields``, for comparison in the audit log.
  var auditFields: [AuditField] {
    var fields = [
      AuditField(.displayName, .text(displayName)),
      AuditField(.passwordSignIn, .flag(signIn.password)),
      AuditField(.emailLinkSignIn, .flag(signIn.emailLink)),
      AuditField(.anonymousSignIn, .flag(signIn.anonymous)),
    ]
    if project != nil { fields.append(AuditField(.phoneSignIn, .flag(signIn.phone))) }
    fields.append(AuditField(.changesNeedFactor, .flag(changesNeedFactor)))
    if let project { fields += project.auditFields }
    fields += [
      AuditField(.signIn, .flag(!disableAuth)),
      AuditField(.userSignUp, .flag(userPermissions.signUp)),
      AuditField(.userDeletion, .flag(userPermissions.deletion)),
    ]
    if let project { fields.append(AuditField(.anonymousExpire, .flag(project.expiresAnonymous))) }
    return fields + PasswordPolicy.auditFields(of: passwords)
  }

  private var memberFields: [AuditField] {
    // The numbers are a field of their own, because the audit log doesn't show their codes.
    let content = storedMembers.content
    let codes = content.testCodes
    let numbers = codes.keys.sorted()
    return [
      AuditField(.testPhoneNumbers, .optional(numbers), hidden: numbers.map { codes[$0] }),
      AuditField(.otherMembers, .text(content.textWithoutTestNumbers)),
    ]
  }
}

public struct ProjectSettings: Equatable, Sendable {
  /// Whether email enumeration protection is enabled, also for tenants without their own setting.
  public var emailPrivacy: Bool
  public var allowDuplicateEmails = false
  /// The authorized domains, which links may lead to.
  public var authorizedDomains = ["localhost"]
  public var allowTenants = true
  /// Whether imports into the project and its tenants may contain TOTP secrets.
  public var importsTOTP = false
  /// Whether anonymous accounts outside tenants are deleted after 30 days.
  public var expiresAnonymous = false

  init(emailPrivacy: Bool) { self.emailPrivacy = emailPrivacy }

  static let columns: SQL = """
    p.allow_duplicate_emails, p.authorized_domains, p.allow_tenants, p.import_totp,
      s.anonymous_expire
    """

  fileprivate var auditFields: [AuditField] {
    [
      AuditField(.emailPrivacy, .flag(emailPrivacy)),
      AuditField(.duplicateEmails, .flag(allowDuplicateEmails)),
      AuditField(.authorizedDomains, .optional(authorizedDomains)),
      AuditField(.allowsTenants, .flag(allowTenants)),
      AuditField(.importsTOTP, .flag(importsTOTP)),
    ]
  }

  init(_ row: inout Row, emailPrivacy: Bool) throws {
    self.emailPrivacy = emailPrivacy
    allowDuplicateEmails = try row.next()
    let domains: String = try row.next()
    authorizedDomains = domains.split(separator: "\n").map(String.init)
    allowTenants = try row.next()
    importsTOTP = try row.next()
    expiresAnonymous = try row.next()
  }
}

/// A pool's configuration members that are only stored and returned: their JSON text, and what
/// Identity reads in it.
///
/// A text is parsed at most once, and only if something in it is needed. Copies of settings share
/// it, so a write that leaves the text as it is parses nothing.
final class StoredMembers: Sendable {
  /// What Identity reads in a text.
  struct Content: Sendable {
    /// The JSON value; nil if the text isn't JSON.
    let root: JSON?
    let testCodes: [String: String]
    /// The text without the test phone numbers and objects that have nothing else.
    let textWithoutTestNumbers: String
  }

  let text: String
  /// Whether the pool is a tenant, which has its test numbers elsewhere than a project.
  let isTenant: Bool
  /// The content, once it was needed.
  let parsed: Mutex<Content?>

  /// Creates members whose text is parsed when it's needed.
  init(_ text: String, isTenant: Bool) {
    (self.text, self.isTenant) = (text, isTenant)
    parsed = Mutex(nil)
  }

  /// Creates members from JSON, which isn't parsed again.
  init(_ root: JSON.Object, isTenant: Bool) {
    let root = JSON.object(root)
    text = String(decoding: root.serialized(), as: UTF8.self)
    self.isTenant = isTenant
    parsed = Mutex(Content(root, text, isTenant: isTenant))
  }

  var content: Content {
    parsed.withLock { parsed in
      if let parsed { return parsed }
      let content = Content(try? JSON.parse(Array(text.utf8)), text, isTenant: isTenant)
      parsed = content
      return content
    }
  }

  /// The members as an object; empty if they aren't one.
  var object: JSON.Object { content.root?.objectValue ?? [:] }
}

extension StoredMembers: Equatable {
  /// Compares the texts byte by byte.
  static func == (one: StoredMembers, other: StoredMembers) -> Bool {
    one === other || one.text.isSameBytes(as: other.text)
  }
}

extension StoredMembers.Content {
  fileprivate init(_ root: JSON?, _ text: String, isTenant: Bool) {
    self.root = root
    testCodes = SMSSettings(root, isTenant: isTenant).testCodes
    textWithoutTestNumbers = TestNumber.removed(from: root, text, isTenant: isTenant)
  }
}
