public import Crypto
public import Database
import Text

/// Something that was removed, revoked, or changed after a backup was made and is valid again after
/// restoring it.
public struct RevivedState: Sendable, Hashable {
  /// A kind of item.
  public enum Kind: Sendable, Hashable, CaseIterable {
    /// An administrator who was removed.
    case administrator
    /// A role that was revoked, or has another end.
    case role
    /// An administrator's password that was changed.
    case administratorPassword
    /// An administrator's second factor that was reset or replaced.
    case administratorFactor
    /// A service token that was revoked.
    case serviceToken
    /// An API key that was deleted.
    case apiKey
    /// A custom token signing key that was revoked.
    case trustedTokenKey
    /// A signing key that was rotated or retired.
    case signingKey
    /// An identity provider that was changed or removed.
    case identityProvider
    /// A user pool that was deleted or disabled.
    case scope
    /// A policy that was changed.
    case policy
    /// A user who was deleted.
    case user
    /// A user who was disabled.
    case disabledUser
    /// A user who locked changes.
    case lockedUser
    /// A user's password that was changed.
    case password
    /// A second factor that was removed.
    case factor
    /// A second factor that was suspended.
    case suspendedFactor
    /// A user's email address that was changed or removed.
    case email
    /// A user's phone number that was changed or removed.
    case phone
    /// A user's custom claims that were changed or removed.
    case claims
    /// A user's identity at a provider that was unlinked.
    case identity
    /// A user's MFA exemption that was ended.
    case exemption
    /// A user who was protected.
    case protectedUser
    /// A project's settings, such as authorized domains, that were changed.
    case projectSettings
    /// A user pool's sign-in methods, sign-up, or password rules that were changed.
    case signInSettings
    /// A user pool's support rules that were changed.
    case supportRules
    /// The identity provider of the console, or its groups' roles, that were changed or removed.
    case consoleProvider
    /// Password sign-in of administrators, which was turned off, or the break-glass account.
    case passwordSignIn
    /// Whether administrators who manage others need a passkey.
    case passkeyRequirement
    /// Whether every administrator needs a second factor.
    case secondFactorRequirement
    /// The minutes after which unused sessions of administrators end.
    case idleLimit
    /// The hours after which sessions of administrators end.
    case sessionLimit
    /// The re-authentication interval, in minutes.
    case reauthentication
  }

  /// The kind of item.
  public let kind: Kind
  /// A description of the item; never a secret.
  public let what: String

  /// Finds what is valid in a restored database but not in the one it replaces.
  ///
  /// - Parameters:
  ///   - restored: The restored database.
  ///   - former: The database it replaces.
  ///   - keys: The master keys, which open the secrets of both.
  /// - Returns: Everything found, by kind.
  /// - Throws: `DatabaseError` if one of them can't be read.
  public static func compare(
    _ restored: any Database, with former: any Database, keys: KeyRing
  ) async throws -> [RevivedState] {
    var found: [RevivedState] = []
    let present = try await former.read { try StoredTime.latest($0) }?.microseconds ?? 0
    for list in try RevivedList.all(keys, at: present) {
      let known = Set(try await list.read(former).map(\.key))
      found += try await list.read(restored).filter { !known.contains($0.key) }
        .map { RevivedState(kind: list.kind, what: $0.what) }
    }
    var last: Int64 = 0
    while let part = try await Part(restored, after: last, at: present) {
      let other = try await Part.Users(former, after: last, to: part.end, at: present)
      found += part.users.revived(beside: other)
      last = part.end
    }
    return found
  }
}

/// A part of the accounts in a database.
private struct Part: Sendable {
  private static let share = 5_000

  let end: Int64
  let users: Users

  /// Reads the next accounts; nil at the end.
  init?(_ database: any Database, after last: Int64, at present: Int64) async throws {
    let share = Self.share
    let end = try await database.read { connection in
      try connection.first(
        """
        SELECT max(account_key) FROM (SELECT account_key FROM account
          WHERE account_key > \(last) ORDER BY account_key LIMIT \(share)) AS part
        """
      ) { try $0.value(0) as Int64? } ?? nil
    }
    guard let end else { return nil }
    self.end = end
    users = try await Users(database, after: last, to: end, at: present)
  }

