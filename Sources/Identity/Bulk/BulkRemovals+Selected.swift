import Database

extension BulkRemovals {
  /// Previews the removal for all users that a list of a pool shows.
  ///
  /// - Returns: The number of the draft.
  public func draft(
    all listing: AccountListing, in pool: Pool, by author: Author, _ agent: ConsoleSession
  ) async throws -> Int64 {
    let now = store.clock.now()
    // The preview names users that the request doesn't.
    try await store.read { connection in
      _ = try ActionAuthorization.holder(
        of: .findUsers, agent, in: ActionTarget(pool), at: now, connection
      ).mapError(BulkError.denied).get()
    }
    var users: [ID<Account>] = []
    let isCut = try await accounts.forEachPart(of: listing, in: pool, atMost: BulkList.longest) {
      users += $0.map(\.id)
    }
    guard !isCut else { throw BulkError.tooLong }
    return try await draft(users, in: pool, by: author, agent)
  }

  /// - Returns: The number of the draft.
  public func draft(
    _ users: [ID<Account>], in pool: Pool, by author: Author, _ agent: ConsoleSession
  ) async throws -> Int64 {
    guard !users.isEmpty else { throw BulkError.nothingToDo }
    guard users.count <= BulkList.longest else { throw BulkError.tooLong }
    let entries = users.enumerated().map { Entry.account($1, number: $0 + 1) }
    return try await draft(entries, in: pool, by: author, agent)
  }
}
