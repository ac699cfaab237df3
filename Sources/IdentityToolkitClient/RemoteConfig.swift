import JSON
import Text

/// What Countersign reads of a project's configuration.
public struct RemoteConfig: Sendable {
  /// The project's number; nil if the remote doesn't say.
  package let number: Int64?
  /// Whether there can be second factors: it isn't Firebase Authentication alone.
  package let hasIdentityPlatform: Bool
  package let mfa: RemoteMFA

  static let fields = "name,subtype,mfa"

  init(_ config: JSON) {
    let name = config.filled("name")?.split(separator: "/") ?? []
    number = name.count == 3 ? Int64(name[1]) : nil
    hasIdentityPlatform = config["subtype"] != "FIREBASE_AUTH"
    mfa = RemoteMFA(config["mfa"])
  }
}

/// What Countersign reads of a tenant.
public struct RemoteTenant: Sendable {
  package let id: String
  /// Empty if it has none.
  package let displayName: String
  /// Whether no one can sign in, or read the users.
  package let isDisabled: Bool
  package let mfa: RemoteMFA

  static let members = "name,displayName,disableAuth,mfaConfig"
  static let fields = "tenants(\(members)),nextPageToken"

  /// Reads a tenant; nil if it has no ID.
  init?(_ tenant: JSON) {
    guard let id = tenant.filled("name")?.split(separator: "/").last else { return nil }
    self.id = String(id)
    displayName = tenant.filled("displayName") ?? ""
    isDisabled = tenant.flag("disableAuth")
    mfa = RemoteMFA(tenant["mfaConfig"])
  }
}

/// The second factors of a project or tenant, with both switches of TOTP as the remote has them.
public struct RemoteMFA: Sendable, Equatable {
  package enum State: String, Sendable {
    case disabled = "DISABLED"
    case enabled = "ENABLED"
    case mandatory = "MANDATORY"
  }

  package struct TOTP: Sendable, Equatable {
    package let state: State?
    /// 1–10; nil for 0 and for the default, which read the same.
    package let adjacentIntervals: Int?
  }

  /// Nil if it's absent, or one that Countersign doesn't know; of TOTP, too.
  package let state: State?
  package let hasSMS: Bool
  package let totp: TOTP?

  init(_ mfa: JSON?) {
    state = State(rawValue: mfa?.filled("state") ?? "")
    hasSMS = mfa?["enabledProviders"]?.arrayValue?.contains("PHONE_SMS") ?? false
    // An entry without the member has no effect.
    let entry = mfa?["providerConfigs"]?.arrayValue?.first { $0["totpProviderConfig"] != nil }
    totp = entry.map { entry in
      let intervals = entry["totpProviderConfig"]?["adjacentIntervals"]?.integer ?? 0
      return TOTP(
        state: State(rawValue: entry.filled("state") ?? ""),
        adjacentIntervals: (1...10).contains(intervals) ? Int(intervals) : nil)
    }
  }
}

extension JSON {
  /// Returns the text of a member; nil if it's missing, empty, or of another type.
  func filled(_ name: String) -> String? {
    self[name]?.textValue.flatMap { $0.isEmpty ? nil : $0.text }
  }

  func flag(_ name: String) -> Bool { self[name]?.boolValue ?? false }

  /// An integer, which the API writes as a number or, with 64 bits, as a string.
  var integer: Int64? { numberValue?.int64 ?? textValue?.text(atMost: 20).flatMap { Int64($0) } }
}
