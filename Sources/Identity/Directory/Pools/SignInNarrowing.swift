import Database
import OpenIDConnect
import Text

/// How users with a second factor can sign in to a pool: by the methods that support one.
///
/// Anonymous and phone sign-in and SAML don't (``SignInProvider/supportsSecondFactor``). Custom
/// tokens don't either, and don't depend on a pool's settings.
struct WaysIn: Equatable, Sendable {
  let password: Bool
  let emailLink: Bool
  /// The IDs of the providers with which users can sign in, sorted; nil for all, in the emulator
  /// profile.
  var providers: [String]?
  /// The kinds of second factors that sign-in requires.
  let kinds: Set<Factor.Kind>

  init(
    _ methods: SignInMethods, _ configuration: MFAConfiguration, in pool: Int64, _ profile: Profile,
    _ connection: borrowing Connection
  ) throws {
    (password, emailLink) = (methods.password, methods.emailLink)
    kinds = configuration.kinds
    guard profile != .emulator else { return }
    providers = try connection.all(
      """
      SELECT provider_id FROM identity_provider
      WHERE scope_key = \(pool) AND provider_id > 'oidc.' AND provider_id < 'oidc/'
        AND enabled = 1 AND key_set <> ''
      ORDER BY provider_id
      """
    ) { try $0.next() as String }
  }

  /// Reads how users can sign in to a pool; nil if it was deleted.
  static func find(
    _ pool: Int64, _ profile: Profile, _ connection: borrowing Connection
  ) throws -> WaysIn? {
    let stored = try connection.first(
      """
      SELECT s.password, s.email_link, \(PolicyEdit.columns("s")) FROM scope s
      WHERE s.scope_key = \(pool) AND s.deleted_at IS NULL
      """
    ) { row in
      let methods = SignInMethods(
        password: try row.next(), emailLink: try row.next(), anonymous: false)
      return (methods: methods, policy: try PolicyEdit(&row))
    }
    guard let stored else { return nil }
    return try WaysIn(stored.methods, stored.policy.configuration, in: pool, profile, connection)
  }

  /// The condition of accounts `a` that have one of these ways.
  private var condition: SQL {
    var ways: [SQL] = []
    let hasEmail: SQL = "a.email_folded IS NOT NULL"
    if password { ways.append("a.password_hash IS NOT NULL AND \(hasEmail)") }
    if emailLink { ways.append(hasEmail) }
    let link: SQL = "SELECT 1 FROM account_provider l WHERE l.account_key = a.account_key"
    if let providers {
      ways.append("EXISTS (\(link) AND l.provider_id IN (\(list: providers)))")
    } else {
      ways.append("EXISTS (\(link))")
    }
    return ways.joined(separator: " OR ")
  }

  /// Counts the users of a pool whose second factors sign-in requires and who have none of these
  /// ways in.
  ///
  /// Disabled users aren't among them, nor those who signed in with a custom token. `former` has the
  /// ways of which they had one; nil to count all.
  func usersLeftOutside(
    of pool: Int64, having former: WaysIn? = nil, atMost most: Int = LeftOutside.most,
    _ connection: borrowing Connection
  ) throws -> LeftOutside {
    var count = 0
    let had: SQL = former.map { "AND (\($0.condition))" } ?? ""
    for (totp, phone) in [(true, false), (true, true), (false, true)]
    where totp && kinds.contains(.totp) || phone && kinds.contains(.phone) {
      count += try connection.all(
        """
        SELECT a.account_key FROM account a \(index: "account_by_factors")
        WHERE a.scope_key = \(pool) AND a.has_totp = \(totp) AND a.has_phone = \(phone)
          AND a.disabled = 0 AND a.custom_auth = 0 AND NOT (\(condition)) \(had)
        LIMIT \(most - count)
        """
      ) { try $0.next() as Int64 }.count
    }
    return LeftOutside(users: count)
  }
}

