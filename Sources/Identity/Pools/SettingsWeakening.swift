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
  /// Users can unenroll a factor in a session that didn't pass a second factor.
  case unenrollmentWithoutFactor
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
    if old.withdrawalNeedsFactor, !withdrawalNeedsFactor {
      found.append(.unenrollmentWithoutFactor)
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
  }
}

extension ConsoleAction {
  /// The action with the strictest requirements for a change of settings.
  init(weakens: Bool, disablesSignIn: (was: Bool, becomes: Bool)) {
    self =
      switch disablesSignIn {
      case _ where weakens: .weakenSettings
      case (true, false): .enableSignIn
      case (false, true): .disableSignIn
      default: .changeSettings
      }
  }
}
