/// A way in which a change weakens an MFA policy.
public enum PolicyWeakening: Sendable, Equatable {
  /// Codes of a kind of factor are no longer asked for.
  case factorDisabled(Factor.Kind)
  /// More time steps are accepted on each side.
  case widerWindow(from: Int, to: Int)
  /// MFA is no longer stated as mandatory.
  case noLongerMandatory
  /// Users are asked to enroll less strictly.
  case looserPattern(from: EnrollmentPattern, to: EnrollmentPattern?)
  /// Enrollment becomes mandatory later; nil for what was mandatory at once.
  case laterStart(from: Day?, to: Day)
}

extension PolicyEdit {
  /// How the policy is weaker than another one; empty when it isn't.
  public func weakenings(since old: PolicyEdit) -> [PolicyWeakening] {
    PolicyChange.Field.allCases.flatMap { weakenings(of: $0, since: old) }
  }

  /// Whether the policy is weaker than another one in any field.
  public func isWeaker(than old: PolicyEdit) -> Bool { !weakenings(since: old).isEmpty }

  private func weakenings(
    of field: PolicyChange.Field, since old: PolicyEdit
  ) -> [PolicyWeakening] {
    let (was, becomes) = (old.configuration, configuration)
    switch field {
    case .totp:
      if was.isTOTPOn, !becomes.isTOTPOn { return [.factorDisabled(.totp)] }
      let isLess = was.totp?.state == .mandatory && becomes.totp?.state != .mandatory
      return isLess ? [.noLongerMandatory] : []
    case .adjacentIntervals:
      // Also while TOTP is off: the window is stored, and valid once TOTP is on. Without an entry
      // no code was accepted.
      guard was.totp != nil, becomes.totp != nil else { return [] }
      let (from, to) = (was.window.adjacentIntervals, becomes.window.adjacentIntervals)
      return to > from ? [.widerWindow(from: from, to: to)] : []
    case .sms:
      return was.isSMSOn && !becomes.isSMSOn ? [.factorDisabled(.phone)] : []
    case .state:
      return was.state == .mandatory && becomes.state != .mandatory ? [.noLongerMandatory] : []
    case .pattern:
      guard let before = old.pattern else { return [] }
      if before.strictness > (pattern?.strictness ?? 0) {
        return [.looserPattern(from: before, to: pattern)]
      }
      guard before == .mandatory, let day = mandatoryFrom else { return [] }
      let isLater = old.mandatoryFrom.map { $0 < day } ?? true
      return isLater ? [.laterStart(from: old.mandatoryFrom, to: day)] : []
    }
  }
}

extension Policy {
  /// How many users are affected when the policy is weakened; 0 without any weakening.
  ///
  /// Those who have a factor of a kind that is no longer asked for, or that more codes open; and all
  /// users when MFA is asked of everybody less strictly.
  func users(affectedBy weakenings: [PolicyWeakening]) -> Int {
    let counts = weakenings.map { weakening in
      switch weakening {
      case .factorDisabled(let kind): users(with: [kind])
      case .widerWindow: totpUsers
      case .noLongerMandatory, .looserPattern, .laterStart: users
      }
    }
    return counts.max() ?? 0
  }
}

extension EnrollmentPattern {
  /// How strictly users are asked to enroll; 0 is for no pattern.
  fileprivate var strictness: Int {
    switch self {
    case .mandatory: 4
    case .stepUp: 3
    case .skippable: 2
    case .account: 1
    }
  }
}
