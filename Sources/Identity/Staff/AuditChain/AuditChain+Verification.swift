public import Crypto
import Database

extension AuditChain {
  /// The number of entries that are verified at once.
  private static let section: Int64 = 5_000

  /// Verifies the whole chain.
  ///
  /// A nil in `exported` is a line that isn't a head. Without trusted keys, those in the database
  /// are used.
  public func verify(
    exported: [AuditHead?]? = nil, trusting trusted: [Ed25519PublicKey]? = nil, width: Int = 1
  ) async throws -> AuditVerification {
    let keys = try await known(trusted)
    var result = AuditVerification()
    let tombstones = try await store.read { try AuditTombstone.all($0) }
    result.removed = tombstones
    result.faults += Self.faults(of: tombstones, keys)
    let end = try await store.read { try ChainLink.last($0)?.sequence ?? 0 }
    result.end = end
    let starts = Array(stride(from: tombstones.last?.last ?? 0, to: end, by: Int(Self.section)))
    for section in try await sections(starts, through: end, keys, width: width) {
      result.entries += section.entries
      result.erased += section.erased
      result.faults += section.faults
    }
    let (sections, heads) = (result, exported)
    return try await store.read { connection in
      var result = sections
      if result.end > 0, try Audit.isFiledAhead(connection) {
        result.faults.append(.hiding(after: result.end))
      }
      result.unsealed = try Self.unsealed(after: ChainLink.last(connection), connection)
      let comparison = try HeadComparison(keys, connection)
      for head in try AuditHead.all(after: result.end, connection) {
        try comparison.add(stored: head, to: &result, connection)
      }
      if let head = try AuditHead.last(connection) {
        try comparison.add(stored: head, to: &result, connection)
      }
      if let heads { try comparison.add(exported: heads, to: &result, connection) }
      return result
    }
  }

  func known(
    _ trusted: [Ed25519PublicKey]? = nil
  ) async throws -> [String: Ed25519PublicKey] {
    let keys: [Ed25519PublicKey]
    if let trusted {
      keys = trusted
    } else {
      keys = try await store.read { try EvidenceKeys.list($0).map(\.publicKey) }
    }
    return Dictionary(keys.map { ($0.fingerprint, $0) }) { first, _ in first }
  }

  private func sections(
    _ starts: [Int64], through end: Int64, _ keys: [String: Ed25519PublicKey], width: Int
  ) async throws -> [ChainSection] {
    try await withThrowingTaskGroup(of: (Int64, ChainSection).self) { group in
      var found: [(Int64, ChainSection)] = []
      for (index, start) in starts.enumerated() {
        if index >= width, let next = try await group.next() { found.append(next) }
        group.addTask {
          (start, try await section(after: start, through: min(end, start + Self.section), keys))
        }
      }
      for try await next in group { found.append(next) }
      return found.sorted { $0.0 < $1.0 }.map(\.1)
    }
  }

  func section(
    after start: Int64, through end: Int64, _ keys: [String: Ed25519PublicKey]
  ) async throws -> ChainSection {
    try await store.read { connection in
      try ChainSection(after: start, through: end, keys: keys, connection)
    }
  }

  private static func faults(
    of tombstones: [AuditTombstone], _ keys: [String: Ed25519PublicKey]
  ) -> [AuditVerification.Fault] {
    var (expected, before): (Int64, [UInt8]) = (1, ChainLink.origin)
    var faults: [AuditVerification.Fault] = []
    for tombstone in tombstones {
      if tombstone.first != expected || tombstone.linkBefore != before
        || !tombstone.isSigned(by: keys)
      {
        faults.append(.tombstoneInvalid(tombstone.last))
      }
      (expected, before) = (tombstone.last + 1, tombstone.linkAfter)
    }
    return faults
  }

  static func unsealed(
    after sealed: ChainLink?, _ connection: borrowing Connection
  ) throws -> Int64 {
    try connection.first(
      "SELECT count(*) FROM audit WHERE audit_id > \(sealed?.entry ?? 0)"
    ) { try $0.next() } ?? 0
  }
}

private struct HeadComparison {
  private enum Finding {
    case matches
    case isRemoved
    case fault(AuditVerification.Fault)
  }

  private let keys: [String: Ed25519PublicKey]
  private let end: Int64
  private let removed: AuditTombstone?

  init(_ keys: [String: Ed25519PublicKey], _ connection: borrowing Connection) throws {
    self.keys = keys
    end = try ChainLink.last(connection)?.sequence ?? 0
    removed = try AuditTombstone.latest(connection)
  }

