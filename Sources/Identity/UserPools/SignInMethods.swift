/// The sign-in methods of a user pool.
public struct SignInMethods: Equatable, Sendable {
  /// Email and password.
  public var password: Bool
  /// A link sent by email.
  public var emailLink: Bool
  /// No credentials.
  public var anonymous: Bool
  /// A code sent to a phone; not available to tenants.
  public var phone: Bool

  /// Creates a set of sign-in methods.
  public init(password: Bool, emailLink: Bool, anonymous: Bool, phone: Bool = false) {
    self.password = password
    self.emailLink = emailLink
    self.anonymous = anonymous
    self.phone = phone
  }

  /// Whether a method that supports a second factor is enabled.
  var allowSecondFactor: Bool { password || emailLink }
}
