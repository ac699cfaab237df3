import HTTP
import Identity
import Localization
import Templating

/// The account recovery section of a user's page: temporary and recovery codes.
struct BackupCodesView: ViewModel {
  /// The user's temporary code; nil if there's none.
  var temporaryCode: TemporaryCodeFact?
  /// The user's recovery codes; nil if there are none.
  var recoveryCodes: RecoveryCodesFact?
  /// A warning that codes are locked; nil if they aren't.
  let caution: LockCaution?

  /// Creates the section; nil if there are no codes.
  init?(_ account: Account, _ state: BackupCodeState, at now: Instant, in context: ScopeContext) {
    let times = context.signedIn.times
    temporaryCode = state.temporaryUntil.map {
      TemporaryCodeFact(until: times.moment($0), isOff: state.temporaryIsOff)
    }
    if let left = state.recoveryLeft, let madeAt = state.recoveryMadeAt {
      recoveryCodes = RecoveryCodesFact(
        left: left, madeAt: times.moment(madeAt), isOff: state.recoveryIsOff)
    }
    caution = LockCaution(account, at: now, in: context)
    if temporaryCode == nil, recoveryCodes == nil { return nil }
  }

  static let keys: Keys<Self> = [
    .optional(\.caution),
    .optional(\.temporaryCode),
    .optional(\.recoveryCodes),
  ]
}

/// The temporary code of a user.
struct TemporaryCodeFact: ViewModel {
  let until: Markup
  /// Whether temporary codes are off in the pool, so that it isn't accepted.
  let isOff: Bool

  static let keys: Keys<Self> = [
    .markup(\.until),
    .flag(\.isOff),
  ]
}

/// The recovery codes of a user.
struct RecoveryCodesFact: ViewModel {
  /// The number of unused codes.
  let left: Int
  let madeAt: Markup
  /// Whether recovery codes are off in the pool, so that they aren't accepted.
  let isOff: Bool

  static let keys: Keys<Self> = [
    .number(\.left),
    .markup(\.madeAt),
    .flag(\.isOff),
  ]
}