  struct User: Sendable {
    let name: String
    let isDisabled: Bool
    let isLocked: Bool
    let passwordUpdatedAt: Int64?
    let isProtected: Bool
    let email: String?
    let phone: String?
    let claims: String?
    var factors: [String: Int64] = [:]
    /// Providers and the user's IDs there.
    var identities: [[UntrustedText]] = []
    /// The ends of exemptions in force, by their IDs.
    var exemptions: [Int64: Int64] = [:]
  }

  struct Users: Sendable {
    var byKey: [Int64: User] = [:]

    // `present` is the time of the newest entry of the replaced database, in microseconds.
    init(
      _ database: any Database, after first: Int64, to end: Int64, at present: Int64
    ) async throws {
      byKey = try await database.read { connection in
        var found: [Int64: User] = [:]
        let rows = try connection.all(
          """
          SELECT a.account_key, s.project_id || ' ' || s.tenant_id || ' ' || a.uid, a.disabled,
            a.changes_locked_at IS NOT NULL, a.password_updated_at, a.protected, a.email, a.phone,
            a.custom_attributes
          FROM account a JOIN scope s USING (scope_key)
          WHERE a.account_key > \(first) AND a.account_key <= \(end) AND s.deleted_at IS NULL
          """
        ) { row in
          (
            try row.value(0) as Int64,
            User(
              name: try row.value(1), isDisabled: try row.value(2), isLocked: try row.value(3),
              passwordUpdatedAt: try row.value(4), isProtected: try row.value(5),
              email: try row.value(6), phone: try row.value(7), claims: try row.value(8))
          )
        }
        for (key, user) in rows { found[key] = user }
        let factors = try connection.all(
          """
          SELECT account_key, enrollment_id, coalesce(suspended_until, 0) FROM factor
          WHERE account_key > \(first) AND account_key <= \(end)
          """
        ) { row in
          (try row.value(0) as Int64, try row.value(1) as String, try row.value(2) as Int64)
        }
        for (key, id, until) in factors { found[key]?.factors[id] = until }
        let links = try connection.all(
          """
          SELECT account_key, provider_id, raw_id FROM account_provider
          WHERE account_key > \(first) AND account_key <= \(end)
          """
        ) { row in
          (try row.value(0) as Int64, try row.value(1) as String, try row.value(2) as String)
        }
        for (key, provider, id) in links {
          found[key]?.identities.append([UntrustedText(provider), UntrustedText(id)])
        }
        let exemptions = try connection.all(
          """
          SELECT account_key, exemption_id, ends_at FROM exemption
          WHERE account_key > \(first) AND account_key <= \(end) AND ends_at > \(present)
          """
        ) { row in
          (try row.value(0) as Int64, try row.value(1) as Int64, try row.value(2) as Int64)
        }
        for (key, id, until) in exemptions { found[key]?.exemptions[id] = until }
        return found
      }
    }

    /// Returns what is valid again, compared with the users in the other database.
    func revived(beside other: Users) -> [RevivedState] {
      var found: [RevivedState] = []
      for (key, user) in byKey.sorted(by: { $0.key < $1.key }) {
        func add(_ kind: RevivedState.Kind, _ what: String = "") {
          found.append(RevivedState(kind: kind, what: user.name + what))
        }
        guard let known = other.byKey[key], known.name == user.name else {
          add(.user)
          continue
        }
        if known.isDisabled, !user.isDisabled { add(.disabledUser) }
        if known.isLocked, !user.isLocked { add(.lockedUser) }
        if let updated = user.passwordUpdatedAt, updated != known.passwordUpdatedAt {
          add(.password)
        }
        for (id, until) in user.factors.sorted(by: { $0.key < $1.key }) {
          guard let kept = known.factors[id] else {
            add(.factor, " \(id)")
            continue
          }
          if kept > until { add(.suspendedFactor, " \(id)") }
        }
        func isBack(_ text: String?, _ present: String?) -> Bool {
          text.map { !(present?.isSameBytes(as: $0) ?? false) } ?? false
        }
        if isBack(user.email, known.email) { add(.email) }
        if isBack(user.phone, known.phone) { add(.phone) }
        if isBack(user.claims, known.claims) { add(.claims) }
        if known.isProtected, !user.isProtected { add(.protectedUser) }
        for identity in user.identities where !known.identities.contains(identity) {
          add(.identity, " \(identity.first?.text ?? "")")
        }
        if user.exemptions.contains(where: { id, end in (known.exemptions[id] ?? 0) < end }) {
          add(.exemption)
        }
      }
      return found
    }
  }
}
