import HTTP
import Identity

/// The addresses of codes that stand in for an authenticator app, and of links to enroll.
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

  /// Where links in mails to users lead that set an authenticator app up.
  static let linkedEnrollment = Path("__", "auth", "enroll")
  /// Where links in mails to users lead by which they say that something was none of theirs.
  static let reportedChange = Path("__", "auth", "not-me")

  private static func userPage(_ name: String) -> ScopePath1 {
    ScopePath(
      Path("projects", nil, "users", nil, .literal(name), parameters: String.self, String.self),
      Path(
        "projects", nil, "tenants", nil, "users", nil, .literal(name), parameters: String.self,
        String.self, String.self))
  }
}
