/// The email that contains an action link.
///
/// It names the project and email addresses. Text that users choose freely, such as a display name,
/// would let anyone send messages to strangers, so factor names go only to addresses that were
/// already verified, and of two addresses, the recipient's own is the only one that's named while
/// the account's isn't verified.
struct OutOfBandMail {
  let kind: OutOfBandCode.Kind
  let pool: Pool
  let email: String
  let newEmail: String?
  let factor: Factor?
  let link: String
  /// Whether the account's address was already verified.
  let isVerified: Bool

  /// The address the email goes to, which isn't always the account's address.
  var recipient: String { Self.recipient(of: kind, email: email, newEmail: newEmail) }

  static func recipient(
    of kind: OutOfBandCode.Kind, email: String, newEmail: String?
  ) -> String { kind == .changeEmail ? newEmail ?? email : email }

  /// What the email reports: the account's address, or the recipient's if that's another one and the
  /// account's isn't verified, and the new address unless it's for the former owner of an address
  /// that wasn't verified.
  var content: MailContent {
    .actionLink(
      ActionLinkMail(
        kind: kind, project: pool.projectName, email: isVerified ? email : recipient,
        newEmail: isVerified ? newEmail : nil, factor: factor?.label, link: link))
  }
}

extension OutOfBandCode.Kind {
  var purpose: MessagePurpose {
    switch self {
    case .passwordReset: .passwordReset
    case .verifyEmail: .verifyEmail
    case .signIn: .signIn
    case .changeEmail: .changeEmail
    case .recoverEmail: .recoverEmail
    case .revertFactor: .revertFactor
    }
  }

  /// Whether the message reports a change that someone else may have made.
  var isAlert: Bool {
    switch self {
    case .recoverEmail, .revertFactor: true
    case .passwordReset, .verifyEmail, .signIn, .changeEmail: false
    }
  }

  var email: EmailKind {
    switch self {
    case .passwordReset: .resetPassword
    case .verifyEmail: .verifyEmail
    case .signIn: .signIn
    case .changeEmail: .verifyAndChangeEmail
    // The email to the former address, as in production.
    case .recoverEmail: .changeEmail
    case .revertFactor: .revertSecondFactorAddition
    }
  }
}
