import HTTP
import Identity

extension UnreadableSecrets.Group {
  /// Says what can't be decrypted and what that affects.
  var sentence: String {
    switch kind {
    case .userTOTP:
      let secrets = Words.count(
        count, "user’s TOTP secret can’t be decrypted", "users’ TOTP secrets can’t be decrypted")
      return "\(secrets), so their codes are rejected."
    case .administratorTOTP:
      let secrets = Words.count(
        count, "administrator’s TOTP secret can’t be decrypted",
        "administrators’ TOTP secrets can’t be decrypted")
      return "\(secrets), so their codes are rejected."
    case .userCodes:
      let keys = Words.count(
        count, "user’s temporary or recovery codes can’t be verified",
        "users’ temporary or recovery codes can’t be verified")
      return "\(keys): their stored key can’t be decrypted."
    case .clientSecret:
      return Words.count(
        count, "identity provider’s client secret can’t be decrypted",
        "identity providers’ client secrets can’t be decrypted") + "."
    case .signingKey:
      return Words.count(
        count, "token signing key can’t be decrypted", "token signing keys can’t be decrypted")
        + "."
    case .message:
      return Words.count(
        count, "message to a user can’t be decrypted", "messages to users can’t be decrypted") + "."
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
