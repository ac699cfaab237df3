import Database
import Text

/// A sign-in to the console from a browser without a sign-in in the last 90 days.
public struct AdministratorSignInMail: Sendable {
  public let email: String
  public let origin: RequestOrigin
  public let at: Instant
  /// The URL of the administrator's account in the console.
  public let link: String
}

/// A change of a role of an administrator.
public struct GrantMail: Sendable {
  /// What happened to a role.
  public enum Event: Sendable {
    case given
    /// Its end date was changed.
    case changed
    case revoked
    /// It ended at its end date.
    case ended
    /// It ends in a week.
    case ending

    var purpose: MessagePurpose {
      switch self {
      case .given: .grantGiven
      case .changed: .grantChanged
      case .revoked: .grantRevoked
      case .ended: .grantEnded
      case .ending: .grantEnding
      }
    }
  }

  public let event: Event
  /// The name of the administrator who has or had the role.
  public let holder: String
  public let email: String
  /// Whether the message is for that administrator.
  public let isOwn: Bool
  public let grant: Grant
  public let end: Instant?
  /// The name of the actor, or of the inviter; nil for the server itself.
  public let by: String?
  public let at: Instant
  /// The URL of the administrator in the console; nil if the server's isn't known.
  public let link: String?
}

extension Outbox {
  /// The maximum number of messages of one purpose that an administrator gets in a day.
  static let mostAdministratorMails = 20
  /// The maximum number of administrators who are told about another's role.
  private static let mostManagers = 20

  /// Does nothing without a mail server.
  func notify(
    of mail: AdministratorSignInMail, to administrator: Administrator,
    _ connection: borrowing Connection
  ) throws {
    try add(
      .administratorSignIn, .administratorSignIn(mail), to: administrator, at: mail.at, connection)
  }

  /// Emails an administrator about a role, and those who manage administrators, except the author.
  ///
  /// Does nothing without a mail server; the console shows the roles anyway.
  ///
  /// `end` is nil for a role without an end date, `inviter` the name of the administrator who
  /// invited the holder, if that's how they got it, and `deleted` the project or tenant with which
  /// the role was deleted; nil for other changes.
  func notify(
    of event: GrantMail.Event, _ grant: Grant, until end: Instant?, of holder: Administrator,
    by author: Author, invitedBy inviter: String? = nil, withDeleted deleted: Pool? = nil,
    at now: Instant, _ connection: borrowing Connection
  ) throws {
    guard try isMailSent(connection) else { return }
    func mail(isOwn: Bool) -> MailContent {
      let name = inviter ?? author.actor.name
      return .grant(
        GrantMail(
          event: event, holder: holder.displayName, email: holder.email, isOwn: isOwn, grant: grant,
          end: end,
          by: name.isEmpty ? nil : name, at: now,
          link: links.isKnown ? (isOwn ? links.account : links.console(holder.id)) : nil))
    }
    if holder.id.text != author.actor.id {
      // The pool of a first or last role as well, which the holder doesn't have yet or no longer has.
      let reader = Administrator(
        id: holder.id, email: holder.email, displayName: holder.displayName,
        grants: holder.grants + [grant])
      try add(
        event.purpose, mail(isOwn: true), to: reader, withDeleted: deleted, at: now, connection)
    }
    let managers = try Administrators.recipients(
      with: .manageAdministrators, around: nil, atMost: Self.mostManagers, at: now, connection)
    for manager in managers where manager.id != holder.id && manager.id.text != author.actor.id {
      guard let manager = try Administrators.present(manager.id, at: now, connection) else {
        continue
      }
      try add(
        event.purpose, mail(isOwn: false), to: manager, with: .manageAdministrators, at: now,
        connection)
    }
  }

  /// Sends an email to an administrator; does nothing while there's no pool among whose messages
  /// it could be listed, or after too many of them.
  ///
  /// `permission` is what they must be allowed to do on the instance when it's sent; nil for a
  /// message about themselves. `deleted` is a deleted pool whose message it is if they can see no
  /// other; nil for none.
  func add(
    _ purpose: MessagePurpose, _ content: MailContent, to administrator: Administrator,
    with permission: Permission? = nil, withDeleted deleted: Pool? = nil, at now: Instant,
    _ connection: borrowing Connection
  ) throws {
    guard try isMailSent(connection),
      let pool = try Self.pool(of: administrator, connection) ?? deleted
    else { return }
    let recipient = AccountRules.folded(email: administrator.email)
    let recent = try Self.count(purpose, in: pool, ofDayBefore: now, to: recipient, connection)
    guard recent < Self.mostAdministratorMails else { return }
    try add(
      purpose, content,
      to: OutboxMessage.Reader(
        id: administrator.id, requirement: permission.map { .instancePermission($0) }),
      at: recipient, in: pool, now, connection)
  }

  /// Counts the messages of a purpose to an address in the last day.
  private static func count(
    _ purpose: MessagePurpose, in pool: Pool, ofDayBefore now: Instant, to recipient: String,
    _ connection: borrowing Connection
  ) throws -> Int {
    try connection.first(
      """
      SELECT count(*) FROM outbox \(index: "outbox_by_recipient")
      WHERE scope_key = \(pool.key) AND recipient = \(recipient)
        AND purpose = \(purpose)
        AND created_at BETWEEN \(now.advanced(bySeconds: -86_400)) AND \(Instant.latest(at: now))
      """
    ) { try $0.next() } ?? 0
  }

