public import Identity
public import Localization

public struct CatalogMailWriter: MailWriter {
  private let catalogs: [Catalog]

  /// The first catalog is the default.
  public init(_ catalogs: [Catalog]) {
    self.catalogs = catalogs
  }

  /// The language of the best catalog for a locale, such as `de` for `de-AT`.
  public func language(for locale: String?) -> String {
    let field = (locale ?? "").replacing("_", with: "-")
    return catalogs[LanguagePreferences(field).best(among: catalogs.map(\.locale))].locale
  }

  public func write(_ content: MailContent, in language: String) -> WrittenMail {
    let catalog = catalogs.first { $0.locale == language } ?? catalogs[0]
    let (subject, body): (Message?, Message) =
      switch content {
      case .notice(let mail): (mail.subject, mail.body)
      case .weakenedPolicy(let mail): (mail.subject, mail.body(in: catalog))
      case .narrowedSignIn(let mail): (mail.subject, mail.body)
      case .alert(let mail): (mail.subject, mail.body)
      case .usersShown(let mail): (mail.subject, mail.body)
      case .administratorSignIn(let mail): (mail.subject, mail.body)
      case .grant(let mail): (mail.subject, mail.body)
      case .breakGlass(let mail): (mail.subject, mail.body)
      case .callerCode(let mail): (mail.subject, mail.body)
      case .reviewDue(let mail): (mail.subject, mail.body)
      case .reportedChange(let mail): (mail.subject, mail.body)
      case .signInMethod(let mail): (mail.subject, mail.body)
      case .enrollmentLink(let mail): (mail.subject, mail.body)
      case .actionLink(let mail): (mail.subject, mail.body)
      case .verificationCode(let code, let project):
        (
          nil,
          Message(
            "{code} is your verification code for {project}.",
            ["code": .text(code), "project": .text(project)])
        )
      }
    return WrittenMail(
      subject: subject.map { catalog.text($0) } ?? "", body: catalog.text(body),
      language: catalog.locale)
  }
}
