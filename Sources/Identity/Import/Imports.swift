import Crypto
import Database
import Text

public struct Imports: Sendable {
  let store: Store
  let hasher: PasswordHasher
  let totp: TOTPFactor

  /// The maximum number of rows in one call.
  public static let mostRows = 1_000

  /// Stores a list of users in one transaction.
  ///
  /// A row that can't be stored is rejected individually; the other rows are stored. Replacing an
  /// account ends its sessions. Its second factors are kept if the row has none of the same kind,
  /// so that a list that can't carry TOTP secrets doesn't remove them. If an error is thrown,
  /// nothing was stored.
  public func run(
    _ pool: Pool, _ rows: [ImportRow], _ options: ImportOptions, by author: Author
  ) async throws -> ImportOutcome {
    guard !rows.isEmpty else { throw ImportError.empty }
    guard rows.count <= Self.mostRows else { throw ImportError.tooMany }
    try Self.check(rows, options)
    let now = store.clock.now()
    var prepared: [PreparedRow] = []
    prepared.reserveCapacity(rows.count)
    for row in rows { prepared.append(try await prepare(row, in: pool, at: now)) }
    let (list, outbox, totp) = (prepared, store.outbox, totp)
    return try await store.write(by: author) { connection in
      var batch = try ImportBatch(
        pool, options, outbox: outbox, totp: totp, by: author, at: now, connection)
      for (index, row) in list.enumerated() { try batch.add(row, at: index, connection) }
      return try batch.finish(connection)
    }
  }

  /// Records the total result of an import that was made in several parts.
  ///
  /// The name is the same as at the start.
  public func recordEnd(
    _ outcome: ImportOutcome, of pool: Pool, name: String, isComplete: Bool, by author: Author
  ) async throws {
    let now = store.clock.now()
    try await store.write(by: author) { connection in
      try outcome.record(
        (name, isComplete ? .complete : .interrupted), in: pool, by: author, at: now, connection)
    }
  }

  /// Checks a list for the duplicates that reject the whole import.
  private static func check(
    _ rows: [ImportRow], _ options: ImportOptions
  ) throws(ImportError) {
    guard options.sanityCheck || options.existing == .refuse else { return }
    var ids: Set<UntrustedText> = []
    var emails: Set<UntrustedText> = []
    var identities: Set<[UntrustedText]> = []
    for case .success(let user) in rows {
      if options.existing == .refuse, !user.localID.isEmpty {
        guard ids.insert(UntrustedText(user.localID)).inserted else {
          throw .duplicateLocalID(user.localID)
        }
      }
      guard options.sanityCheck else { continue }
      if let email = user.email {
        let folded = UntrustedText(AccountRules.folded(email: email))
        guard emails.insert(folded).inserted else {
          throw .duplicateEmail(email)
        }
      }
      for link in user.providers {
        let identity = [UntrustedText(link.provider), UntrustedText(link.rawID)]
        guard identities.insert(identity).inserted else {
          throw .duplicateProvider(provider: link.provider, rawID: link.rawID)
        }
      }
    }
  }
}

extension ImportOutcome {
  /// Writes the audit entry of an import, which contains counts but no names of users.
  ///
  /// `end` has the name of an import that was made in several parts, and how it ended.
  func record(
    _ end: (name: String, part: ImportPart)?, in pool: Pool, by author: Author, at now: Instant,
    _ connection: borrowing Connection
  ) throws {
    var entry = AuditEntry(
      .accountImport, .pool, pool.objectID, name: pool.name, in: pool)
    entry.add(.usersCreated, .number(created))
    if replaced > 0 { entry.add(.usersReplaced, .number(replaced)) }
    if kept > 0 { entry.add(.usersKept, .number(kept)) }
    if !refusals.isEmpty { entry.add(.usersRefused, .number(refusals.count)) }
    if let end {
      entry.add(.fileName, .text(end.name))
      entry.add(.importPart, .code(end.part.rawValue))
    }
    try entry.record(by: author, at: now, connection)
  }
}
