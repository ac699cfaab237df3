import Crypto
import Database
import JSON

extension Pools {
  /// Returns whether email enumeration protection is enabled in a pool, so that responses must not
  /// reveal which emails have an account.
  ///
  /// A tenant without its own setting uses that of its project.
  public func hidesUsers(_ pool: Pool) async throws -> Bool {
    try await store.read { connection in
      try Self.hidesUsers(pool, connection)
    }
  }

  static func hidesUsers(_ pool: Pool, _ connection: borrowing Connection) throws -> Bool {
    try connection.first(
      """
      SELECT coalesce(
        CASE WHEN s.tenant_id <> '' THEN
          \(SQL.flag("emailPrivacyConfig.enableImprovedEmailPrivacy", of: "s.members")) END,
        p.email_privacy)
      FROM scope s JOIN project p USING (project_id) WHERE s.scope_key = \(pool.key)
      """
    ) { try $0.next() as Bool } ?? true
  }
}

extension PoolEdit {
  private static let member = "emailPrivacyConfig"
  private static let flag = "enableImprovedEmailPrivacy"

  /// Whether email enumeration protection is enabled; nil for a tenant that uses its project's
  /// setting.
  ///
  /// A tenant's setting is one of its ``members``, and a project without one is protected.
  public var emailPrivacy: Bool? {
    get { project?.emailPrivacy ?? storedMembers.object[Self.member]?[Self.flag]?.boolValue }
    set {
      guard project == nil else {
        project?.emailPrivacy = newValue ?? true
        return
      }
      var stored = storedMembers.object
      var config = stored[Self.member]?.objectValue ?? [:]
      config[Self.flag] = newValue.map { .bool($0) }
      stored[Self.member] = config.isEmpty ? JSON?.none : .object(config)
      setMembers(stored)
    }
  }
}

/// The sign-in methods of the account with an email.
public struct WaysToSignIn: Sendable {
  public let isRegistered: Bool
  /// The provider IDs: `password` for both passwords and email links.
  public let providers: [String]
  /// The sign-in methods: `password` and `emailLink` separately.
  public let methods: [String]
  /// A random ID for the attempt.
  public let sessionID: String
}

extension SignIns {
  /// Returns the sign-in methods of the account with an email, with the same amount of work if
  /// there is no account.
  public func ways(
    of email: String, in pool: Pool, goingOnTo url: String
  ) async throws -> WaysToSignIn {
    guard !pool.isDisabled else { throw CallError.poolDisabled(pool) }
    do { try AccountRules.checkEmail(email) } catch { throw OutOfBandError.invalidEmail }
    guard ContinueURL.host(of: url) != nil else { throw OutOfBandError.invalidContinueURL }
    let sessionID = store.random.token(bytes: 20)
    return try await store.read { connection in
      let account = try AccountRecord.find(pool, email: email, connection)
      let others = account?.providers.map(\.provider) ?? []
      let byMail =
        (account?.hasPassword == true ? ["password"] : [])
        + (account?.signsInByLink == true ? ["emailLink"] : [])
      return WaysToSignIn(
        isRegistered: account != nil, providers: (byMail.isEmpty ? [] : ["password"]) + others,
        methods: byMail + others, sessionID: sessionID)
    }
  }
}

extension Store {
  /// Returns why a user can't take an email address; nil if no account of the pool has it.
  ///
  /// Clients learn that an address is in use, as in Google's service. Each such answer counts as a
  /// wrong password of their network, so that it can find out as few addresses in this way as by
  /// guessing passwords; once it's blocked, it learns nothing about any address.
  ///
  /// The result is returned and not thrown, so that the count is kept.
  func refusal(
    ofNewEmail email: String, in pool: Pool, from client: ClientAddress, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> AccountError? {
    let counters = ThrottleCounter.client(client, in: pool, profile)
    guard try AccountRecord.isTaken(email, in: pool, connection) else {
      let until = try counters.compactMap {
        try ThrottleCharge.blockedUntil($0, at: now, connection)
      }.max()
      return until.map { .tooManyAttempts(until: $0) }
    }
    switch try ThrottleCharge.charge(counters, at: now, connection) {
    case .blocked(let until): return .tooManyAttempts(until: until)
    case .charged: return .emailExists
    }
  }
}
