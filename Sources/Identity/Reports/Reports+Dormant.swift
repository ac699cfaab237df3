import Database

/// Access to the console that isn't used.
public struct DormantAccess: Sendable {
  /// Who has the access.
  public enum Holder: Sendable {
    /// An administrator.
    case administrator(AdministratorRecord)
    /// Someone who hasn't accepted an invitation.
    case invited(Invitation)
  }

  /// Who has the access.
  public let holder: Holder
  /// When the administrator last used the console; nil if never.
  public let lastUsedAt: Instant?

  /// The time from which on the access wasn't used.
  public var since: Instant {
    switch holder {
    case .administrator(let record): lastUsedAt ?? record.createdAt
    case .invited(let invitation): invitation.createdAt
    }
  }
}

extension Reports {
  /// The numbers of days without use that the report of dormant administrators offers.
  public static let dormantDays = [30, 60, AccessGrant.dormantDays, 180, 365]

  /// Lists administrators who haven't used the console for a number of days or never signed in, and
  /// invitations that weren't accepted yet, longest first.
  ///
  /// - Parameter days: The number of days.
  /// - Returns: The access that isn't used.
  /// - Throws: ``ManagementError/unavailable(_:)``.
  public func dormant(days: Int) async throws(ManagementError) -> [DormantAccess] {
    let now = store.clock.now()
    return try await store.read(ManagementError.self) {
      try Self.dormant(days: days, at: now, $0)
    }
  }

  static func dormant(
    days: Int, at now: Instant, _ connection: borrowing Connection
  ) throws -> [DormantAccess] {
    let start = now.advanced(bySeconds: -Int64(days) * 86_400)
    var found: [DormantAccess] = []
    for record in try Administrators.records(at: now, connection) {
      let lastSeen = try lastSeen(record.administrator.id, connection)
      let lastUsed = [record.lastSignInAt, lastSeen].compactMap(\.self).max()
      guard lastUsed.map({ $0 < start }) ?? true else { continue }
      found.append(DormantAccess(holder: .administrator(record), lastUsedAt: lastUsed))
    }
    for invitation in try Invitations.pending(at: now, connection) {
      found.append(DormantAccess(holder: .invited(invitation), lastUsedAt: nil))
    }
    return found.sorted { $0.since < $1.since }
  }
}
