import Database

/// Creates, emails, and applies the codes in email action links.
public struct OutOfBandCodes: Sendable {
  let store: Store
  let accounts: Accounts

  public func leadLinks(to publicURL: String) { store.links.lead(to: publicURL) }

  /// Emails a link.
  ///
  /// `hidingUsers` says whether email enumeration protection is on. Then an unknown address gets
  /// the same response, after the same work, as a known one. `network` is the client's IP address,
  /// which has its own email limit; nil for a server.
  ///
  /// - Returns: The account's email address.
  public func send(
    _ request: OutOfBandRequest, in pool: Pool, hidingUsers: Bool, from network: ClientAddress?
  ) async throws -> String {
    let request = try checked(request, in: pool)
    // Returned, not thrown, so that the transaction keeps the counted attempt.
    let outcome: Result<String, OutOfBandError> = try await store.write {
      now, connection in
      let prerequisites = try LinkSettings.read(pool, store.profile, connection)
        .leading(to: request.linkDomain)
      try Self.check(request.continueURL, prerequisites, store.profile)
      let found: Addressee
      do {
        found = try Self.addressee(of: request, in: pool, at: now, connection)
      } catch let error as OutOfBandError {
        return .failure(error)
      }
      if let refusal = found.refusal, !(hidingUsers && refusal.tellsOfUsers) {
        return .failure(refusal)
      }
      var new = OutOfBandRecord.New(
        kind: request.kind, pool: pool, account: found.account, email: found.email)
      new.recipient = found.recipient
      new.isDecoy = found.refusal != nil
      new.newEmail = request.newEmail
      (new.continueURL, new.app) = (request.continueURL, request.app)
      new.apiKey = request.apiKey
      new.locale = request.locale
      if store.profile == .standalone {
        let recipient = request.kind == .changeEmail ? request.newEmail ?? "" : found.email
        var names = [
          (CounterName.requestedMails(to: recipient, in: pool.key), MailQuota.perAddress)
        ]
        if let network {
          names.append((.requestedMails(from: network, in: pool.key), MailQuota.perNetwork))
          names.insert(Self.quota(of: request, found, in: pool), at: 0)
        }
        for (name, limit) in names {
          if let until = try HourlyQuota.take(name, limit: limit, at: now, connection) {
            return .failure(.tooManyMails(request.kind, until: until))
          }
        }
      }
      let sent = try store.mailCode(new, prerequisites, at: now, connection)
      if new.isDecoy {
        // The same rows were written as for an account, so the timing reveals nothing. Delete them.
        let digest = Store.digest(sent.link.code)
        try connection.run(
          "DELETE FROM oob_code WHERE scope_key = \(pool.key) AND code_digest = \(digest)")
        try connection.run(
          "DELETE FROM outbox WHERE scope_key = \(pool.key) AND message_id = \(sent.message)")
      }
      return .success(found.email)
    }
    return try outcome.get()
  }

  /// Creates a link for a server that emails it itself.
  ///
  /// The link lets its holder act for the user, so it's recorded in the audit log.
  public func link(
    _ request: OutOfBandRequest, in pool: Pool, by author: Author
  ) async throws -> OutOfBandLink {
    let request = try checked(request, in: pool)
    let now = store.clock.now()
    return try await store.write(by: author) { connection in
      let prerequisites = try LinkSettings.read(pool, store.profile, connection)
        .leading(to: request.linkDomain)
      try Self.check(request.continueURL, prerequisites, store.profile)
      let subject = try Self.addressee(of: request, in: pool, at: now, connection)
      if let refusal = subject.refusal { throw refusal }
      // A program that gets the link doesn't have the mailbox.
      if request.kind == .passwordReset, subject.account?.lock != nil {
        throw OutOfBandError.changesLocked
      }
      var new = OutOfBandRecord.New(
        kind: request.kind, pool: pool, account: subject.account, email: subject.email)
      new.newEmail = request.newEmail
      (new.continueURL, new.app) = (request.continueURL, request.app)
      new.apiKey = request.apiKey
      let link = try OutOfBandRecord.insert(new, prerequisites, store: store, at: now, connection)
      var entry = AuditEntry(
        .accountLink, .account, subject.account?.id.text ?? subject.email,
        name: subject.account?.label ?? subject.email, in: pool)
      entry.add(.linkKind, .code(request.kind.rawValue))
      entry.add(.linkEmail, .text(subject.email))
      try entry.record(by: author, at: now, connection)
      return link
    }
  }

