import Identity
import Templating

/// Removals for many users in words.
enum BulkWords {
  static func chip(_ state: BulkJob.State) -> Markup {
    switch state {
    case .draft: Chip.off("not decided")
    case .waiting: Chip.look("waits for approval")
    case .running: Chip.look("running")
    case .done: Chip.on("done")
    case .stopped: Chip.bad("stopped")
    }
  }

  /// What a line came to, or will.
  static func result(_ item: BulkItem, of job: BulkJob) -> String {
    switch item.result {
    case nil where job.state == .draft || job.state == .waiting:
      Words.count(item.factors, "factor goes", "factors go")
    case nil: "waits for its turn"
    case .removed:
      [
        "removed \(Words.count(item.removed, "factor", "factors"))",
        item.sessions == 0 ? nil : "ended \(Words.count(item.sessions, "session", "sessions"))",
      ].compactMap { $0 }.joined(separator: ", ")
    case .some(BulkResult.none): "has no second factor"
    case .notFound: "nobody has this address or uid"
    case .twice: "stands on an earlier line too"
    case .protected: "protected: only an owner acts on it"
    case .own: "the own address of who made the list"
    case .locked: "changes are locked: an owner has to look at it first"
    case .changed: "left out: a factor was enrolled after the list was looked at"
    case .stopped: "not done: the removal ended before"
    case .failed: "could not be done; act on this user alone"
    }
  }

  /// The name of a tab, without its number.
  static func tab(_ result: BulkResult?, of job: BulkJob) -> String {
    switch result {
    case nil: job.state == .draft || job.state == .waiting ? "To be removed" : "To come"
    case .removed: "Removed"
    case .some(BulkResult.none): "No second factor"
    case .notFound: "Not found"
    case .twice: "Twice on the list"
    case .protected: "Protected"
    case .own: "Own account"
    case .locked: "Changes locked"
    case .changed: "Changed since"
    case .stopped: "Not done"
    case .failed: "Failed"
    }
  }
}

/// What a job refuses, as pages say it.
enum BulkFaults {
  /// The errors of the fields of the form.
  ///
  /// - Throws: The refusal of what no field can mend.
  static func faults(_ error: BulkError, _ job: BulkJob, _ times: Times) throws(Refusal)
    -> [FieldError]
  {
    switch error {
    case .denied(let error):
      try ActionErrorText.faults(
        error, times,
        confirmation: FieldError(
          field: "number",
          text: "Type \(Words.number(job.users)), the number of users: it cannot be undone."))
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
