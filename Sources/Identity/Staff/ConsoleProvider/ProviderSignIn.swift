public import Crypto
import Database
public import OpenIDConnect

public struct ProviderStart: Sendable {
  public let address: String
  /// The value of a cookie, without which the answer isn't accepted.
  public let ticket: Secret
}

public struct ProviderAnswer: Sendable {
  public let state: String
  public let code: String?
  public let error: ProviderErrorCode?
  public let issuer: String?

  /// The maximum length of a code, in bytes.
  public static let longestCode = 4_096

  public init(state: String, code: String?, error: ProviderErrorCode?, issuer: String?) {
    (self.state, self.code, self.error, self.issuer) = (state, code, error, issuer)
  }
}

public enum ProviderSignIn: Sendable {
  case signedIn(NewConsoleSession)
  /// A second factor is required, with one of the methods; the value is stored in a cookie for the
  /// next step and isn't a session.
  case secondFactorDue(Secret, Set<ReauthenticationMethod>)
  /// The session's administrator confirmed their identity, and was linked if they weren't yet.
  case confirmed(NewConsoleSession, isLinked: Bool, hasSecondFactor: Bool)
}

public enum ProviderSignInError: Error, Sendable {
  case notConfigured
  /// The answer doesn't belong to a request of this browser, or the request was answered or expired.
  case ended
  /// The provider answered with an error.
  case refused(ProviderErrorCode)
  case provider(ConsoleProviderFault)
  /// The provider didn't exchange the code for tokens.
  case tokenRefused(ProviderErrorCode)
  case invalidToken(TokenFault)
  /// The userinfo endpoint refused the access token, or responded with nothing that can be used; its
  /// HTTP status.
  case userInfoRefused(status: Int)
  /// The person is in groups that the provider doesn't list, such as too many.
  case groupsNotListed
  /// None of the person's groups has a role; their ID at the provider.
  case noRole(subject: String)
  /// The provider tells no valid email address, which a new administrator needs.
  case emailRequired(subject: String)
  /// Another administrator has the email address, and isn't linked.
  case emailTaken(subject: String)
  /// The person is linked with another administrator, or the session's administrator with another
  /// person.
  case otherPerson(subject: String)
  /// The administrator must confirm their identity before they're linked.
  case reauthenticationRequired
  case throttled(until: Instant)
}

extension ProviderSignInError {
  /// The stable name of the reason in the audit log.
  var code: String {
    switch self {
    case .notConfigured: "not-configured"
    case .ended: "ended"
    case .refused(let code): "provider-\(code.text)"
    case .provider: "provider"
    case .tokenRefused: "code"
    case .invalidToken(let fault): "token-\(fault.rawValue)"
    case .userInfoRefused(let status): "userinfo-\(status)"
    case .groupsNotListed: "groups-not-listed"
    case .noRole: "no-role"
    case .emailRequired: "email-required"
    case .emailTaken: "email-taken"
    case .otherPerson: "other-person"
    case .reauthenticationRequired: "reauthentication-required"
    case .throttled: "throttled"
    }
  }

  /// The ID at the provider of a person who signed in there, but not here; nil for other errors.
  var subject: String? {
    switch self {
    case .noRole(let subject), .emailRequired(let subject), .emailTaken(let subject),
      .otherPerson(let subject):
      subject
    default: nil
    }
  }

  /// What's wrong with the provider or its connection, for the log; nil for errors that concern only
  /// the person.
  public var diagnosis: String? {
    switch self {
    case .provider(let fault): "\(code): \(fault)"
    case .tokenRefused(let given): given.text.isEmpty ? code : "\(code): \(given.text)"
    case .invalidToken, .userInfoRefused: code
    default: nil
    }
  }
}

/// What a sign-in at the provider proves, as in the audit log.
package enum ProviderProof: String, Sendable {
  case identity = "provider"
  /// The person's identity with a second factor, as the provider says.
  case secondFactor = "provider-mfa"
}

