import Glibc
import Localization
import Synchronization

/// A line on standard error that says how far a command is, if that's a terminal.
final class ProgressLine: Sendable {
  private let isShown = isatty(STDERR_FILENO) == 1
  private let message: @Sendable (_ table: Message.Value, _ rows: Message.Value) -> Message
  private let last = Mutex<ContinuousClock.Instant?>(nil)

  init(
    _ message: @escaping @Sendable (_ table: Message.Value, _ rows: Message.Value) -> Message
  ) {
    self.message = message
  }

  /// Shows how many rows of a table are done, at most five times a second.
  @Sendable func show(_ table: String, _ rows: Int) {
    guard isShown else { return }
    let now = ContinuousClock.now
    let isDue = last.withLock { last in
      guard last.map({ now - $0 >= .milliseconds(200) }) ?? true else { return false }
      last = now
      return true
    }
    guard isDue else { return }
    let text = OperatorText.string(message(.text(table), .number(rows)))
    Terminal.prompt("\r\u{1B}[K\(text)")
  }

  func end() {
    guard isShown, last.withLock({ $0 != nil }) else { return }
    Terminal.prompt("\r\u{1B}[K")
  }
}
