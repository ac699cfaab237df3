import Database

/// An administrator with account details that other administrators can see.
public struct AdministratorRecord: Sendable {
  public let administrator: Administrator
  /// When roles end by themselves; others have no end date.
  public let grantEnds: [Grant: Instant]
  /// The roles that come from groups at the sign-in provider, and follow them at each sign-in.
  public let groupGrants: Set<Grant>
  public let createdAt: Instant
  public let lastSignInAt: Instant?
  /// The time they last signed in or used an open session; nil if they never signed in.
  public let lastUsedAt: Instant?
  public let enrolledAt: Instant?
  public let factorUsedAt: Instant?
  let ways: SignInWays
  /// Whether there's a way to sign in: a link with the provider, or a password or passkey that's
  /// admitted.
  public let canSignIn: Bool

  public var passkeys: Int { ways.passkeys }

  public var hasPassword: Bool { ways.hasPassword }

  public var factors: Set<ReauthenticationMethod> {
    ReauthenticationMethod.all(totp: enrolledAt != nil, passkey: passkeys > 0)
  }

  /// Whether there's a password or a passkey, which may not be admitted.
  public var hasOwnSignIn: Bool { ways.hasOwn }

  public var hasSecondFactor: Bool { !factors.isEmpty }
}

extension Administrators {
  /// Lists all administrators with their account details, by email address.
  public func records() async throws -> [AdministratorRecord] {
    let now = store.clock.now()
    return try await store.read { try Self.records(at: now, $0) }
  }

  static func records(
    at now: Instant, _ connection: borrowing Connection
  ) throws -> [AdministratorRecord] {
    let grants = try connection.all(
      """
      SELECT administrator_id, \(TimedGrant.columns)
      FROM administrator_grant WHERE \(inForce(at: now)) ORDER BY administrator_id
      """
    ) { row in (id: try row.next() as String, grant: try TimedGrant(&row)) }
    let byID = Dictionary(grouping: grants, by: \.id)
    let breakGlass = try PasswordSignIn.find(connection)
    return try connection.all(
      "SELECT \(recordColumns) FROM administrator ORDER BY email_folded"
    ) { row in
      try decoded(&row, breakGlass) { byID[$0.text, default: []].map(\.grant) }
    }
  }

  public func record(_ id: ID<Administrator>) async throws -> AdministratorRecord {
    try await store.read { now, connection in
      try Self.record(id, at: now, connection)
    }
  }

  public func record(email: String) async throws -> AdministratorRecord {
    let folded = AccountRules.folded(email: email)
    return try await store.read { now, connection in
      let id = try connection.first(
        "SELECT administrator_id FROM administrator WHERE email_folded = \(folded)"
      ) { try $0.next() as ID<Administrator> }
      guard let id else { throw CallError.notFound }
      return try Self.record(id, at: now, connection)
    }
  }

  /// Lists audit rows about an administrator, including changes to their own account, newest first.
  public func history(
    of id: ID<Administrator>, limit: Int = 20
  ) async throws -> [AuditRow] {
    try await store.read { connection in
      let ids = try connection.all(
        """
        SELECT audit_id FROM audit
        WHERE project_id = '' AND tenant_id = '' AND object_kind = \(AuditResource.administrator)
          AND object_id = \(id)
        ORDER BY audit_id DESC LIMIT \(limit)
        """
      ) { try $0.next() as Int64 }
      return try ids.compactMap { try Audit.find($0, connection) }
    }
  }

  static func record(
    _ id: ID<Administrator>, at now: Instant, _ connection: borrowing Connection
  ) throws -> AdministratorRecord {
    let grants = try timedGrants(id, at: now, connection)
    let breakGlass = try PasswordSignIn.find(connection)
    let found: AdministratorRecord? = try connection.first(
      "SELECT \(recordColumns) FROM administrator WHERE administrator_id = \(id)"
    ) { row in try Self.decoded(&row, breakGlass) { _ in grants } }
    guard let found else { throw CallError.notFound }
    return found
  }

