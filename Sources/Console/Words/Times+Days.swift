import Identity

extension Times {
  /// The moment at which a day begins where the reader is.
  func start(of day: Day) -> Instant { day.start }
}
