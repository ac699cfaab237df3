import Crypto
import Database

struct ChainSection: Sendable {
  private(set) var entries: Int64 = 0
  private(set) var erased = 0
  private(set) var faults: [AuditVerification.Fault] = []
  let first: Int64?
  let last: ChainLink?
  let at: Instant?
  /// The numbers of the entries from the last one before the section through its last one.
  let numbers: ClosedRange<Int64>

  /// Verifies the links after one position up to another, which exist.
  ///
  /// Positions of entries that were removed because of their age are left out.
  init(
    after start: Int64, through end: Int64, keys: [String: Ed25519PublicKey],
    _ connection: borrowing Connection
  ) throws {
    // Before the entries, which another transaction may be filing.
    let filedTo = try Audit.filedTo(connection)
    let tombstone = try AuditTombstone.latest(connection)
    let start = max(start, tombstone?.last ?? 0)
    let before = try connection.first(
      """
      SELECT \(ChainLink.columns) FROM audit_link WHERE sequence > 0 AND sequence <= \(start)
      ORDER BY sequence DESC LIMIT 1
      """
    ) { try ChainLink(&$0) }
    let links = try connection.all(
      """
      SELECT \(ChainLink.columns) FROM audit_link
      WHERE sequence > \(start) AND sequence <= \(end) ORDER BY sequence
      """
    ) { try ChainLink(&$0) }
    (first, last) = (links.first?.sequence, links.last)
    let from = max(before?.entry ?? 0, tombstone?.lastEntry ?? 0)
    let through = links.reduce(from) { max($0, $1.entry) }
    numbers = from...through
    let parts = try AuditParts.read(after: from, through: through, limit: .max, connection)
    var erased: [Int64: [Int: [UInt8]]] = [:]
    _ = try connection.all(
      """
      SELECT audit_id, part, digest FROM audit_erasure
      WHERE audit_id > \(from) AND audit_id <= \(through)
      """
    ) { erased[try $0.next(), default: [:]][try $0.next()] = try $0.next() }
    at = parts.last?.at
    var previous =
      before?.sequence == start
      ? before?.link
      : tombstone?.last == start ? tombstone?.linkAfter : start == 0 ? ChainLink.origin : nil
    if start == tombstone?.last ?? 0, let first,
      try Self.hasEntries(through: tombstone?.lastEntry ?? 0, connection)
    {
      faults.append(.inserted(before: first))
    }
    verify(links, parts, erased, after: start, through: end, entry: from, &previous)
    faults += Self.hidden(links, parts, through: filedTo)
    let heads = try connection.all(
      """
      SELECT \(AuditHead.columns) FROM audit_head WHERE sequence > \(start) AND sequence <= \(end)
      ORDER BY sequence
      """
    ) { try AuditHead(&$0) }
    verify(links, heads, keys)
  }

  private mutating func verify(
    _ links: [ChainLink], _ parts: [AuditParts], _ erased: [Int64: [Int: [UInt8]]],
    after start: Int64,
    through end: Int64, entry: Int64, _ previous: inout [UInt8]?
  ) {
    var (expected, last, index) = (start + 1, entry, 0)
    var isComplete = previous != nil
    for link in links {
      if link.sequence > expected {
        faults.append(.linksDeleted(expected, link.sequence - 1))
        (previous, isComplete) = (nil, false)
      }
      expected = link.sequence + 1
      defer { previous = link.link }
      guard link.entry > last else {
        faults.append(.reordered(link.sequence))
        continue
      }
      last = link.entry
      let first = index
      while index < parts.count, parts[index].id < link.entry { index += 1 }
      if index > first, isComplete { faults.append(.inserted(before: link.sequence)) }
      isComplete = true
      guard index < parts.count, parts[index].id == link.entry else {
        faults.append(.deleted(link.sequence))
        continue
      }
      entries += 1
      let gone = erased[link.entry] ?? [:]
      self.erased += gone.count
      if let previous, !link.matches(parts[index], after: previous, erased: gone) {
        faults.append(.changed(link.sequence))
      }
      index += 1
    }
    if expected <= end { faults.append(.linksDeleted(expected, end)) }
  }

  /// Returns whether there are entries or fields with numbers that the log doesn't begin with: 0, less,
  /// or those of entries that were removed because of their age.
  private static func hasEntries(
    through last: Int64, _ connection: borrowing Connection
  ) throws -> Bool {
    try connection.first(
      """
      SELECT EXISTS (SELECT 1 FROM audit WHERE audit_id <= \(last))
        OR EXISTS (SELECT 1 FROM audit_change WHERE audit_id <= \(last))
      """
    ) { try $0.next() } ?? false
  }

  /// Returns the entries that should be in the indexes for filters, and aren't.
  private static func hidden(
    _ links: [ChainLink], _ parts: [AuditParts], through filedTo: Int64
  ) -> [AuditVerification.Fault] {
    let unfiled = Set(parts.lazy.filter { !$0.isFiled && $0.id <= filedTo }.map(\.id))
    guard !unfiled.isEmpty else { return [] }
    return links.filter { unfiled.contains($0.entry) }.map { .hidden($0.sequence) }
  }

  /// Compares signed heads with the links, and verifies each signature.
  ///
  /// Heads at multiples of the interval always exist.
  private mutating func verify(
    _ links: [ChainLink], _ heads: [AuditHead], _ keys: [String: Ed25519PublicKey]
  ) {
    var index = 0
    for link in links {
      while index < heads.count, heads[index].sequence < link.sequence { index += 1 }
      let isDue = link.sequence % AuditChain.headInterval == 0
      guard index < heads.count, heads[index].sequence == link.sequence else {
        if isDue { faults.append(.headDeleted(link.sequence)) }
        continue
      }
      if heads[index].link != link.link { faults.append(.headDiffers(link.sequence)) }
    }
    faults += heads.filter { !$0.isSigned(by: keys) }.map { .headInvalid($0.sequence) }
  }
}
