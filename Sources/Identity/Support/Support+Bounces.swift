import Database
import Text

extension Support {
  /// Marks an email address of an account as bouncing: waiting emails to it are stopped, and later
  /// ones aren't sent.
  ///
  /// A last email, to every address on file including this one, says so: otherwise an agent could
  /// keep the user from hearing of what they do next.
  ///
  /// - Returns: The address.
  /// - Throws: ``ActionDenial``; ``ActionDenial/nothingToDo`` if it's already marked or not an
  ///   address of the account.
  public func markBounces(
    _ scope: Scope, _ account: ID<Account>, of address: String, _ request: ActionRequest
  ) async throws(ActionDenial) -> ActionOutcome<String> {
    try await authorization.act(
      .markBounces, request, on: account, in: scope
    ) { account, _, now, connection in
      let unmarked = account.addresses(without: try BouncedAddress.list(account, connection))
      guard let address = unmarked.first(where: { $0.isSameBytes(as: address) }) else {
        throw ActionDenial.nothingToDo
      }
      try Outbox.stop(account, address, at: now, connection)
      try store.outbox.notify(.addressBounces(address), account, in: scope, at: now, connection)
      try BouncedAddress.insert(
        account, address, by: request.agent.administrator.displayName, at: now, connection)
      var entry = AuditEntry(.accountMarkBounces, of: account, in: scope)
      entry.add(.bouncingEmail, from: .absent, to: .text(address))
      return SupportAction(entry: entry, value: address)
    }
  }

  /// Removes the mark of a bouncing email address, so that email is sent there again.
  ///
  /// - Returns: The address.
  /// - Throws: ``ActionDenial``; ``ActionDenial/nothingToDo`` if it isn't marked.
  public func clearBounces(
    _ scope: Scope, _ account: ID<Account>, of address: String, _ request: ActionRequest
  ) async throws(ActionDenial) -> ActionOutcome<String> {
    try await authorization.act(
      .clearBounces, request, on: account, in: scope
    ) { account, _, _, connection in
      guard try BouncedAddress.has(account, address, connection) else {
        throw ActionDenial.nothingToDo
      }
      try BouncedAddress.delete(account, address, connection)
      var entry = AuditEntry(.accountClearBounces, of: account, in: scope)
      entry.add(.bouncingEmail, from: .text(address), to: .absent)
      return SupportAction(entry: entry, value: address)
    }
  }

  /// Lists the email addresses of an account that are marked as bouncing.
  ///
  /// - Throws: ``ActionDenial/accountNotFound``, ``ActionDenial/unavailable(_:)``.
  public func bouncing(
    _ scope: Scope, _ account: ID<Account>
  ) async throws(ActionDenial) -> [BouncedAddress] {
    try await store.read(ActionDenial.self) { connection in
      guard let account = try AccountRecord.find(scope, account, connection) else {
        throw ActionDenial.accountNotFound
      }
      return try BouncedAddress.list(account, connection)
    }
  }
}
