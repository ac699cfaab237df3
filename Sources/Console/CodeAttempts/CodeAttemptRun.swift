import Identity

/// Consecutive code attempts with the same result, newest first, which one row of a list shows.
struct CodeAttemptRun {
  private(set) var attempts: [CodeAttempt]

  var newest: CodeAttempt { attempts[0] }
  var oldest: CodeAttempt { attempts[attempts.count - 1] }
  var isAccepted: Bool { newest.result.isSuccess }
  /// The number of codes, including those that share a record.
  var count: Int { attempts.reduce(0) { $0 + $1.times } }
  /// The distance of all codes in intervals; nil if they differ or are unknown.
  var distance: Int? {
    attempts.allSatisfy { $0.distance == newest.distance } ? newest.distance : nil
  }

  /// Divides code attempts, newest first, into runs.
  ///
  /// Accepted codes belong together whatever their distance; rejected ones only if they say the
  /// same about the phone.
  static func all(_ codeAttempts: [CodeAttempt]) -> [CodeAttemptRun] {
    var runs: [CodeAttemptRun] = []
    for codeAttempt in codeAttempts {
      if let last = runs.indices.last, runs[last].isContinued(by: codeAttempt) {
        runs[last].attempts.append(codeAttempt)
      } else {
        runs.append(CodeAttemptRun(attempts: [codeAttempt]))
      }
    }
    return runs
  }

  private func isContinued(by next: CodeAttempt) -> Bool {
    guard newest.result == next.result, newest.way == next.way,
      newest.enrollment == next.enrollment
    else { return false }
    return isAccepted
      || newest.distance == next.distance && newest.window == next.window
        && newest.isConfirmed == next.isConfirmed
  }
}
