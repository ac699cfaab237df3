package import Crypto
import Database

public struct Accounts: Sendable {
  let store: Store
  let hasher: PasswordHasher
  let uncounted = UncountedUsers()

  /// Creates an account for a caller with permission to create users.
  public func create(
    _ pool: Pool, _ new: NewAccount, by caller: Caller
  ) async throws -> ActionOutcome<Account> {
    let hash = try await check(new, in: pool)
    var new = new
    new.givenFields = .disabled
    let given = new
    return try await store.run(.createUser, by: caller, in: ActionTarget(pool)) {
      context, connection in
      let now = context.now
      try AccountRecord.refuseTaken(given, in: pool, connection)
      let uid =
        given.localID ?? store.random.text(AccountRules.uidLength, from: AccountRules.uidAlphabet)
      var account = try AccountRecord.insert(
        given, passwordHash: hash?.encoded, anonymous: false, in: pool, uid: uid,
        at: now, connection)
      if !given.phones.isEmpty {
        try Self.insert(
          given.phones, for: account, in: pool, at: now, random: store.random, connection)
        account.factors = try Factor.all(of: account.key, connection)
      }
      var entry = AuditEntry(.accountCreate, .account, uid, name: account.label, in: pool)
      account.describe(in: &entry, isNew: true)
      try context.record(entry, connection)
      return account
    }
  }

  /// Validates the fields of a new account and hashes its password.
  func check(
    _ new: NewAccount, in pool: Pool
  ) async throws -> PasswordHash? {
    if let uid = new.localID { try AccountRules.checkUID(uid) }
    if let email = new.email { try AccountRules.checkEmail(email) }
    if let phone = new.phoneNumber { try AccountRules.checkPhone(phone) }
    if let name = new.displayName { try AccountRules.checkName(name) }
    if let photo = new.photoURL { try AccountRules.checkPhoto(photo) }
    for link in new.providers { try link.check() }
    try Self.check(new.phones)
    guard let password = new.password else { return nil }
    return try await hash(password, in: pool)
  }

  /// Checks a password against the pool's password policy and hashes it.
  func hash(_ password: Secret, in pool: Pool) async throws -> PasswordHash {
    let policy = try await store.read { connection in
      try PasswordPolicy.find(pool.key, connection)
    }
    let missing = policy.missing(in: password)
    guard missing.isEmpty else { throw AccountError.passwordRequirements(missing) }
    return try await hash(unruled: password, for: pool.hashing)
  }

  /// Hashes a password that isn't subject to a password policy.
  package func hash(
    unruled password: Secret, for pool: PasswordHasher.Pool = .administrators
  ) async throws -> PasswordHash {
    try AccountRules.checkPassword(password)
    return try await hasher.hash(password, for: pool)
  }

  public func find(_ pool: Pool, _ id: ID<Account>) async throws -> Account? {
    try await store.read { connection in
      try AccountRecord.find(pool, id, connection)
    }
  }

  /// Finds a user by email address, case-insensitive, or UID.
  public func find(_ pool: Pool, named text: String) async throws -> Account? {
    try await store.read { connection in
      try AccountRecord.find(pool, named: text, connection)
    }
  }

  /// Returns each account once.
  public func lookup(
    _ pool: Pool, ids: [String] = [], emails: [String] = [], phoneNumbers: [String] = [],
    federated: [(provider: String, rawID: String)] = [], initialEmails: [String] = []
  ) async throws -> [Account] {
    try await store.read { connection in
      var found: [Account] = []
      for id in ids {
        if let account = try AccountRecord.find(pool, ID(id), connection) { found.append(account) }
      }
      for email in emails {
        let account = try AccountRecord.find(pool, email: email, connection)
        if let account { found.append(account) }
      }
      for phone in phoneNumbers {
        let account = try AccountRecord.find(pool, phone: phone, connection)
        if let account { found.append(account) }
      }
      for email in initialEmails {
        found += try AccountRecord.find(pool, initialEmail: email, connection)
      }
      for (provider, rawID) in federated {
        let account = try AccountRecord.find(
          pool, provider: provider, rawID: rawID, connection)
        if let account { found.append(account) }
      }
      var seen: Set<Int64> = []
      return found.filter { seen.insert($0.key).inserted }
    }
  }

