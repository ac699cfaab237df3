import Crypto
import Database
import Text

extension ImportBatch {
  /// Makes an account what a row says.
  ///
  /// The change stands in the account's own history, and the user is told of what took a credential
  /// away or gave one, as after every change that was not theirs.
  func replace(
    _ key: Int64, by prepared: PreparedUser, _ connection: borrowing Connection
  ) throws {
    guard let old = try AccountRecord.find(key: key, connection) else {
      throw Failure("account vanished")
    }
    let oldHash = try connection.first(
      "SELECT password_hash FROM account WHERE account_key = \(key)"
    ) { try $0.value(0) as String? }
    // Whatever refuses the row has to be found before anything of it is written.
    let kinds = Set(prepared.factors.map(\.kind))
    let kept = old.factors.filter { !kinds.contains($0.kind) }.map(\.id)
    guard !prepared.factors.contains(where: { kept.contains($0.id) }) else {
      throw ImportFault.duplicateFactorID
    }
    guard kept.count + prepared.factors.count <= Imports.mostFactors else {
      throw ImportFault.tooManyFactors
    }
    if !prepared.factors.isEmpty, old.changesLockedAt != nil {
      throw ImportFault.changesLocked
    }
    do {
      try update(key, with: prepared, connection)
    } catch {
      guard case .uniqueViolation = error.code else { throw error }
      throw Self.conflict(error)
    }
    try ProviderLink.remove(nil, of: old, connection)
    for link in prepared.user.providers { try link.store(for: key, in: scope, connection) }
    let removed = try replaceFactors(of: old, by: prepared, connection)
    let sessions = try AccountRecord.endSessions(key, at: now, connection)
    let new = try AccountRecord.changed(old, in: scope, connection)
    if let email = new.email {
      try Guess.forget(SignIns.guessName(scope.key, email: email), connection)
    }
    let hasNewPassword = prepared.hash.map { !$0.isSameBytes(as: oldHash.flatMap { $0 } ?? "") }
    try record(old, new, sessions, hasNewPassword ?? false, connection)
    try tell(old, new, removed, hasNewPassword ?? false, connection)
  }

  private func update(
    _ key: Int64, with prepared: PreparedUser, _ connection: borrowing Connection
  ) throws(DatabaseError) {
    let user = prepared.user
    let passwordAt = prepared.hash == nil ? nil : user.passwordUpdatedAt ?? now
    try connection.run(
      """
      UPDATE account SET email = \(prepared.email), email_folded = \(prepared.email),
        email_verified = \(user.emailVerified && prepared.email != nil),
        display_name = \(user.displayName), photo_url = \(user.photoURL),
        phone = \(user.phoneNumber), password_hash = \(prepared.hash),
        password_updated_at = \(passwordAt?.microseconds), anonymous = 0,
        custom_auth = \(user.isCustomAuth), disabled = \(user.disabled),
        custom_attributes = \(user.customAttributes),
        created_at = \((user.createdAt ?? now).microseconds),
        last_login_at = \(user.lastLoginAt?.microseconds),
        last_login_day = \(user.lastLoginAt?.day ?? 0)
      WHERE account_key = \(key)
      """)
  }

  /// Factors of a kind that the row has take the place of those of that kind.
  ///
  /// - Returns: The factors that went and are not in the row.
  private func replaceFactors(
    of old: Account, by prepared: PreparedUser, _ connection: borrowing Connection
  ) throws -> [Factor] {
    let kinds = Set(prepared.factors.map(\.kind))
    let replaced = old.factors.filter { kinds.contains($0.kind) }
    if !replaced.isEmpty {
      try FactorRecord.delete(replaced, of: old, in: scope, connection)
    }
    for factor in prepared.factors {
      try FactorRecord.insert(factor, for: old, in: scope, connection)
    }
    return replaced.filter { gone in !prepared.factors.contains { $0.id == gone.id } }
  }

  private func record(
    _ old: Account, _ new: Account, _ sessions: Int, _ hasNewPassword: Bool,
    _ connection: borrowing Connection
  ) throws {
    var entry = AuditEntry("account.change", "account", new.id.text, name: new.label, in: scope)
    (entry.from, entry.to) = Words.difference(
      old.fieldWords(password: "as it was", sessions: sessions),
      new.fieldWords(password: hasNewPassword ? "changed" : "as it was", sessions: 0))
    entry.note = "by an import"
    guard entry.from != nil else { return }
    try entry.record(by: author, at: now, connection)
  }

  private func tell(
    _ old: Account, _ new: Account, _ removed: [Factor], _ hasNewPassword: Bool,
    _ connection: borrowing Connection
  ) throws {
    if !removed.isEmpty {
      try outbox.notify(
        .factorsRemoved(names: removed.map(\.label)), new, in: scope, at: now, connection)
    }
    try outbox.notifyAdded(from: old, to: new, in: scope, at: now, connection)
    if hasNewPassword, old.hasPassword {
      try outbox.notify(.passwordChanged, new, in: scope, at: now, connection)
    }
    if let address = old.email, !(new.email ?? "").isSameBytes(as: address) {
      try outbox.notify(.emailChanged(from: address), new, in: scope, at: now, connection)
    }
    for link in new.providers where !old.providers.contains(link) {
      try outbox.notify(
        .providerLinked(name: link.provider), new, in: scope, at: now, connection)
    }
  }
}
