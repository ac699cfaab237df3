import Database

extension Audit {
  /// How many rows are filed in one write.
  private static let filedAtOnce = 2_000

  /// Puts the next rows into the indexes by which the log is filtered.
  ///
  /// A change leaves its row outside of them, since all of them together cost more than the change;
  /// many rows at once cost little. Searches look at what is not filed yet as well, so that filing
  /// changes what they cost and not what they find.
  ///
  /// - Returns: True when there is more to file.
  /// - Throws: ``AuditError``.
  public func file() async throws(AuditError) -> Bool {
    let waiting = try await store.read(AuditError.self) { connection in
      try Self.next(after: try Self.filedTo(connection), connection)
    }
    guard waiting != nil else { return false }
    return try await store.write(AuditError.self) { connection in
      let start = try Self.filedTo(connection)
      guard let end = try Self.next(after: start, connection) else { return false }
      try connection.run(
        "UPDATE audit SET filed = 1 WHERE audit_id > \(start) AND audit_id <= \(end) AND filed = 0")
      try connection.run(
        "UPDATE instance SET value = \(String(end)) WHERE name = 'audit_filed_to'")
      return try Self.next(after: end, connection) != nil
    }
  }

  /// The last number that is filed; those behind it are not.
  static func filedTo(_ connection: borrowing Connection) throws -> Int64 {
    let text: String? = try connection.first(
      "SELECT value FROM instance WHERE name = 'audit_filed_to'"
    ) { try $0.value(0) }
    return text.flatMap { Int64($0) } ?? 0
  }

  /// The last number of the rows that are filed together next; nil when all are.
  private static func next(
    after start: Int64, _ connection: borrowing Connection
  ) throws -> Int64? {
    let last: Int64? = try connection.first(
      """
      SELECT audit_id FROM audit WHERE audit_id > \(start) AND audit_id <= \(start + Int64(filedAtOnce))
      ORDER BY audit_id DESC LIMIT 1
      """
    ) { try $0.value(0) }
    if let last { return last }
    // Numbers of writes that were taken back are missing; so many in a row are rare.
    return try connection.first(
      "SELECT audit_id FROM audit WHERE audit_id > \(start) ORDER BY audit_id LIMIT 1"
    ) { try $0.value(0) }
  }
}
