/// The email that contains an action link.
///
/// It names the project and email addresses. Text that users choose freely, such as a display name,
/// would let anyone send messages to strangers, so factor names and display names go only to
/// addresses that were already verified.
struct OutOfBandMail {
  let kind: OutOfBandCode.Kind
  let scope: Scope
  let email: String
  let newEmail: String?
  let factor: Factor?
  let link: String
  /// The recipient's display name, if they chose it themselves.
  let displayName: String?
  /// The project's template; nil for the default text.
  let template: MailTemplate?

  /// The address the email goes to, which isn't always the account's address.
  var recipient: String { kind == .changeEmail ? newEmail ?? email : email }

  /// The purpose of the message in the outbox.
  var purpose: String {
    switch kind {
    case .passwordReset: "reset-password"
    case .verifyEmail: "verify-email"
    case .signIn: "sign-in"
    case .changeEmail: "verify-new-email"
    case .recoverEmail: "recover-email"
    case .revertFactor: "revert-factor"
    }
  }

  private var values: MailTemplate.Values {
    MailTemplate.Values(
      link: link, application: SafeName.oneLine(scope.projectName), email: email,
      newEmail: newEmail ?? "", displayName: SafeName.oneLine(displayName ?? ""),
      secondFactor: SafeName.oneLine(factor?.label ?? ""))
  }

  /// Returns the text of the project's template where it has one, and the default text otherwise.
  ///
  /// `writer` writes the default text only if it's needed.
  func text(in locale: String?, by writer: any MailWriter) -> WrittenMail {
    let language = writer.language(for: locale)
    let (subject, body) = (template?.subject(values), template?.body(values))
    if let subject, let body {
      return WrittenMail(
        subject: subject, body: body.text, isHTML: body.isHTML, language: language)
    }
    let own = writer.write(
      .actionLink(
        ActionLinkMail(
          kind: kind, project: scope.projectName, email: email, newEmail: newEmail,
          factor: factor?.label, link: link)), in: language)
    return WrittenMail(
      subject: subject ?? own.subject, body: body?.text ?? own.body,
      isHTML: body?.isHTML ?? own.isHTML, language: language)
  }
}
