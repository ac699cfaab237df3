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

  /// The languages with default texts.
  static let languages = ["en"]

  /// The language of the text for a preferred locale; English if there's no text in its language.
  static func language(_ locale: String?) -> String {
    let wanted = (locale ?? "").lowercased().prefix { $0 != "-" && $0 != "_" }
    return languages.first { $0 == wanted } ?? languages[0]
  }

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

  /// The project's name on one line, safe for a subject.
  private var name: String { Self.oneLine(scope.projectName) }

  /// Formats text on one line, without control and formatting characters, cut to `longest` scalars.
  static func oneLine(_ text: String, longest: Int = 100) -> String {
    let scalars = text.unicodeScalars.map { scalar -> Unicode.Scalar in
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: " "
      default: scalar
      }
    }
    var line = String.UnicodeScalarView()
    line.append(contentsOf: scalars.prefix(longest))
    return String(line)
  }

  private var values: MailTemplate.Values {
    MailTemplate.Values(
      link: link, application: name, email: email, newEmail: newEmail ?? "",
      displayName: Self.oneLine(displayName ?? ""), secondFactor: Self.oneLine(factor?.label ?? ""))
  }

  /// The subject, from the project's template if it has one.
  var subject: String { template?.subject(values) ?? ownSubject }

  /// The text, from the project's template if it has one, and whether it's HTML.
  var text: (body: String, isHTML: Bool) {
    template?.body(values).map { (body: $0.text, isHTML: $0.isHTML) } ?? (ownBody, false)
  }

  private var ownSubject: String {
    switch kind {
    case .passwordReset: "Choose a new password for \(name)"
    case .verifyEmail: "Confirm your email address for \(name)"
    case .signIn: "Sign in to \(name)"
    case .changeEmail: "Confirm your new email address for \(name)"
    case .recoverEmail: "Your email address for \(name) was changed"
    case .revertFactor: "A second factor was added to your account at \(name)"
    }
  }

  private var reason: String {
    switch kind {
    case .passwordReset:
      "Follow this link to choose a new password for the account \(email) at \(name):"
    case .verifyEmail: "Follow this link to confirm that \(email) is your email address at \(name):"
    case .signIn: "Follow this link to sign in to \(name) as \(email):"
    case .changeEmail:
      """
      Follow this link to change the email address of your account at \(name) to \
      \(newEmail ?? email). Until then, it stays \(email).
      """
    case .recoverEmail:
      """
      The email address of your account at \(name) was changed from \(email) to \
      \(newEmail ?? "none").

      If you didn't do this, follow this link to restore \(email), and then choose a new password:
      """
    case .revertFactor:
      """
      The second factor “\(Self.oneLine(factor?.label ?? ""))” was added to the account \(email) \
      at \(name).

      If you didn't do this, follow this link to remove it, and then choose a new password:
      """
    }
  }

  private var end: String {
    let hours = kind.lifetime / 3_600
    let time = hours == 1 ? "one hour" : hours < 48 ? "\(hours) hours" : "\(hours / 24) days"
    let once = "The link is single use and expires in \(time)."
    switch kind {
    case .recoverEmail, .revertFactor: return once + " If you did this, no action is needed."
    default: return once + " If you didn't request it, you can ignore this email."
    }
  }

  private var ownBody: String { "\(reason)\n\n\(link)\n\n\(end)\n" }
}
