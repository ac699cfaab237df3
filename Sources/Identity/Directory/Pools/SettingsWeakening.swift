import Database
import JSON
import Text

public enum SettingsWeakening: Sendable, Equatable {
  case methodEnabled(SignInMethods.Method)
  case emailEnumerationProtectionDisabled
  case duplicateEmailsAllowed
  /// Links in emails may lead to another domain.
  case domainAdded(String)
  /// A phone number has a fixed code, with which anyone signs in as its user.
  case testNumberAdded(String)
  case totpImportAllowed
  /// Users can change how they sign in, in a session that didn't pass a second factor.
  case changesWithoutFactor
  case signUpEnabled
  case weakerPasswords
  case policy(PolicyWeakening)
}

extension SignInMethods {
  public enum Method: String, CaseIterable, Sendable {
    case password
    case emailLink
    case anonymous
    case phone
  }

  public func isEnabled(_ method: Method) -> Bool {
    switch method {
    case .password: password
    case .emailLink: emailLink
    case .anonymous: anonymous
    case .phone: phone
    }
  }

  fileprivate func weakenings(since old: SignInMethods) -> [SettingsWeakening] {
    Method.allCases.filter { isEnabled($0) && !old.isEnabled($0) }.map { .methodEnabled($0) }
  }
}

extension PoolEdit {
  /// Returns how the settings are weaker than others; empty if they aren't.
  ///
  /// A tenant without its own email enumeration protection setting uses its project's, which may be
  /// enabled.
  ///
  /// `usersHaveApps` says whether any user of the pool has an authenticator app; see
  /// ``Policy/weakenings(by:)``.
  public func weakenings(
    since old: PoolEdit, usersHaveApps: @autoclosure () throws -> Bool
  ) rethrows -> [SettingsWeakening] {
    var found = signIn.weakenings(since: old.signIn)
    let hasNewMembers = storedMembers != old.storedMembers
    // A tenant's setting is one of its members.
    if project != nil || hasNewMembers, emailPrivacy == false, old.emailPrivacy != false {
      found.append(.emailEnumerationProtectionDisabled)
    }
    if let project, let old = old.project { found += project.weakenings(since: old) }
    if hasNewMembers {
      let known = old.storedMembers.content.testCodes
      found += storedMembers.content.testCodes.filter { known[$0.key] != $0.value }.keys.sorted()
        .map { .testNumberAdded($0) }
    }
    if old.changesNeedFactor, !changesNeedFactor {
      found.append(.changesWithoutFactor)
    }
    if !old.userPermissions.signUp, userPermissions.signUp { found.append(.signUpEnabled) }
    let (was, becomes) = (old.passwords ?? PasswordPolicy(), passwords ?? PasswordPolicy())
    if becomes.isWeaker(than: was) { found.append(.weakerPasswords) }
    let (before, after) = (
      PolicyEdit(configuration: old.configuration, pattern: nil),
      PolicyEdit(configuration: configuration, pattern: nil)
    )
    return try found
      + after.weakenings(since: before, usersHaveApps: try usersHaveApps()).map { .policy($0) }
  }
}

extension ProjectSettings {
  fileprivate func weakenings(since old: ProjectSettings) -> [SettingsWeakening] {
    var found: [SettingsWeakening] = []
    if !old.allowDuplicateEmails, allowDuplicateEmails { found.append(.duplicateEmailsAllowed) }
    let known = Set(old.authorizedDomains.map { Array($0.utf8) })
    found += authorizedDomains.filter { !known.contains(Array($0.utf8)) }.map { .domainAdded($0) }
    if !old.importsTOTP, importsTOTP { found.append(.totpImportAllowed) }
    return found
  }
}

extension PasswordPolicy {
  func isWeaker(than old: PasswordPolicy) -> Bool {
    guard old.isEnforced else { return false }
    return !isEnforced || old.forcesUpgrade && !forcesUpgrade
      || shortestInForce < old.shortestInForce || !classes.isSuperset(of: old.classes)
      || old.refusesCommon && !refusesCommon
  }
}

extension ConsoleAction {
  /// The action with the strictest requirements for a change of settings.
  init(narrows: Bool, weakens: Bool, disablesSignIn: (was: Bool, becomes: Bool)) {
    self =
      switch disablesSignIn {
      case _ where narrows: .narrowSignIn
      case _ where weakens: .weakenSettings
      case (true, false): .enableSignIn
      case (false, true): .disableSignIn
      default: .changeSettings
      }
  }
}

/// The settings of a project or tenant that give access to accounts: where links in emails lead, and
/// the fixed codes of test phone numbers.
///
/// A password reset link, or the code of a user's number, is enough to sign in, so only an owner may
/// change them.
struct AccessSettings {
  private let domains: [String]
  /// The configuration's other members.
  private let stored: StoredMembers

  /// The configuration members that belong to these settings.
  private static let paths =
    [
      ["notification", "sendEmail"], ["mobileLinksConfig"], ["client", "firebaseSubdomain"],
      ["inheritance", "emailSendingConfig"],
    ] + TestNumber.paths

  init(domains: [String], members: StoredMembers) {
    self.domains = domains
    stored = members
  }

  /// The members; one without content is the same as none.
  private var members: [JSON?] {
    let root = stored.content.root
    return Self.paths.map { path in
      let value = path.reduce(root) { value, name in value?[name] }
      let isEmpty =
        value == false || value?.isNull == true || value?.textValue == ""
        || value?.objectValue?.isEmpty == true
      return isEmpty ? nil : value
    }
  }

  /// Whether the settings differ from `other`; reads members only if their text differs.
  private func differs(from other: AccessSettings) -> Bool {
    if stored != other.stored, members != other.members { return true }
    return domains != other.domains
      && Set(domains.map { $0.lowercased() }) != Set(other.domains.map { $0.lowercased() })
  }

  /// The URL of the application's own page for links; nil to use the server's.
  private var handler: String? {
    guard let text = members[0]?["callbackUri"]?.textValue?.text, !text.isEmpty else { return nil }
    return text
  }

  /// Checks a change of these settings: its author, and that the application's page for links is
  /// on an authorized domain.
  static func check(
    from old: AccessSettings, to new: AccessSettings, authorized: [String], by author: Author,
    in project: ID<Project>, _ tenant: ID<Tenant>?, _ profile: Profile, at now: Instant,
    _ connection: borrowing Connection
  ) throws {
    guard new.differs(from: old) else { return }
    guard try author.may(.changeLinks, project: project, tenant: tenant, at: now, connection) else {
      throw PoolError.ownerOnly
    }
    guard new.stored != old.stored, let handler = new.handler, handler != old.handler else {
      return
    }
    guard isUsable(handler, authorized, profile) else {
      throw PoolError.unauthorizedHost
    }
  }

  /// Whether links may open the given page of the application.
  static func isUsable(_ handler: String, _ authorized: [String], _ profile: Profile) -> Bool {
    guard !handler.utf8.contains(UInt8(ascii: "#")) else { return false }
    do { try ContinueURL.check(handler, authorized, profile) } catch { return false }
    return true
  }
}

extension PoolEdit {
  var accessSettings: AccessSettings {
    AccessSettings(domains: project?.authorizedDomains ?? [], members: storedMembers)
  }
}
