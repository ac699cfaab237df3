public import Crypto
import Database

public struct Invitation: Sendable {
  /// The ID, which becomes the administrator's ID on acceptance.
  public let id: ID<Administrator>
  public let email: String
  public let displayName: String
  public let grant: Grant
  public let grantEndsAt: Instant?
  public let inviterName: String
  public let createdAt: Instant
  public let expiresAt: Instant

  /// Whether the link hasn't expired; it has if it's from the future, since the clock was set back.
  func isOpen(at now: Instant) -> Bool { !createdAt.isInFuture(at: now) && now < expiresAt }
}

public struct NewInvitation: Sendable {
  public let invitation: Invitation
  /// The token of its link, which is stored only as a digest.
  public let token: Secret
  /// Whether it replaced a valid invitation to the same email address, whose link no longer works.
  public let isReplacement: Bool
}

/// Invites administrators with single-use links.
///
/// No email is sent: the inviter delivers the link. Opening the link doesn't use it up.
public struct Invitations: Sendable {
  let store: Store
  let administrators: Administrators

  /// The lifetime of a link, in seconds (seven days).
  public static let lifetime: Int64 = 7 * 86_400

  /// Creates an invitation, replacing any previous one for the same email address.
  public func invite(
    email: String, displayName: String, grant: Grant, until end: Instant? = nil,
    by caller: Caller
  ) async throws -> ActionOutcome<NewInvitation> {
    do { try AccountRules.checkEmail(email) } catch { throw ManagementError.invalidEmail }
    guard PoolRules.isDisplayName(displayName) else { throw ManagementError.invalidName }
    let token = store.random.token(bytes: 32)
    let id = ID<Administrator>(store.random.uuid())
    return try await store.run(.inviteAdministrator, by: caller, in: .instance) {
      context, connection in
      let (author, now) = (context.author, context.now)
      let expiry = now.advanced(bySeconds: Self.lifetime)
      let invitation = Invitation(
        id: id, email: email, displayName: displayName, grant: grant,
        grantEndsAt: end, inviterName: author.actor.name, createdAt: now,
        expiresAt: end.map { min($0, expiry) } ?? expiry)
      try Administrators.mustManage(author, at: now, connection)
      guard try PasswordSignIn.find(connection) == nil else {
        throw ManagementError.passwordSignInOff
      }
      try Administrators.checkPlace(of: grant, connection)
      try Administrators.check(end: end, at: now)
      let folded = AccountRules.folded(email: email)
      let taken = try connection.first(
        "SELECT 1 FROM administrator WHERE email_folded = \(folded)"
      ) { _ in true }
      guard taken == nil else { throw ManagementError.emailTaken }
      let replaced = try connection.first(
        "DELETE FROM invitation WHERE email_folded = \(folded) RETURNING \(Self.columns)",
        Self.invitation)
      let earlier = replaced?.invitation
      let isReplacement = earlier?.isOpen(at: now) ?? false
      try connection.run(
        """
        INSERT INTO invitation (invitation_id, token_digest, email, email_folded, display_name,
          role, project_id, tenant_id, invited_by, inviter_name, created_at, expires_at,
          grant_ends_at)
        VALUES (\(invitation.id), \(Store.digest(token)), \(email), \(folded),
          \(displayName), \(grant.role), \(grant.project?.text ?? ""),
          \(grant.tenant?.text ?? ""), \(author.actor.id), \(author.actor.name),
          \(now), \(invitation.expiresAt), \(end))
        """)
      if let earlier, isReplacement {
        try context.record(Self.revocation(of: earlier), connection)
      }
      var entry = AuditEntry(
        .administratorInvite, .administrator, invitation.id.text, name: displayName)
      entry.add(.email, .text(email))
      entry.add(.grants, .of([grant]))
      if let end { entry.add(.grantEnds, .instant(end)) }
      try context.record(entry, connection)
      return NewInvitation(
        invitation: invitation, token: Secret(token), isReplacement: isReplacement)
    }
  }

  /// Lists the valid invitations by email address.
  public func list() async throws -> [Invitation] {
    let now = store.clock.now()
    return try await store.read { try Self.pending(at: now, $0) }
  }

  static func pending(
    at now: Instant, _ connection: borrowing Connection
  ) throws -> [Invitation] {
    let found = try connection.all(
      "SELECT \(columns) FROM invitation ORDER BY email_folded", invitation)
    return try found.filter { try stands($0.invitation, $0.inviter, at: now, connection) }
      .map(\.invitation)
  }

  public func find(token: String) async throws -> Invitation? {
    let digest = Store.digest(token)
    return try await store.read { now, connection in
      try Self.find(digest, at: now, connection)
    }
  }

