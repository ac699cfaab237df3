import Crypto
import Database
import Text

struct OutOfBandRecord {
  var code: OutOfBandCode
  let account: Int64?
  let createdAt: Instant
  private let digest: [UInt8]
  private let enrollment: String?

  /// The length of a code in bytes; 256 bits can't be guessed.
  private static let length = 32
  /// The number of seconds that a code is kept after it expires.
  static let remembered: Int64 = 30 * 86_400

  /// Finds a code in any pool; throws ``OutOfBandError/invalidCode``.
  static func find(
    _ text: String, _ connection: borrowing Connection
  ) throws -> OutOfBandRecord {
    guard text.utf8.count <= 128 else { throw OutOfBandError.invalidCode }
    let digest = Store.digest(text)
    let found = try connection.first(
      """
      SELECT \(Pool.columns), \(columns)
      FROM oob_code c JOIN scope s USING (scope_key) JOIN project p USING (project_id)
      WHERE c.code_digest = \(digest) AND s.deleted_at IS NULL
      """
    ) { row in
      let pool = try Pool(&row)
      return try OutOfBandRecord(&row, in: pool)
    }
    guard let found else { throw OutOfBandError.invalidCode }
    return found
  }

  /// The columns of `oob_code c` that a record has.
  static let columns: SQL = """
    c.account_key, c.kind, c.email, c.new_email, c.enrollment_id, c.continue_url, c.created_at,
      c.expires_at, c.used_at, c.code_digest
    """

  init(_ row: inout Row, in pool: Pool) throws {
    account = try row.next()
    let kind: OutOfBandCode.Kind = try row.next()
    let (email, newEmail): (String, String?) = (try row.next(), try row.next())
    enrollment = try row.next()
    let continueURL: String? = try row.next()
    createdAt = try row.next()
    code = OutOfBandCode(
      kind: kind, pool: pool, email: email, newEmail: newEmail, factor: nil,
      continueURL: continueURL, expiresAt: try row.next(), usedAt: try row.next())
    digest = try row.next()
  }

  /// The account that the code is about; nil for a code that signs in.
  func account(_ connection: borrowing Connection) throws -> Account? {
    try account.flatMap { try AccountRecord.find(key: $0, connection) }
  }

  /// Checks that a code belongs to `pool`, if it isn't nil, that it's unused, neither expired nor
  /// void, and still applies to its account.
  ///
  /// `account` is the account that the code is about, or that a code signs in to; nil if there is
  /// none.
  func check(
    in pool: Pool?, of account: Account?, at now: Instant
  ) throws(OutOfBandError) {
    if let pool, pool.key != code.pool.key { throw .invalidCode }
    guard code.usedAt == nil else { throw .usedCode }
    guard code.expiresAt >= createdAt else {
      throw account?.disabled == true ? .userDisabled : .invalidCode
    }
    guard now < code.expiresAt, !createdAt.isInFuture(at: now) else { throw .expiredCode }
    if code.kind == .signIn, account == nil { return }
    guard let account else { throw .invalidCode }
    guard !account.disabled else { throw .userDisabled }
    switch code.kind {
    case .passwordReset, .verifyEmail, .changeEmail:
      // A code proves access to one address.
      guard account.email?.isSameBytes(as: code.email) ?? false else { throw .invalidCode }
    case .revertFactor:
      guard factor(of: account) != nil else { throw .invalidCode }
    case .recoverEmail, .signIn: break
    }
    try checkLock(of: account)
  }

  /// Checks that a locked account accepts the code.
  private func checkLock(of account: Account) throws(OutOfBandError) {
    switch code.kind {
    case .passwordReset, .revertFactor:
      guard account.accepts(linkTo: code.email) else { throw .changesLocked }
    case .changeEmail:
      guard account.lock == nil else { throw .changesLocked }
    case .signIn:
      guard !account.isSignInLocked else { throw .userDisabled }
    // A report by the person who changed the address must not keep its former owner from restoring it.
    case .recoverEmail, .verifyEmail: break
    }
  }

