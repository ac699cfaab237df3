import Identity

extension WireError {
  /// Clients can't distinguish used codes from unknown ones, although pages can.
  init(_ error: OutOfBandError) {
    switch error {
    case .invalidCode, .usedCode: self.init("INVALID_OOB_CODE")
    case .expiredCode: self.init("EXPIRED_OOB_CODE")
    case .emailNotFound: self.init("EMAIL_NOT_FOUND")
    case .userNotFound: self.init("USER_NOT_FOUND")
    case .userDisabled: self.init("USER_DISABLED")
    case .missingEmail: self.init("MISSING_EMAIL")
    case .invalidEmail: self.init("INVALID_EMAIL")
    case .invalidNewEmail: self.init("INVALID_NEW_EMAIL")
    case .emailExists: self.init("EMAIL_EXISTS")
    case .emailMismatch:
      self.init("INVALID_EMAIL : The email provided does not match the sign-in email address.")
    case .invalidContinueURL:
      self.init("INVALID_CONTINUE_URI : Missing domain in continue url")
    case .unauthorizedDomain:
      self.init("UNAUTHORIZED_DOMAIN : Domain not allowlisted by project")
    case .unknownLinkDomain:
      self.init(
        "INVALID_HOSTING_LINK_DOMAIN : The provided hosting link domain is not configured in Firebase "
          + "Hosting or is not owned by the current project. This cannot be a default hosting domain "
          + "(web.app or firebaseapp.com).")
    case .operationNotAllowed: self.init("OPERATION_NOT_ALLOWED")
    case .changesLocked: self.init(Self.changesLocked)
    case .factorSuspended: self.init(Self.factorSuspended)
    case .passwordLoginDisabled: self.init("PASSWORD_LOGIN_DISABLED")
    case .tooManyMails(.passwordReset, _): self.init("RESET_PASSWORD_EXCEED_LIMIT")
    case .tooManyMails: self.init(Self.tooManyMails)
    case .account(let error): self.init(error)
    }
  }
}
