import Identity
import Localization

extension PasswordWeakness {
  /// What to enter instead.
  var message: Message {
    switch self {
    case .tooShort:
      Message(
        "account.password-too-short", ["characters": .number(Administrators.shortestPassword)])
    case .tooLong(let bytes): Message("account.password-too-long", ["bytes": .number(bytes)])
    case .sameAsEmail: Message("account.password-is-email")
    }
  }
}
