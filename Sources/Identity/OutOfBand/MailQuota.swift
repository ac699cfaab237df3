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
}
