import Identity
import Localization

extension BulkProgress {
  var undoEndingSentence: Message? {
    guard let undo, !undo.isRunning, undone.left > 0 else { return nil }
    return Message(
      "removals.undo-ended",
      [
        "name": .name(undo.administratorName), "number": .number(undone.processed),
        "users": .message(BulkText.users(undone.users)),
      ])
  }
}

extension BulkJob {
  var endingSentence: Message? {
    switch ending {
    case nil: nil
    case .refused(let name, let answer):
      Message("removals.refused", ["name": .name(name), "answer": .name(answer)])
    case .withdrawn(let name): Message("removals.withdrawn", ["name": .name(name)])
    case .expired: Message("removals.not-approved-in-time")
    case .overtaken(let obstacle): obstacle.sentence(requesterName)
    case .stopped(let name): Message("removals.stopped-by", ["name": .name(name)])
    case .scopeDeleted: Message("removals.pool-deleted")
    case .permissionLost: ApprovalObstacle.permissionLost.sentence(requesterName)
    case .restored: Message("removals.backup-restored")
    case .text(let text): .verbatim(text)
    }
  }
}
