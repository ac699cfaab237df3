/// What limits how many rows of the audit log a user, or someone with their session, can cause.
///
/// Rows by administrators, programs, and the server aren't limited.
enum AuditRowLimit {
  /// The account's quota of an hour (``OwnChange/row``): beyond it, the change is refused.
  case quota
  /// Each link in an email works once. An attacker who uses up the quota in a session must not keep
  /// the user from undoing what was done there.
  case link
  /// Each backup code is accepted once. A right code signs in, whatever else was done to the account.
  case code
  /// It happens to an account once.
  case account
}
