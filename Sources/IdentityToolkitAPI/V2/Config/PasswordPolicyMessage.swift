import Identity
import JSON
import Text

/// `passwordPolicyConfig` on the wire.
enum PasswordPolicyMessage {
  private static let member = "passwordPolicyConfig"
  private static let classes: [(name: String, kind: PasswordPolicy.CharacterClass)] = [
    ("containsLowercaseCharacter", .lowercase), ("containsUppercaseCharacter", .uppercase),
    ("containsNumericCharacter", .digit), ("containsNonAlphanumericCharacter", .symbol),
  ]

  /// Writes a policy into a resource; a policy that was never set is omitted.
  ///
  /// Character classes that were explicitly not required are in the stored member and are returned
  /// unchanged.
  static func write(
    _ policy: PasswordPolicy?, changedAt: Instant?, into resource: inout JSON.Object
  ) {
    let stored = options(of: resource[member]?.objectValue ?? [:])
    resource[member] = nil
    guard let policy else { return }
    var strength = strength(policy)
    for (name, kind) in classes where stored[name] == false && !policy.classes.contains(kind) {
      strength.append(name, false)
    }
    var message: JSON.Object = [
      "passwordPolicyEnforcementState": policy.isEnforced ? "ENFORCE" : "OFF",
      "passwordPolicyVersions": [
        ["customStrengthOptions": .object(strength), "schemaVersion": 1]
      ],
    ]
    if policy.forcesUpgrade { message.append("forceUpgradeOnSignin", true) }
    if let changedAt { message.append("lastUpdateTime", .string(changedAt.rfc3339)) }
    resource[member] = .object(message)
  }

  private static func strength(_ policy: PasswordPolicy) -> JSON.Object {
    var options = JSON.Object()
    if let shortest = policy.shortest {
      options.append("minPasswordLength", .number(JSON.Number(shortest)))
    }
    if let longest = policy.longest {
      options.append("maxPasswordLength", .number(JSON.Number(longest)))
    }
    for (name, kind) in classes where policy.classes.contains(kind) { options.append(name, true) }
    return options
  }

  /// Keeps only the part of a resource's policy that isn't stored elsewhere: the character classes
  /// that were explicitly not required.
  static func keepExplicit(_ resource: inout JSON.Object) {
    let options = options(of: resource[member]?.objectValue ?? [:])
    let given = JSON.Object(options.members.filter { $0.value == false })
    guard !given.isEmpty else {
      resource[member] = nil
      return
    }
    resource[member] = [
      "passwordPolicyVersions": [["customStrengthOptions": .object(given)]]
    ]
  }

  private static func options(of message: JSON.Object) -> JSON.Object {
    message["passwordPolicyVersions"]?.arrayValue?.first?["customStrengthOptions"]?.objectValue
      ?? [:]
  }

  /// Reads the policy of a resource whose member types are already checked; nil if there is none.
  ///
  /// An empty message is none, because it sets nothing. What messages don't have is kept from `old`.
  static func read(
    _ resource: JSON.Object, over old: PasswordPolicy?
  ) throws(PoolError) -> PasswordPolicy? {
    guard let message = resource[member]?.objectValue,
      !Schema.passwordPolicy.omittingDefaults(message).isEmpty
    else { return nil }
    let versions = message["passwordPolicyVersions"]?.arrayValue
    let isEnforced = message["passwordPolicyEnforcementState"]?.textValue == "ENFORCE"
    guard versions?.count == 1 || versions == nil && !isEnforced else {
      throw .passwordPolicyVersions
    }
    let options = options(of: message)
    func length(_ name: String) -> Int? {
      // In proto3, zero means absent.
      options[name].flatMap(RequestMessage.whole).flatMap { $0 == 0 ? nil : Int(exactly: $0) }
    }
    return PasswordPolicy(
      isEnforced: isEnforced,
      forcesUpgrade: message["forceUpgradeOnSignin"]?.boolValue ?? false,
      shortest: length("minPasswordLength"), longest: length("maxPasswordLength"),
      classes: Set(classes.filter { options[$0.name]?.boolValue == true }.map(\.kind)),
      refusesCommon: old?.refusesCommon ?? false)
  }

  /// Writes the policy for clients, which check passwords before sending them.
  ///
  /// A policy that was never set is written as the minimum requirements, which are always enforced.
  /// The symbols are included if one is required, because the web SDK looks for them.
  static func forClients(_ decided: PasswordPolicy?) -> JSON {
    guard let policy = decided else {
      let longest = PasswordPolicy().longestInForce
      return [
        "customStrengthOptions": [
          "minPasswordLength": .number(JSON.Number(PasswordPolicy().shortestInForce)),
          "maxPasswordLength": .number(JSON.Number(longest)),
        ],
        "schemaVersion": 1, "enforcementState": "ENFORCE",
      ]
    }
    var message: JSON.Object = [
      "customStrengthOptions": .object(strength(policy)), "schemaVersion": 1,
    ]
    if policy.classes.contains(.symbol) {
      message.append(
        "allowedNonAlphanumericCharacters",
        .array(PasswordPolicy.symbols.map { .string(String($0)) }))
    }
    message.append("enforcementState", policy.isEnforced ? "ENFORCE" : "OFF")
    if policy.forcesUpgrade { message.append("forceUpgradeOnSignin", true) }
    return .object(message)
  }
}

extension PasswordPolicyMessage {
  /// Writes a requirement that a password doesn't meet as one of `userNotifications`; nil if they have
  /// no code for it.
  static func notification(of requirement: PasswordRequirement) -> JSON? {
    let (code, text) = words(requirement)
    guard let code else { return nil }
    return ["notificationCode": .string(code), "notificationMessage": .string(text)]
  }

  fileprivate static func words(
    _ requirement: PasswordRequirement
  ) -> (code: String?, text: String) {
    switch requirement {
    case .atLeast(let count):
      ("MINIMUM_PASSWORD_LENGTH", "Password must contain at least \(count) characters")
    case .atMost(let count):
      ("MAXIMUM_PASSWORD_LENGTH", "Password may contain at most \(count) characters")
    case .character(.lowercase):
      ("MISSING_LOWERCASE_CHARACTER", "Password must contain a lower case character")
    case .character(.uppercase):
      ("MISSING_UPPERCASE_CHARACTER", "Password must contain an upper case character")
    case .character(.digit):
      ("MISSING_NUMERIC_CHARACTER", "Password must contain a numeric character")
    case .character(.symbol):
      ("MISSING_NON_ALPHANUMERIC_CHARACTER", "Password must contain a non-alphanumeric character")
    case .uncommon:
      (nil, "Password must not be a common password")
    }
  }
}

extension WireError {
  init(_ requirements: [PasswordRequirement]) {
    let words = requirements.map { PasswordPolicyMessage.words($0).text }
    self.init(
      "PASSWORD_DOES_NOT_MEET_REQUIREMENTS : Missing password requirements: "
        + "[\(words.joined(separator: ", "))]")
  }
}
