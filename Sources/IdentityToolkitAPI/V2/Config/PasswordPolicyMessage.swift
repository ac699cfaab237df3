import Identity
import JSON

/// `passwordPolicyConfig` on the wire.
enum PasswordPolicyMessage {
  private static let member = "passwordPolicyConfig"
  private static let classes: [(name: String, kind: PasswordPolicy.CharacterClass)] = [
    ("containsLowercaseCharacter", .lowercase), ("containsUppercaseCharacter", .uppercase),
    ("containsNumericCharacter", .digit), ("containsNonAlphanumericCharacter", .symbol),
  ]

  /// Puts a policy into a resource; one that nobody has decided is left out.
  static func write(
    _ policy: PasswordPolicy?, changedAt: Instant?, into resource: inout JSON.Object
  ) {
    resource[member] = nil
    guard let policy else { return }
    var message: JSON.Object = [
      "passwordPolicyEnforcementState": policy.isEnforced ? "ENFORCE" : "OFF",
      "passwordPolicyVersions": [
        ["customStrengthOptions": .object(strength(policy)), "schemaVersion": 1]
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

  /// Reads the policy of a resource whose members have their types already; nil for none.
  static func read(_ resource: JSON.Object) -> PasswordPolicy? {
    guard let message = resource[member]?.objectValue else { return nil }
    let options =
      message["passwordPolicyVersions"]?.arrayValue?.first?["customStrengthOptions"]?.objectValue
      ?? [:]
    func length(_ name: String) -> Int? {
      // Zero is what proto3 reads where nothing is given.
      options[name].flatMap(Message.whole).flatMap { $0 == 0 ? nil : Int(exactly: $0) }
    }
    return PasswordPolicy(
      isEnforced: message["passwordPolicyEnforcementState"]?.textValue == "ENFORCE",
      forcesUpgrade: message["forceUpgradeOnSignin"]?.boolValue ?? false,
      shortest: length("minPasswordLength"), longest: length("maxPasswordLength"),
      classes: Set(classes.filter { options[$0.name]?.boolValue == true }.map(\.kind)))
  }

  /// What clients are told, who check a password before they send it.
  static func forClients(_ policy: PasswordPolicy) -> JSON {
    var options = strength(policy)
    options["minPasswordLength"] = .number(JSON.Number(policy.shortestInForce))
    options["maxPasswordLength"] = .number(JSON.Number(policy.longestInForce))
    return [
      "customStrengthOptions": .object(options),
      "allowedNonAlphanumericCharacters": .array(
        PasswordPolicy.symbols.map { .string(String($0)) }),
      "enforcementState": policy.isEnforced ? "ENFORCE" : "OFF",
      "forceUpgradeOnSignin": .bool(policy.forcesUpgrade), "schemaVersion": 1,
    ]
  }
}

extension WireError {
  /// A password that the policy of the pool refuses, and what it lacks.
  init(_ requirements: [PasswordRequirement]) {
    let words = requirements.map { requirement in
      switch requirement {
      case .atLeast(let count): "Password must contain at least \(count) characters"
      case .atMost(let count): "Password may contain at most \(count) characters"
      case .character(.lowercase): "Password must contain a lower case character"
      case .character(.uppercase): "Password must contain an upper case character"
      case .character(.digit): "Password must contain a numeric character"
      case .character(.symbol): "Password must contain a non-alphanumeric character"
      }
    }
    self.init(
      "PASSWORD_DOES_NOT_MEET_REQUIREMENTS : Missing password requirements: "
        + "[\(words.joined(separator: ", "))]")
  }

  init(_ error: PasswordPolicyError) {
    switch error {
    case .shortestOutOfRange:
      self.init("INVALID_CONFIG : minPasswordLength must be between 6 and 30, inclusive.")
    case .longestOutOfRange:
      self.init(
        "INVALID_CONFIG : maxPasswordLength must be between minPasswordLength and 4096, inclusive.")
    }
  }
}
