public import Crypto
public import Database

/// All rules of one instance: who may sign in, with which second factor, and who changes that.
///
/// It is made once at the start and handed to the surfaces; each use case is a member of one of
/// its parts.
public struct Identity: Sendable {
  /// How the data folder is used.
  public let profile: Profile
  /// Whether the machine's clock can be trusted.
  public let clockGuard: ClockGuard
  /// Where the time comes from.
  public let clock: WallClock
  /// The project that any API key means in the emulator profile; nil in the standalone profile.
  public let defaultProject: ID<Project>?

  /// Scopes: projects and tenants as user pools.
  public let scopes: Scopes
  /// Projects.
  public let projects: Projects
  /// Tenants.
  public let tenants: Tenants
  /// MFA policies.
  public let policies: Policies
  /// Accounts of users.
  public let accounts: Accounts
  /// Imports of users.
  public let imports: Imports
  /// Enrollment and withdrawal by users.
  public let enrollments: Enrollments
  /// Sign-in of users.
  public let signIns: SignIns
  /// Codes in mails.
  public let outOfBandCodes: OutOfBandCodes
  /// What pools ask of those who act for their users.
  public let support: Support
  /// What became of codes.
  public let codeAttempts: CodeAttempts
  /// Codes that stand in for authenticator apps.
  public let backupCodes: BackupCodes
  /// Links by which users set an authenticator app up with the help of an agent.
  public let enrollmentLinks: EnrollmentLinks
  /// What users say was none of theirs.
  public let reportedChanges: ReportedChanges
  /// Removal of factors by administrators.
  public let factorRemovals: FactorRemovals
  /// Removal of the factors of many users at once.
  public let bulkRemovals: BulkRemovals
  /// What waits for a second administrator.
  public let approvals: Approvals
  /// Sessions of users.
  public let sessions: Sessions
  /// API keys.
  public let apiKeys: APIKeys
  /// Service tokens.
  public let serviceTokens: ServiceTokens
  /// Keys with which the back ends of projects sign custom tokens.
  public let signers: TrustedTokenKeys
  /// Sign-in by custom tokens.
  public let customTokens: CustomTokens
  /// Providers of identity.
  public let identityProviders: IdentityProviders
  /// Sign-in by the word of a provider of identity.
  public let federation: Federation
  /// Keys that sign tokens.
  public let signingKeys: SigningKeys
  /// The keys under which everything secret is sealed.
  public let masterKeys: MasterKeys
  /// Stored secrets that can't be opened.
  public let unreadableSecrets: UnreadableSecrets
  /// Administrators.
  public let administrators: Administrators
  /// Invitations of administrators.
  public let invitations: Invitations
  /// Second factors and recovery codes of administrators.
  public let administratorFactors: AdministratorFactors
  /// What administrators change about themselves.
  public let ownAccount: OwnAccount
  /// Sessions of administrators.
  public let consoleSessions: ConsoleSessions
  /// What actions in the console require.
  public let authorization: ActionAuthorization
  /// The making of the first owner.
  public let setup: Setup
  /// The audit log.
  public let audit: Audit
  /// What projects and tenants tell their own support.
  public let guidance: ScopeGuidance

  /// Messages to users.
  public let messages: OutboxEntries
  /// What is sent of them.
  public let deliveries: Deliveries

  let store: Store
  let keys: KeyRing

