/// Why an administrator's password is refused.
public enum WeakPassword: Sendable, Equatable, CustomStringConvertible {
  /// It has fewer characters than `fewest`.
  case tooShort(fewest: Int)
  /// It has more bytes than `most`.
  case tooLong(most: Int)
  /// It's the email address.
  case isEmail

  /// How to choose a stronger one, for the command line.
  public var description: String {
    switch self {
    case .tooShort(let fewest): "Use at least \(fewest) characters."
    case .tooLong(let most): "Use at most \(most) bytes."
    case .isEmail: "Use something other than your email address."
    }
  }
}
