/// The mail that a link goes out in.
///
/// It names the project and addresses. What a user may choose freely, such as a display name, would
/// let anybody send words of their own to strangers; the names of a factor and of the reader go only
/// to an address that was verified before.
struct OutOfBandMail {
  let kind: OutOfBandCode.Kind
  let scope: Scope
  let email: String
  let newEmail: String?
  let factor: Factor?
  let link: String
  /// The name of the reader, where they have chosen it themselves.
  let displayName: String?
  /// The project's own words; nil for ours.
  let template: MailTemplate?

  /// The languages that there are texts in.
  static let languages = ["en"]

  /// The language for a reader who prefers this one: English where there is no text in it.
  static func language(_ locale: String?) -> String {
    let wanted = (locale ?? "").lowercased().prefix { $0 != "-" && $0 != "_" }
    return languages.first { $0 == wanted } ?? languages[0]
  }

  /// Who reads it: the address that is asked about, which is not always that of the account.
  var recipient: String { kind == .changeEmail ? newEmail ?? email : email }

  /// What the outbox calls it.
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

  /// The project's name on one line, as it may stand in a subject.
  private var name: String { Self.oneLine(scope.projectName) }

  /// A text without line ends and marks that turn what is around it, cut when it is long.
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

  /// What it is about, in the project's words where it has some.
  var subject: String { template?.subject(values) ?? ownSubject }

  /// The text, in the project's words where it has some, and whether it is HTML.
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
    case .verifyEmail: "Follow this link to confirm that \(email) is your address at \(name):"
    case .signIn: "Follow this link to sign in to \(name) as \(email):"
    case .changeEmail:
      """
      Follow this link to make \(newEmail ?? email) the address of your account at \(name). Until \
      then it is \(email).
      """
    case .recoverEmail:
      """
      The address of your account at \(name) was changed from \(email) to \(newEmail ?? "none").

      If that was not you, follow this link to go back to \(email), and then choose a new password:
      """
    case .revertFactor:
      """
      The second factor “\(Self.oneLine(factor?.label ?? ""))” was added to the account \(email) at \
      \(name).

      If that was not you, follow this link to take it away, and then choose a new password:
      """
    }
  }

  private var end: String {
    let hours = kind.lifetime / 3_600
    let time = hours == 1 ? "one hour" : hours < 48 ? "\(hours) hours" : "\(hours / 24) days"
    let once = "The link counts for \(time), and once."
    switch kind {
    case .recoverEmail, .revertFactor: return once + " If it was you, there is nothing to do."
    default: return once + " If you did not ask for it, there is nothing to do."
    }
  }

  private var ownBody: String { "\(reason)\n\n\(link)\n\n\(end)\n" }
}
