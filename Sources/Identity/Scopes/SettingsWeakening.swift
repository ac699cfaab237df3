/// A way in which a change of a project's or tenant's settings weakens its security.
public enum SettingsWeakening: Sendable, Equatable {
  /// Users can sign in with a further method.
  case methodEnabled(SignInMethods.Method)
  /// Answers tell whether an email has an account.
  case emailEnumerationProtectionDisabled
  /// One email may have several accounts.
  case duplicateEmailsAllowed
  /// Links in mails may lead to a further domain.
  case domainAdded(String)
  /// Imported users may bring TOTP secrets.
  case totpImportAllowed
  /// Users unenroll a factor from a session that hasn't passed one.
  case unenrollmentWithoutFactor
  /// Users can sign up themselves.
  case signUpEnabled
  /// Passwords have to meet less.
  case weakerPasswords
  /// The MFA policy is weaker.
  case policy(PolicyWeakening)
}

extension SignInMethods {
  /// A way to sign in.
  public enum Method: String, CaseIterable, Sendable {
    /// Email and password.
    case password
    /// A link sent by email.
    case emailLink
    /// Nothing at all.
    case anonymous
    /// A code sent to a phone.
    case phone
  }

  /// Whether a method is enabled.
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

extension ProjectEdit {
  /// How the settings are weaker than others; empty when they aren't.
  public func weakenings(since old: ProjectEdit) -> [SettingsWeakening] {
    var found = signIn.weakenings(since: old.signIn)
    if old.emailPrivacy, !emailPrivacy { found.append(.emailEnumerationProtectionDisabled) }
    if !old.allowDuplicateEmails, allowDuplicateEmails { found.append(.duplicateEmailsAllowed) }
    let known = Set(old.authorizedDomains.map { Array($0.utf8) })
    found += authorizedDomains.filter { !known.contains(Array($0.utf8)) }.map { .domainAdded($0) }
    if !old.importsTOTP, importsTOTP { found.append(.totpImportAllowed) }
    return found
      + SettingsWeakening.common(
        factorToUnenroll: (old.withdrawalNeedsFactor, withdrawalNeedsFactor),
        signUp: (old.userPermissions.signUp, userPermissions.signUp),
        passwords: (old.passwords, passwords), policy: (old.configuration, configuration))
  }
}

extension TenantEdit {
  /// How the settings are weaker than others; empty when they aren't.
  ///
  /// A tenant without its own email enumeration protection does as its project does, which may have
  /// it on.
  public func weakenings(since old: TenantEdit) -> [SettingsWeakening] {
    var found = signIn.weakenings(since: old.signIn)
    if emailPrivacy == false, old.emailPrivacy != false {
      found.append(.emailEnumerationProtectionDisabled)
    }
    return found
      + SettingsWeakening.common(
        factorToUnenroll: (old.withdrawalNeedsFactor, withdrawalNeedsFactor),
        signUp: (old.userPermissions.signUp, userPermissions.signUp),
        passwords: (old.passwords, passwords), policy: (old.configuration, configuration))
  }
}

extension SettingsWeakening {
  /// What projects and tenants have in common, each before and after the change.
  fileprivate static func common(
    factorToUnenroll: (Bool, Bool), signUp: (Bool, Bool),
    passwords: (PasswordPolicy?, PasswordPolicy?), policy: (MFAConfiguration, MFAConfiguration)
  ) -> [SettingsWeakening] {
    var found: [SettingsWeakening] = []
    if factorToUnenroll.0, !factorToUnenroll.1 { found.append(.unenrollmentWithoutFactor) }
    if !signUp.0, signUp.1 { found.append(.signUpEnabled) }
    let (was, becomes) = (passwords.0 ?? PasswordPolicy(), passwords.1 ?? PasswordPolicy())
    if becomes.isWeaker(than: was) { found.append(.weakerPasswords) }
    let (before, after) = (
      PolicyEdit(configuration: policy.0, pattern: nil),
      PolicyEdit(configuration: policy.1, pattern: nil)
    )
    return found + after.weakenings(since: before).map { .policy($0) }
  }
}

extension PasswordPolicy {
  /// Whether passwords have to meet less than by another policy.
  func isWeaker(than old: PasswordPolicy) -> Bool {
    guard old.isEnforced else { return false }
    return !isEnforced || old.forcesUpgrade && !forcesUpgrade
      || shortestInForce < old.shortestInForce || !classes.isSuperset(of: old.classes)
  }
}

extension ConsoleAction {
  /// The action of a change of settings: the one that requires the most.
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
