import HTTP
import Identity
import Localization
import Templating

struct BackupCodesView: ViewModel {
  var temporaryCode: TemporaryCodeFact?
  var recoveryCodes: RecoveryCodesFact?
  let caution: LockCaution?

  init?(_ account: Account, _ state: BackupCodeState, at now: Instant, in context: PoolContext) {
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

struct TemporaryCodeFact: ViewModel {
  let until: Markup
  /// Whether temporary codes are off in the pool, so that it isn't accepted.
  let isOff: Bool

  static let keys: Keys<Self> = [
    .markup(\.until),
    .flag(\.isOff),
  ]
}

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
