public import Crypto
public import Database

/// The use cases of one instance: who can sign in, with which second factor, and who can change
/// that.
///
/// It's created once at startup and passed to the console and the API; each use case is a method of
/// one of its parts.
///
/// A class, since every page keeps it, and its parts are large.
public final class Identity: Sendable {
  /// The profile of the data folder.
  public let profile: Profile
  /// Checks whether the system clock can be trusted.
  public let clockGuard: ClockGuard
  /// The clock.
  public let clock: WallClock
  /// Decides which server does the tasks that only one should do.
  public let taskLease: TaskLease
  /// The project that any API key identifies in the emulator profile; nil in the standalone
  /// profile.
  public let defaultProject: ID<Project>?

  /// Which user pools exist.
  public let scopes: Scopes
  /// User pools with their settings: projects and tenants.
  public let pools: UserPools
  /// MFA policies.
  public let policies: Policies
  /// Reviews of MFA policies.
  public let reviews: Reviews
  /// The keys that sign evidence of reviews.
  public let evidenceKeys: EvidenceKeys
  /// Accounts of users.
  public let accounts: Accounts
  /// Imports of users.
  public let imports: Imports
  /// Enrollment and unenrollment by users.
  public let enrollments: Enrollments
  /// Sign-in of users.
  public let signIns: SignIns
  /// Codes in emails.
  public let outOfBandCodes: OutOfBandCodes
  /// Support rules and support actions.
  public let support: Support
  /// Exports and erasures of the data of users.
  public let userData: UserData
  /// Exemptions of users from MFA.
  public let exemptions: Exemptions
  /// The code attempt log.
  public let codeAttempts: CodeAttempts
  /// Counts of code attempts and users over time.
  public let activity: Activity
  /// Alerts about unusual activity.
  public let alerts: Alerts
  /// Reports about user pools and administrators.
  public let reports: Reports
  /// Backup codes.
  public let backupCodes: BackupCodes
  /// Links with which users set up an authenticator app with the help of an agent.
  public let enrollmentLinks: EnrollmentLinks
  /// Changes that users reported as unauthorized.
  public let reportedChanges: ReportedChanges
  /// Removal of factors by administrators.
  public let factorRemovals: FactorRemovals
  /// Bulk removal of factors.
  public let bulkRemovals: BulkRemovals
  /// Pending approvals.
  public let approvals: Approvals
  /// Sessions of users.
  public let sessions: Sessions
  /// API keys.
  public let apiKeys: APIKeys
  /// Service tokens.
  public let serviceTokens: ServiceTokens
  /// Custom token signing keys.
  public let trustedTokenKeys: TrustedTokenKeys
  /// Sign-in with custom tokens.
  public let customTokens: CustomTokens
  /// Identity providers.
  public let identityProviders: IdentityProviders
  /// Sign-in with identity providers.
  public let federation: Federation
  /// Keys that sign tokens.
  public let signingKeys: SigningKeys
  /// The keys that seal all stored secrets.
  public let masterKeys: MasterKeys
  /// The servers on one database.
  public let nodes: Nodes
  /// Stored secrets that can't be opened.
  public let unreadableSecrets: UnreadableSecrets
  /// Checks of the database file for corruption.
  public let integrityChecks: IntegrityChecks
  /// Administrators.
  public let administrators: Administrators
  /// Invitations of administrators.
  public let invitations: Invitations
  /// Second factors and recovery codes of administrators.
  public let administratorFactors: AdministratorFactors
  /// Changes that administrators make to their own accounts.
  public let ownAccount: OwnAccount
  /// The provider with which administrators sign in.
  public let consoleProviders: ConsoleProviders
  /// Administrators' passkeys.
  public let passkeys: Passkeys
  /// Sessions of administrators.
  public let consoleSessions: ConsoleSessions
  /// What the console keeps from one page for a later one.
  public let consoleStorage: ConsoleStorage
  /// Requirements of actions in the console.
  public let authorization: ActionAuthorization
  /// Creation of the first owner.
  public let setup: Setup
  /// The audit log.
  public let audit: Audit
  /// The hash chain of the audit log.
  public let auditChain: AuditChain
  /// The support playbooks of projects and tenants.
  public let guidance: ScopeGuidance

  /// Messages to users.
  public let messages: OutboxEntries
  /// Delivery of messages.
  public let deliveries: Deliveries

  package let store: Store
  let keys: KeyRing
  let totp: TOTPFactor

