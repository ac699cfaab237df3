public import Identity
public import Localization

extension WeakPassword {
  /// How to choose a stronger password.
  public var message: Message {
    switch self {
    case .tooShort(let fewest):
      Message(
        one: "Use at least {count} character.", other: "Use at least {count} characters.",
        ["count": .number(fewest)])
    case .tooLong(let most):
      Message("Use at most {limit} bytes.", ["limit": .text(String(most))])
    case .isEmail: Message("Use something other than your email address.")
    }
  }
}
