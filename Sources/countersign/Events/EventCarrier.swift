import Identity

/// Delivers events to one destination.
protocol EventCarrier: Sendable {
  /// Delivers a batch.
  func deliver(_ batch: EventBatch) async -> EventAttempt
  /// Ends a delivery that takes too long, and those that follow.
  func cancel()
}

/// The result of delivering a batch.
enum EventAttempt: Sendable {
  /// The destination has the events.
  case delivered
  /// It refused them for what they are.
  case refused(String)
  /// It's unavailable, or accepts nothing at the moment.
  case postponed(String)
  /// The connection broke, and events after the position may not have arrived, although they were
  /// delivered.
  case interrupted(String, after: StreamPosition)
}

extension ConfigurationError {
  /// The problems as one line.
  var line: String { problems.map(OperatorText.string).joined(separator: " ") }
}