  private static let recordColumns: SQL = """
    administrator_id, email, display_name, created_at, last_sign_in_at, totp_enrolled_at,
    totp_last_used_at, (SELECT max(c.last_seen_at) FROM console_session c
      WHERE c.administrator_id = administrator.administrator_id), \(SignInWays.columns)
    """

  private static func decoded(
    _ row: inout Row, _ breakGlass: ID<Administrator>?,
    grants: (ID<Administrator>) -> [TimedGrant]
  ) throws -> AdministratorRecord {
    let id: ID<Administrator> = try row.next()
    let grants = grants(id)
    let administrator = Administrator(
      id: id, email: try row.next(), displayName: try row.next(),
      grants: grants.map(\.grant).inOrder)
    let createdAt: Instant = try row.next()
    let lastSignIn: Instant? = try row.next()
    let enrolledAt: Instant? = try row.next()
    let factorUsedAt: Instant? = try row.next()
    let lastSeen: Instant? = try row.next()
    let ways = try SignInWays(&row)
    return AdministratorRecord(
      administrator: administrator, grantEnds: grants.ends, groupGrants: grants.groupGrants,
      createdAt: createdAt, lastSignInAt: lastSignIn,
      lastUsedAt: [lastSignIn, lastSeen].compactMap(\.self).max(), enrolledAt: enrolledAt,
      factorUsedAt: factorUsedAt, ways: ways, canSignIn: ways.admit(id, breakGlass: breakGlass))
  }
}

extension Collection<Grant> {
  /// The grants sorted from widest to narrowest, then by project and tenant.
  var inOrder: [Grant] {
    func key(_ grant: Grant) -> (String, String, Int) {
      let rank = Role.allCases.firstIndex(of: grant.role) ?? 0
      return (grant.project?.text ?? "", grant.tenant?.text ?? "", rank)
    }
    return sorted { key($0) < key($1) }
  }
}

struct SignInWays: Sendable {
  let passkeys: Int
  let hasPassword: Bool
  let isLinked: Bool

  static let columns: SQL = """
    (SELECT count(*) FROM passkey p WHERE p.administrator_id = administrator.administrator_id),
    password_hash <> '',
    EXISTS (SELECT 1 FROM administrator_provider_link l
      WHERE l.administrator_id = administrator.administrator_id
        AND l.issuer = (SELECT issuer FROM sign_in_provider WHERE provider_id = 1))
    """

  init(_ row: inout Row) throws {
    passkeys = try row.next()
    hasPassword = try row.next()
    isLinked = try row.next()
  }

  static func find(
    _ id: ID<Administrator>, _ connection: borrowing Connection
  ) throws -> SignInWays? {
    try connection.first(
      "SELECT \(columns) FROM administrator WHERE administrator_id = \(id)"
    ) { try SignInWays(&$0) }
  }

  /// Whether there's one that doesn't need the provider.
  var hasOwn: Bool { hasPassword || passkeys > 0 }

  /// Returns whether one of them lets the administrator in, given the break-glass account, which is
  /// nil if password sign-in is on.
  func admit(_ id: ID<Administrator>, breakGlass: ID<Administrator>?) -> Bool {
    isLinked || hasOwn && PasswordSignIn.admits(id, breakGlass: breakGlass)
  }
}

extension Administrators {
  static func present(
    _ id: ID<Administrator>, at now: Instant, _ connection: borrowing Connection
  ) throws -> Administrator? {
    let found = try connection.first(
      "SELECT email, display_name FROM administrator WHERE administrator_id = \(id.text)"
    ) { row in (email: try row.next() as String, name: try row.next() as String) }
    guard let found else { return nil }
    return Administrator(
      id: id, email: found.email, displayName: found.name,
      grants: try grants(id, at: now, connection).inOrder)
  }

  static func presentRecord(
    _ id: ID<Administrator>, at now: Instant, _ connection: borrowing Connection
  ) throws -> AdministratorRecord? {
    do { return try record(id, at: now, connection) } catch CallError.notFound { return nil }
  }
}
