import Crypto
import Database
import OpenIDConnect

/// Administrators who can change a provider decide which identities are trusted.
public struct IdentityProviders: Sendable {
  let store: Store
  let sealer: Sealer

  static func sealer(_ keys: KeyRing, random: RandomSource) throws(CryptoError) -> Sealer {
    try Sealer(keys, purpose: "identity provider", random: random)
  }

  /// The maximum number of providers in a pool.
  public static let most = 100

  public static func kind(of id: String) -> IdentityProvider.Kind? {
    guard id.utf8.count <= ProviderLink.longestProvider,
      let kind = IdentityProvider.Kind.allCases.first(where: { id.hasPrefix($0.prefix) })
    else { return nil }
    let name = id.dropFirst(kind.prefix.count)
    let isName = name.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"),
        UInt8(ascii: "_"):
        true
      default: false
      }
    }
    return !name.isEmpty && isName ? kind : nil
  }

  @discardableResult
  public func create(
    in pool: Pool, id: String, _ settings: ProviderSettings, by caller: Caller
  ) async throws -> ActionOutcome<IdentityProvider> {
    guard let kind = Self.kind(of: id) else { throw ProviderError.invalidID }
    try settings.check(kind)
    let sealed = try sealed(settings.clientSecret, of: id, in: pool)
    return try await store.run(.addIdentityProvider, by: caller, in: ActionTarget(pool)) {
      context, connection in
      let now = context.now
      let others = try connection.all(
        "SELECT provider_id FROM identity_provider WHERE scope_key = \(pool.key)"
      ) { try $0.next() as String }
      guard !others.contains(where: { $0 == id }) else { throw ProviderError.exists(id) }
      guard others.count < Self.most else { throw ProviderError.tooMany }
      try connection.run(
        """
        INSERT INTO identity_provider (scope_key, provider_id, display_name, enabled, issuer,
          client_id, key_set, sealed_secret, members, created_at, changed_at)
        VALUES (\(pool.key), \(id), \(settings.displayName), \(settings.isEnabled),
          \(settings.issuer), \(settings.clientID), \(settings.keys.text), \(sealed),
          \(settings.members), \(now), \(now))
        """)
      var entry = AuditEntry(.providerCreate, .provider, id, name: id, in: pool)
      entry.compare(ProviderSettings().auditFields(), settings.auditFields())
      try context.record(entry, connection)
      return try find(pool, id, connection)
    }
  }

  public func find(
    _ pool: Pool, _ id: String
  ) async throws -> IdentityProvider {
    try await store.read { connection in try find(pool, id, connection) }
  }

  func find(
    _ pool: Pool, _ id: String, _ connection: borrowing Connection
  ) throws -> IdentityProvider {
    let found = try connection.first(
      """
      SELECT \(Self.columns) FROM identity_provider
      WHERE scope_key = \(pool.key) AND provider_id = \(id)
      """
    ) { try decode(&$0, pool) }
    guard let found else { throw ProviderError.notFound }
    return found
  }

  /// Lists a pool's providers for one protocol, or both, by ID.
  public func list(
    _ pool: Pool, kind: IdentityProvider.Kind? = nil, after: String? = nil, limit: Int = most
  ) async throws -> Page<IdentityProvider> {
    let limit = Page<IdentityProvider>.size(limit)
    // The IDs of a protocol are those from its prefix up to the next possible prefix.
    let first = max(after ?? "", kind?.prefix ?? "")
    let last = kind.map { $0.rawValue + "/" } ?? "\u{10FFFF}"
    return try await store.read { connection in
      let found = try connection.all(
        """
        SELECT \(Self.columns) FROM identity_provider
        WHERE scope_key = \(pool.key) AND provider_id > \(first) AND provider_id < \(last)
        ORDER BY provider_id LIMIT \(limit + 1)
        """
      ) { try decode(&$0, pool) }
      return Page(found, limit: limit) { $0.id.text }
    }
  }

  /// Changes a provider; a change that alters nothing writes nothing.
  ///
  /// Without the time of the last change as it was read, a change made meanwhile isn't noticed.
  /// An administrator's change that leaves users with a second factor without a way to sign in
  /// requires a reason.
  @discardableResult
  public func update(
    _ pool: Pool, _ id: String, expecting seen: Instant? = nil, by caller: Caller,
    edit: @escaping @Sendable (inout ProviderSettings) throws(ProviderError) -> Void
  ) async throws -> ActionOutcome<IdentityProvider> {
    try await SignInNarrowing.counting(store) { counted in
      try await store.run(
        .changeIdentityProvider, by: caller, on: changing(id, in: pool, counted, edit)
      ) { change, context, connection in
        let (old, now) = (change.old, context.now)
        guard seen == nil || seen == old.changedAt else { throw ProviderError.changedMeanwhile }
        guard let new = change.new else { return old }
        try new.check(old.kind)
        let isNewSecret = new.clientSecret != old.settings.clientSecret
        var entry = AuditEntry(.providerChange, .provider, id, name: id, in: pool)
        entry.compare(
          old.settings.auditFields(), new.auditFields(isNewSecret: isNewSecret))
        guard !entry.changes.isEmpty else { return old }
        let sealed = try sealed(new.clientSecret, of: id, in: pool)
        try change.narrowing?.record(
          try change.narrowing?.users(counted), in: pool, context, connection)
        try connection.run(
          """
          UPDATE identity_provider SET display_name = \(new.displayName),
            enabled = \(new.isEnabled), issuer = \(new.issuer), client_id = \(new.clientID),
            key_set = \(new.keys.text), sealed_secret = \(sealed), members = \(new.members),
            changed_at = \(now)
          WHERE scope_key = \(pool.key) AND provider_id = \(id)
          """)
        try context.record(entry, connection)
        return try find(pool, id, connection)
      }
    }
  }

  /// A change of a provider, or its removal without settings.
  private struct Change: Sendable {
    let old: IdentityProvider
    var new: ProviderSettings?
    var narrowing: SignInNarrowing?
  }

  private func changing(
    _ id: String, in pool: Pool, _ counted: SignInNarrowing.Counted?,
    _ edit: (@Sendable (inout ProviderSettings) throws(ProviderError) -> Void)?
  ) -> ActionSubject<Change> {
    ActionSubject(target: ActionTarget(pool)) { context, connection in
      let change = try change(of: id, in: pool, by: edit, connection)
      guard context.request != nil else { return ActionSubject.Found(content: change) }
      let narrows = try change.narrowing?.users(counted) != nil
      return ActionSubject.Found(content: change, action: narrows ? .narrowProvider : nil)
    }
  }

  /// Returns the users with a second factor whom a change would leave without a way to sign in; nil
  /// if there are none.
  ///
  /// `edit` is nil to remove the provider.
  public func leftOutside(
    of pool: Pool, byChanging id: String,
    _ edit: (@Sendable (inout ProviderSettings) throws(ProviderError) -> Void)?
  ) async throws -> LeftOutside? {
    try await store.read { connection in
      try change(of: id, in: pool, by: edit, connection).narrowing?.users(connection)
    }
  }

  private func change(
    of id: String, in pool: Pool,
    by edit: (@Sendable (inout ProviderSettings) throws(ProviderError) -> Void)?,
    _ connection: borrowing Connection
  ) throws -> Change {
    var change = Change(old: try find(pool, id, connection))
    if let edit {
      var settings = change.old.settings
      try edit(&settings)
      change.new = settings
    }
    change.narrowing = try SignInNarrowing(
      from: change.old, to: change.new, in: pool, store.profile, connection)
    return change
  }

  /// Users keep their identities at the provider and can sign in with them again if it's added
  /// again.
  ///
  /// An administrator's removal that leaves users with a second factor without a way to sign in
  /// requires a reason.
  @discardableResult
  public func delete(
    _ pool: Pool, _ id: String, by caller: Caller
  ) async throws -> ActionOutcome<Void> {
    try await SignInNarrowing.counting(store) { counted in
      try await store.run(
        .removeIdentityProvider, by: caller, on: changing(id, in: pool, counted, nil)
      ) { change, context, connection in
        try change.narrowing?.record(
          try change.narrowing?.users(counted), in: pool, context, connection)
        try connection.run(
          """
          DELETE FROM identity_provider
          WHERE scope_key = \(pool.key) AND provider_id = \(id)
          """)
        var entry = AuditEntry(.providerDelete, .provider, id, name: id, in: pool)
        for change in AuditChange.between(
          change.old.settings.auditFields(), ProviderSettings().auditFields())
        {
          if let field = change.field, let value = change.old { entry.add(field, lost: value) }
        }
        try context.record(entry, connection)
      }
    }
  }

  static func enabled(in pool: Pool, _ connection: borrowing Connection) throws -> [String] {
    // SAML sign-in isn't supported, so SAML providers are ignored even if enabled.
    try connection.all(
      """
      SELECT provider_id FROM identity_provider
      WHERE scope_key = \(pool.key) AND provider_id > 'oidc.' AND provider_id < 'oidc/'
        AND enabled = 1
      ORDER BY provider_id
      """
    ) { try $0.next() as String }
  }

  private static let columns: SQL = """
    provider_id, display_name, enabled, issuer, client_id, key_set, sealed_secret, members,
    created_at, changed_at
    """

  private func decode(_ row: inout Row, _ pool: Pool) throws -> IdentityProvider {
    let id: String = try row.next()
    guard let kind = Self.kind(of: id) else { throw Failure("unknown kind of provider") }
    var settings = ProviderSettings()
    settings.displayName = try row.next()
    settings.isEnabled = try row.next()
    settings.issuer = try row.next()
    settings.clientID = try row.next()
    settings.keys = try KeySet(try row.next())
    if let box = try row.next() as [UInt8]? {
      settings.clientSecret = try StoredSecret(.clientSecret, .provider, id, in: pool).opening {
        try sealer.open(box, with: Self.place(of: id, in: pool))
      }
    }
    settings.members = try row.next()
    return IdentityProvider(
      id: ID(id), kind: kind, settings: settings,
      createdAt: try row.next(), changedAt: try row.next())
  }

  private func sealed(
    _ secret: Secret?, of id: String, in pool: Pool
  ) throws -> [UInt8]? {
    guard let secret, !secret.isEmpty else { return nil }
    return try sealer.seal(secret.revealedBytes, with: Self.place(of: id, in: pool))
  }

  /// Returns the associated data of a sealed secret, so that a moved row can't be opened.
  private static func place(of id: String, in pool: Pool) -> [UInt8] {
    Array("\(pool.key) \(id)".utf8)
  }
}

