import Identity
import Localization

extension WeakenedPolicyMail {
  private var place: Message.Value {
    let name = SafeName.plain(scope.name)
    guard scope.tenant != nil else { return .text(name) }
    return .message(
      Message(
        "mail.tenant-of-project",
        ["project": .text(SafeName.plain(scope.projectName)), "tenant": .text(name)]))
  }

  var subject: Message { Message("mail.subject-policy", ["place": place]) }

  func body(in catalog: Catalog) -> Message {
    Message(
      "mail.policy",
      [
        "by": .text(SafeName.unlinked(by)), "place": place, "at": .moment(at),
        "changes": .text(changes.map { catalog.text($0.line) }.joined(separator: "\n")),
        "reason": .message(why),
      ])
  }

  private var why: Message {
    reason.map {
      Message(
        "mail.policy-reason",
        ["reason": .text(SafeName.unlinked($0, longest: ActionRequest.longestNote))])
    } ?? Message("mail.policy-no-reason")
  }
}

extension PolicyChange {
  fileprivate var line: Message {
    let (from, to) = (Message.Value.message(from.message), Message.Value.message(to.message))
    return switch field {
    case .totp: Message("mail.policy-totp", ["from": from, "to": to])
    case .adjacentIntervals:
      Message("mail.policy-adjacent-intervals", ["from": from, "to": to])
    case .sms: Message("mail.policy-sms", ["from": from, "to": to])
    case .state: Message("mail.policy-state", ["from": from, "to": to])
    case .pattern: Message("mail.policy-pattern", ["from": from, "to": to])
    }
  }
}