  /// A head that doesn't match is evidence only if its signature is valid.
  private func find(_ head: AuditHead, _ connection: borrowing Connection) throws -> Finding {
    if let removed, head.sequence <= removed.last {
      guard head.sequence == removed.last else { return .isRemoved }
      if head.link == removed.linkAfter { return .matches }
    } else if try ChainLink.find(head.sequence, connection)?.link == head.link {
      return .matches
    }
    guard head.isSigned(by: keys) else { return .fault(.headInvalid(head.sequence)) }
    return .fault(head.sequence > end ? .truncated(head.sequence) : .headDiffers(head.sequence))
  }

  /// Compares a stored head; the last one that matches is the newest.
  func add(
    stored head: AuditHead, to result: inout AuditVerification,
    _ connection: borrowing Connection
  ) throws {
    switch try find(head, connection) {
    case .matches where head.isSigned(by: keys): result.head = head
    case .matches: result.add(.headInvalid(head.sequence))
    case .fault(let fault): result.add(fault)
    case .isRemoved: break
    }
  }

  func add(
    exported: [AuditHead?], to result: inout AuditVerification,
    _ connection: borrowing Connection
  ) throws {
    var found = AuditVerification.Exported()
    for (index, head) in exported.enumerated() {
      guard let head else {
        result.add(.exportInvalid(line: index + 1))
        continue
      }
      guard head.isSigned(by: keys) else {
        result.add(.exportInvalid(line: index + 1))
        continue
      }
      switch try find(head, connection) {
      case .matches:
        if try isDeleted(head, connection) { result.add(.headDeleted(head.sequence)) }
        if head.sequence > found.newest?.sequence ?? 0 { found.newest = head }
      case .isRemoved: found.removed += 1
      case .fault(let fault): result.add(fault)
      }
    }
    result.exported = found
  }

  /// Returns whether the database doesn't have a head that was exported from it, although its entry
  /// wasn't removed because of its age.
  private func isDeleted(_ head: AuditHead, _ connection: borrowing Connection) throws -> Bool {
    guard head.sequence > removed?.last ?? 0 else { return false }
    return try connection.first(
      "SELECT 1 FROM audit_head WHERE sequence = \(head.sequence)"
    ) { _ in false } ?? true
  }
}

extension AuditVerification {
  /// Adds a fault unless it was found before.
  fileprivate mutating func add(_ fault: Fault) {
    if !faults.contains(fault) { faults.append(fault) }
  }
}

public struct AuditVerification: Sendable {
  /// Something that doesn't match; positions are those of the chain.
  public enum Fault: Sendable, Hashable {
    /// The entry, or one before it, isn't as it was when it was sealed.
    case changed(Int64)
    case deleted(Int64)
    /// The links from one position to another were deleted.
    case linksDeleted(Int64, Int64)
    /// The entry comes after one that it was before.
    case reordered(Int64)
    case inserted(before: Int64)
    /// The chain isn't as a key signed it at the position.
    case headDiffers(Int64)
    /// The signature at the position isn't valid, or of an unknown key.
    case headInvalid(Int64)
    case headDeleted(Int64)
    /// The record of removed entries up to the position isn't valid, or doesn't match the chain.
    case tombstoneInvalid(Int64)
    /// The chain was signed up to the position, but ends before it.
    case truncated(Int64)
    /// Filtered logs and reports leave the entry out.
    case hidden(Int64)
    /// Filtered logs and reports leave out what's written from now on; the position is the last one.
    case hiding(after: Int64)
    case exportInvalid(line: Int)

    public var position: Int64? {
      switch self {
      case .changed(let position), .deleted(let position), .linksDeleted(let position, _),
        .reordered(let position), .inserted(let position), .headDiffers(let position),
        .headInvalid(let position), .headDeleted(let position), .tombstoneInvalid(let position),
        .truncated(let position), .hidden(let position), .hiding(let position):
        position
      case .exportInvalid: nil
      }
    }
  }

  /// What exported heads prove.
  public struct Exported: Sendable {
    /// The newest one that matches the chain.
    public internal(set) var newest: AuditHead?
    /// How many can't be compared, because their entries were removed because of their age.
    public internal(set) var removed = 0
  }

  public internal(set) var entries: Int64 = 0
  /// The position of the last sealed entry; 0 if none is.
  public internal(set) var end: Int64 = 0
  public internal(set) var unsealed: Int64 = 0
  /// The number of erased parts of entries.
  public internal(set) var erased = 0
  /// The newest signed head that matches the chain.
  public internal(set) var head: AuditHead?
  public internal(set) var removed: [AuditTombstone] = []
  public internal(set) var exported: Exported?
  public internal(set) var faults: [Fault] = []
}
