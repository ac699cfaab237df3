import HTTP
import Identity
import Localization

extension UnreadableSecrets.Group {
  var sentence: Message {
    switch kind {
    case .userTOTP: Message("scopes.user-totp-unreadable", ["count": .number(count)])
    case .administratorTOTP:
      Message("scopes.administrator-totp-unreadable", ["count": .number(count)])
    case .userCodes: Message("scopes.user-codes-unreadable", ["count": .number(count)])
    case .clientSecret: Message("scopes.client-secret-unreadable", ["count": .number(count)])
    case .signingKey: Message("scopes.signing-key-unreadable", ["count": .number(count)])
    case .evidenceKey: Message("scopes.evidence-key-unreadable", ["count": .number(count)])
    case .message: Message("scopes.message-unreadable", ["count": .number(count)])
    }
  }

  var history: String {
    let query: Form = ["action": "secret"]
    guard let project else { return query.query(of: ConsolePaths.instanceAudit()) }
    let path =
      tenant.map { ConsolePaths.audit.ofTenant(project.text, $0.text) }
      ?? ConsolePaths.audit.ofProject(project.text)
    return query.query(of: path)
  }
}
