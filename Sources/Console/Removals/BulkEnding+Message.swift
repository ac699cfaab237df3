import Identity
import Localization

extension BulkProgress {
  var undoEndingSentence: Message? {
    guard let undo, !undo.isRunning, undone.left > 0 else { return nil }
    return Message(
      one: """
        The undo by {name} ended after {number} of {count} user: permission was revoked, or a \
        backup was restored.
        """,
      other: """
        The undo by {name} ended after {number} of {count} users: permission was revoked, or a \
        backup was restored.
        """,
      [
        "name": .name(undo.administratorName), "number": .number(undone.processed),
        "count": .number(undone.users),
      ])
  }
}

extension BulkJob {
  var endingSentence: Message? {
    switch ending {
    case nil: nil
    case .refused(let name, let answer):
      Message("Refused by {name}: {answer}", ["name": .name(name), "answer": .name(answer)])
    case .withdrawn(let name): Message("Withdrawn by {name}.", ["name": .name(name)])
    case .expired: Message("No one approved it within a day.")
    case .overtaken(let obstacle): obstacle.sentence(requesterName)
    case .stopped(let name): Message("Stopped by {name}.", ["name": .name(name)])
    case .poolDeleted: Message("The user pool was deleted.")
    case .permissionLost: ApprovalObstacle.permissionLost.sentence(requesterName)
    case .restored: Message("A backup was restored.")
    case .text(let text): .verbatim(text)
    }
  }
}
