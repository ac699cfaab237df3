import Identity
import Metrics
import Synchronization

/// The results of attempts to send emails, or text messages, since the start.
final class MailHealth: Sendable {
  enum Attempt: String, CaseIterable, Sendable {
    case sent
    case rejected
    /// It's retried later.
    case postponed
    case unreachable
  }

  private struct State {
    var isPaused = false
    var lastFailure: Instant?
  }

  private let attempts = Counters()
  private let state = Mutex(State())

  var isPaused: Bool { state.withLock(\.isPaused) }

  var lastFailure: Instant? { state.withLock(\.lastFailure) }

  func record(_ attempt: Attempt, at now: Instant) {
    if let index = Attempt.allCases.firstIndex(of: attempt) { attempts.add(index) }
    state.withLock { state in
      state.isPaused = attempt == .unreachable
      if attempt != .sent { state.lastFailure = now }
    }
  }

  func count(_ attempt: Attempt) -> Int {
    Attempt.allCases.firstIndex(of: attempt).map(attempts.value) ?? 0
  }
}

extension MailHealth.Attempt {
  init(_ attempt: DeliveryAttempt) {
    self =
      switch attempt {
      case .recorded(.sent): .sent
      case .recorded(.postponed): .postponed
      case .recorded: .rejected
      case .isDown: .unreachable
      }
  }
}