  public func recordHashDownload(
    of pool: Pool, count: Int, by author: Author
  ) async throws {
    _ = try await store.run(.exportUsers, by: .program(author), in: ActionTarget(pool)) {
      context, connection in
      var entry = DownloadedUsers.PoolCount(pool, count: count)
        .entry(.accountDownload, name: pool.name)
      entry.add(.passwordHashes, .flag(true))
      try context.record(entry, connection)
    }
  }

  /// Authorizes an administrator's download of a file about users in the console and records it,
  /// in the log of each pool.
  public func recordDownload(
    of users: DownloadedUsers, filter: String, _ request: ActionRequest
  ) async throws -> ActionOutcome<Void> {
    try await store.run(.exportUsers, by: .console(request), in: users.target) {
      context, connection in
      try ShownUsers.count(users.counts, by: context.author, at: context.now, store, connection)
      for var entry in users.entries {
        if !filter.isEmpty { entry.add(.filter, .text(filter)) }
        try context.record(entry, connection)
      }
    }
  }

  /// Deletes an account with its factors and sessions, and notifies the user by email.
  ///
  /// Who may not remove the user's second factors may not delete the user; see ``DeletionRules``.
  public func delete(
    _ pool: Pool, _ id: ID<Account>, onlyIfDisabled: Bool = false, by author: Author,
    in session: UserSession? = nil
  ) async throws {
    let now = store.clock.now()
    try await store.write(by: author) { connection in
      try Self.check(session, connection)
      let isOwn = if case .user = author.actor { true } else { false }
      if isOwn {
        guard try UserPermissions.find(pool.key, connection).deletion else {
          throw AccountError.adminOnly
        }
      }
      guard let account = try AccountRecord.find(pool, id, connection) else {
        throw AccountError.notFound
      }
      guard account.disabled || !onlyIfDisabled else { throw AccountError.notDisabled }
      try store.outbox.notify(
        UserNotice(isOwn ? .ownAccountDeleted : .accountDeleted), account, in: pool, within: nil,
        at: now, connection)
      try Self.delete(account, in: pool, by: author, session, at: now, connection)
        .record(by: author, limitedBy: .account, at: now, connection)
    }
  }

  /// Deletes an account in the caller's transaction, if its author may get rid of its second factors.
  ///
  /// - Returns: The audit entry, without author and reason.
  /// - Throws: What ``DeletionRules`` throws, database errors.
  static func delete(
    _ account: Account, in pool: Pool, by author: Author, _ session: UserSession? = nil,
    at now: Instant, _ connection: borrowing Connection
  ) throws -> AuditEntry {
    try DeletionRules.check(
      deletionOf: account, in: pool, by: author, session, at: now, connection)
    try OutOfBandRecord.end(by: [.state], of: account, in: pool, at: now, connection)
    let sessions = try Sessions.count(account.key, connection)
    try SearchIndex.remove(account, connection)
    try CodeAttemptRecord.delete(of: account, connection)
    try connection.run("DELETE FROM account WHERE account_key = \(account.key)")
    try Outbox.markDeleted(account, connection)
    try connection.run(
      "UPDATE session SET deleted_uid = \(account.id) WHERE account_key = \(account.key)")
    try CountChanges.append(-AccountCounts(of: account), to: pool.key, connection)
    var entry = AuditEntry(.accountDelete, of: account, in: pool)
    account.describe(in: &entry, isNew: false)
    entry.add(.sessionsEnded, .number(sessions))
    return entry
  }

