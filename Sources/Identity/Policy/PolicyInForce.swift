public import OTP

/// What of a policy acts on users and applications, whatever the configuration says in how many
/// words.
///
/// An absent number of intervals and 5 are the same here, and so are a state that was not given and
/// one that says on. The column `policy_in_force` is the same rule for the database.
public struct PolicyInForce: Hashable, Sendable {
  /// Whether TOTP is on.
  public let isTOTPOn: Bool
  /// Whether TOTP is on and the configuration says mandatory.
  public let isTOTPMandatory: Bool
  /// The window in which codes are accepted; nil when none is.
  public let window: Window?
  /// Whether codes by SMS are on.
  public let isSMSOn: Bool
  /// The enrollment pattern; nil when none was chosen.
  public let pattern: EnrollmentPattern?
  /// From which day on the pattern “mandatory” counts; nil for at once.
  public let mandatoryFrom: Day?

  /// The part in force of what a policy holds.
  public init(_ edit: PolicyEdit) {
    let configuration = edit.configuration
    isTOTPOn = configuration.isTOTPOn
    isTOTPMandatory = configuration.totp?.state == .mandatory
    window = configuration.isTOTPOn ? configuration.window : nil
    isSMSOn = configuration.isSMSOn
    pattern = edit.pattern
    mandatoryFrom = edit.mandatoryFrom
  }

  /// What differs between two policies, in a fixed order; a window only where both have one.
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
    return fields
  }
}

extension Policy {
  /// What of it acts.
  public var inForce: PolicyInForce { PolicyInForce(edit) }

  /// What differs between two policies, in a fixed order.
  public func differences(from other: Policy) -> [PolicyChange.Field] {
    inForce.differences(from: other.inForce)
  }
}