/// A number of users with a second factor who have no way to sign in.
public struct LeftOutside: Equatable, Sendable {
  /// The number from which users aren't counted.
  public static let most = 10_000

  /// The number of users, at most ``most``.
  public let users: Int

  /// Whether there may be more users.
  public var isCut: Bool { users >= Self.most }
}

/// A change after which users with a second factor can't sign in to a pool in some way any longer.
struct SignInNarrowing: Equatable, Sendable {
  /// A change whose users were counted before the write.
  struct Counted: Sendable {
    fileprivate let narrowing: SignInNarrowing
    fileprivate let found: LeftOutside?
  }

  /// What a write throws if its change has to be counted first.
  private struct Uncounted: Error {
    let narrowing: SignInNarrowing
  }

  let pool: Int64
  let old: WaysIn
  let new: WaysIn

  /// Creates a change of settings; nil if all ways stay.
  init?(
    from old: PoolSettings, to new: PoolEdit, _ profile: Profile,
    _ connection: borrowing Connection
  ) throws {
    let (was, becomes) = (old.signIn, new.signIn)
    guard was.password && !becomes.password || was.emailLink && !becomes.emailLink else {
      return nil
    }
    pool = old.pool.key
    self.old = try WaysIn(was, new.configuration, in: pool, profile, connection)
    self.new = try WaysIn(becomes, new.configuration, in: pool, profile, connection)
  }

  /// Creates a change or removal of a provider; nil if its users can sign in with it as before.
  ///
  /// A subject is unique within its issuer (OpenID Connect Core 1.0, section 5.7), so with another
  /// issuer no one has the linked identities. `settings` is nil if the provider is removed.
  init?(
    from old: IdentityProvider, to settings: ProviderSettings?, in pool: Pool, _ profile: Profile,
    _ connection: borrowing Connection
  ) throws {
    if let settings, settings.isUsable, settings.issuer.isSameBytes(as: old.settings.issuer) {
      return nil
    }
    guard old.kind == .oidc, old.settings.isUsable,
      let ways = try WaysIn.find(pool.key, profile, connection)
    else { return nil }
    self.pool = pool.key
    self.old = ways
    var new = ways
    new.providers?.removeAll { $0.isSameBytes(as: old.id.text) }
    self.new = new
  }

  /// Returns how many users lose their last way in; nil if none do.
  func users(_ connection: borrowing Connection) throws -> LeftOutside? {
    let found = try new.usersLeftOutside(of: pool, having: old, connection)
    return found.users > 0 ? found : nil
  }

  /// Returns the users that were counted for this change.
  ///
  /// - Throws: ``Uncounted`` if another change was counted, or none.
  func users(_ counted: Counted?) throws -> LeftOutside? {
    guard let counted, counted.narrowing == self else { throw Uncounted(narrowing: self) }
    return counted.found
  }

  /// Runs a write that may narrow sign-in.
  ///
  /// If it does, it's rolled back, the users are counted in a read, since that can take seconds, and
  /// it's run again with their number.
  static func counting<Value>(
    _ store: Store, _ write: (Counted?) async throws -> Value
  ) async throws -> Value {
    var counted: Counted?
    while true {
      do { return try await write(counted) } catch let uncounted as Uncounted {
        let narrowing = uncounted.narrowing
        counted = try await store.read { connection in
          Counted(narrowing: narrowing, found: try narrowing.users(connection))
        }
      }
    }
  }

  /// Stores the number of users for “Needs attention”, and emails the owners about a program's
  /// change.
  func record(
    _ found: LeftOutside?, in pool: Pool, _ context: ActionContext,
    _ connection: borrowing Connection
  ) throws {
    guard let found else { return }
    try connection.run(
      """
      UPDATE scope SET outside_users = \(found.users)
      WHERE scope_key = \(pool.key) AND outside_users < \(found.users)
      """)
    guard context.author.actor.kind != .administrator else { return }
    let lost = Set(old.providers ?? []).subtracting(new.providers ?? []).sorted()
    let mail = NarrowedSignInMail(
      pool: pool, losesPassword: old.password && !new.password,
      losesEmailLink: old.emailLink && !new.emailLink, provider: lost.first, found: found,
      by: context.author.actor.name, at: context.now,
      link: context.outbox.links.signInMethods(of: pool))
    try context.outbox.notifyOwners(
      .signInNarrowed, .narrowedSignIn(mail), of: pool, onceADay: true, at: context.now, connection)
  }
}

