public import Crypto
public import Database

/// The use cases of one instance: who can sign in, with which second factor, and who can change
/// that.
///
/// It's created once at startup and passed to the console and the API; each use case is a method of
/// one of its parts. The parts with a memory or keys are members; each floor makes the others.
///
/// A class, since every page keeps it, and its parts are large.
public final class Identity: Sendable {
  public var profile: Profile { store.profile }
  public let clockGuard: ClockGuard
  public var clock: WallClock { store.clock }
  public let taskLease: TaskLease
  /// The project that any API key identifies in the emulator profile; nil in the standalone
  /// profile.
  public let defaultProject: ID<Project>?

  public let masterKeys: MasterKeys
  public let nodes: Nodes
  public let audit: Audit
  public let auditChain: AuditChain
  public let evidenceKeys: EvidenceKeys
  public let consoleSessions: ConsoleSessions
  public let consoleStorage: ConsoleStorage
  public let consoleProviders: ConsoleProviders
  public let serviceTokens: ServiceTokens
  public let apiKeys: APIKeys
  public let policies: Policies
  public let accounts: Accounts
  public let activity: Activity
  public let codeAttempts: CodeAttempts
  public let deliveries: Deliveries
  public let signingKeys: SigningKeys
  public let trustedTokenKeys: TrustedTokenKeys
  public let identityProviders: IdentityProviders
  public let reviews: Reviews
  public let connections: Connections

  /// The pace of work in batches, of which there's one.
  public var pacer: Pacer { store.pacer }

  package let store: Store
  let keys: KeyRing
  let hasher: PasswordHasher
  let totp: TOTPFactor
  let backupCodeStore: BackupCodeStore
  let consoleTickets: Sealer
  let tickets: Sealer
  let pendingTokens: Sealer

  /// `steady` is a monotonic clock, which detects jumps of `clock`.
  ///
  /// `defaultProject` is the project that any API key identifies in the emulator profile, and
  /// `carriesMail` and `carriesText` say whether this process sends emails and text messages to
  /// users. `providerTransport` is nil if it sends no requests to the provider with which
  /// administrators sign in, and `remoteClients` if it sends none to servers of connected projects;
  /// `remotePatience` returns when a page stops waiting for one of them.
  ///
  /// - Throws: `CryptoError` if libcrypto fails.
  public init(
    database: any Database, keys: KeyRing, profile: Profile, hasher: PasswordHasher,
    mail: any MailWriter, clock: WallClock = .system,
    steady: @escaping @Sendable () -> Duration = WallClock.sinceBoot,
    random: RandomSource = .system, defaultProject: ID<Project>? = nil, carriesMail: Bool = false,
    carriesText: Bool = false, smsLimits: SMSLimits = SMSLimits(),
    providerTransport: (any ProviderTransport)? = nil, remoteClients: RemoteClients? = nil,
    remotePatience: @escaping @Sendable (Duration) async -> Void = Connections.patience
  ) throws(CryptoError) {
    let links = ActionLinks(profile: profile)
    let expectedTime = ExpectedTime()
    let administratorTOTP = try AdministratorTOTP(
      keys: keys, random: random, expected: expectedTime)
    let store = Store(
      database: database, profile: profile, clock: clock, random: random,
      outbox: try Outbox(
        keys: keys, random: random, links: links, writer: mail, carriesMail: carriesMail,
        carriesText: carriesText, smsLimits: smsLimits),
      links: links, administratorTOTP: administratorTOTP, expectedTime: expectedTime)
    self.store = store
    self.keys = keys
    self.hasher = hasher
    self.defaultProject = profile == .emulator ? defaultProject : nil
    clockGuard = ClockGuard(store: store, steady: steady)
    taskLease = TaskLease(store: store, steady: steady)
    nodes = Nodes(store: store, ring: keys)

    audit = Audit(store: store)
    evidenceKeys = try EvidenceKeys(store: store, keys: keys)
    auditChain = AuditChain(store: store, keys: evidenceKeys)
    consoleTickets = try Sealer(keys, purpose: "console ticket", random: random)
    consoleSessions = ConsoleSessions(
      store: store, hasher: hasher, totp: administratorTOTP, tickets: consoleTickets,
      deviceSealer: try Sealer(keys, purpose: "console device", random: .system))
    consoleStorage = ConsoleStorage(
      store: store, sealer: try Sealer(keys, purpose: "console storage", random: .system))
    consoleProviders = ConsoleProviders(
      store: store, sealer: try ConsoleProviders.sealer(keys, random: random),
      tickets: consoleTickets, sessions: consoleSessions,
      directory: ProviderDirectory(
        providerTransport ?? NoProviderTransport(), clock: store.clock))
    serviceTokens = ServiceTokens(store: store)

    totp = try TOTPFactor(keys: keys, random: random, expected: expectedTime)
    backupCodeStore = try BackupCodeStore(keys: keys, random: random)
    apiKeys = APIKeys(store: store)
    accounts = Accounts(store: store, hasher: hasher)
    activity = Activity(store: store)
    policies = Policies(store: store, audit: audit, activity: activity)
    codeAttempts = CodeAttempts(store: store)
    deliveries = Deliveries(store: store)

    tickets = try Sealer(keys, purpose: "ticket", random: random)
    pendingTokens = try Sealer(keys, purpose: "pending token", random: random)
    signingKeys = try SigningKeys(store: store, keys: keys)
    trustedTokenKeys = TrustedTokenKeys(store: store)
    identityProviders = IdentityProviders(
      store: store, sealer: try IdentityProviders.sealer(keys, random: random))

    reviews = Reviews(store: store, audit: audit, keys: evidenceKeys)
    connections = Connections(
      store: store, sealer: try Connections.sealer(keys, random: random), clients: remoteClients,
      patience: remotePatience)
    masterKeys = MasterKeys(
      store: store, ring: keys,
      places: [
        totp, RemovedFactors(totp: totp), administratorTOTP, signingKeys, evidenceKeys,
        store.outbox, identityProviders, backupCodeStore, consoleProviders, connections,
      ])
  }
}

