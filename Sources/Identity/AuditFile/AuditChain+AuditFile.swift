import Database

public struct AuditFilePart: Sendable {
  public fileprivate(set) var lines: [AuditFileLine] = []
  public fileprivate(set) var end: AuditFilePosition
}

extension AuditChain {
  /// The maximum size of a part in bytes, apart from its last line.
  private static let mostBytes = 524_288

  /// Returns the next lines of an audit file: sealed entries in order, each head after the entries
  /// that it covers, and a gap for entries that retention removed.
  ///
  /// The limit applies to entries, and to heads.
  ///
  /// - Returns: The lines; none if everything is written.
  public func auditFilePart(
    after position: AuditFilePosition, limit: Int = 500
  ) async throws -> AuditFilePart {
    let now = store.clock.now()
    return try await store.read { connection in
      var part = AuditFilePart(end: position)
      try part.end.goBack(in: connection)
      let links = try connection.all(
        """
        SELECT \(ChainLink.columns) FROM audit_link WHERE sequence > \(part.end.sequence)
        ORDER BY sequence LIMIT \(limit)
        """
      ) { try ChainLink(&$0) }
      let last = links.last?.sequence ?? part.end.sequence
      var heads = try connection.all(
        """
        SELECT \(AuditHead.columns) FROM audit_head
        WHERE sequence > \(part.end.head) AND sequence <= \(last) ORDER BY sequence LIMIT \(limit)
        """
      ) { try AuditHead(&$0) }[...]
      func addHeads() {
        while let head = heads.first, head.sequence <= part.end.sequence {
          part.lines.append(AuditFileLine(head: head))
          part.end.advance(to: head)
          heads.removeFirst()
        }
      }
      // Those that were signed after their entries were written.
      addHeads()
      var size = 0
      for link in links where size < Self.mostBytes {
        let row = try Audit.find(link.entry, connection)
        let missing = row == nil ? link.sequence : link.sequence - 1
        if missing > part.end.sequence {
          part.lines.append(
            AuditFileLine(gapFrom: part.end.sequence + 1, through: missing, at: now))
        }
        if let row {
          let line = AuditFileLine(row, link)
          part.lines.append(line)
          size += line.bytes.count
        }
        part.end.advance(to: link)
        addHeads()
      }
      return part
    }
  }
}
