import Synchronization

/// The code attempts that were folded since the start, by outcome.
final class FoldedAttempts: Sendable {
  private let checks = Mutex(ActivityTally.Checks())

  func add(_ more: ActivityTally.Checks) { checks.withLock { $0.add(more) } }

  func count(_ outcome: CodeAttempt.Outcome) -> Int {
    let checks = checks.withLock { $0 }
    return switch outcome {
    case .accepted: checks.accepted
    case .outside: checks.outside
    case .incorrect: checks.incorrect
    case .locked: checks.locked
    case .other: checks.other
    }
  }
}
