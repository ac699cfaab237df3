import Database

/// Everything that the page of a user shows, as of one time.
public struct UserRecords: Sendable {
  public let account: Account
  public let rules: SupportRules
  /// The newest code attempts, newest first.
  public let codeAttempts: Page<CodeAttempt>
  public let diagnosis: SignInDiagnosis
  public let sessions: [OpenSession]
  public let sessionCount: Int
  public let messages: [OutboxEntry]
  /// The states of the links in the newest messages, by the messages' IDs.
  public let links: [Int64: SentLink]
  /// Removed factors that can be restored.
  public let removalHolds: [RemovalHold]
  public let approval: Approval?
  public let exemption: Exemption?
  public let backupCodes: BackupCodeState
  public let canEnrollByLink: Bool
  /// The newest audit rows about the user; empty if they weren't requested.
  public let history: [AuditRow]
  public let guidance: GuidanceBeginning?

  public static let mostHistory = 20
}

extension Identity {
  /// Reads everything that the page of a user shows, in one transaction.
  public func records(
    of id: ID<Account>, in pool: Pool, history hasHistory: Bool
  ) async throws -> UserRecords? {
    let (now, audit) = (store.clock.now(), audit)
    return try await store.read { connection in
      guard let account = try AccountRecord.find(pool, id, connection) else { return nil }
      let kinds = try RecordKinds.find(account, in: pool, connection)
      let sessions = try Sessions.list(account, connection)
      let codeAttempts =
        if let newest = account.lastCodeAttemptAt {
          try CodeAttempts.list(account, from: newest, limit: CodeAttempts.shown, connection)
        } else {
          Page<CodeAttempt>(items: [], next: nil)
        }
      let history =
        hasHistory
        ? try audit.list(
          AuditFilter(pool: pool, object: .account, objectID: account.id.text), after: nil,
          limit: UserRecords.mostHistory, connection
        ).items : []
      let policy = try Policies.stored(pool.key, connection)
      let forecast = try store.forecast(of: account, policy, at: now, connection)
      let messages = try OutboxEntries.list(about: account, at: now, connection)
      let rules = try SupportRules.find(pool, connection)
      let backupCodes =
        kinds.backupCodes
        ? try BackupCodes.state(of: account, by: rules, at: now, connection) : .nothing
      return UserRecords(
        account: account, rules: rules, codeAttempts: codeAttempts,
        diagnosis: SignInDiagnosis(forecast, codeAttempts.items, backupCodes, at: now),
        sessions: sessions,
        sessionCount: sessions.count < Sessions.mostListed
          ? sessions.count : try Sessions.count(account.key, connection),
        messages: messages,
        links: try SentLink.states(
          in: messages, to: account, under: policy, at: now, connection),
        removalHolds: kinds.removedFactors
          ? try RemovedFactors.list(account.key, at: now, connection) : [],
        approval: kinds.approvals
          ? try Approvals.waiting(for: account.id, in: pool, at: now, connection) : nil,
        exemption: kinds.exemptions ? try Exemptions.find(account, at: now, connection) : nil,
        backupCodes: backupCodes,
        canEnrollByLink: try EnrollmentLinks.canSend(to: account, under: policy, connection),
        history: history, guidance: try PoolGuidance.beginning(pool, connection))
    }
  }
}

/// The kinds of support records that an account has.
///
/// Most accounts have none, so one statement saves their page a query for each kind.
private struct RecordKinds {
  let removedFactors: Bool
  let approvals: Bool
  let backupCodes: Bool
  let exemptions: Bool

  static func find(
    _ account: Account, in pool: Pool, _ connection: borrowing Connection
  ) throws -> RecordKinds {
    let found = try connection.first(
      """
      SELECT EXISTS (SELECT 1 FROM removed_factor WHERE account_key = \(account.key)),
        EXISTS (SELECT 1 FROM approval \(index: "approval_of_user")
          WHERE scope_key = \(pool.key) AND uid = \(account.id)),
        EXISTS (SELECT 1 FROM backup_code_set WHERE account_key = \(account.key)),
        EXISTS (SELECT 1 FROM exemption WHERE account_key = \(account.key))
      """
    ) { row in
      RecordKinds(
        removedFactors: try row.next(), approvals: try row.next(),
        backupCodes: try row.next(), exemptions: try row.next())
    }
    guard let found else { throw Failure("no row of record kinds") }
    return found
  }
}
