import Identity
import Localization

extension Scope {
  var place: Message.Value {
    let name = SafeName.plain(name)
    guard tenant != nil else { return .text(name) }
    return .message(
      Message(
        "mail.tenant-of-project",
        ["project": .text(SafeName.plain(projectName)), "tenant": .text(name)]))
  }
}

extension WeakenedPolicyMail {
  var subject: Message { Message("mail.subject-policy", ["place": scope.place]) }

  func body(in catalog: Catalog) -> Message {
    Message(
      "mail.policy",
      [
        "by": .text(SafeName.unlinked(by)), "place": scope.place, "at": .moment(at),
        "changes": changes.lines(in: catalog),
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

extension [PolicyChange] {
  func lines(in catalog: Catalog) -> Message.Value {
    .text(map { catalog.text($0.line) }.joined(separator: "\n"))
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
    case .enforcement: Message("mail.policy-enforcement", ["from": from, "to": to])
    }
  }
}