  /// Deletes all accounts of a pool with one audit row, to reset an emulator; does nothing if the
  /// pool is empty.
  public func deleteAll(_ pool: Pool, by author: Author) async throws {
    let now = store.clock.now()
    let keys = pool.accountKeys
    guard DeletionRules.canDeleteAll(author.actor) else { throw AccountError.adminOnly }
    try await store.write(by: author) { connection in
      // A test begins anew: codes for addresses without an account, and limits, go too.
      try connection.run("DELETE FROM oob_code WHERE scope_key = \(pool.key)")
      try connection.run("DELETE FROM verification_code WHERE scope_key = \(pool.key)")
      try connection.run("DELETE FROM sms_count WHERE scope_key = \(pool.key)")
      for counter in CounterName.all(of: pool.key) {
        try ThrottleCharge.reset(counter, connection)
      }
      try SearchIndex.removeAll(keys, connection)
      let count = try connection.run(
        "DELETE FROM account WHERE account_key BETWEEN \(keys.lowerBound) AND \(keys.upperBound)")
      guard count > 0 else { return }
      try CodeAttemptRecord.deleteAll(in: pool.key, connection)
      try AccountCounts.clear(pool, connection)
      var entry = AuditEntry(
        .accountDeleteAll, .pool, pool.objectID, name: pool.name, in: pool)
      entry.add(.users, lost: .number(count))
      try entry.record(by: author, at: now, connection)
    }
  }
}

extension Account {
  func describe(in entry: inout AuditEntry, isNew: Bool) {
    func add(_ field: AuditFieldName, _ value: AuditValue) {
      if value != .absent {
        entry.add(AuditChange(field, from: isNew ? nil : value, to: isNew ? value : nil))
      }
    }
    add(.uid, .text(id.text))
    add(.email, .optional(email))
    add(.phoneNumber, .optional(phoneNumber))
    add(.providers, .optional(providers.map(\.words)))
    add(.factors, .of(factors))
  }
}

public enum AccountError: Error, Sendable {
  case emailExists
  case invalidEmail
  /// A password without an email address.
  case missingEmail
  /// An email address without a password, at sign-up.
  case missingPassword
  /// A password shorter than six characters.
  case weakPassword
  /// A password longer than 4,096 characters.
  case passwordTooLong
  case passwordRequirements([PasswordRequirement])
  case duplicateLocalID
  /// A uid that is empty, longer than ``Account/longestID`` bytes, or contains a control character.
  case invalidLocalID
  case phoneExists
  /// Not a phone number in E.164 format.
  case invalidPhone
  case federatedIDAlreadyLinked
  /// An invalid provider ID, or profile data longer than the limit.
  case invalidProvider
  /// A user ID at a provider that is empty, too long, or contains a control character.
  case invalidRawID
  case nameTooLong
  /// A photo URL longer than 2,048 bytes.
  case photoTooLong
  case factorNameTooLong
  case notFound
  /// The sign-in method is disabled in the pool.
  case operationNotAllowed
  /// Users can't create accounts of this kind themselves; only administrators can.
  case adminOnly
  /// The account isn't disabled, and only a disabled one was to be deleted.
  case notDisabled
  /// More than five phones as second factors.
  case tooManyFactors
  /// An enrollment ID that appears twice or belongs to a different kind of factor.
  case duplicateEnrollment
  /// An enrollment ID longer than 128 bytes, or with a control character.
  case invalidEnrollment
  /// A phone number that appears twice among the second factors.
  case phoneFactorExists
  /// The user reported a change, so the account is locked until an owner has decided; see
  /// ``AccountLock``.
  case changesLocked
  /// A factor is suspended, so its user can't delete the account.
  case factorSuspended
  /// Service tokens can't remove second factors in this pool.
  case factorRemovalByTokenOff
  /// The service token reached the pool's hourly limit of users whose second factors it can change;
  /// it can try again at the given time.
  case tooManyFactorChanges(until: Instant)
  /// Second factors can be added only to an account with a verified email address.
  case unverifiedEmail
  /// A new TOTP factor can be enrolled only by its user.
  case unsupportedSecondFactor
  /// Custom claims longer than 1,000 characters.
  case claimsTooLarge
  /// Custom claims that aren't a JSON object.
  case invalidClaims
  case forbiddenClaim(String)
  /// A user with a second factor can change their email address only with an emailed link, and
  /// can't remove it.
  case emailNeedsVerification
  /// Too many change notices were sent to the old address; another change is possible at the given
  /// time.
  case tooManyMails(until: Instant)
  /// Too many wrong passwords from the network, or attempts to take email addresses in use; retry
  /// after the given time.
  case tooManyAttempts(until: Instant)
}