extension IdentityProviders: ReencryptableStore {
  static let name = "identity_provider"

  func reseal(
    after position: String, limit: Int, _ connection: borrowing Connection
  ) throws -> ResealedPart {
    let start = PairPosition(position, least: "")
    let rows = try connection.all(
      """
      SELECT i.scope_key, i.provider_id, i.sealed_secret, s.project_id, s.tenant_id
      FROM identity_provider i \(SQL.orderedJoin) scope s ON s.scope_key = i.scope_key
      WHERE (i.scope_key, i.provider_id) > (\(start.first), \(start.second))
      ORDER BY i.scope_key, i.provider_id LIMIT \(limit)
      """
    ) { row in
      let (pool, id): (Int64, String) = (try row.next(), try row.next())
      return (
        pool: pool, id: id, sealed: try row.next() as [UInt8]?,
        secret: StoredSecret(
          kind: .clientSecret, object: .provider, objectID: id, project: try row.next(),
          tenant: try row.next())
      )
    }
    return try ResealedPart(rows, at: { PairPosition($0.pool, $0.id).text }) { row in
      let place = "\(row.pool) \(row.id)"
      guard let sealed = row.sealed,
        let box = try row.secret.opening({
          try sealer.resealed(sealed, with: Array(place.utf8))
        })
      else { return false }
      try connection.run(
        """
        UPDATE identity_provider SET sealed_secret = \(box)
        WHERE scope_key = \(row.pool) AND provider_id = \(row.id)
        """)
      return true
    }
  }
}
