import Database
import Text

/// What pools let service tokens do to second factors, and what is written down of it: nobody gets
/// around the rules for support by a program without a trace.
enum TokenFactorRules {
  /// Checks and records what a change by a service token did to the second factors of an account.
  ///
  /// Changes by anybody else are recorded where they are made.
  ///
  /// - Throws: ``AccountError/factorRemovalByTokenOff``,
  ///   ``AccountError/tooManyFactorChanges(until:)``.
  static func apply(
    from old: Account, to new: Account, removed: [Factor], sessionsEnded: Int, in scope: Scope,
    by author: Author, outbox: Outbox, at now: Instant, _ connection: borrowing Connection
  ) throws {
    guard case .serviceToken(let token, _) = author.actor else { return }
    let added = new.factors(addedTo: old)
    let renamed = renamed(from: old, to: new)
    guard !(removed.isEmpty && added.isEmpty && renamed.isEmpty) else { return }
    let settings = try SupportRules.find(scope, connection)
    guard removed.isEmpty || settings.tokensRemoveFactors else {
      throw AccountError.factorRemovalByTokenOff
    }
    if let limit = settings.tokenChangesPerHour {
      let name = "factors changed by \(token.text) in \(scope.key)"
      if let until = try HourlyQuota.take(name, limit: limit, at: now, connection) {
        throw AccountError.tooManyFactorChanges(until: until)
      }
    }
    if !removed.isEmpty {
      let entry = AuditEntry.removal(
        of: removed, from: old, left: new.factors.count, sessionsEnded: sessionsEnded, in: scope)
      try entry.record(by: author, at: now, connection)
    }
    for factor in added {
      var entry = AuditEntry("factor.enroll", "account", new.id.text, name: new.label, in: scope)
      entry.to = factor.words
      try entry.record(by: author, at: now, connection)
    }
    for (before, after) in renamed {
      try outbox.notify(
        .factorRenamed(from: before.label, to: after.label), new, in: scope, at: now, connection)
      var entry = AuditEntry("factor.rename", "account", new.id.text, name: new.label, in: scope)
      (entry.from, entry.to) = (before.words, after.words)
      try entry.record(by: author, at: now, connection)
    }
  }

  /// Refuses an import by a service token that would remove second factors where no token may.
  static func check(
    removal factors: [Factor], in scope: Scope, by author: Author,
    _ connection: borrowing Connection
  ) throws {
    guard !factors.isEmpty, case .serviceToken = author.actor else { return }
    guard try SupportRules.find(scope, connection).tokensRemoveFactors else {
      throw ImportFault.factorRemovalByTokenOff
    }
  }

  private static func renamed(from old: Account, to new: Account) -> [(Factor, Factor)] {
    new.factors.compactMap { after in
      guard let before = old.factors.first(where: { $0.id == after.id }),
        !(before.displayName ?? "").isSameBytes(as: after.displayName ?? ""),
        before.phoneNumber == after.phoneNumber
      else { return nil }
      return (before, after)
    }
  }
}

extension Account {
  /// The factors that it has and another state of it did not; whose number is another one now is such
  /// a factor.
  func factors(addedTo old: Account) -> [Factor] {
    factors.filter { factor in
      !old.factors.contains { $0.id == factor.id && $0.phoneNumber == factor.phoneNumber }
    }
  }
}

extension AuditEntry {
  /// The row of a removal of second factors by somebody else than their user.
  static func removal(
    of factors: [Factor], from account: Account, left: Int, sessionsEnded: Int, in scope: Scope
  ) -> AuditEntry {
    let isOfAll = left == 0 && factors.count == account.factors.count
    return removal(
      of: factors, from: account, isOfAll: isOfAll, left: left, sessionsEnded: sessionsEnded,
      in: scope)
  }

  /// The same, where it is known whether all were meant.
  static func removal(
    of factors: [Factor], from account: Account, isOfAll: Bool, left: Int, sessionsEnded: Int,
    in scope: Scope
  ) -> AuditEntry {
    var entry = AuditEntry(
      isOfAll ? "factor.remove-all" : "factor.remove", "account", account.id.text,
      name: account.label, in: scope)
    let words = factors.map(\.words).joined(separator: ", ")
    entry.from = "\(words), \(Words.count(sessionsEnded, "session", "sessions"))"
    entry.to =
      isOfAll
      ? "no second factors, no sessions"
      : "\(Words.count(left, "second factor", "second factors")), no sessions"
    return entry
  }
}
