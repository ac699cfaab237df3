import Database

extension Audit {
  /// The maximum number of rows filed per transaction.
  private static let filedAtOnce = 2_000

  /// Files the next rows: adds them to the indexes used for filtering.
  ///
  /// New rows aren't filed when they're written, because updating all indexes costs more than the
  /// change itself; filing many rows at once costs little. Searches also read unfiled rows, so
  /// filing affects their cost but not their results. Rows aren't stored in the order of their
  /// numbers if several servers write, so each has a mark.
  ///
  /// - Returns: True if there are more rows to file.
  /// - Throws: ``AuditError``.
  public func file() async throws(AuditError) -> Bool {
    let isDue = try await store.read(AuditError.self) { connection in
      try !Self.unfiled(limit: 1, connection).isEmpty
    }
    guard isDue else { return false }
    return try await store.write(AuditError.self) { connection in
      let next = try Self.unfiled(limit: Self.filedAtOnce, connection)
      guard let last = next.last else { return false }
      try connection.run(
        """
        UPDATE audit_change SET filed = 1
        WHERE audit_id IN (SELECT audit_id FROM audit \(index: "audit_unfiled")
          WHERE filed = 0 AND audit_id <= \(last))
        """)
      try connection.run(
        """
        UPDATE audit \(index: "audit_unfiled") SET filed = 1
        WHERE filed = 0 AND audit_id <= \(last)
        """)
      return next.count == Self.filedAtOnce
    }
  }

  /// Returns the numbers of the first rows that aren't filed.
  private static func unfiled(
    limit: Int, _ connection: borrowing Connection
  ) throws -> [Int64] {
    try connection.all(
      """
      SELECT audit_id FROM audit \(index: "audit_unfiled") WHERE filed = 0
      ORDER BY audit_id LIMIT \(limit)
      """
    ) { try $0.value(0) }
  }
}
