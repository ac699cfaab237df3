import Crypto
import Database

/// A verified section of the hash chain.
struct ChainSection: Sendable {
  /// The number of entries found.
  private(set) var entries: Int64 = 0
  private(set) var erased = 0
  private(set) var faults: [AuditVerification.Fault] = []
  /// The position of the first link; nil without any.
  let first: Int64?
  /// The last link.
  let last: ChainLink?
  /// The time of the last entry; nil if it's gone.
  let at: Instant?

  /// Verifies the links after one position up to another, which exist.
  ///
  /// Positions of entries that were removed because of their age are left out.
  init(
    after start: Int64, through end: Int64, keys: [String: Ed25519PublicKey],
    _ connection: borrowing Connection
  ) throws {
    let tombstone = try AuditTombstone.latest(connection)
    let start = max(start, tombstone?.last ?? 0)
    let before = try connection.first(
      """
      SELECT \(ChainLink.columns) FROM audit_link WHERE sequence > 0 AND sequence <= \(start)
      ORDER BY sequence DESC LIMIT 1
      """
    ) { try ChainLink($0) }
    let links = try connection.all(
      """
      SELECT \(ChainLink.columns) FROM audit_link
      WHERE sequence > \(start) AND sequence <= \(end) ORDER BY sequence
      """
    ) { try ChainLink($0) }
    (first, last) = (links.first?.sequence, links.last)
    let from = max(before?.entry ?? 0, tombstone?.lastEntry ?? 0)
    let through = links.reduce(from) { max($0, $1.entry) }
    let parts = try AuditParts.read(after: from, through: through, limit: .max, connection)
    var erased: [Int64: [Int: [UInt8]]] = [:]
    _ = try connection.all(
      """
      SELECT audit_id, part, digest FROM audit_erasure
      WHERE audit_id > \(from) AND audit_id <= \(through)
      """
    ) { erased[try $0.value(0), default: [:]][try $0.value(1)] = try $0.value(2) }
    at = parts.last?.at
    var previous =
      before?.sequence == start
      ? before?.link
      : tombstone?.last == start ? tombstone?.linkAfter : start == 0 ? ChainLink.origin : nil
    verify(links, parts, erased, after: start, through: end, entry: from, &previous)
    let heads = try connection.all(
      """
      SELECT \(AuditHead.columns) FROM audit_head WHERE sequence > \(start) AND sequence <= \(end)
      ORDER BY sequence
      """
    ) { try AuditHead($0) }
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

  /// Compares signed heads with the links.
  ///
  /// Since a link covers all earlier ones, only the signatures at multiples of the interval are
  /// verified, which always exist.
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
      if isDue, !heads[index].isSigned(by: keys) { faults.append(.headInvalid(link.sequence)) }
    }
  }
}
