import Crypto
import Database
import Text

extension ImportBatch {
  /// Replaces an account with the contents of an import row.
  ///
  /// Records the change in the account's own history and notifies the user if a credential was
  /// added or removed, as after every change that the user didn't make.
  func replace(
    _ key: Int64, by prepared: PreparedUser, _ connection: borrowing Connection
  ) throws {
    guard let old = try AccountRecord.find(key: key, connection) else {
      throw Failure("account vanished")
    }
    let oldHash = try connection.first(
      "SELECT password_hash FROM account WHERE account_key = \(key)"
    ) { try $0.next() as String? }
    // Everything that can reject the row has to be checked before any of it is written.
    let kinds = Set(prepared.factors.map(\.kind))
    let kept = old.factors.filter { !kinds.contains($0.kind) }.map(\.id)
    guard !prepared.factors.contains(where: { kept.contains($0.id) }) else {
      throw ImportFault.duplicateFactorID
    }
    guard old.lock == nil else { throw ImportFault.changesLocked }
    let factors = try plan(of: old, by: prepared, connection)
    try checkAddresses(of: prepared, except: key, connection)
    if factors.changesAny {
      try TokenFactorRules.checkImport(
        removing: factors.removed, in: pool, by: author, at: now, connection)
    }
    try Self.update(key, with: prepared, at: now, connection)
    try ProviderLink.remove(nil, of: old, connection)
    for link in prepared.user.providers { try link.store(for: key, in: pool, connection) }
    let codes =
      try factors.removed.isEmpty && factors.added.isEmpty
      ? nil : BackupCodeCounts(of: old, at: now, connection)
    if !factors.removed.isEmpty {
      try FactorRecord.delete(factors.removed, of: old, in: pool, connection)
    }
    for factor in factors.kept { try FactorRecord.update(factor, of: key, connection) }
    for factor in factors.added {
      try FactorRecord.insert(factor, for: old, in: pool, connection)
    }
    let sessions = try AccountRecord.endSessions(key, at: now, connection)
    let hasNewPassword = prepared.hash.map { !$0.isSameBytes(as: oldHash.flatMap { $0 } ?? "") }
    let new = try AccountRecord.changed(
      old, in: pool, isNewPassword: hasNewPassword ?? false, at: now, connection)
    if let email = new.email {
      try ThrottleCharge.reset(
        .passwords(of: TypedEmail(email), in: pool.key), connection)
    }
    try record(old, new, sessions, codes, hasNewPassword ?? false, factors, connection)
    try tell(old, new, factors.removed, hasNewPassword ?? false, connection)
  }

  /// Sets what an account's row has of a user; the caller updates what's derived from it.
  static func update(
    _ key: Int64, with prepared: PreparedUser, at now: Instant, _ connection: borrowing Connection
  ) throws(DatabaseError) {
    let user = prepared.user
    let (passwordAt, loginAt) = (
      prepared.passwordUpdatedAt(by: now), prepared.lastLoginAt(by: now)
    )
    try AccountRecord.set(
      """
      email = \(prepared.email), email_folded = \(prepared.email),
        email_verified = \(prepared.emailVerified),
        display_name = \(user.displayName), photo_url = \(user.photoURL),
        phone = \(user.phoneNumber), password_hash = \(prepared.hash),
        password_updated_at = \(passwordAt), anonymous = 0,
        custom_auth = \(user.isCustomAuth), email_link = \(user.signsInByLink),
        disabled = \(user.disabled),
        custom_attributes = \(user.customAttributes),
        created_at = \(prepared.createdAt(by: now)),
        last_login_at = \(loginAt),
        last_login_day = \(loginAt?.day ?? 0),
        given_fields = \(GivenFields.imported)
      """, of: key, connection)
  }

  private struct FactorPlan {
    /// The factors in the row that the account has under the same ID, with the same secret or
    /// number.
    ///
    /// They're changed in place, so their suspensions, the lock, and backup codes stay.
    let kept: [NewFactor]
    let added: [NewFactor]
    /// The account's factors of the kinds that the row contains that aren't kept.
    let removed: [Factor]
    let renamesAny: Bool
    var changesAny: Bool { renamesAny || !added.isEmpty || !removed.isEmpty }
    /// Whether an authenticator app keeps its ID but gets a different secret.
    var hasNewSecret: Bool {
      removed.contains { gone in gone.kind == .totp && added.contains { $0.id == gone.id } }
    }
  }

