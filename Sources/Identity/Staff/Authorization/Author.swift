public import Database

/// The actor, source address, and request ID of a change, as recorded in every audit row.
public struct Author: Sendable {
  public var actor: Actor
  /// The source IP address; empty for the command line.
  public var address: String
  /// The request ID, as in the access log; empty for the command line.
  public var requestID: String
  public var isForwarded = false

  /// Whether a backend makes the request with its service token, for a user.
  public var isOfBackend = false

  var client: ClientAddress {
    isForwarded ? ClientAddress(forwarded: address) : ClientAddress(seen: address)
  }

  public init(actor: Actor, address: String = "", requestID: String = "") {
    self.actor = actor
    self.address = address
    self.requestID = requestID
  }
}

public enum Actor: Sendable {
  case administrator(ID<Administrator>, name: String)
  case serviceToken(ID<ServiceToken>, name: String)
  /// A user of an application, acting on their own account.
  case user(ID<Account>)
  /// An operator with access to the data folder.
  case commandLine
  /// A client that uses the emulator profile's well-known token.
  case emulatorOwner
  /// The server itself, when something expires or because of a configured rule.
  case server
  /// An unauthenticated client.
  case visitor
  /// The server where the users of a connected project are, such as “Google”.
  case remote(String)

  /// A kind of actor; the raw value is the stored name.
  public enum Kind: String, CaseIterable, Sendable, SQLBindable {
    case administrator
    case serviceToken = "service token"
    case user
    case commandLine = "command line"
    case emulatorOwner = "emulator"
    case server
    case visitor
    case remote
  }

  public var kind: Kind {
    switch self {
    case .administrator: .administrator
    case .serviceToken: .serviceToken
    case .user: .user
    case .commandLine: .commandLine
    case .emulatorOwner: .emulatorOwner
    case .server: .server
    case .visitor: .visitor
    case .remote: .remote
    }
  }

  /// The actor's ID; empty if there is none.
  public var id: String {
    switch self {
    case .administrator(let id, _): id.text
    case .serviceToken(let id, _): id.text
    case .user(let id): id.text
    case .commandLine, .emulatorOwner, .server, .visitor, .remote: ""
    }
  }

  public var name: String {
    switch self {
    case .administrator(_, let name), .serviceToken(_, let name): name
    case .user(let id): id.text
    case .commandLine: "command line"
    case .emulatorOwner: "owner"
    case .server: "server"
    case .visitor: "visitor"
    case .remote(let name): name
    }
  }
}

extension Author {
  /// The command line and the emulator's own token have all permissions.
  func may(
    _ permission: Permission, project: ID<Project>, tenant: ID<Tenant>?,
    at now: Instant, _ connection: borrowing Connection
  ) throws -> Bool {
    switch actor {
    case .commandLine, .emulatorOwner, .server: return true
    case .user, .visitor, .remote: return false
    case .administrator(let id, _):
      let administrator = try Administrators.present(id, at: now, connection)
      return administrator?.may(permission, project: project, tenant: tenant) ?? false
    case .serviceToken(let id, _):
      let token = try ServiceTokens.inForce("t.token_id = \(id)", at: now, connection)
      return token?.role.permissions.contains(permission) ?? false
    }
  }

  /// Returns whether the author's credential is still valid; false for a service token that was
  /// revoked after its request began, or whose creator's role ended.
  ///
  /// ``Store/write(by:_:_:)`` checks it in the transaction of the write.
  func isInForce(at now: Instant, _ connection: borrowing Connection) throws -> Bool {
    guard case .serviceToken(let id, _) = actor else { return true }
    return try ServiceTokens.inForce("t.token_id = \(id)", at: now, connection) != nil
  }
}

/// What happened in a request that the server logs, beyond its response.
public enum RequestEvent: Sendable {
  /// It failed for a reason that isn't shown to the client.
  case failed(cause: String)
  case denied(Actor, lacking: Permission)
  /// An administrator's sign-in with the provider failed because of the provider.
  case providerFailed(diagnosis: String)
}

extension Store {
  /// Runs `body` in one transaction, like ``write(_:)``, if its author's credential is still valid
  /// then.
  ///
  /// A service token is read when its request begins, and can be revoked before the write: while other
  /// writes of the request run, or a password is hashed.
  package func write<T: Sendable>(
    by author: Author, _ body: @escaping @Sendable (borrowing Connection) throws -> T
  ) async throws -> T {
    guard case .serviceToken = author.actor else { return try await write(body) }
    let now = clock.now()
    return try await write { connection in
      guard try author.isInForce(at: now, connection) else { throw CallError.tokenRevoked }
      return try body(connection)
    }
  }
}