  /// Adds a notice to an administrator, who gets it if they're still allowed to when it's sent.
  ///
  /// `account` is the user whom it names, and `pool` the pool among whose messages it's listed.
  func add(
    _ purpose: MessagePurpose, _ content: MailContent, to reader: OutboxMessage.Reader,
    at recipient: String, about account: ID<Account>? = nil, in pool: Pool, _ now: Instant,
    _ connection: borrowing Connection
  ) throws {
    try add(
      OutboxMessage(
        purpose: purpose.rawValue, recipient: recipient, text: written(content),
        expiresAt: now.advanced(bySeconds: Self.noticeLifetime), to: reader, about: account),
      to: nil, in: pool, at: now, connection)
  }

  /// Returns the pool among whose messages an administrator's emails are listed: one of their own
  /// roles, or the first project; nil if they can see none.
  static func pool(
    of administrator: Administrator, _ connection: borrowing Connection
  ) throws -> Pool? {
    for grant in administrator.grants {
      guard let project = grant.project else { continue }
      do {
        return try Pools.find(project: project, tenant: grant.tenant, connection)
      } catch is PoolLookupError {}
    }
    guard administrator.seesEveryProject else { return nil }
    return try connection.first(
      """
      SELECT \(Pool.columns) FROM project p
        \(SQL.orderedJoin) scope s ON s.project_id = p.project_id
      WHERE p.project_id > '' AND s.tenant_id = '' AND s.deleted_at IS NULL
      ORDER BY p.project_id LIMIT 1
      """
    ) { try Pool(&$0) }
  }
}

extension ActionLinks {
  var account: String { "\(origin)/account" }

  func console(_ administrator: ID<Administrator>) -> String {
    "\(origin)/administrators/\(URIComponent.encode(administrator.text))"
  }
}

/// A change to how an administrator signs in.
public struct SignInMethodMail: Sendable {
  public enum Change: Sendable {
    case passkeyAdded(name: String)
    case passkeyRemoved(name: String)
    case authenticatorSetUp
    case authenticatorReplaced
    case authenticatorRemoved
    case passwordChanged
    case recoveryCodesMade
    case providerLinked(name: String)
    /// Someone removed the sign-in provider, and with it the link.
    case providerRemoved(name: String)
    /// An upgrade changed what indicates MFA at the sign-in provider, to owners.
    case providerNeedsMFA(name: String)
    /// Someone else set a new password.
    case passwordReset
    /// Someone else removed all second factors and the recovery codes.
    case secondFactorsReset(authenticator: Bool, passkeys: Int)

    /// The message's stored purpose; each has its own limit, so that one change can't hide another.
    var purpose: MessagePurpose {
      switch self {
      case .passkeyAdded, .passkeyRemoved: .passkey
      case .authenticatorSetUp, .authenticatorReplaced, .authenticatorRemoved:
        .administratorAuthenticator
      case .passwordChanged, .passwordReset: .administratorPassword
      case .recoveryCodesMade: .administratorRecoveryCodes
      case .providerLinked, .providerRemoved, .providerNeedsMFA: .administratorProvider
      case .secondFactorsReset: .administratorSecondFactors
      }
    }
  }

  public let change: Change
  /// Who made the change; nil for the administrator.
  public let by: Actor?
  public let email: String
  public let at: Instant
}

extension Outbox {
  /// Notifies an administrator of a change to how they sign in, made by themselves or by another
  /// actor.
  func notify(
    _ administrator: Administrator, _ change: SignInMethodMail.Change, by actor: Actor? = nil,
    at now: Instant, _ connection: borrowing Connection
  ) throws {
    let mail = SignInMethodMail(change: change, by: actor, email: administrator.email, at: now)
    try add(change.purpose, .signInMethod(mail), to: administrator, at: now, connection)
  }
}

extension Outbox {
  private static let mostOwners = 20

  /// Tells the owners of the instance how all administrators sign in from now on.
  func notifyOwners(
    _ change: SignInMethodMail.Change, at now: Instant, _ connection: borrowing Connection
  ) throws {
    let owners = try Administrators.recipients(
      with: .manageAdministrators, around: nil, atMost: Self.mostOwners, at: now, connection)
    for owner in owners {
      guard let owner = try Administrators.present(owner.id, at: now, connection) else { continue }
      try notify(owner, change, at: now, connection)
    }
  }

  /// Tells those who protect the users of a pool, except the author, and at most once a day if it
  /// says so; does nothing without a mail server, since the console or the audit log has it anyway.
  func notifyOwners(
    _ purpose: MessagePurpose, _ content: MailContent, of pool: Pool,
    excluding author: Author? = nil,
    onceADay: Bool = false, at now: Instant, _ connection: borrowing Connection
  ) throws {
    guard carriesMail else { return }
    let owners = try Administrators.recipients(
      with: .protectUsers, around: pool, atMost: Self.mostOwners, at: now, connection)
    for owner in owners where owner.id.text != author?.actor.id {
      let recipient = AccountRules.folded(email: owner.email)
      if onceADay,
        try Self.count(purpose, in: pool, ofDayBefore: now, to: recipient, connection) > 0
      {
        continue
      }
      try add(
        purpose, content, to: OutboxMessage.Reader(id: owner.id, permission: .protectUsers),
        at: onceADay ? recipient : owner.email, in: pool, now, connection)
    }
  }
}
