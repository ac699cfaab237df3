import Text

/// A project whose users live at another server.
public struct RemoteProject: Sendable {
  /// The kind of the server.
  public enum Kind: String, CaseIterable, Sendable {
    case identityPlatform = "identity-platform"
    case countersign
  }

  package let kind: Kind
  package let id: String
  /// The address of the other Countersign, without a slash at its end; empty for Google.
  package let url: String

  /// Names a project; nil if the ID doesn't have 6 to 30 lowercase letters, digits, and hyphens, or if
  /// the address of another Countersign is missing or has a query, or Google's isn't empty.
  public init?(kind: Kind, id: String, url: String = "") {
    guard id.wholeMatch(of: /[a-z][a-z0-9-]{4,28}[a-z0-9]/) != nil,
      url.isEmpty == (kind == .identityPlatform), !url.utf8.contains(UInt8(ascii: "?"))
    else { return nil }
    self.url = url.hasSameBytes(atEnd: "/") ? String(url.dropLast()) : url
    (self.kind, self.id) = (kind, id)
  }

  /// The name of the server in messages.
  package var server: String { kind == .countersign ? url : "Google" }

  /// What the paths of the API follow.
  var address: String { kind == .countersign ? url : RemoteHost.identityToolkit }
}

/// Google's addresses, which no file of a credential can change.
enum RemoteHost {
  static let identityToolkit = "https://identitytoolkit.googleapis.com"
  static let resourceManager = "https://cloudresourcemanager.googleapis.com"
  static let token = "https://oauth2.googleapis.com/token"
  /// The page on which an administrator turns the API on; a project follows.
  static let activation =
    "https://console.developers.google.com/apis/api/identitytoolkit.googleapis.com/overview?project="
}

/// What a connection may do at the remote; each level includes those before it.
public enum AccessLevel: String, CaseIterable, Codable, Comparable, Sendable {
  /// Reads the configuration, the tenants, and the users.
  case read
  /// Changes users.
  case support
  /// Changes policies.
  case policy

  /// Orders the levels by what they include.
  public static func < (one: Self, other: Self) -> Bool {
    one != other && (one == .read || other == .policy)
  }

  /// Google's permissions that the level needs.
  package var permissions: [String] { Self.allCases.filter { $0 <= self }.flatMap(\.own) }

  private var own: [String] {
    switch self {
    case .read:
      [
        "firebaseauth.configs.get", "firebaseauth.users.get", "identitytoolkit.tenants.get",
        "identitytoolkit.tenants.list",
      ]
    case .support: ["firebaseauth.users.update", "identitytoolkit.tenants.update"]
    case .policy: ["firebaseauth.configs.update"]
    }
  }

  /// The permissions that a credential of the level shouldn't have: those of higher levels, and what
  /// reveals or changes more than Countersign needs.
  var excess: [String] {
    Self.allCases.filter { $0 > self }.flatMap(\.own) + [
      "firebaseauth.configs.getHashConfig", "firebaseauth.configs.getSecret",
      "firebaseauth.users.create", "firebaseauth.users.createSession", "firebaseauth.users.delete",
      "identitytoolkit.tenants.create", "identitytoolkit.tenants.delete",
      "identitytoolkit.tenants.setIamPolicy", "resourcemanager.projects.setIamPolicy",
    ]
  }

  /// The role of a service token of another Countersign.
  package var tokenRole: String { "connection-\(rawValue)" }
}
