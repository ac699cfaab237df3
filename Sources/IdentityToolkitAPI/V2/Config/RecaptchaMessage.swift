import Identity
import JSON

/// `recaptchaConfig` on the wire.
///
/// Like production, it's stored only if its parts are consistent.
enum RecaptchaMessage {
  private static let member = "recaptchaConfig"

  /// What every configuration that was written has, even if it wasn't in the request.
  private static let defaults: JSON.Object = [
    "emailPasswordEnforcementState": "RECAPTCHA_PROVIDER_ENFORCEMENT_STATE_UNSPECIFIED",
    "phoneEnforcementState": "RECAPTCHA_PROVIDER_ENFORCEMENT_STATE_UNSPECIFIED",
    "useSmsBotScore": false, "useSmsTollFraudProtection": false,
  ]

  /// Checks the configuration of a resource whose member types are already checked, if a mask wrote
  /// it, and completes one that isn't the old one.
  static func settle(
    _ resource: inout JSON.Object, from old: JSON.Object, writtenBy mask: UpdateMask
  ) throws(PoolError) {
    guard mask.covers(member), var config = resource[member]?.objectValue else { return }
    try check(config)
    guard resource[member] != old[member] else { return }
    for (name, value) in defaults where config[name] == nil { config[name] = value }
    resource[member] = .object(config)
  }

  private static func check(_ config: JSON.Object) throws(PoolError) {
    try checkRules(config["managedRules"], "endScore", .endScore)
    try checkRules(config["tollFraudManagedRules"], "startScore", .startScore)
    let isPhoneOn = ["AUDIT", "ENFORCE"].contains { config["phoneEnforcementState"] == $0 }
    guard
      isPhoneOn || config["useSmsBotScore"] != true && config["useSmsTollFraudProtection"] != true
    else { throw .recaptcha(.phoneState) }
    guard config["recaptchaKeys"]?.arrayValue?.isEmpty ?? true else { throw .recaptcha(.siteKey) }
  }

  private static func checkRules(
    _ rules: JSON?, _ score: String, _ fault: RecaptchaFault
  ) throws(PoolError) {
    for rule in rules?.arrayValue ?? [] {
      guard isScore(rule[score]) else { throw .recaptcha(fault) }
      guard rule["action"] == "BLOCK" else { throw .recaptcha(.missingAction) }
    }
  }

  /// Whether the value is one of the eleven scores; an absent value is 0.
  private static func isScore(_ value: JSON?) -> Bool {
    guard let value else { return true }
    guard let score = value.numberValue?.double, (0...1).contains(score) else { return false }
    return abs((score * 10).rounded() - score * 10) < 1e-5
  }
}

extension WireError {
  init(_ error: RecaptchaFault) {
    let scores =
      "score in reCAPTCHA managed rules must be a value between 0.0 and 1.0, at 11 discrete "
      + "values; e.g. 0.1, 0.2, 0.3, 0.4, ... 0.9, 1.0."
    switch error {
    case .endScore: self.init("INVALID_CONFIG : The end \(scores)")
    case .startScore: self.init("INVALID_CONFIG : The start \(scores)")
    case .missingAction:
      self.init("INVALID_CONFIG : The action in reCAPTCHA managed rules must be set.")
    case .phoneState:
      self.init(
        "INVALID_RECAPTCHA_PHONE_AUTH_CONFIGURATION : Phone auth enforcement state must be aligned "
          + "with toll fraud or bot score enablement.")
    case .siteKey: self.init("INVALID_SITE_KEY")
    }
  }
}
