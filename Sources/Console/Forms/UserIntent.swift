import Identity
import Localization

/// What callers say, or what an administrator intends, and the actions for it.
enum UserIntent {
  case enroll, lost, atHome, rejected, found, cannotEnroll
  /// What callers rarely ask for.
  case more
  case takenOver, signIn, deletion, erasure

  /// The rows of what callers say; that of their codes is first if the diagnosis is about them.
  static func said(_ diagnosis: SignInDiagnosis) -> [UserIntent] {
    switch diagnosis.cause {
    case .incorrect, .reused, .backupCodesOff:
      [.rejected, .enroll, .lost, .atHome, .found, .cannotEnroll]
    default: [.enroll, .lost, .atHome, .rejected, .found, .cannotEnroll]
    }
  }

  /// The heading of its row; nil for what has none.
  var title: Message? {
    switch self {
    case .enroll: Message("Ready to enroll")
    case .lost: Message("Lost or stolen device")
    case .atHome: Message("Phone at home")
    case .rejected: Message("Code rejected")
    case .found: Message("Device found")
    case .cannotEnroll: Message("Can’t enroll yet")
    case .more: nil
    case .takenOver: Message("Account taken over")
    case .signIn: Message("Sign-in")
    case .deletion: Message("User")
    case .erasure: Message("Stored data")
    }
  }

  /// The one fact that decides on the action.
  func fact(_ records: UserRecords, in pool: Pool) -> Message? {
    switch self {
    case .enroll:
      records.account.email.map {
        Message("Email to {email}, valid for 30\u{A0}min", ["email": .name(Formatted.short($0))])
      }
    case .lost: Self.removal(records, in: pool)
    case .atHome:
      records.rules.temporaryCodes
        ? Message("Single-use code, or pause the factor")
        : Message("Pauses the factor until the user has it again")
    case .rejected: Self.rejected(records.codeAttempts.items)
    case .found: Message("Makes the removed factor valid again")
    case .cannotEnroll: Message("No phone, or a new one on its way")
    case .more: nil
    case .takenOver: Message("Removes every factor and ends every session")
    case .signIn: Message("Refuses sign-in and keeps the account")
    case .deletion: Message("Can’t be undone")
    case .erasure: Message("Also from messages and the audit log")
    }
  }

  private static func removal(_ records: UserRecords, in pool: Pool) -> Message {
    guard pool.kind == .hosted else { return Message("Ends all sessions · can’t be undone") }
    let count = Message.Value.number(records.sessionCount)
    guard records.rules.undoHours > 0 else {
      return Message(
        one: "Ends {count} session · can’t be undone",
        other: "Ends {count} sessions · can’t be undone", ["count": count])
    }
    return Message(
      one: "Ends {count} session", other: "Ends {count} sessions", ["count": count])
  }

  private static func rejected(_ codeAttempts: [CodeAttempt]) -> Message? {
    let count = codeAttempts.reduce(0) { $0 + $1.times }
    guard count > 0 else { return nil }
    let accepted = codeAttempts.reduce(0) { $1.result.isSuccess ? $0 + $1.times : $0 }
    return Message(
      one: "{rejected} of the last {count} code", other: "{rejected} of the last {count} codes",
      ["rejected": .number(count - accepted), "count": .number(count)])
  }
}
