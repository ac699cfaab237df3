import Database

extension Identity {
  /// The difference between the clocks of servers on one database, in seconds, from which they
  /// compare codes, leases, and expiry differently.
  public static let clockTolerance: Int64 = 5

  /// Returns how many seconds the clock of the database's machine is ahead of this one's, negative if
  /// it's behind; nil for a file, which has this machine's clock.
  ///
  /// - Throws: ``StartError/unavailable(_:)``.
  public func databaseClockDifference() async throws(StartError) -> Int64? {
    guard store.database.dialect.sharesDatabase else { return nil }
    let start = clock.now().microseconds
    let theirs = try await store.read(StartError.self) { connection in
      try connection.first("SELECT \(SQL.machineTime)") { try $0.value(0) as Int64 }
    }
    guard let theirs else { return nil }
    // The answer is from any moment between the question and now.
    let end = max(clock.now().microseconds, start)
    let difference = theirs < start ? theirs - start : max(theirs - end, 0)
    return difference / 1_000_000
  }
}
