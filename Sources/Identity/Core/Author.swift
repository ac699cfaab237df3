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
}