  /// Puts the rules together.
  ///
  /// - Parameters:
  ///   - database: Where everything is kept.
  ///   - keys: The master keys, which are not in the database.
  ///   - profile: How the data folder is used.
  ///   - hasher: What hashes passwords.
  ///   - clock: The time.
  ///   - steady: A clock that nobody sets, to find jumps of the other one.
  ///   - random: Random bytes.
  ///   - defaultProject: The project that any API key means in the emulator profile.
  ///   - carriesMail: Whether mails to users are sent from here.
  /// - Throws: `CryptoError` when libcrypto refuses.
  public init(
    database: any Database, keys: KeyRing, profile: Profile, hasher: PasswordHasher,
    clock: WallClock = .system, steady: @escaping @Sendable () -> Duration = WallClock.sinceBoot,
    random: RandomSource = .system,
    defaultProject: ID<Project>? = nil, carriesMail: Bool = false
  ) throws(CryptoError) {
    let links = ActionLinks(profile: profile)
    let administratorTOTP = try AdministratorTOTP(keys: keys, random: random)
    let store = Store(
      database: database, profile: profile, clock: clock, random: random,
      outbox: try Outbox(keys: keys, random: random, links: links, carriesMail: carriesMail),
      links: links,
      administratorTOTP: administratorTOTP)
    let tickets = try Sealer(keys, purpose: "ticket", random: random)
    let totp = try TOTPFactor(keys: keys, random: random)
    self.store = store
    self.keys = keys
    self.profile = profile
    self.clock = clock
    self.defaultProject = profile == .emulator ? defaultProject : nil
    clockGuard = ClockGuard(store: store, steady: steady)
    projects = Projects(store: store)
    tenants = Tenants(store: store)
    scopes = Scopes(store: store, projects: projects, tenants: tenants)
    audit = Audit(store: store)
    policies = Policies(store: store, audit: audit)
    accounts = Accounts(store: store, hasher: hasher)
    imports = Imports(store: store, hasher: hasher, totp: totp)
    let backupCodeStore = try BackupCodeStore(keys: keys, random: random)
    enrollments = Enrollments(
      store: store, tickets: tickets, totp: totp, backupCodes: backupCodeStore)
    signIns = SignIns(
      store: store, accounts: accounts, hasher: hasher, tickets: tickets, totp: totp,
      backupCodes: backupCodeStore)
    outOfBandCodes = OutOfBandCodes(store: store, accounts: accounts)
    codeAttempts = CodeAttempts(store: store)
    sessions = Sessions(store: store)
    apiKeys = APIKeys(store: store)
    serviceTokens = ServiceTokens(store: store)
    signers = TrustedTokenKeys(store: store)
    customTokens = CustomTokens(store: store, signers: signers)
    identityProviders = IdentityProviders(
      store: store, sealer: try Sealer(keys, purpose: "identity provider", random: random))
    federation = Federation(
      store: store, signIns: signIns, providers: identityProviders,
      pending: try Sealer(keys, purpose: "pending token", random: random))
    signingKeys = try SigningKeys(store: store, keys: keys)
    let gate = SupportAuthorization(store: store)
    support = Support(store: store, gate: gate)
    authorization = store.authorization
    backupCodes = BackupCodes(store: store, gate: gate, codes: backupCodeStore)
    enrollmentLinks = EnrollmentLinks(store: store, gate: gate, tickets: tickets, totp: totp)
    reportedChanges = ReportedChanges(store: store)
    let removed = RemovedFactors(totp: totp)
    factorRemovals = FactorRemovals(store: store, gate: gate, removed: removed)
    bulkRemovals = BulkRemovals(store: store, gate: gate, factorRemovals: factorRemovals)
    approvals = Approvals(store: store, gate: gate, factorRemovals: factorRemovals)
    let consoleTickets = try Sealer(keys, purpose: "console ticket", random: random)
    masterKeys = MasterKeys(
      store: store, ring: keys,
      places: [
        totp, removed, administratorTOTP, signingKeys, store.outbox, identityProviders,
        backupCodeStore,
      ])
    unreadableSecrets = UnreadableSecrets(store: store)
    administrators = Administrators(store: store, hasher: hasher)
    invitations = Invitations(store: store, administrators: administrators)
    administratorFactors = AdministratorFactors(
      store: store, totp: administratorTOTP, tickets: consoleTickets,
      administrators: administrators)
    consoleSessions = ConsoleSessions(
      store: store, hasher: hasher, totp: administratorTOTP, tickets: consoleTickets,
      deviceSealer: try Sealer(keys, purpose: "console device", random: .system))
    ownAccount = OwnAccount(store: store, administrators: administrators)
    setup = Setup(store: store, administrators: administrators)
    guidance = ScopeGuidance(store: store)
    messages = OutboxEntries(store: store, carriesMail: carriesMail)
    deliveries = Deliveries(store: store)
  }
}

extension Identity {
  /// Lets all that `body` reads be of one moment, which also costs less than a moment each.
  ///
  /// What `body` changes is not seen by its own reads, so it is for answers that only show.
  public nonisolated(nonsending) func atOneMoment<T>(
    _ body: nonisolated(nonsending) () async -> T
  ) async -> T {
    await store.database.snapshot(body)
  }
}
