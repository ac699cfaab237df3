import HTTP
import Identity
import Localization

extension UnreadableSecrets.Group {
  var sentence: Message {
    switch kind {
    case .userTOTP:
      Message(
        one: """
          {count} user’s TOTP secret can’t be decrypted, so their codes are rejected. Restore the \
          missing master key, or remove the factor so that they can enroll again.
          """,
        other: """
          {count} users’ TOTP secrets can’t be decrypted, so their codes are rejected. Restore the \
          missing master key, or remove their factors so that they can enroll again.
          """, ["count": .number(count)])
    case .administratorTOTP:
      Message(
        one: "{count} administrator’s TOTP secret can’t be decrypted, so their codes are rejected.",
        other: """
          {count} administrators’ TOTP secrets can’t be decrypted, so their codes are rejected.
          """, ["count": .number(count)])
    case .userCodes:
      Message(
        one: """
          {count} user’s temporary or recovery codes can’t be verified: their stored key can’t be \
          decrypted.
          """,
        other: """
          {count} users’ temporary or recovery codes can’t be verified: their stored key can’t be \
          decrypted.
          """, ["count": .number(count)])
    case .clientSecret:
      Message(
        one: "{count} identity provider’s client secret can’t be decrypted.",
        other: "{count} identity providers’ client secrets can’t be decrypted.",
        ["count": .number(count)])
    case .signingKey:
      Message(
        one: "{count} token signing key can’t be decrypted.",
        other: "{count} token signing keys can’t be decrypted.", ["count": .number(count)])
    case .evidenceKey:
      Message(
        one: """
          {count} evidence key can’t be decrypted. Its files can still be verified, but it can’t \
          sign.
          """,
        other: """
          {count} evidence keys can’t be decrypted. Their files can still be verified, but they \
          can’t sign.
          """, ["count": .number(count)])
    case .message:
      Message(
        one: "{count} message to a user can’t be decrypted.",
        other: "{count} messages to users can’t be decrypted.", ["count": .number(count)])
    case .connection:
      Message(
        one: "The credential of {count} connection can’t be decrypted. Replace it.",
        other: "The credentials of {count} connections can’t be decrypted. Replace them.",
        ["count": .number(count)])
    }
  }

  var history: String {
    let query: Form = ["action": "secret"]
    guard let project else { return query.query(of: ConsolePaths.instanceAudit()) }
    return query.query(of: ConsolePaths.audit(project, tenant))
  }
}