  /// Creates the use cases.
  ///
  /// - Parameters:
  ///   - database: The database.
  ///   - keys: The master keys, which aren't in the database.
  ///   - profile: The profile of the data folder.
  ///   - hasher: The password hasher.
  ///   - mail: Writes the text of messages.
  ///   - clock: The clock.
  ///   - steady: A monotonic clock, which detects jumps of `clock`.
  ///   - random: The source of random bytes.
  ///   - defaultProject: The project that any API key identifies in the emulator profile.
  ///   - carriesMail: Whether this process sends emails to users.
  ///   - smsLimits: The limits of text messages; nil if this process sends none.
  ///   - providerTransport: Sends requests to the provider with which administrators sign in; nil if
  ///     this process sends none.
  /// - Throws: `CryptoError` if libcrypto fails.
  public init(
    database: any Database, keys: KeyRing, profile: Profile, hasher: PasswordHasher,
    mail: any MailWriter, clock: WallClock = .system,
    steady: @escaping @Sendable () -> Duration = WallClock.sinceBoot,
    random: RandomSource = .system, defaultProject: ID<Project>? = nil, carriesMail: Bool = false,
    smsLimits: SMSLimits? = nil, providerTransport: (any ProviderTransport)? = nil
  ) throws(CryptoError) {
    let links = ActionLinks(profile: profile)
    let expectedTime = ExpectedTime()
    let administratorTOTP = try AdministratorTOTP(
      keys: keys, random: random, expected: expectedTime)
    let store = Store(
      database: database, profile: profile, clock: clock, random: random,
      outbox: try Outbox(
        keys: keys, random: random, links: links, writer: mail, carriesMail: carriesMail,
        smsLimits: smsLimits),
      links: links, administratorTOTP: administratorTOTP, expectedTime: expectedTime)
    let tickets = try Sealer(keys, purpose: "ticket", random: random)
    let totp = try TOTPFactor(keys: keys, random: random, expected: expectedTime)
    self.store = store
    self.keys = keys
    self.totp = totp
    self.profile = profile
    self.clock = clock
    self.defaultProject = profile == .emulator ? defaultProject : nil
    clockGuard = ClockGuard(store: store, steady: steady)
    taskLease = TaskLease(store: store, steady: steady)
    pools = UserPools(store: store)
    scopes = Scopes(store: store, pools: pools)
    audit = Audit(store: store)
    activity = Activity(store: store)
    policies = Policies(store: store, audit: audit, activity: activity)
    evidenceKeys = try EvidenceKeys(store: store, keys: keys)
    auditChain = AuditChain(store: store, keys: evidenceKeys)
    reviews = Reviews(store: store, audit: audit, keys: evidenceKeys)
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
    alerts = Alerts(store: store)
    reports = Reports(store: store)
    sessions = Sessions(store: store)
    apiKeys = APIKeys(store: store)
    serviceTokens = ServiceTokens(store: store)
    trustedTokenKeys = TrustedTokenKeys(store: store)
    customTokens = CustomTokens(store: store, trustedTokenKeys: trustedTokenKeys)
    identityProviders = IdentityProviders(
      store: store, sealer: try IdentityProviders.sealer(keys, random: random))
    federation = Federation(
      store: store, signIns: signIns, providers: identityProviders,
      pending: try Sealer(keys, purpose: "pending token", random: random))
    signingKeys = try SigningKeys(store: store, keys: keys)
    let supportAuthorization = SupportAuthorization(store: store)
    support = Support(store: store, authorization: supportAuthorization)
    userData = UserData(store: store, audit: audit, authorization: supportAuthorization)
    exemptions = Exemptions(store: store, authorization: supportAuthorization)
    authorization = store.authorization
    backupCodes = BackupCodes(
      store: store, authorization: supportAuthorization, codes: backupCodeStore)
    enrollmentLinks = EnrollmentLinks(
      store: store, authorization: supportAuthorization, tickets: tickets, totp: totp)
    reportedChanges = ReportedChanges(store: store)
    let removed = RemovedFactors(totp: totp)
    factorRemovals = FactorRemovals(
      store: store, authorization: supportAuthorization, removed: removed)
    bulkRemovals = BulkRemovals(
      store: store, authorization: supportAuthorization, factorRemovals: factorRemovals,
      accounts: accounts)
    approvals = Approvals(
      store: store, authorization: supportAuthorization, factorRemovals: factorRemovals)
    let consoleTickets = try Sealer(keys, purpose: "console ticket", random: random)
    administrators = Administrators(store: store, hasher: hasher)
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
    masterKeys = MasterKeys(
      store: store, ring: keys,
      places: [
        totp, removed, administratorTOTP, signingKeys, evidenceKeys, store.outbox,
        identityProviders, backupCodeStore, consoleProviders,
      ])
    nodes = Nodes(store: store, ring: keys)
    unreadableSecrets = UnreadableSecrets(store: store)
    integrityChecks = IntegrityChecks(store: store)
    invitations = Invitations(store: store, administrators: administrators)
    administratorFactors = AdministratorFactors(
      store: store, totp: administratorTOTP, tickets: consoleTickets,
      administrators: administrators)
    ownAccount = OwnAccount(store: store, administrators: administrators)
    passkeys = Passkeys(
      store: store, tickets: consoleTickets, totp: administratorTOTP,
      administrators: administrators, sessions: consoleSessions)
    setup = Setup(store: store, administrators: administrators)
    guidance = ScopeGuidance(store: store)
    messages = OutboxEntries(store: store)
    deliveries = Deliveries(store: store)
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
