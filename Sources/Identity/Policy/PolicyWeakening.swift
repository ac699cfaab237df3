import OTP

public enum PolicyWeakening: Sendable, Equatable {
  /// A kind of factor is disabled, so users are no longer asked for its codes.
  case factorDisabled(Factor.Kind)
  case widerWindow(from: Int, to: Int)
  case noLongerMandatory
  case looserPattern(from: EnrollmentPattern, to: EnrollmentPattern?)
  /// Enrollment becomes mandatory later; `from` is nil if it was mandatory immediately.
  case laterStart(from: Day?, to: Day)
  /// The server enforces enrollment less strictly, later, or no longer.
  case looserEnforcement(from: Enforcement, to: Enforcement?)

  var isWiderWindow: Bool {
    if case .widerWindow = self { true } else { false }
  }
}

extension PolicyEdit {
  /// Returns how the policy is weaker than another; empty if it isn't.
  ///
  /// `usersHaveApps` says whether any user of the pool has an authenticator app, and is read only if
  /// that matters; see ``Policy/weakenings(by:)``.
  public func weakenings(
    since old: PolicyEdit, usersHaveApps: @autoclosure () throws -> Bool
  ) rethrows -> [PolicyWeakening] {
    try PolicyChange.Field.allCases.flatMap {
      try weakenings(of: $0, since: old, usersHaveApps: try usersHaveApps())
    }
  }

  private func weakenings(
    of field: PolicyChange.Field, since old: PolicyEdit,
    usersHaveApps: @autoclosure () throws -> Bool
  ) rethrows -> [PolicyWeakening] {
    let (was, becomes) = (old.configuration, configuration)
    switch field {
    case .totp:
      if was.isTOTPOn, !becomes.isTOTPOn { return [.factorDisabled(.totp)] }
      let isLess = was.totp?.state == .mandatory && becomes.totp?.state != .mandatory
      return isLess ? [.noLongerMandatory] : []
    case .adjacentIntervals:
      // Compared even while TOTP is disabled, because the stored window applies once TOTP is
      // enabled again. A missing entry is compared as the default window if that matters to anyone;
      // otherwise dropping the entry and adding it again would widen a window unnoticed.
      let (from, to) = (was.window.adjacentIntervals, becomes.window.adjacentIntervals)
      guard to > from, try was.totp != nil && becomes.totp != nil || usersHaveApps() else {
        return []
      }
      return [.widerWindow(from: from, to: to)]
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
    case .enforcement:
      guard let before = old.enforcement else { return [] }
      let isLooser = enforcement?.isLooser(than: before) ?? true
      return isLooser ? [.looserEnforcement(from: before, to: enforcement)] : []
    }
  }
}

extension Policy {
  public func weakenings(by new: PolicyEdit) -> [PolicyWeakening] {
    new.weakenings(since: stored.edit, usersHaveApps: totpUsers > 0)
  }

  /// Returns how many users a weakened policy affects; 0 without any weakening.
  ///
  /// These are users with a factor whose codes are no longer required or for which more codes are
  /// valid, or all users if enrollment requirements are less strict.
  func users(affectedBy weakenings: [PolicyWeakening]) -> Int {
    let counts = weakenings.map { weakening in
      switch weakening {
      case .factorDisabled(let kind): users(with: [kind])
      case .widerWindow: totpUsers
      case .noLongerMandatory, .looserPattern, .laterStart, .looserEnforcement: users
      }
    }
    return counts.max() ?? 0
  }

  /// Returns whether a weakened policy requires a second administrator: if it affects more users
  /// than `limit`, nil for never.
  func needsApproval(of weakenings: [PolicyWeakening], above limit: Int?) -> Bool {
    limit.map { users(affectedBy: weakenings) > $0 } ?? false
  }
}

extension EnrollmentPattern {
  /// How strictly users are asked to enroll; a missing pattern is 0.
  fileprivate var strictness: Int {
    switch self {
    case .mandatory: 4
    case .stepUp: 3
    case .skippable: 2
    case .account: 1
    }
  }
}
