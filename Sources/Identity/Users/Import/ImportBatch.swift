import Database
import Text

extension AccountCounts {
  /// Creates the counts that a new account adds to its pool.
  init(of new: PreparedUser) {
    users = 1
    enrolledUsers = (!new.factors.isEmpty).number
    totpUsers = new.hasTOTP.number
    phoneUsers = new.hasPhone.number
    unverifiedEmails = (new.email != nil && !new.user.emailVerified).number
    disabled = new.user.disabled.number
  }
}

/// The rows of an import, inside its transaction.
struct ImportBatch {
  let pool: Pool
  let options: ImportOptions
  let outbox: Outbox
  let totp: TOTPFactor
  let author: Author
  let now: Instant
  private let takesTOTP: Bool
  /// Whether locked accounts keep addresses.
  private let keepsAddresses: Bool
  /// The number of the next account.
  private var next: Int64
  private var counts = AccountCounts()
  /// Entries for the search indexes, written in sorted order at the end.
  private var texts: [SearchIndex.New] = []
  var outcome = ImportOutcome()

  init(
    _ pool: Pool, _ options: ImportOptions, outbox: Outbox,
    totp: TOTPFactor, by author: Author, at now: Instant, _ connection: borrowing Connection
  ) throws {
    let row = try connection.first(
      """
      SELECT s.next_account, p.import_totp, EXISTS (SELECT 1 FROM account a
        WHERE a.scope_key = s.scope_key AND a.reported_mailbox IS NOT NULL)
      FROM scope s JOIN project p USING (project_id)
      WHERE s.scope_key = \(pool.key) AND s.deleted_at IS NULL
      """
    ) { row in
      (
        next: try row.next() as Int64, takesTOTP: try row.next() as Bool,
        keeps: try row.next() as Bool
      )
    }
    guard let row else { throw CallError.poolDeleted(pool) }
    self.pool = pool
    self.options = options
    self.outbox = outbox
    self.totp = totp
    self.author = author
    self.now = now
    next = row.next
    takesTOTP = row.takesTOTP
    keepsAddresses = row.keeps
  }

  mutating func add(
    _ row: PreparedRow, at index: Int, _ connection: borrowing Connection
  ) throws {
    do {
      switch row {
      case .refused(let fault): throw fault
      case .user(let prepared): try add(prepared, connection)
      }
    } catch let fault as ImportFault {
      outcome.refusals.append(ImportOutcome.Refusal(index: index, fault: fault))
    }
  }

  private mutating func add(
    _ prepared: PreparedUser, _ connection: borrowing Connection
  ) throws {
    guard takesTOTP || !prepared.hasTOTP else { throw ImportFault.totpImportOff }
    // Checked first, because the account is stored before its identities, too late to detect a
    // conflict.
    for link in prepared.user.providers {
      let owner = try connection.first(
        """
        SELECT a.uid FROM account_provider p JOIN account a USING (account_key)
        WHERE p.scope_key = \(pool.key) AND p.provider_id = \(link.provider)
          AND p.raw_id = \(link.rawID)
        """
      ) { try $0.next() as String }
      guard owner.map({ $0.isSameBytes(as: prepared.user.localID) }) ?? true else {
        // A repeated import leaves existing users alone, even if their identities have moved since.
        if case .keep = options.existing, try existing(prepared, connection) != nil {
          outcome.kept += 1
          return
        }
        throw ImportFault.providerExists
      }
    }
    if keepsAddresses, try existing(prepared, connection) == nil {
      try checkAddresses(of: prepared, connection)
    }
    let key = pool.accountKeys.lowerBound + next
    guard try Self.insert(prepared, key, in: pool, at: now, connection) else {
      return try meet(prepared, connection)
    }
    next += 1
    for link in prepared.user.providers { try link.store(for: key, in: pool, connection) }
    try FactorRecord.store(prepared.factors, of: key, after: 0, connection)
    texts.append(
      SearchIndex.New(key: key, folded: prepared.text.folded, beginnings: prepared.beginnings))
    counts += AccountCounts(of: prepared)
    outcome.created += 1
  }

