/// Who does something, from where, in which request: what every audit row says.
public struct Author: Sendable {
  /// Who acts.
  public var actor: Actor
  /// The address the request came from; empty for the command line.
  public var address: String
  /// The id of the request, as it stands in the access log; empty for the command line.
  public var requestID: String

  /// Makes an author.
  public init(actor: Actor, address: String = "", requestID: String = "") {
    self.actor = actor
    self.address = address
    self.requestID = requestID
  }
}

/// Somebody or something that acts.
public enum Actor: Sendable {
  /// An administrator signed in to the console.
  case administrator(ID<Administrator>, name: String)
  /// A program with a service token.
  case serviceToken(ID<ServiceToken>, name: String)
  /// A user of an application, on their own account.
  case user(ID<Account>)
  /// Somebody with access to the data folder.
  case commandLine
  /// Whoever talks to the emulator profile with its well-known token.
  case emulatorOwner
  /// The server by itself, when something has run out or by a rule that somebody has set.
  case server
  /// Nobody who said who they are.
  case nobody

  /// The kind of actor, one word for people and filters.
  public var kind: String {
    switch self {
    case .administrator: "administrator"
    case .serviceToken: "service token"
    case .user: "user"
    case .commandLine: "command line"
    case .emulatorOwner: "emulator"
    case .server: "server"
    case .nobody: "visitor"
    }
  }

  /// The actor's id, empty where there is none.
  public var id: String {
    switch self {
    case .administrator(let id, _): id.text
    case .serviceToken(let id, _): id.text
    case .user(let id): id.text
    case .commandLine, .emulatorOwner, .server, .nobody: ""
    }
  }

  /// The actor's name for people.
  public var name: String {
    switch self {
    case .administrator(_, let name), .serviceToken(_, let name): name
    case .user(let id): id.text
    case .commandLine: "command line"
    case .emulatorOwner: "owner"
    case .server: "server"
    case .nobody: "visitor"
    }
  }
}

/// How a data folder is used.
public enum Profile: String, Sendable {
  /// Real signatures and real credentials.
  case standalone
  /// What Firebase SDKs expect behind `FIREBASE_AUTH_EMULATOR_HOST`; for development.
  case emulator
}
