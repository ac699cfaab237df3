import Database

/// The hourly limits on requested emails.
///
/// Requests are counted whether or not an email is sent, so that an address without an account has
/// the same limit.
enum MailQuota {
  /// The limit per account of requests by anyone who knows its address, which has no other account.
  ///
  /// Requests in the user's session have a separate one (``OwnChange/mail``), so strangers can't use it
  /// up.
  static let perAccount = 5
  /// The limit per recipient address, requests by servers included.
  static let perAddress = 10
  /// The limit per client network; higher, because many people can share an IP address.
  static let perNetwork = 300
}
