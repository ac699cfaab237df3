import Database

/// The hourly limits on requested emails.
///
/// Requests are counted whether or not an email is sent, so that an address without an account has
/// the same limit.
enum MailQuota {
  /// The limit per recipient address.
  static let perAddress = 10
  /// The limit per client network; higher, because many people can share an IP address.
  static let perNetwork = 300

  static func name(to email: String, in scope: Scope) -> String {
    "mail to \(scope.key) \(TypedEmail(email).digest)"
  }

  /// The quota name of emails that can undo a change.
  ///
  /// They're counted separately, so that an attacker can't suppress the warning of a change by
  /// requesting other emails.
  static func name(warning email: String, in scope: Scope) -> String {
    "warning to \(scope.key) \(TypedEmail(email).digest)"
  }

  /// The quota name of enrollment links that refused sign-ins send.
  ///
  /// They're counted separately, so that other emails, which anyone can request, can't use up the
  /// links of a user who has to enroll.
  static func name(enrolling email: String, in scope: Scope) -> String {
    "enrollment to \(scope.key) \(TypedEmail(email).digest)"
  }

  static func name(from address: String) -> String { "mail from \(Network.name(of: address))" }
}
