import HTTP
import Identity

extension UnreadableSecrets.Group {
  /// Says what can't be decrypted and what that affects.
  var sentence: String {
    switch kind {
    case .userTOTP:
      let secrets = Words.count(
        count, "user's TOTP secret can't be opened", "users' TOTP secrets can't be opened")
      return "\(secrets), so their codes are refused."
    case .administratorTOTP:
      let secrets = Words.count(
        count, "administrator's TOTP secret can't be opened",
        "administrators' TOTP secrets can't be opened")
      return "\(secrets), so their codes are refused."
    case .userCodes:
      let keys = Words.count(
        count, "user's temporary or recovery codes can't be checked",
        "users' temporary or recovery codes can't be checked")
      return "\(keys): their stored key can't be opened."
    case .clientSecret:
      return Words.count(
        count, "identity provider's client secret can't be opened",
        "identity providers' client secrets can't be opened") + "."
    case .signingKey:
      return Words.count(
        count, "token signing key can't be opened", "token signing keys can't be opened") + "."
    case .message:
      return Words.count(
        count, "message to a user can't be opened", "messages to users can't be opened") + "."
    }
  }

  /// The link to the entries in the audit log.
  var history: String {
    let query: Form = ["action": "secret"]
    guard let project else { return query.query(of: ConsolePaths.instanceAudit()) }
    let path =
      tenant.map { ConsolePaths.audit.ofTenant(project.text, $0.text) }
      ?? ConsolePaths.audit.ofProject(project.text)
    return query.query(of: path)
  }
}