  /// Lists the links for an application's tests, oldest first; empty in the standalone profile.
  public func links(in pool: Pool) async throws -> [ListedLink] {
    guard store.profile == .emulator else { return [] }
    return try await store.read { now, connection in
      try connection.all(
        """
        SELECT kind, email, new_email, link FROM oob_code
        WHERE scope_key = \(pool.key) AND link IS NOT NULL AND expires_at > \(now)
        ORDER BY created_at LIMIT 1000
        """
      ) { row in
        ListedLink(
          kind: try row.next(), email: try row.next(), newEmail: try row.next(),
          link: try row.next())
      }
    }
  }
}

// MARK: - The user that a code is for

extension OutOfBandCodes {
  /// Validates a request without the database, and folds its email addresses.
  private func checked(
    _ request: OutOfBandRequest, in pool: Pool
  ) throws -> OutOfBandRequest {
    guard !pool.isDisabled else { throw CallError.poolDisabled(pool) }
    var checked = request
    if case .email(let email) = request.subject {
      do { try AccountRules.checkEmail(email) } catch { throw OutOfBandError.invalidEmail }
      checked = OutOfBandRequest(
        request.kind, for: .email(AccountRules.folded(email: email)))
      checked.newEmail = request.newEmail
      (checked.continueURL, checked.apiKey) = (request.continueURL, request.apiKey)
      (checked.locale, checked.linkDomain) = (request.locale, request.linkDomain)
      checked.app = request.app
    }
    guard request.kind == .changeEmail else {
      checked.newEmail = nil
      return checked
    }
    guard let email = request.newEmail else { throw OutOfBandError.invalidNewEmail }
    do { try AccountRules.checkEmail(email) } catch { throw OutOfBandError.invalidNewEmail }
    checked.newEmail = AccountRules.folded(email: email)
    return checked
  }

  private static func check(
    _ continueURL: String?, _ prerequisites: LinkSettings, _ profile: Profile
  ) throws(OutOfBandError) {
    guard let continueURL else { return }
    try ContinueURL.check(continueURL, prerequisites.domains, profile)
  }

  private struct Addressee {
    var account: Account?
    /// The account that has the email address; a code to sign in isn't for it, but its messages
    /// include the email.
    var recipient: Account?
    let email: String
    /// Why the code must not be created; nil if it can be.
    let refusal: OutOfBandError?
  }

  /// The counter of the emails that are requested about one account, and its limit.
  private static func quota(
    of request: OutOfBandRequest, _ found: Addressee, in pool: Pool
  ) -> (CounterName, Int) {
    if case .session = request.subject, let account = found.account {
      return (OwnChange.mail.name(account.key), OwnChange.mail.perHour)
    }
    return (.requestedMails(for: found.email, in: pool.key), MailQuota.perAccount)
  }