extension Identity {
  /// Runs a closure whose reads all use one snapshot, which also costs less than separate ones.
  ///
  /// The reads don't see what `body` changes, so it's only for responses that read.
  public nonisolated(nonsending) func atOneMoment<T>(
    _ body: nonisolated(nonsending) () async -> T
  ) async -> T {
    await store.database.snapshot(body)
  }
}

public enum StartError: Error, Sendable {
  case migration(MigrationError)
  case newerProgramRequired(ProgramVersion)
  case wrongProfile(Profile)
  case wrongKey
  /// The database is empty, but an existing instance is expected.
  case empty
  /// The database lacks migrations, which this start doesn't apply.
  case notMigrated([String])
}

extension StartError {
  /// Whether another start can succeed, although nobody changes the configuration.
  public var isTemporary: Bool {
    switch self {
    case .migration(.failed(_, let error)): error.isTemporary
    case .migration, .newerProgramRequired, .wrongProfile, .wrongKey, .empty, .notMigrated: false
    }
  }
}

extension Identity {
  /// Prepares the database: the schema, the stored profile and key, the first signing key, and, in
  /// the emulator profile, the default project.
  ///
  /// - Parameters:
  ///   - creates: Whether an empty database becomes a new instance; otherwise it's an error.
  ///   - migrates: Whether to apply migrations; otherwise pending ones are an error.
  ///   - dropping: Called before the migrations, with each setting that they drop.
  ///   - progress: Called before each migration, with its name, its number from 1, and how many
  ///     there are.
  /// - Returns: The upgrade that this start finished; nil for none.
  /// - Throws: ``StartError``.
  @discardableResult
  public func prepare(
    creates: Bool = true, migrates: Bool = true,
    dropping: (DroppedSetting) -> Void = { _ in },
    progress: (_ name: String, _ number: Int, _ count: Int) -> Void = { _, _, _ in }
  ) async throws -> UpgradeReport? {
    let now = clock.now()
    do {
      let pending = try await SchemaCompatibility.pending(store.database)
      let migrations = Self.migrations(for: store.database.dialect)
      guard creates || pending.first != migrations.baseline else { throw StartError.empty }
      if migrates {
        if !pending.isEmpty { try await SchemaObjects.check(store.database) }
        if !pending.isEmpty, pending.first != migrations.baseline {
          for setting in try await Upgrade.begin(pending.map(\.name), store) { dropping(setting) }
        }
        try await store.database.migrate(
          migrations, at: now.milliseconds,
          toleratesNewer: try await SchemaCompatibility.toleratesNewer(store.database),
          progress: progress, check: SchemaObjects.check(after:_:))
      } else {
        guard pending.isEmpty else { throw StartError.notMigrated(pending.map(\.name)) }
      }
    } catch {
      throw StartError.translated(error)
    }
    try await stamp()
    let upgrade = try await migrates ? Upgrade.finish(store) : nil
    try await masterKeys.prepare()
    try await SearchIndex.complete(store)
    try await signingKeys.prepare()
    if let defaultProject { _ = try await pools.find(project: defaultProject) }
    return upgrade
  }

  private func stamp() async throws {
    let marks = try keys.mark()
    let profile = profile
    try await store.write { [links = store.links, keys] connection in
      let kept = try Self.stamped("profile", profile.rawValue, connection)
      guard let known = Profile(rawValue: kept) else { throw Failure("unknown profile") }
      guard known == profile else { throw StartError.wrongProfile(known) }
      _ = try Self.stamped("key_mark", marks[0], connection)
      guard try keys.opens(connection) else { throw StartError.wrongKey }
      // A server replaces it with its own.
      if let url = try ActionLinks.lastURL.read(connection) { links.lead(to: url) }
    }
  }

  /// Returns the stored value of the data folder, which is `value` if there was none.
  private static func stamped(
    _ name: String, _ value: String, _ connection: borrowing Connection
  ) throws -> String {
    try connection.run(
      """
      INSERT INTO instance (name, value) VALUES (\(name), \(value)) ON CONFLICT (name) DO NOTHING
      """)
    return try InstanceValue(name).read(connection) ?? value
  }

  /// Records when keys and tokens were last used, as noted since the last call.
  ///
  /// - Throws: The database's error; the next call tries again.
  public func recordUses() async throws {
    while try await recordSomeUses(atMost: 500) {}
  }

  /// Records the last uses of at most `most` keys and tokens of each kind in one transaction.
  ///
  /// - Returns: Whether there were any.
  private func recordSomeUses(atMost most: Int) async throws -> Bool {
    let kinds: [(uses: LastUses, table: SQL, key: SQL)] = [
      (apiKeys.uses, "api_key", "api_key"), (serviceTokens.uses, "service_token", "token_id"),
      (trustedTokenKeys.uses, "trusted_token_key", "trusted_token_key_id"),
    ]
    let noted = kinds.map { (kind: $0, notes: $0.uses.take(most)) }
    guard noted.contains(where: { !$0.notes.isEmpty }) else { return false }
    do {
      try await store.write { connection in
        for (kind, notes) in noted {
          for (id, at) in notes {
            try connection.run(
              """
              UPDATE \(kind.table) SET last_used_at = \(at)
              WHERE \(kind.key) = \(id) AND coalesce(last_used_at, 0) < \(at)
              """)
          }
        }
      }
    } catch {
      for (kind, notes) in noted { kind.uses.putBack(notes) }
      throw error
    }
    return true
  }
}