  /// Inserts an account; returns false if its uid, email, or phone number already exists.
  ///
  /// Not an error of the statement, since PostgreSQL would end the transaction of all rows.
  ///
  /// `mirrored` is nil for a hosted account.
  static func insert(
    _ prepared: PreparedUser, _ key: Int64, in pool: Pool,
    mirrored: (digest: Int64, askedAt: Instant)? = nil, at now: Instant,
    _ connection: borrowing Connection
  ) throws(DatabaseError) -> Bool {
    let user = prepared.user
    let (passwordAt, loginAt) = (
      prepared.passwordUpdatedAt(by: now), prepared.lastLoginAt(by: now)
    )
    let inserted = try connection.run(
      """
      INSERT INTO account (account_key, scope_key, uid, email, email_folded, email_verified,
        display_name, photo_url, phone, password_hash, password_updated_at, custom_auth, disabled,
        custom_attributes, valid_since_s, created_at, last_login_at, last_login_day, name_folded,
        has_totp, has_phone, given_fields, email_link, hosted, mirror_digest, asked_at)
      VALUES (\(key), \(pool.key), \(user.localID), \(prepared.email), \(prepared.email),
        \(prepared.emailVerified), \(user.displayName), \(user.photoURL),
        \(user.phoneNumber), \(prepared.hash), \(passwordAt), \(user.isCustomAuth),
        \(user.disabled), \(user.customAttributes), \(validSince(user, at: now)),
        \(prepared.createdAt(by: now)), \(loginAt),
        \(loginAt?.day ?? 0), \(prepared.text.name), \(prepared.hasTOTP),
        \(prepared.hasPhone), \(GivenFields.imported), \(user.signsInByLink), \(pool.hostedMark),
        \(mirrored?.digest), \(mirrored?.askedAt))
      ON CONFLICT DO NOTHING
      """)
    return inserted > 0
  }

  /// The row's `validSince` in seconds, clamped to the valid range and to the current time.
  private static func validSince(_ user: ImportedUser, at now: Instant) -> Int64 {
    user.validSince.map { min(Instant(seconds: $0).seconds, now.seconds) } ?? now.seconds
  }

  private func existing(
    _ prepared: PreparedUser, _ connection: borrowing Connection
  ) throws -> Int64? {
    try connection.first(
      """
      SELECT account_key FROM account
      WHERE scope_key = \(pool.key) AND uid = \(prepared.user.localID)
      """
    ) { try $0.next() }
  }

  /// Handles a row whose uid, email, or phone number already exists.
  private mutating func meet(
    _ prepared: PreparedUser, _ connection: borrowing Connection
  ) throws {
    guard let key = try existing(prepared, connection) else {
      try checkAddresses(of: prepared, connection)
      throw Failure("account exists")
    }
    switch options.existing {
    case .refuse: throw ImportFault.localIDExists
    case .keep: outcome.kept += 1
    case .replace:
      // The search entries of a row that this import just created are those of the later row.
      texts.removeAll { $0.key == key }
      try replace(key, by: prepared, connection)
      outcome.replaced += 1
    }
  }

  /// Checks that no other account has the row's email or phone number; throws `ImportFault`.
  func checkAddresses(
    of prepared: PreparedUser, except account: Int64 = 0, _ connection: borrowing Connection
  ) throws {
    let email = try connection.first(
      """
      SELECT account_key FROM account
      WHERE scope_key = \(pool.key) AND email_folded = \(prepared.email)
      """
    ) { try $0.next() as Int64 }
    guard email ?? account == account else { throw ImportFault.emailExists }
    if keepsAddresses, let address = prepared.email,
      try AccountLock.keeps(address, from: account, in: pool.key, connection)
    {
      throw ImportFault.emailExists
    }
    let phone = try connection.first(
      """
      SELECT account_key FROM account
      WHERE scope_key = \(pool.key) AND phone = \(prepared.user.phoneNumber)
      """
    ) { try $0.next() as Int64 }
    guard phone ?? account == account else { throw ImportFault.phoneExists }
  }

  /// Updates the search indexes and counts, and records the import.
  func finish(_ connection: borrowing Connection) throws -> ImportOutcome {
    if outcome.created > 0 {
      if !texts.isEmpty { try SearchIndex.insert(texts, connection) }
      _ = try AccountNumbers.take(outcome.created, in: pool.key, connection)
      try CountChanges.append(counts, to: pool.key, connection)
    }
    switch options.record {
    case .nothing: break
    case .call:
      guard outcome.created + outcome.replaced > 0 else { break }
      try outcome.record(nil, in: pool, by: author, at: now, connection)
    case .beginning(let name):
      var entry = AuditEntry(
        .accountImport, .pool, pool.objectID, name: pool.name, in: pool)
      entry.add(.fileName, .text(name))
      entry.add(.importPart, .code(ImportPart.begin.rawValue))
      try entry.record(by: author, at: now, connection)
    }
    return outcome
  }
}
