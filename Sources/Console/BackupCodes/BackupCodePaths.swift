import HTTP
import Identity

/// The addresses of temporary codes, recovery codes, and enrollment links.
extension ConsolePaths {
  static let temporaryCode = userPage("temporary-code")
  static let shownCode = ScopePath(
    Path(
      "projects", nil, "users", nil, "temporary-code", "shown", parameters: String.self,
      String.self),
    Path(
      "projects", nil, "tenants", nil, "users", nil, "temporary-code", "shown",
      parameters: String.self, String.self, String.self))
  static let temporaryCodeRemoval = ScopePath(
    Path(
      "projects", nil, "users", nil, "temporary-code", "removal", parameters: String.self,
      String.self),
    Path(
      "projects", nil, "tenants", nil, "users", nil, "temporary-code", "removal",
      parameters: String.self, String.self, String.self))
  static let recoveryCodesRemoval = ScopePath(
    Path(
      "projects", nil, "users", nil, "recovery-codes", "removal", parameters: String.self,
      String.self),
    Path(
      "projects", nil, "tenants", nil, "users", nil, "recovery-codes", "removal",
      parameters: String.self, String.self, String.self))
  static let enrollmentLink = userPage("enrollment-link")

  /// The page that authenticator setup links in emails to users open.
  static let linkedEnrollment = Path("__", "auth", "enroll")
  /// The page that “This wasn't me” links in emails to users open.
  static let reportedChange = Path("__", "auth", "not-me")

  private static func userPage(_ name: String) -> ScopePath1 {
    ScopePath(
      Path("projects", nil, "users", nil, .literal(name), parameters: String.self, String.self),
      Path(
        "projects", nil, "tenants", nil, "users", nil, .literal(name), parameters: String.self,
        String.self, String.self))
  }
}
