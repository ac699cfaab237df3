public import OTP

/// The effective policy, regardless of how the configuration expresses it.
///
/// Unset intervals equal 5, and an unspecified state equals enabled. The column `policy_in_force`
/// implements the same rule in the database.
public struct PolicyInForce: Hashable, Sendable {
  /// Whether TOTP is enabled.
  public let isTOTPOn: Bool
  /// Whether TOTP is enabled and mandatory.
  public let isTOTPMandatory: Bool
  /// The window in which codes are accepted; nil if TOTP is disabled.
  public let window: Window?
  /// Whether SMS is enabled.
  public let isSMSOn: Bool
  /// The enrollment pattern; nil if none is set.
  public let pattern: EnrollmentPattern?
  /// The day from which the pattern “mandatory” applies; nil for immediately.
  public let mandatoryFrom: Day?
  /// How the server enforces mandatory enrollment; nil if it doesn't.
  public let enforcement: Enforcement?

  /// Creates the effective policy of an edit.
  public init(_ edit: PolicyEdit) {
    let configuration = edit.configuration
    isTOTPOn = configuration.isTOTPOn
    isTOTPMandatory = configuration.totp?.state == .mandatory
    window = configuration.isTOTPOn ? configuration.window : nil
    isSMSOn = configuration.isSMSOn
    pattern = edit.pattern
    mandatoryFrom = edit.mandatoryFrom
    enforcement = edit.enforcement
  }

  /// Returns the fields in which two policies differ, in a fixed order; windows are compared only
  /// if both policies have one.
  public func differences(from other: PolicyInForce) -> [PolicyChange.Field] {
    var fields: [PolicyChange.Field] = []
    if isTOTPOn != other.isTOTPOn || isTOTPMandatory != other.isTOTPMandatory {
      fields.append(.totp)
    }
    if let window, let theirs = other.window, window != theirs {
      fields.append(.adjacentIntervals)
    }
    if isSMSOn != other.isSMSOn { fields.append(.sms) }
    if pattern != other.pattern || mandatoryFrom != other.mandatoryFrom { fields.append(.pattern) }
    if enforcement != other.enforcement { fields.append(.enforcement) }
    return fields
  }
}

extension Policy {
  /// The effective policy.
  public var inForce: PolicyInForce { PolicyInForce(edit) }

  /// Returns the fields in which two policies differ, in a fixed order.
  public func differences(from other: Policy) -> [PolicyChange.Field] {
    inForce.differences(from: other.inForce)
  }
}