  /// Plans how a row's factors replace the account's factors of the same kinds.
  ///
  /// A factor is continued if the row has its ID, or none, and the same secret or number. Codes used
  /// before the import stay used, and a suspension lasts, whatever ID the row has for their secret.
  private func plan(
    of old: Account, by prepared: PreparedUser, _ connection: borrowing Connection
  ) throws -> FactorPlan {
    let kinds = Set(prepared.factors.map(\.kind))
    let replaced = old.factors.filter { kinds.contains($0.kind) }
    var new = prepared.factors
    let ids = Set(new.map(\.id))
    var kept: Set<ID<Factor>> = []
    for (index, row) in prepared.user.factors.enumerated() {
      for known in replaced where known.kind == new[index].kind && !kept.contains(known.id) {
        let takesID = row.id == nil && !ids.contains(known.id)
        switch known.kind {
        case .phone:
          guard known.phoneNumber == new[index].phoneNumber else { continue }
          new[index].lastUsedAt = known.lastUsedAt
          new[index].suspendedUntil = known.suspendedUntil
        case .totp:
          let stored = try totp.stored(known.id, of: old, in: pool, connection)
          guard let stored, let sealed = new[index].sealedSecret,
            try totp.opened(sealed.box, new[index].id, of: old, in: pool) == stored.secret
          else { continue }
          new[index].used = stored.used
          new[index].lastUsedAt = known.lastUsedAt
          new[index].suspendedUntil = known.suspendedUntil
        }
        if takesID {
          new[index].id = known.id
          if row.enrolledAt == nil { new[index].enrolledAt = known.enrolledAt }
        }
        guard new[index].id == known.id else { continue }
        kept.insert(known.id)
        break
      }
    }
    let isRenamed = { (factor: NewFactor) in
      replaced.contains {
        $0.id == factor.id && !($0.displayName ?? "").isSameBytes(as: factor.displayName ?? "")
      }
    }
    let continued = new.filter { kept.contains($0.id) }
    return FactorPlan(
      kept: continued, added: new.filter { !kept.contains($0.id) },
      removed: replaced.filter { !kept.contains($0.id) },
      renamesAny: continued.contains(where: isRenamed))
  }

  private func record(
    _ old: Account, _ new: Account, _ sessions: Int, _ codes: BackupCodeCounts?,
    _ hasNewPassword: Bool, _ factors: FactorPlan, _ connection: borrowing Connection
  ) throws {
    var entry = AuditEntry(.accountChange, of: new, in: pool)
    entry.compare(
      old.auditFields(),
      new.auditFields(isNewPassword: hasNewPassword, hasNewSecrets: factors.hasNewSecret))
    entry.addEnded(sessions)
    try entry.addEnded(codes, of: old, at: now, connection)
    guard !entry.changes.isEmpty else { return }
    entry.add(.origin, .code("import"))
    try entry.record(by: author, at: now, connection)
  }

  private func tell(
    _ old: Account, _ new: Account, _ removed: [Factor], _ hasNewPassword: Bool,
    _ connection: borrowing Connection
  ) throws {
    if !removed.isEmpty {
      try outbox.notify(
        UserNotice(.factorsRemoved, removed.map(\.label)), new, in: pool,
        within: author.noticeQuota,
        at: now, connection)
    }
    var before = old
    before.factors.removeAll { factor in removed.contains { $0.id == factor.id } }
    try outbox.notifyAdded(from: before, to: new, in: pool, by: author, at: now, connection)
    if hasNewPassword, old.hasPassword {
      try outbox.notify(
        UserNotice(.passwordChanged), new, in: pool, within: author.noticeQuota, at: now, connection
      )
    }
    if let address = old.email, !(new.email ?? "").isSameBytes(as: address) {
      try outbox.notify(
        UserNotice(.emailChanged, [address]), old, in: pool, within: author.noticeQuota, at: now,
        connection
      )
    }
    for link in new.providers where !old.providers.contains(link) {
      try outbox.notify(
        UserNotice(.providerLinked, [link.provider]), old, in: pool, within: author.noticeQuota,
        at: now,
        connection)
    }
  }
}
