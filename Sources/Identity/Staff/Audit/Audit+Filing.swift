import Database

extension Audit {
  private static let filedAtOnce = 2_000

  /// Files the next rows: adds them to the indexes used for filtering.
  ///
  /// New rows aren't filed when they're written, because updating all indexes costs more than the
  /// change itself; filing many rows at once costs little. Searches also read unfiled rows, so
  /// filing affects their cost but not their results. Rows that an earlier one could still be stored
  /// before are filed later, so the last filed row tells which are.
  ///
  /// - Returns: True if there are more rows to file.
  public func file() async throws -> Bool {
    guard let settled = try await store.settledEntry() else { return false }
    let waiting = try await store.read { connection in
      try Self.next(after: try Self.filedTo(connection), through: settled, connection)
    }
    guard waiting != nil else { return false }
    return try await store.write { connection in
      let start = try Self.filedTo(connection)
      guard let end = try Self.next(after: start, through: settled, connection) else {
        return false
      }
      try Self.markAsFiled(after: start, through: end, if: "filed = 0", connection)
      try connection.run(
        "UPDATE instance SET value = \(String(end)) WHERE name = 'audit_filed_to'")
      return try Self.next(after: end, through: settled, connection) != nil
    }
  }

  /// Returns the number of the last filed row.
  static func filedTo(_ connection: borrowing Connection) throws -> Int64 {
    try InstanceValue("audit_filed_to").readNumber(connection) ?? 0
  }

  /// Returns whether rows count as filed that don't exist yet, so that searches would leave them out.
  static func isFiledAhead(_ connection: borrowing Connection) throws -> Bool {
    try filedTo(connection) > lastRow(connection)
  }

  static func fileAgain(
    _ numbers: ClosedRange<Int64>, _ connection: borrowing Connection
  ) throws {
    let (start, end) = (numbers.lowerBound, min(numbers.upperBound, try filedTo(connection)))
    try markAsFiled(after: start, through: end, if: "filed <> 1", connection)
  }

  private static func markAsFiled(
    after start: Int64, through end: Int64, if condition: SQL, _ connection: borrowing Connection
  ) throws {
    for table in ["audit", "audit_change"] as [SQL] {
      try connection.run(
        """
        UPDATE \(table) SET filed = 1
        WHERE audit_id > \(start) AND audit_id <= \(end) AND \(condition)
        """)
    }
  }

  /// Lets filing continue after the last filed row if it's said to be further.
  static func resumeFiling(_ connection: borrowing Connection) throws {
    guard try isFiledAhead(connection) else { return }
    // Written so that no index of filed rows applies, none of which has the log's order.
    let last: Int64? = try connection.first(
      """
      SELECT audit_id FROM audit WHERE audit_id > 0 AND filed + 0 = 1
      ORDER BY audit_id DESC LIMIT 1
      """
    ) { try $0.next() }
    try connection.run(
      "UPDATE instance SET value = \(String(last ?? 0)) WHERE name = 'audit_filed_to'")
  }

  /// Returns the last number of the next batch; nil if all rows are filed.
  private static func next(
    after start: Int64, through settled: Int64, _ connection: borrowing Connection
  ) throws -> Int64? {
    let last: Int64? = try connection.first(
      """
      SELECT audit_id FROM audit
      WHERE audit_id > \(start) AND audit_id <= \(min(start + Int64(filedAtOnce), settled))
      ORDER BY audit_id DESC LIMIT 1
      """
    ) { try $0.next() }
    if let last { return last }
    // Rolled-back transactions leave gaps in the numbers; a gap this long is rare.
    return try connection.first(
      """
      SELECT audit_id FROM audit WHERE audit_id > \(start) AND audit_id <= \(settled)
      ORDER BY audit_id LIMIT 1
      """
    ) { try $0.next() }
  }
}

extension Store {
  /// Returns the number of an audit entry up to which no other entry can still be stored; nil if
  /// the writes in progress take too long.
  func settledEntry() async throws -> Int64? {
    try await database.settledKey("audit_id", of: "audit")
  }
}