public struct SessionProvider: Sendable {
  /// The name of the provider with which the administrator can confirm their identity; nil if they
  /// aren't linked with the current one.
  public let name: String?
  public let isOrigin: Bool
  public let provedAt: Instant?

  var isProved: Bool { name != nil && (isOrigin || provedAt != nil) }
}

extension ConsoleSessions {
  /// The secret of a ticket between two steps of a sign-in: a mark of the password, and if the first
  /// step was a sign-in at the provider, a mark of the link.
  static func ticketSecret(
    of id: ID<Administrator>, isFromProvider: Bool, _ connection: borrowing Connection
  ) throws -> Secret {
    let password = mark(try Administrators.passwordHash(of: id, connection)).revealedBytes
    guard isFromProvider else { return Secret(password) }
    guard let link = try AdministratorProviderLink.find(id, connection) else {
      throw Failure("link vanished")
    }
    return Secret(password + link.mark.revealedBytes)
  }
}

extension AdministratorProviderLink {
  /// A value that changes with the person.
  fileprivate var mark: Secret {
    Secret(Array(Store.digest("\(issuer)\n\(subject)").prefix(ConsoleSessions.markLength)))
  }

  func began(_ ticket: ConsoleTicket) -> Bool { ticket.linkMark == mark }
}

extension ConsoleTicket {
  var passwordMark: Secret {
    Secret(Array(secret.revealedBytes.prefix(ConsoleSessions.markLength)))
  }

  /// What the first step proved at the provider; nil if that was a password.
  var provider: ProviderProof? { linkMark.revealedBytes.isEmpty ? nil : .identity }

  fileprivate var linkMark: Secret {
    Secret(Array(secret.revealedBytes.dropFirst(ConsoleSessions.markLength)))
  }
}

struct AdministratorProviderLink: Sendable {
  let administrator: ID<Administrator>
  let issuer: String
  /// The administrator's ID at the issuer.
  let subject: String
  /// The groups at the last sign-in.
  let groups: ProviderGroups
}

extension AdministratorProviderLink {
  private static let columns: SQL = "administrator_id, issuer, subject, groups"

  private init(_ row: inout Row) throws {
    administrator = try row.next()
    (issuer, subject) = (try row.next(), try row.next())
    groups = ProviderGroups(try TextList.read(row.next()))
  }

  static func find(
    issuer: String, subject: String, _ connection: borrowing Connection
  ) throws -> AdministratorProviderLink? {
    try connection.first(
      """
      SELECT \(columns) FROM administrator_provider_link
      WHERE issuer = \(issuer) AND subject = \(subject)
      """
    ) { try AdministratorProviderLink(&$0) }
  }

  static func find(
    _ id: ID<Administrator>, _ connection: borrowing Connection
  ) throws -> AdministratorProviderLink? {
    try connection.first(
      """
      SELECT \(columns) FROM administrator_provider_link WHERE administrator_id = \(id)
      """
    ) { try AdministratorProviderLink(&$0) }
  }

  static func all(_ connection: borrowing Connection) throws -> [AdministratorProviderLink] {
    try connection.all(
      """
      SELECT \(columns) FROM administrator_provider_link WHERE issuer > ''
      ORDER BY issuer, subject
      """
    ) { try AdministratorProviderLink(&$0) }
  }

  /// Links an administrator, or replaces the groups of their link.
  static func write(
    _ id: ID<Administrator>, issuer: String, subject: String, groups: ProviderGroups,
    _ connection: borrowing Connection
  ) throws {
    try connection.run(
      """
      INSERT INTO administrator_provider_link (issuer, subject, administrator_id, groups)
      VALUES (\(issuer), \(subject), \(id), \(TextList.text(groups.names)))
      ON CONFLICT (issuer, subject) DO UPDATE SET groups = excluded.groups
      """)
  }

  static func delete(_ id: ID<Administrator>, _ connection: borrowing Connection) throws {
    try connection.run(
      "DELETE FROM administrator_provider_link WHERE administrator_id = \(id)")
  }
}
