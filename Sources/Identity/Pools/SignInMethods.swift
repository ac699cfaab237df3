public struct SignInMethods: Equatable, Sendable {
  public var password: Bool
  public var emailLink: Bool
  public var anonymous: Bool
  /// A code sent to a phone; not available to tenants.
  public var phone: Bool

  public init(password: Bool, emailLink: Bool, anonymous: Bool, phone: Bool = false) {
    self.password = password
    self.emailLink = emailLink
    self.anonymous = anonymous
    self.phone = phone
  }

  /// Whether a method that supports a second factor is enabled.
  var allowSecondFactor: Bool { password || emailLink }
}