  private static func addressee(
    of request: OutOfBandRequest, in pool: Pool, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> Addressee {
    let methods = try SignIns.methods(pool, connection)
    // A code that resets a password is refused when it's used, as in production.
    if request.kind == .signIn, !methods.emailLink { throw OutOfBandError.operationNotAllowed }
    switch request.subject {
    case .session(let session):
      let account = try Sessions.check(session, connection)
      guard let email = account.email else { throw OutOfBandError.missingEmail }
      if request.kind == .changeEmail {
        try SignInChange.check([.address], of: account, in: session, at: now, connection)
      }
      return Addressee(
        account: account, email: email, refusal: try refusal(account, request, connection))
    case .email(let email):
      let account = try AccountRecord.find(pool, email: email, connection)
      if request.kind == .signIn {
        var refusal = account?.refusesSignIn == true ? OutOfBandError.userDisabled : nil
        if try UserPermissions.refusesCode(for: account, in: pool, connection) {
          refusal = .account(.adminOnly)
        }
        return Addressee(recipient: account, email: email, refusal: refusal)
      }
      guard let account else {
        return Addressee(
          email: email, refusal: request.kind == .passwordReset ? .emailNotFound : .userNotFound)
      }
      return Addressee(
        account: account, email: email, refusal: try refusal(account, request, connection))
    }
  }

  private static func refusal(
    _ account: Account, _ request: OutOfBandRequest, _ connection: borrowing Connection
  ) throws -> OutOfBandError? {
    if account.disabled { return .userDisabled }
    guard let email = request.newEmail else { return nil }
    if account.lock != nil { return .changesLocked }
    let owner = try connection.first(
      """
      SELECT account_key FROM account
      WHERE scope_key = \(account.poolKey) AND email_folded = \(email)
      """
    ) { try $0.next() as Int64 }
    let isKept = try AccountLock.keeps(
      email, from: account.key, in: account.poolKey, connection)
    return owner == nil && !isKept ? nil : .emailExists
  }
}

extension OutOfBandError {
  /// Whether the error reveals which email addresses have an account.
  fileprivate var tellsOfUsers: Bool {
    switch self {
    case .emailNotFound, .userNotFound, .userDisabled, .emailExists, .account(.adminOnly): true
    default: false
    }
  }
}

/// The email that contains an action link.
///
/// It names the project and email addresses. Text that users choose freely, such as a display name,
/// would let anyone send messages to strangers, so factor names go only to addresses that were
/// already verified, and of two addresses, the recipient's own is the only one that's named while
/// the account's isn't verified.
struct OutOfBandMail {
  let kind: OutOfBandCode.Kind
  let pool: Pool
  let email: String
  let newEmail: String?
  let factor: Factor?
  let link: String
  /// Whether the account's address was already verified.
  let isVerified: Bool

  /// The address the email goes to, which isn't always the account's address.
  var recipient: String { Self.recipient(of: kind, email: email, newEmail: newEmail) }

  static func recipient(
    of kind: OutOfBandCode.Kind, email: String, newEmail: String?
  ) -> String { kind == .changeEmail ? newEmail ?? email : email }

  /// What the email reports: the account's address, or the recipient's if that's another one and the
  /// account's isn't verified, and the new address unless it's for the former owner of an address
  /// that wasn't verified.
  var content: MailContent {
    .actionLink(
      ActionLinkMail(
        kind: kind, project: pool.projectName, email: isVerified ? email : recipient,
        newEmail: isVerified ? newEmail : nil, factor: factor?.label, link: link))
  }
}

extension OutOfBandCode.Kind {
  var purpose: MessagePurpose {
    switch self {
    case .passwordReset: .passwordReset
    case .verifyEmail: .verifyEmail
    case .signIn: .signIn
    case .changeEmail: .changeEmail
    case .recoverEmail: .recoverEmail
    case .revertFactor: .revertFactor
    }
  }

  /// Whether the message reports a change that someone else may have made.
  var isAlert: Bool {
    switch self {
    case .recoverEmail, .revertFactor: true
    case .passwordReset, .verifyEmail, .signIn, .changeEmail: false
    }
  }

  var email: EmailKind {
    switch self {
    case .passwordReset: .resetPassword
    case .verifyEmail: .verifyEmail
    case .signIn: .signIn
    case .changeEmail: .verifyAndChangeEmail
    // The email to the former address, as in production.
    case .recoverEmail: .changeEmail
    case .revertFactor: .revertSecondFactorAddition
    }
  }
}

/// The hourly limits on requested emails.
///
/// Requests are counted whether or not an email is sent, so that an address without an account has
/// the same limit.
enum MailQuota {
  /// The limit per account of requests by anyone who knows its address, which has no other account.
  ///
  /// Requests in the user's session have a separate one (``OwnChange/mail``), so strangers can't use it
  /// up.
  static let perAccount = 5
  /// The limit per recipient address, requests by servers included.
  static let perAddress = 10
  /// The limit per client network; higher, because many people can share an IP address.
  static let perNetwork = 300
}
