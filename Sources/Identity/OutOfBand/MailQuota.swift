import Database

/// How many mails may be asked for within an hour.
///
/// They are counted by the name of what is bounded, whether anything is sent or not, so that an
/// address without an account meets the same bound.
enum MailQuota {
  /// To one address.
  static let perAddress = 10
  /// From one network: many people may share an address.
  static let perNetwork = 300

  static func name(to email: String, in scope: Scope) -> String {
    "mail to \(scope.key) \(TypedEmail(email).digest)"
  }

  /// Mails that undo a change are bounded apart: by asking for others nobody can keep the warning of
  /// a change from the user.
  static func name(warning email: String, in scope: Scope) -> String {
    "warning to \(scope.key) \(TypedEmail(email).digest)"
  }

  static func name(from address: String) -> String { "mail from \(Network.name(of: address))" }
}
