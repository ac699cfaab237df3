public import Identity
public import Localization

extension WeakPassword {
  /// How to choose a stronger password.
  public var message: Message {
    switch self {
    case .tooShort(let fewest):
      Message("account.password-too-short", ["count": .number(fewest)])
    case .tooLong(let most):
      Message("account.password-too-long", ["limit": .text(String(most))])
    case .isEmail: Message("account.password-is-email")
    }
  }
}
