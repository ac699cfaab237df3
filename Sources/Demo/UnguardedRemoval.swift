import Database
import Identity

extension Demo {
  /// Removes a factor without the checks of the console, which the history doesn't need.
  func remove(
    _ factor: ID<Factor>, of account: ID<Account>, in scope: Scope, reason: SupportReason,
    note: String, by author: Author
  ) async throws(ActionDenial) {
    let now = clock.now
    let removals = identity.factorRemovals
    try await identity.store.write(ActionDenial.self) { connection in
      guard let account = try AccountRecord.find(scope, account, connection) else {
        throw ActionDenial.accountNotFound
      }
      let rules = try SupportRules.find(scope, connection)
      let removal = try FactorRemovals.removal(
        of: factor, from: account, rules, in: scope, connection)
      var entry = try removals.perform(removal, nil, in: scope, at: now, connection)
      entry.reason = reason.rawValue
      entry.note = note.isEmpty ? nil : note
      try entry.record(by: author, at: now, connection)
    }
  }
}
