import Database
import Text

/// The support playbook of a project or tenant, such as how to verify callers and whom to contact.
///
/// All versions are kept, so that earlier ones can be read later. The playbook is part of the
/// settings of a project or tenant: it doesn't affect sign-in, and everyone who can see the project
/// or tenant can read it.
public struct PoolGuidance: Sendable {
  let store: Store

  /// The maximum length of the text in UTF-8, in bytes.
  public static let longest = 64 << 10
  /// The approximate length of the beginning of a text, in characters.
  static let beginningLength = 600

  public func read(
    _ pool: Pool, version: Int? = nil
  ) async throws -> GuidanceText? {
    try await store.read { connection in
      try Self.find(pool, version: version, connection)
    }
  }

  static func beginning(
    _ pool: Pool, _ connection: borrowing Connection
  ) throws -> GuidanceBeginning? {
    let found = try connection.first(
      """
      SELECT version, written_at, written_by, bytes, beginning FROM guidance
      WHERE scope_key = \(pool.key) ORDER BY version DESC LIMIT 1
      """
    ) { row in
      let (version, text) = (try Self.version(&row), try row.next() as String)
      // Beginnings that an earlier version stored can end with a heading.
      let isCut = text.utf8.count < version.bytes
      return GuidanceBeginning(
        version: version, text: isCut ? String(withoutLastHeadings(text[...])) : text)
    }
    return found?.version.bytes == 0 ? nil : found
  }

  /// Lists the versions, newest first.
  public func versions(
    _ pool: Pool, after: String? = nil, limit: Int = 20
  ) async throws -> Page<GuidanceVersion> {
    let limit = Page<GuidanceVersion>.size(limit)
    let before = after.flatMap { Int($0) } ?? Int.max
    return try await store.read { connection in
      let versions = try connection.all(
        """
        SELECT version, written_at, written_by, bytes FROM guidance
        WHERE scope_key = \(pool.key) AND version < \(before)
        ORDER BY version DESC LIMIT \(limit + 1)
        """, Self.version)
      return Page(versions, limit: limit) { String($0.number) }
    }
  }

  /// Saves text as the next version with an audit row; the row contains the length, the version the
  /// text.
  ///
  /// Text identical to the newest version isn't saved. Line endings are converted to line feeds.
  /// Empty text removes the support playbook. The expected version is 0 if there was none.
  ///
  /// - Returns: The newest version's number.
  public func write(
    _ pool: Pool, _ text: String, expecting version: Int, by caller: Caller
  ) async throws -> ActionOutcome<Int> {
    let text = Self.withLineFeeds(text)
    let bytes = text.utf8.count
    guard bytes <= Self.longest else { throw GuidanceError.tooLong(bytes) }
    return try await store.run(.editGuidance, by: caller, in: ActionTarget(pool)) {
      context, connection in
      let (author, now) = (context.author, context.now)
      let isThere = try connection.first(
        "SELECT 1 FROM scope WHERE scope_key = \(pool.key) AND deleted_at IS NULL"
      ) { _ in true }
      guard isThere == true else { throw CallError.poolDeleted(pool) }
      let newest = try Self.find(pool, version: nil, connection)
      if let newest, newest.version.number != version {
        throw GuidanceError.changedMeanwhile(newest)
      }
      guard !(newest?.text ?? "").isSameBytes(as: text) else { return newest?.version.number ?? 0 }
      let number = (newest?.version.number ?? 0) + 1
      try connection.run(
        """
        INSERT INTO guidance (scope_key, version, written_at, written_by, bytes, beginning, text)
        VALUES (\(pool.key), \(number), \(now), \(author.actor.name), \(bytes),
          \(Self.beginning(of: text)), \(text))
        """)
      var entry = AuditEntry(
        .guidanceChange, .guidance, pool.objectID, name: pool.name, in: pool)
      entry.add(
        .version, from: newest.map { .number($0.version.number) } ?? .absent, to: .number(number))
      entry.add(
        .bytes, from: newest.map { .number($0.version.bytes) } ?? .absent, to: .number(bytes))
      try context.record(entry, connection)
      return number
    }
  }

  private static func find(
    _ pool: Pool, version: Int?, _ connection: borrowing Connection
  ) throws -> GuidanceText? {
    try connection.first(
      """
      SELECT version, written_at, written_by, bytes, text FROM guidance
      WHERE scope_key = \(pool.key) AND version <= \(version ?? Int.max)
      ORDER BY version DESC LIMIT 1
      """
    ) { GuidanceText(version: try Self.version(&$0), text: try $0.next()) }
    .flatMap { version == nil || $0.version.number == version ? $0 : nil }
  }

  private static func version(_ row: inout Row) throws -> GuidanceVersion {
    GuidanceVersion(
      number: try row.next(), writtenAt: try row.next(),
      writtenBy: try row.next(), bytes: try row.next())
  }

  /// Converts line endings to line feeds; browsers send CRLF.
  private static func withLineFeeds(_ text: String) -> String {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.utf8.count)
    var last: UInt8 = 0
    for byte in text.utf8 {
      switch byte {
      case 13: bytes.append(10)
      case 10 where last == 13: break
      default: bytes.append(byte)
      }
      last = byte
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Returns the first paragraphs of a text, or its first words if a paragraph is long.
  static func beginning(of text: String) -> String {
    guard text.utf8.count > beginningLength else { return text }
    let first = text.prefix(beginningLength)
    let paragraphs = first.ranges(of: "\n\n").last.map { first[..<$0.lowerBound] } ?? ""
    let whole = withoutLastHeadings(paragraphs)
    guard whole.isEmpty else { return String(whole) }
    let end = first.lastIndex(where: \.isWhitespace) ?? first.endIndex
    return first[..<end] + "…"
  }

  /// Returns the beginning of a text without headings at its end, whose paragraphs were cut off.
  ///
  /// A heading in Markdown is marked by number signs or by a line below it.
  private static func withoutLastHeadings(_ text: Substring) -> Substring {
    var lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    while let last = lines.last {
      if last.isEmpty || last.hasPrefix("#") {
        lines.removeLast()
      } else if last.allSatisfy({ $0 == "=" }) || last.allSatisfy({ $0 == "-" }) {
        // Below an empty line, it's a thematic break.
        lines.removeLast(lines.dropLast().last?.isEmpty ?? true ? 1 : 2)
      } else {
        break
      }
    }
    return text[..<(lines.last?.endIndex ?? text.startIndex)]
  }
}

/// One version of the support playbook of a project or tenant.
public struct GuidanceText: Sendable, Hashable {
  public let version: GuidanceVersion
  /// The text, in Markdown.
  public let text: String
}

public struct GuidanceVersion: Sendable, Hashable {
  /// The version number, starting at 1.
  public let number: Int
  public let writtenAt: Instant
  public let writtenBy: String
  /// The length of the text in UTF-8, in bytes.
  public let bytes: Int
}

public struct GuidanceBeginning: Sendable, Hashable {
  public let version: GuidanceVersion
  /// The paragraphs, in Markdown.
  public let text: String
  public var isWhole: Bool { text.utf8.count == version.bytes }
}

public enum GuidanceError: Error, Sendable {
  /// The text is longer than ``PoolGuidance/longest``; the value is its length in bytes.
  case tooLong(Int)
  /// A newer version was saved in the meantime; the value is that version.
  case changedMeanwhile(GuidanceText)
}
