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

  /// A kind of actor; the raw value is the stored name.
  public enum Kind: String, CaseIterable, Sendable, SQLBindable {
    case administrator
    case serviceToken = "service token"
    case user
    case commandLine = "command line"
    case emulatorOwner = "emulator"
    case server
    case visitor
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
    }
  }

  /// The actor's ID; empty if there is none.
  public var id: String {
    switch self {
    case .administrator(let id, _): id.text
    case .serviceToken(let id, _): id.text
    case .user(let id): id.text
    case .commandLine, .emulatorOwner, .server, .visitor: ""
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
    }
  }
}

/// The operating mode of a data folder.
public enum Profile: String, Sendable {
  /// Real signatures and real credentials.
  case standalone
  /// The behavior Firebase SDKs expect with `FIREBASE_AUTH_EMULATOR_HOST`; for development.
  case emulator

  /// Returns the data folder's profile.
  static func stored(_ connection: borrowing Connection) throws -> Profile? {
    try connection.first("SELECT value FROM instance WHERE name = 'profile'") {
      Profile(rawValue: try $0.next())
    } ?? nil
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
    case .user, .visitor: return false
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

public struct RequestOrigin: Sendable, Equatable {
  /// The IP address; empty if unknown.
  public let address: String
  /// The user agent; empty if not sent.
  public let userAgent: String

  /// The maximum stored length of a user agent, in bytes.
  public static let longestUserAgent = 200

  /// Creates an origin and truncates a long user agent.
  public init(address: String = "", userAgent: String = "") {
    self.address = address
    self.userAgent = Self.shortened(userAgent)
  }

  /// Truncates text at a Unicode scalar boundary.
  private static func shortened(_ text: String) -> String {
    guard text.utf8.count > longestUserAgent else { return text }
    var result = String.UnicodeScalarView()
    var left = longestUserAgent
    for scalar in text.unicodeScalars {
      left -= UTF8.width(scalar)
      if left < 0 { break }
      result.append(scalar)
    }
    return String(result)
  }
}

/// The IP address of a client, and who vouches for it.
public struct ClientAddress: Sendable, Equatable {
  public let text: String
  /// Whether a backend forwarded it, which may send any address; otherwise it was seen on the
  /// connection, or a trusted proxy sent it.
  public let isForwarded: Bool

  public init(seen text: String) { (self.text, isForwarded) = (text, false) }

  public init(forwarded text: String) { (self.text, isForwarded) = (text, true) }

  var network: String { Network.name(of: text) }

  /// The network, for the counters of calls of a pool: the backends of a pool vouch for the addresses
  /// that they forward in this pool only.
  func network(in pool: Int64) -> String { isForwarded ? "\(pool) \(network)" : network }
}

extension ClientAddress: ExpressibleByStringInterpolation {
  public init(stringLiteral text: String) { self.init(seen: text) }
}