  /// Whether a link to an address that a user replaced can still restore it.
  static func canRestore(
    _ email: String, of account: Account, at now: Instant, _ connection: borrowing Connection
  ) throws -> Bool {
    try connection.first(
      """
      SELECT 1 FROM oob_code
      WHERE account_key = \(account.key) AND kind = \(OutOfBandCode.Kind.recoverEmail)
        AND email = \(email) AND used_at IS NULL AND expires_at > \(now)
      LIMIT 1
      """
    ) { try $0.next() as Int } != nil
  }

  func factor(of account: Account) -> Factor? {
    account.factors.first { $0.id.text == enrollment }
  }

  /// The code for display, with values of the account.
  func code(with account: Account?) -> OutOfBandCode {
    OutOfBandCode(
      kind: code.kind, pool: code.pool, email: code.email,
      newEmail: code.kind == .recoverEmail ? account?.email : code.newEmail,
      factor: account.flatMap(factor), continueURL: code.continueURL, expiresAt: code.expiresAt,
      usedAt: code.usedAt)
  }

  func use(at now: Instant, _ connection: borrowing Connection) throws {
    try connection.run(
      """
      UPDATE oob_code SET used_at = \(now), link = NULL
      WHERE scope_key = \(code.pool.key) AND code_digest = \(digest)
      """)
  }

  /// Marks the recovery codes of later email addresses as used.
  ///
  /// An attacker who changed the address twice has a recovery code for the address in between.
  func useLaterRecoveries(at now: Instant, _ connection: borrowing Connection) throws {
    try connection.run(
      """
      UPDATE oob_code SET used_at = \(now), link = NULL
      WHERE account_key = \(account) AND kind = \(OutOfBandCode.Kind.recoverEmail)
        AND created_at >= \(createdAt) AND used_at IS NULL
      """)
  }

  /// Whether the code expires before its kind's lifetime is over, because a backup was restored or
  /// because its account's sessions ended.
  var isExpiredEarly: Bool {
    code.expiresAt < createdAt.advanced(bySeconds: code.kind.lifetime)
  }

  func isReplaced(_ connection: borrowing Connection) throws -> Bool {
    try connection.first(
      """
      SELECT 1 FROM oob_code c
      WHERE c.scope_key = \(code.pool.key) AND c.code_digest = \(digest) AND \(Self.isReplaced)
      """
    ) { try $0.next() as Int } != nil
  }

  /// Whether ``useLaterRecoveries(at:_:)`` marked the code of `oob_code c` as used.
  static let isReplaced: SQL = """
    (c.kind = \(OutOfBandCode.Kind.recoverEmail) AND EXISTS (
      SELECT 1 FROM oob_code e
      WHERE e.account_key = c.account_key AND e.kind = c.kind AND e.used_at = c.used_at
        AND e.created_at < c.created_at))
    """

  struct New {
    let kind: OutOfBandCode.Kind
    let pool: Pool
    let account: Account?
    /// The account whose address it's sent to, if the code isn't for an account.
    var recipient: Account?
    let email: String
    var newEmail: String?
    var factor: Factor?
    var continueURL: String?
    var app: AppLink?
    var apiKey: String?
    /// The preferred locale of the email; nil for the default language.
    var locale: String?
    /// Whether the code is deleted again, and created only to take as long as another one.
    var isDecoy = false
  }

