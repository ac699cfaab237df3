import JSON
import Text

/// A project's custom template for a kind of email, from `notification.sendEmail` of its
/// configuration.
struct MailTemplate: Equatable {
  /// The values of the placeholders in percent signs.
  struct Values {
    let link: String
    let application: String
    let email: String
    var newEmail = ""
    /// The display name that the recipient chose; empty if someone else may have chosen it.
    var displayName = ""
    var secondFactor = ""

    fileprivate var all: [(name: String, value: String)] {
      [
        ("%LINK%", link), ("%APP_NAME%", application), ("%EMAIL%", email),
        ("%NEW_EMAIL%", newEmail), ("%DISPLAY_NAME%", displayName),
        ("%SECOND_FACTOR%", secondFactor),
      ]
    }
  }

  private let subject: String
  private let body: String
  private let isHTML: Bool

  /// Creates the template of a kind of email; nil if the project has none, and for kinds that can't
  /// be customized.
  init?(_ kind: OutOfBandCode.Kind, of mails: JSON?) {
    let name =
      switch kind {
      case .passwordReset: "resetPasswordTemplate"
      case .verifyEmail: "verifyEmailTemplate"
      // The email to the previous address, as in production.
      case .recoverEmail: "changeEmailTemplate"
      case .revertFactor: "revertSecondFactorAdditionTemplate"
      case .signIn, .changeEmail: ""
      }
    guard let template = mails?[name] else { return nil }
    subject = template["subject"]?.textValue?.text ?? ""
    body = template["body"]?.textValue?.text ?? ""
    isHTML = template["bodyFormat"]?.textValue == "HTML"
    guard !subject.isEmpty || !body.isEmpty else { return nil }
  }

  /// The subject on one line; nil to use the server's default.
  func subject(_ values: Values) -> String? {
    guard !subject.isEmpty else { return nil }
    return SafeName.oneLine(Self.filled(subject, values.all), longest: 250)
  }

  /// The text and whether it's HTML; nil to use the server's default.
  ///
  /// The link is appended to a text that doesn't include it, since the email is useless otherwise.
  func body(_ values: Values) -> (text: String, isHTML: Bool)? {
    guard !body.isEmpty else { return nil }
    let link = isHTML ? "\n<p><a href=\"%LINK%\">%LINK%</a></p>\n" : "\n\n%LINK%\n"
    let text = body.contains("%LINK%") ? body : body + link
    guard isHTML else { return (Self.filled(text, values.all), false) }
    return (Self.filled(text, values.all.map { ($0.name, $0.value.escapedForHTML) }), true)
  }

  /// Inserts the values in one pass, so that placeholders within values stay as they are.
  private static func filled(
    _ text: String, _ values: [(name: String, value: String)]
  ) -> String {
    var result = ""
    var rest = text[...]
    while let start = rest.firstIndex(of: "%") {
      result += rest[..<start]
      rest = rest[start...]
      guard let found = values.first(where: { rest.hasPrefix($0.name) }) else {
        result.append(rest.removeFirst())
        continue
      }
      result += found.value
      rest = rest.dropFirst(found.name.count)
    }
    return result + rest
  }

}
