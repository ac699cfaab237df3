import HTTP
import Identity

extension ConsolePaths {
  static let temporaryCode = userPage("temporary-code")
  static let shownCode = PoolPath1("users", nil, "temporary-code", "shown")
  static let temporaryCodeRemoval = PoolPath1("users", nil, "temporary-code", "removal")
  static let recoveryCodesRemoval = PoolPath1("users", nil, "recovery-codes", "removal")
  static let enrollmentLink = userPage("enrollment-link")

  /// The page that authenticator setup links in emails to users open.
  static let linkedEnrollment = Path("__", "auth", "enroll")
  /// The page that “This wasn't me” links in emails to users open.
  static let reportedChange = Path("__", "auth", "not-me")

  private static func userPage(_ name: String) -> PoolPath1 {
    PoolPath1("users", nil, .literal(name))
  }
}
