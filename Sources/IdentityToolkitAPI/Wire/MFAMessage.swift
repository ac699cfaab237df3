import Identity
import JSON

/// The MFA message: `mfa` of a project's configuration, `mfaConfig` of a tenant.
///
/// Unknown names are rejected here, because a typo could silently leave a second factor disabled.
enum MFAMessage {
  private static let package = "google.cloud.identitytoolkit.admin.v2"
  static let states = EnumType(
    name: "\(package).MultiFactorAuthConfig.State",
    values: ["STATE_UNSPECIFIED", "DISABLED", "ENABLED", "MANDATORY"])
  static let providers = EnumType(
    name: "\(package).MultiFactorAuthConfig.Provider",
    values: ["PROVIDER_UNSPECIFIED", "PHONE_SMS"]
  )
  static let entryStates = EnumType(
    name: "\(package).ProviderConfig.MfaState",
    values: ["MFA_STATE_UNSPECIFIED", "DISABLED", "ENABLED", "MANDATORY"])

  static func read(_ message: RequestMessage?) throws(WireError) -> MFAConfiguration {
    guard let message else { return MFAConfiguration() }
    try message.refuseUnknown(except: ["state", "enabledProviders", "providerConfigs"])
    var configuration = MFAConfiguration()
    // An absent enum reads as zero.
    if let state = try message.enumeration("state", states), state != 0 {
      configuration.state = MFAState(rawValue: state)
    }
    configuration.smsEnabled = try message.enumerations("enabledProviders", providers).contains(1)
    for entry in try message.messages("providerConfigs") {
      guard let totp = try read(entry: entry) else { continue }
      guard configuration.totp == nil else { throw WireError(PolicyError.twoTOTPEntries) }
      configuration.totp = totp
    }
    return configuration
  }

  /// Rejects the name that the message has in the other resource.
  ///
  /// Unknown names are ignored elsewhere, but this one, with a mask of the correct name, would
  /// disable everything.
  static func refuse(_ name: String, in message: RequestMessage) throws(WireError) {
    guard try !message.has(name) else { throw .unknownName(name, in: message.path) }
  }

  /// Reads one entry; without `totpProviderConfig`, it has no effect, regardless of its state.
  private static func read(entry: RequestMessage) throws(WireError) -> TOTPConfiguration? {
    try entry.refuseUnknown(except: ["state", "totpProviderConfig"])
    let state = try entry.enumeration("state", entryStates) ?? 0
    guard let totp = try entry.message("totpProviderConfig") else { return nil }
    try totp.refuseUnknown(except: ["adjacentIntervals"])
    return TOTPConfiguration(
      state: MFAState(rawValue: state) ?? .unspecified,
      adjacentIntervals: try totp.int32("adjacentIntervals"))
  }

  /// Applies the members named by a mask to a configuration; `root` is the message's name in the
  /// resource.
  static func apply(
    _ mask: UpdateMask, root: String, _ new: MFAConfiguration, to old: inout MFAConfiguration
  ) {
    // A tenant's configuration that was never set isn't written, so it can't have been read.
    let wasRead = root == "mfa" || old != MFAConfiguration()
    let new = wasRead ? new.replacing(old) : new
    for path in mask.paths where path.first == root {
      switch path.dropFirst() {
      case []: old = new
      case ["state"]: old.state = new.state
      case ["enabledProviders"]: old.smsEnabled = new.smsEnabled
      case ["providerConfigs"]: old.totp = new.totp
      default: break
      }
    }
  }

  /// Writes the message.
  ///
  /// `state` is always present, and in an entry also `state` and `totpProviderConfig`, because the
  /// Node SDK fails without them. Zero intervals are omitted, like every zero in proto3, although
  /// the database distinguishes them from unset.
  static func write(_ configuration: MFAConfiguration) -> JSON {
    var message: JSON.Object = [
      "state": .string(states.values[configuration.state?.rawValue ?? MFAState.disabled.rawValue])
    ]
    if configuration.smsEnabled { message.append("enabledProviders", ["PHONE_SMS"]) }
    if let totp = configuration.totp {
      var settings = JSON.Object()
      if let intervals = totp.adjacentIntervals, intervals != 0 {
        settings.append("adjacentIntervals", .number(JSON.Number(intervals)))
      }
      message.append(
        "providerConfigs",
        [
          [
            "state": .string(entryStates.values[totp.state.rawValue]),
            "totpProviderConfig": .object(settings),
          ]
        ])
    }
    return .object(message)
  }
}

enum SecondFactorKind {
  case phone
  case totp

  init?(
    of message: RequestMessage, _ phone: String, _ totp: String, oneof: String
  ) throws(WireError) {
    switch (try message.has(phone), try message.has(totp)) {
    case (true, true): throw .oneof(oneof, setting: phone, in: message.path)
    case (true, false): self = .phone
    case (false, true): self = .totp
    case (false, false): return nil
    }
  }
}