extension ProviderSettings {
  /// Whether users can sign in with a provider that has these settings.
  fileprivate var isUsable: Bool { isEnabled && keys.count > 0 }
}

/// A pool with users who have no way to sign in.
public struct PoolWithoutWayIn: Sendable {
  public let pool: Pool
  public let found: LeftOutside
}

extension Pools {
  /// How often users without a way in are counted, in seconds.
  private static let countInterval: Int64 = 3_600
  /// The number of pools read at a time.
  private static let share = 500
  private static let countedAt = InstanceValue("left_outside_counted_at")

  /// Lists the pools that an administrator can see in which users with a second factor have no way
  /// to sign in, as of the last hourly count.
  public func leftOutside(
    visibleTo administrator: Administrator, limit: Int
  ) async throws -> [PoolWithoutWayIn] {
    guard !administrator.grants.isEmpty else { return [] }
    let restriction = administrator.restriction
    return try await store.read { connection in
      try connection.all(
        """
        SELECT \(Pool.columns), s.outside_users FROM scope s \(index: "scope_outside")
          \(SQL.orderedJoin) project p USING (project_id)
        WHERE s.project_id > '' AND s.outside_users > 0 AND s.deleted_at IS NULL \(restriction)
        ORDER BY s.project_id, s.tenant_id LIMIT \(limit)
        """
      ) { PoolWithoutWayIn(pool: try Pool(&$0), found: LeftOutside(users: try $0.next())) }
    }
  }

  /// Returns the users of a pool with a second factor who have no way to sign in, as of the last
  /// hourly count; nil if there were none.
  public func leftOutside(of pool: Pool) async throws -> LeftOutside? {
    try await store.read { connection in
      try connection.first(
        "SELECT outside_users FROM scope WHERE scope_key = \(pool.key) AND outside_users > 0"
      ) { LeftOutside(users: try $0.next()) }
    }
  }

  /// Counts the users without a way in of all pools, at most once an hour.
  func countLeftOutside() async throws {
    let (now, profile) = (store.clock.now(), store.profile)
    let last = try await store.read { try Self.countedAt.readNumber($0) }
    if let last, Instant(seconds: last).isRecent(within: Self.countInterval, at: now) { return }
    try await store.write { try Self.countedAt.store(String(now.seconds), $0) }
    var next: Int64? = 0
    while let key = next {
      let pools = try await store.read { connection in
        try connection.all(
          """
          SELECT s.scope_key, s.outside_users, \(AccountCounts.current("enrolled_users"))
          FROM scope s \(SQL.orderedJoin) project p USING (project_id)
          WHERE s.scope_key > \(key) AND s.deleted_at IS NULL AND p.kind = \(PoolKind.hosted)
          ORDER BY s.scope_key LIMIT \(Self.share)
          """
        ) { row in
          (
            key: try row.next() as Int64, known: try row.next() as Int,
            enrolled: try row.next() as Int
          )
        }
      }
      for (pool, known, enrolled) in pools where known > 0 || enrolled > 0 {
        // One read for each, since a large pool can take seconds.
        let found = try await store.read { connection in
          try WaysIn.find(pool, profile, connection)?.usersLeftOutside(of: pool, connection)
        }
        guard let found, found.users != known else { continue }
        try await store.write { connection in
          _ = try connection.run(
            "UPDATE scope SET outside_users = \(found.users) WHERE scope_key = \(pool)")
        }
      }
      next = pools.count == Self.share ? pools.last?.key : nil
    }
  }
}