  /// Creates a code, which ends those that it replaces (``CodeEnd/newerCode``).
  static func insert(
    _ new: New, _ prerequisites: LinkSettings, store: Store, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> OutOfBandLink {
    if !new.isDecoy { try endEarlier(than: new, at: now, connection) }
    let code = store.random.token(bytes: length)
    var continueURL = new.continueURL
    if new.app == .continuation {
      continueURL = continueURL.map { store.links.opening($0, at: prerequisites.appOrigin) }
    }
    var link = store.links.link(
      code, new.kind, in: new.pool, apiKey: new.apiKey ?? prerequisites.apiKey,
      continueURL: continueURL, language: store.outbox.writer.language(for: new.locale),
      handler: prerequisites.handler)
    if new.app == .code { link = store.links.opening(link, at: prerequisites.appOrigin) }
    let expires = now.advanced(bySeconds: new.kind.lifetime)
    try connection.run(
      """
      INSERT INTO oob_code (code_digest, scope_key, account_key, kind, email, new_email,
        enrollment_id, continue_url, created_at, expires_at, link)
      VALUES (\(Store.digest(code)), \(new.pool.key), \(new.account?.key), \(new.kind),
        \(new.email), \(new.newEmail), \(new.factor?.id), \(continueURL),
        \(now), \(expires),
        \(store.profile == .emulator ? link : nil))
      """)
    return OutOfBandLink(email: new.email, code: code, link: link)
  }

  /// Deletes codes 30 days after they expire.
  static func deleteExpired(at now: Instant, _ connection: borrowing Connection) throws -> Bool {
    let oldest = now.advanced(bySeconds: -remembered)
    return try connection.deletePart(
      "FROM oob_code WHERE expires_at < \(oldest)", of: "oob_code",
      by: "code_digest")
  }
}

extension Store {
  @discardableResult
  func mailCode(
    _ new: OutOfBandRecord.New, _ prerequisites: LinkSettings? = nil, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> (message: Int64, link: OutOfBandLink) {
    let prerequisites = try prerequisites ?? LinkSettings.read(new.pool, profile, connection)
    let link = try OutOfBandRecord.insert(new, prerequisites, store: self, at: now, connection)
    let mail = OutOfBandMail(
      kind: new.kind, pool: new.pool, email: new.email, newEmail: new.newEmail,
      factor: new.factor, link: link.link, isVerified: new.account?.emailVerified == true)
    let message = try outbox.add(
      OutboxMessage(
        purpose: new.kind.purpose.rawValue, recipient: mail.recipient,
        text: outbox.written(mail.content, for: new.locale),
        from: prerequisites.mails.sender(of: new.kind.email),
        expiresAt: now.advanced(bySeconds: new.kind.lifetime)),
      to: new.account ?? new.recipient, in: new.pool, at: now, connection)
    return (message, link)
  }

  /// Emails a link to restore the address that a user has just changed, if there was one.
  ///
  /// - Throws: ``OutOfBandError/tooManyMails(_:until:)``.
  func offerRecovery(
    of old: Account, now email: String?, in pool: Pool, at now: Instant,
    _ connection: borrowing Connection
  ) throws {
    guard let before = old.email else { return }
    try countWarning(.recoverEmail, of: old, to: before, in: pool, at: now, connection)
    let isVerified = old.initialEmail == nil ? old.emailVerified : old.initialEmailVerified
    try AccountRecord.set(
      """
      initial_email = coalesce(initial_email, \(before)), initial_email_verified = \(isVerified)
      """, of: old.key, connection)
    guard try outbox.mayNotify(before, of: old, connection) else { return }
    try mailCode(
      OutOfBandRecord.New(
        kind: .recoverEmail, pool: pool, account: old, email: before, newEmail: email),
      at: now, connection)
  }

  /// Counts an email that can undo a change, or throws ``OutOfBandError/tooManyMails(_:until:)``:
  /// the change must fail too, because the user wouldn't be warned of it.
  private func countWarning(
    _ kind: OutOfBandCode.Kind, of account: Account, to email: String, in pool: Pool,
    at now: Instant, _ connection: borrowing Connection
  ) throws {
    if let until = try OwnChange.alert.take(of: account.key, at: now, connection) {
      throw OutOfBandError.tooManyMails(kind, until: until)
    }
    guard profile == .standalone else { return }
    let until = try HourlyQuota.take(
      .warnings(to: email, in: pool.key), limit: MailQuota.perAddress, at: now, connection)
    if let until { throw OutOfBandError.tooManyMails(kind, until: until) }
  }

  /// Emails a link to remove a second factor that was just enrolled.
  func offerReversal(
    of factor: ID<Factor>, by account: Account, in pool: Pool, at now: Instant,
    _ connection: borrowing Connection
  ) throws {
    guard let email = account.email, let factor = account.factors.first(where: { $0.id == factor })
    else { return }
    try countWarning(.revertFactor, of: account, to: email, in: pool, at: now, connection)
    try mailCode(
      OutOfBandRecord.New(
        kind: .revertFactor, pool: pool, account: account, email: email, factor: factor),
      at: now, connection)
  }
}