  /// Accepts an invitation: creates the administrator, signs them in, and invalidates the link.
  public func accept(
    token: String, displayName: String, password: Secret, address: String, userAgent: String,
    requestID: String = ""
  ) async throws -> NewConsoleSession {
    let now = store.clock.now()
    let digest = Store.digest(token)
    let known = try await store.read { connection in
      try Self.find(digest, at: now, connection)
    }
    // Checked before hashing, so that requests without a valid link cost little.
    guard let known else { throw JoiningError.ended }
    let hash = try await administrators.check(
      email: known.email, displayName: displayName, password: password)
    return try await store.write { connection in
      guard try PasswordSignIn.find(connection) == nil else {
        throw JoiningError.passwordSignInOff
      }
      // Checked again: the link may have been used or revoked while the password was hashed.
      guard let invitation = try Self.find(digest, at: now, connection) else {
        throw JoiningError.ended
      }
      try connection.run("DELETE FROM invitation WHERE token_digest = \(digest)")
      let author = Author(
        actor: .administrator(invitation.id, name: displayName), address: address,
        requestID: requestID)
      let administrator = try Administrators.insert(
        invitation.id, email: invitation.email, displayName: displayName, hash: hash,
        grant: invitation.grant, until: invitation.grantEndsAt,
        invitedBy: invitation.inviterName, by: author, at: now, connection)
      try store.outbox.notify(
        of: .given, invitation.grant, until: invitation.grantEndsAt, of: administrator,
        by: author, invitedBy: invitation.inviterName, at: now, connection)
      return try ConsoleSessions.begin(
        invitation.id, address: address, userAgent: userAgent, requestID: requestID, at: now,
        random: store.random, connection)
    }
  }

  @discardableResult
  public func revoke(
    _ id: ID<Administrator>, by caller: Caller
  ) async throws -> ActionOutcome<Void> {
    try await store.run(.revokeInvitation, by: caller, in: .instance) { context, connection in
      try Administrators.mustManage(context.author, at: context.now, connection)
      let found = try connection.first(
        "DELETE FROM invitation WHERE invitation_id = \(id) RETURNING \(Self.columns)",
        Self.invitation)
      guard let (invitation, _) = found else { throw CallError.notFound }
      try context.record(Self.revocation(of: invitation), connection)
    }
  }

  /// Deletes the invitation to an address, which belongs to an administrator now.
  static func revoke(
    for email: String, by author: Author, at now: Instant, _ connection: borrowing Connection
  ) throws {
    let folded = AccountRules.folded(email: email)
    let found = try connection.first(
      "DELETE FROM invitation WHERE email_folded = \(folded) RETURNING \(columns)", invitation)
    guard let (invitation, _) = found else { return }
    try revocation(of: invitation).record(by: author, at: now, connection)
  }

  static func revokeAll(
    where place: SQL, _ context: ActionContext, _ connection: borrowing Connection
  ) throws {
    let found = try connection.all(
      "DELETE FROM invitation WHERE \(place) RETURNING \(columns)", invitation)
    for (invitation, _) in found where invitation.isOpen(at: context.now) {
      try context.record(revocation(of: invitation), connection)
    }
  }

  static func deleteExpired(at now: Instant, _ connection: borrowing Connection) throws -> Bool {
    try connection.deletePart(
      "FROM invitation WHERE expires_at < \(now)", of: "invitation",
      by: "invitation_id")
  }

  private static func revocation(of invitation: Invitation) -> AuditEntry {
    var entry = AuditEntry(
      .administratorRevokeInvitation, .administrator, invitation.id.text,
      name: invitation.displayName)
    entry.add(.email, lost: .text(invitation.email))
    entry.add(.grants, lost: .of([invitation.grant]))
    return entry
  }

  private static func find(
    _ digest: [UInt8], at now: Instant, _ connection: borrowing Connection
  ) throws -> Invitation? {
    let found = try connection.first(
      "SELECT \(columns) FROM invitation WHERE token_digest = \(digest)", invitation)
    guard let (invitation, inviter) = found,
      try stands(invitation, inviter, at: now, connection)
    else { return nil }
    return invitation
  }

  /// Returns true if an invitation hasn't expired, its project and tenant exist, and the inviter is
  /// still allowed to create it.
  private static func stands(
    _ invitation: Invitation, _ inviter: String, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> Bool {
    guard invitation.isOpen(at: now), now < invitation.grantEndsAt ?? invitation.expiresAt else {
      return false
    }
    let actor: Actor = inviter.isEmpty ? .commandLine : .administrator(ID(inviter), name: "")
    guard try Administrators.mayManage(actor, at: now, connection) else { return false }
    do { try Administrators.checkPlace(of: invitation.grant, connection) } catch ManagementError
      .poolNotFound
    { return false }
    return true
  }

  private static let columns: SQL = """
    invitation_id, email, display_name, role, project_id, tenant_id, inviter_name, created_at,
    expires_at, invited_by, grant_ends_at
    """

  private static func invitation(
    _ row: inout Row
  ) throws -> (invitation: Invitation, inviter: String) {
    let id: ID<Administrator> = try row.next()
    let (email, displayName): (String, String) = (try row.next(), try row.next())
    let grant = try Administrators.grant(&row)
    let inviterName: String = try row.next()
    let (createdAt, expiresAt): (Instant, Instant) = (try row.next(), try row.next())
    let inviter: String = try row.next()
    let invitation = Invitation(
      id: id, email: email, displayName: displayName, grant: grant, grantEndsAt: try row.next(),
      inviterName: inviterName, createdAt: createdAt, expiresAt: expiresAt)
    return (invitation, inviter)
  }
}
