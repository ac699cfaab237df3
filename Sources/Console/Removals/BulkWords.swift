import Identity
import Templating

/// The states and results of bulk removals as text.
enum BulkWords {
  static func chip(_ state: BulkJob.State) -> Markup {
    switch state {
    case .draft: Chip.off("draft")
    case .waiting: Chip.look("pending approval")
    case .running: Chip.look("running")
    case .done: Chip.on("done")
    case .stopped: Chip.bad("stopped")
    }
  }

  /// Returns the result of a line, or what will be removed.
  static func result(_ item: BulkItem, of job: BulkJob) -> String {
    switch item.result {
    case nil where job.state == .draft || job.state == .waiting:
      Words.count(item.factors, "factor", "factors") + " to remove"
    case nil: "queued"
    case .removed:
      [
        "removed \(Words.count(item.removed, "factor", "factors"))",
        item.sessions == 0 ? nil : "ended \(Words.count(item.sessions, "session", "sessions"))",
      ].compactMap { $0 }.joined(separator: ", ")
    case .some(BulkResult.none): "no second factor"
    case .notFound: "no user has this email address or UID"
    case .twice: "duplicate of an earlier line"
    case .protected: "protected: only \(Permission.protectUsers.holder) can act on this user"
    case .own: "the requester’s own account"
    case .locked:
      "changes locked: \(Permission.protectUsers.holder) must review the user’s report first"
    case .changed: "skipped: a factor was enrolled after the preview"
    case .stopped: "skipped: the removal ended early"
    case .failed: "failed: remove this user’s factors individually"
    }
  }

  /// Returns the label of a tab, without its count.
  static func tab(_ result: BulkResult?, of job: BulkJob) -> String {
    switch result {
    case nil: job.state == .draft || job.state == .waiting ? "To remove" : "Queued"
    case .removed: "Removed"
    case .some(BulkResult.none): "No second factor"
    case .notFound: "Not found"
    case .twice: "Duplicate"
    case .protected: "Protected"
    case .own: "Own account"
    case .locked: "Changes locked"
    case .changed: "Changed"
    case .stopped: "Skipped"
    case .failed: "Failed"
    }
  }
}

/// Error messages for bulk removals.
enum BulkFaults {
  /// Returns the field errors of the form.
  ///
  /// - Throws: A ``Refusal`` for errors that don't belong to a field.
  static func faults(_ error: BulkError, _ job: BulkJob, _ times: Times) throws(Refusal)
    -> [FieldError]
  {
    switch error {
    case .denied(let error):
      try ActionErrorText.faults(
        error, times,
        confirmation: FieldError(
          field: "number",
          text: "Enter \(Words.number(job.users)), the number of users. This can’t be undone."))
    case .notFound, .nothingToDo, .unavailable: throw refusal(error)
    }
  }

  static func refusal(_ error: BulkError) -> Refusal {
    switch error {
    case .notFound, .nothingToDo: .notFound
    case .denied(.notAllowed): .notAllowed(.removeFactors)
    case .denied: .notFound
    case .unavailable: .unavailable(error)
    }
  }
}
