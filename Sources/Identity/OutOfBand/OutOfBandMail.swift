/// The email that contains an action link.
///
/// It names the project and email addresses. Text that users choose freely, such as a display name,
/// would let anyone send messages to strangers, so factor names and display names go only to
/// addresses that were already verified, and of two addresses, the recipient's own is the only one
/// that's named while the account's isn't verified.
struct OutOfBandMail {
  let kind: OutOfBandCode.Kind
  let scope: Scope
  let email: String
  let newEmail: String?
  let factor: Factor?
  let link: String
  /// The account's display name.
  let displayName: String?
  /// Whether the account's address was already verified.
  let isVerified: Bool
  /// The pool's template; nil for the default text.
  let template: EmailTemplate?

  /// The address the email goes to, which isn't always the account's address.
  var recipient: String { Self.recipient(of: kind, email: email, newEmail: newEmail) }

  /// The address that the email with a code goes to.
  static func recipient(
    of kind: OutOfBandCode.Kind, email: String, newEmail: String?
  ) -> String { kind == .changeEmail ? newEmail ?? email : email }

  /// The purpose of the message in the outbox.
  var purpose: String { kind.template.rawValue }

  /// The account's address; the recipient's if that's another one and the account's isn't verified.
  private var shownEmail: String { isVerified ? email : recipient }

  /// The new address; nil for its former owner if that address wasn't verified.
  private var shownNewEmail: String? { isVerified || kind == .changeEmail ? newEmail : nil }

  private var values: EmailValues {
    [
      .link: link, .appName: SafeName.oneLine(scope.projectName), .email: shownEmail,
      .newEmail: shownNewEmail ?? "",
      .displayName: SafeName.unlinked(isVerified ? displayName ?? "" : ""),
      .secondFactor: SafeName.unlinked(factor?.label ?? ""),
    ]
  }

  /// Returns the text of the pool's template where it has one, and the default text otherwise.
  ///
  /// `writer` writes the default text only if it's needed.
  func text(in locale: String?, by writer: any MailWriter) -> WrittenMail {
    let language = writer.language(for: locale)
    return (template ?? EmailTemplate()).written(kind.template, values, in: language) {
      writer.write(
        .actionLink(
          ActionLinkMail(
            kind: kind, project: scope.projectName, email: shownEmail,
            newEmail: isVerified ? newEmail : nil, factor: factor?.label, link: link)), in: language
      )
    }
  }
}

extension OutOfBandCode.Kind {
  /// The kind of email that has the link.
  var template: EmailTemplate.Kind {
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
