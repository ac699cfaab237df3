import IdentityToolkitClient
import OTP

extension PolicyEdit {
  /// Returns this edit of a connected pool's policy as its server will have it, and what's sent: one part
  /// of the policy, with absolute values; nil for nothing.
  ///
  /// TOTP on sets both switches. Intervals of which the remote didn't say the number are written as the
  /// default, 5.
  ///
  /// - Throws: ``PolicyError/notAtOnce``.
  func written(
    over old: PolicyEdit
  ) throws(PolicyError) -> (edit: PolicyEdit, change: RemotePolicyChange?) {
    let (new, known) = (configuration, old.configuration)
    var (edit, target, change) = (old, known, RemotePolicyChange?.none)
    if new.isTOTPOn {
      let isStated = known.state == .enabled || known.state == .mandatory
      if new.totp?.intervals != known.totp?.intervals || !known.isTOTPOn || !isStated {
        let intervals = new.totp?.adjacentIntervals ?? Window.standard.adjacentIntervals
        change = .totpOn(adjacentIntervals: intervals)
        target.totp = TOTPConfiguration(
          state: known.totp?.state == .mandatory ? .mandatory : .enabled,
          adjacentIntervals: intervals)
        if !isStated { target.state = .enabled }
      }
    } else if known.isTOTPOn {
      change = .totpOff
      target.totp?.state = .disabled
      if !known.smsEnabled, known.state != .mandatory { target.state = .disabled }
    }
    if new.isSMSOn != known.isSMSOn {
      guard change == nil else { throw .notAtOnce }
      change = .sms(new.isSMSOn)
      target.setSMS(new.isSMSOn)
    }
    edit.configuration = target
    var local = self
    local.configuration = known
    guard local == old else { throw .notAtOnce }
    return (edit, change)
  }
}

extension MFAConfiguration {
  /// Whether it's what a remote says, which doesn't tell 0 intervals from the default.
  func isSaid(as remote: MFAConfiguration) -> Bool {
    var own = self
    if own.totp?.intervals == .number(0) { own.totp?.intervals = .unsaid }
    return self == remote || own == remote
  }
}
