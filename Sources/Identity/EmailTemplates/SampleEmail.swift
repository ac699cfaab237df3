/// An email with sample values, for a preview of a template.
struct SampleEmail {
  let scope: Scope
  let links: ActionLinks
  let now: Instant

  static let displayName = "Alex Sample"
  private static let email = "alex@example.com"
  private static let newEmail = "alex.sample@example.com"
  private static let factor = "Phone"
  private static let agent = "Sam Support"
  /// Looks like a code, but none is ever stored for it.
  private static let code = "SAMPLE-CODE"

  func content(_ kind: EmailTemplate.Kind) -> (mail: MailContent, values: EmailValues) {
    switch kind {
    case .resetPassword: action(.passwordReset)
    case .verifyEmail: action(.verifyEmail)
    case .signIn: action(.signIn)
    case .verifyAndChangeEmail: action(.changeEmail)
    case .changeEmail: action(.recoverEmail)
    case .revertSecondFactorAddition: action(.revertFactor)
    case .enrollmentLink:
      values(
        .enrollmentLink(
          EnrollmentLinkMail(
            scope: scope, email: Self.email, link: links.link(Self.code, to: .enrollment),
            reportLink: links.link(Self.code, to: .reportedChange), isRequired: false)))
    case .callerCode:
      values(
        .callerCode(
          CallerCodeMail(scope: scope, email: Self.email, code: "12345678", agent: Self.agent)))
    case .notice:
      values(
        .notice(
          NoticeMail(
            notice: .factorsRemoved(names: [Self.factor]), scope: scope, email: Self.email, at: now,
            reportLink: links.link(Self.code, to: .reportedChange))))
    }
  }

  private func values(_ mail: MailContent) -> (mail: MailContent, values: EmailValues) {
    (mail, mail.template?.values ?? [:])
  }

  private func action(_ kind: OutOfBandCode.Kind) -> (mail: MailContent, values: EmailValues) {
    let link = links.link(
      Self.code, kind, in: scope, apiKey: "sample", continueURL: nil, language: "en", handler: nil)
    let newEmail = [.changeEmail, .recoverEmail].contains(kind) ? Self.newEmail : nil
    let mail = ActionLinkMail(
      kind: kind, project: scope.projectName, email: Self.email, newEmail: newEmail,
      factor: kind == .revertFactor ? Self.factor : nil, link: link)
    return (
      .actionLink(mail),
      [
        .link: link, .appName: SafeName.oneLine(scope.projectName), .email: Self.email,
        .newEmail: newEmail ?? "", .secondFactor: mail.factor ?? "",
      ]
    )
  }
}
