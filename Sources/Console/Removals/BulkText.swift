import Identity
import Localization
import Templating

enum BulkText {
  static func signIn(_ next: SignInWithoutFactor, _ times: Times) -> Message {
    switch next {
    case .accepted: Message("removals.first-factor-only")
    case .enforced(.claim, nil): Message("removals.first-factor-and-claim")
    case .enforced(.claim, let from?):
      Message("removals.first-factor-claim-later", ["time": times.value(from)])
    case .enforced(.refuse, nil): Message("removals.some-sign-ins-refused")
    case .enforced(.refuse, let from?):
      Message("removals.some-sign-ins-refused-later", ["time": times.value(from)])
    }
  }

  static func chip(_ state: BulkJob.State, undo: BulkUndo.State? = nil) -> Markup {
    switch undo {
    case .running: return Chip.look(Message("removals.state-undoing"))
    case .partial: return Chip.look(Message("removals.state-partly-undone"))
    case .done: return Chip.off(Message("removals.state-undone"))
    case nil: break
    }
    return switch state {
    case .draft: Chip.off(Message("removals.state-draft"))
    case .waiting: Chip.look(Message("removals.state-waiting"))
    case .running: Chip.look(Message("removals.state-running"))
    case .done: Chip.on(Message("removals.state-done"))
    case .stopped: Chip.bad(Message("removals.state-stopped"))
    }
  }

  static func chip(_ progress: BulkProgress) -> Markup {
    chip(progress.job.state, undo: progress.undoState)
  }

  static func users(_ count: Int) -> Message {
    Message("removals.n-users", ["count": .number(count)])
  }

  /// Returns the result of a line, or what will be removed, for a page.
  static func result(_ item: BulkItem, of job: BulkJob) -> Message {
    switch item.result {
    case nil where job.state == .draft || job.state == .waiting: toRemove(item)
    case nil: Message("removals.result-queued")
    case .removed where item.sessions == 0:
      Message("removals.result-removed", ["count": .number(item.removed)])
    case .removed:
      Message(
        "removals.result-removed-and-ended",
        ["factors": .message(factors(item)), "sessions": .message(sessions(item))])
    case .some(BulkResult.none): Message("removals.result-none")
    case .notFound: Message("removals.result-not-found")
    case .twice: Message("removals.result-twice")
    case .protected: Message("removals.result-protected", ["holder": holder])
    case .own: Message("removals.result-own")
    case .locked: Message("removals.result-locked", ["holder": holder])
    case .changed: Message("removals.result-changed")
    case .restored: Message("removals.result-restored")
    case .restoredBefore: Message("removals.result-restored-before")
    case .notRestored: Message("removals.result-not-restored")
    case .stopped: Message("removals.result-stopped")
    case .failed: Message("removals.result-failed")
    }
  }

  /// Returns the same for a cell of a file, where it doesn't begin a sentence.
  static func cell(_ item: BulkItem, of job: BulkJob) -> Message {
    switch item.result {
    case nil where job.state == .draft || job.state == .waiting: toRemove(item)
    case nil: Message("removals.cell-queued")
    case .removed where item.sessions == 0:
      Message("removals.cell-removed", ["count": .number(item.removed)])
    case .removed:
      Message(
        "removals.cell-removed-and-ended",
        ["factors": .message(factors(item)), "sessions": .message(sessions(item))])
    case .some(BulkResult.none): Message("removals.cell-none")
    case .notFound: Message("removals.cell-not-found")
    case .twice: Message("removals.cell-twice")
    case .protected: Message("removals.cell-protected", ["holder": holder])
    case .own: Message("removals.cell-own")
    case .locked: Message("removals.cell-locked", ["holder": holder])
    case .changed: Message("removals.cell-changed")
    case .restored: Message("removals.cell-restored")
    case .restoredBefore: Message("removals.cell-restored-before")
    case .notRestored: Message("removals.cell-not-restored")
    case .stopped: Message("removals.cell-stopped")
    case .failed: Message("removals.cell-failed")
    }
  }

  static func tab(_ result: BulkResult?, of job: BulkJob, _ count: Int) -> Message {
    Message(
      "removals.tab", ["result": .message(name(result, of: job)), "number": .number(count)])
  }

  private static func name(_ result: BulkResult?, of job: BulkJob) -> Message {
    switch result {
    case nil:
      job.state == .draft || job.state == .waiting
        ? Message("removals.tab-to-remove") : Message("removals.tab-queued")
    case .removed: Message("removals.tab-removed")
    case .some(BulkResult.none): Message("removals.tab-none")
    case .notFound: Message("removals.tab-not-found")
    case .twice: Message("removals.tab-twice")
    case .protected: Message("removals.tab-protected")
    case .own: Message("removals.tab-own")
    case .locked: Message("removals.tab-locked")
    case .changed: Message("removals.tab-changed")
    case .restored: Message("removals.tab-restored")
    case .restoredBefore: Message("removals.tab-restored-before")
    case .notRestored: Message("removals.tab-not-restored")
    case .stopped: Message("removals.tab-stopped")
    case .failed: Message("removals.tab-failed")
    }
  }

  private static func toRemove(_ item: BulkItem) -> Message {
    Message("removals.factors-to-remove", ["count": .number(item.factors)])
  }

  private static func factors(_ item: BulkItem) -> Message {
    Message("removals.n-factors", ["count": .number(item.removed)])
  }

  private static func sessions(_ item: BulkItem) -> Message {
    Message("removals.n-sessions", ["count": .number(item.sessions)])
  }

  private static var holder: Message.Value { .message(Permission.protectUsers.holder) }
}

enum BulkFaults {
  /// - Throws: A ``Refusal`` for errors that don't belong to a field.
  static func faults(_ error: BulkError, users: Int, _ times: Times) throws(Refusal)
    -> [FieldError]
  {
    switch error {
    case .denied(let error):
      try ActionErrorText.faults(
        error, times,
        confirmation: FieldError(
          field: "number",
          text: Message("removals.number-wrong", ["number": .number(users)])))
    case .notFound, .nothingToDo, .tooLong, .unavailable: throw refusal(error)
    }
  }

  static func refusal(_ error: BulkError) -> Refusal {
    switch error {
    case .notFound, .nothingToDo, .tooLong: .notFound
    case .denied(let error): Refusal(error)
    case .unavailable: .unavailable(error)
    }
  }
}
