import Identity
import Localization
import Templating

/// A user's sessions and recently removed factors.
struct UserSupport: ViewModel {
  let records: UserRecords
  let context: PoolContext

  private var account: Account { records.account }

  static let keys: Keys<Self> = [
    .list("holds") { support in
      support.records.removalHolds.map { RemovedFactorRow($0, support.account, support.context) }
    },
    .text("sessionCount") {
      Message(
        one: "{count} active session", other: "{count} active sessions",
        ["count": .number($0.records.sessionCount)])
    },
    .list("sessions") { support in
      support.records.sessions.map {
        UserSessionRow(
          session: $0, factors: support.account.factors, times: support.context.signedIn.times)
      }
    },
    .text("moreSessions") { support in
      support.records.sessions.count < Sessions.mostListed
        ? nil
        : Message(
          one: "Showing the newest {count}.", other: "Showing the newest {count}.",
          ["count": .number(Sessions.mostListed)])
    },
  ]
}

struct RemovedFactorRow: ViewModel {
  let hold: RemovalHold
  /// Why this administrator can't restore them despite having the permission; nil otherwise.
  let why: Message?
  let times: Times

  init(_ hold: RemovalHold, _ account: Account, _ context: PoolContext) {
    self.hold = hold
    times = context.signedIn.times
    let administrator = context.signedIn.administrator
    let isOwn =
      hold.remover == administrator.id
      && administrator.denial(of: .restoreFactors, on: account, in: context.pool) == nil
    why = isOwn ? Message("You removed this. Only another administrator can restore it.") : nil
  }

  static let keys: Keys<Self> = [
    .text("names") { row in
      Message.value(
        .sequence(row.hold.factors.map { .value(.name(Formatted.short($0.label, 60))) }))
    },
    .text("who") { $0.hold.removerName },
    .markup("removed") { $0.times.past($0.hold.removedAt) },
    .markup("until") { $0.times.moment($0.hold.until) },
    .text(\.why),
  ]
}

struct UserSessionRow: ViewModel {
  let session: OpenSession
  let factors: [Factor]
  let times: Times

  private var way: Markup {
    let first: Message =
      session.provider == .password
      ? Message("Password") : .verbatim(session.provider.rawValue)
    guard let id = session.factor else { return Markup(escaping: first) }
    let second =
      session.usedBackupCode
      ? Message("backup code")
      : factors.first { $0.id == id }.map { .value(FactorText.name($0)) }
        ?? Message("removed factor")
    return Markup(html: .value(.sequence([first, second])))
  }

  static let keys: Keys<Self> = [
    .markup("way") { $0.way },
    .markup("started") { $0.times.past($0.session.startedAt) },
    .markup("refreshed") { $0.session.lastRefreshAt.map($0.times.past) ?? AccountChips.never },
  ]
}

struct FactorRow: ViewModel {
  let factor: Factor
  let isSuspended: Bool
  /// How far the device's clock is off, and the newest code by that clock; nil unless the factor was
  /// resynchronized.
  let clock: Message?
  let pool: Pool
  let times: Times

  init(
    _ factor: Factor, _ codeAttempts: [CodeAttempt], in pool: Pool, at now: Instant,
    _ times: Times
  ) {
    (self.factor, self.pool) = (factor, pool)
    self.times = times
    isSuspended = factor.isSuspended(at: now)
    clock = factor.clockOffset.map { offset in
      let newest = codeAttempts.first { $0.enrollment == factor.id && $0.distance != nil }
      return .value(
        .sequence([
          Message("Clock offset: {offset}", ["offset": .message(FactorText.clock(offset))]),
          Message(
            "remaining: {offset}", ["offset": .message(FactorText.clock(newest?.distance ?? 0))]),
        ]))
    }
  }

  static let keys: Keys<Self> = [
    .text("name") { $0.factor.label },
    .text("id") { $0.factor.id.text },
    .text("kind") { $0.factor.kind.title },
    .text("number") { $0.factor.displayName == nil ? nil : $0.factor.phoneNumber },
    .text(\.clock),
    .flag(\.isSuspended),
    .markup("state") { _ in AccountChips.suspended },
    .markup("until") { $0.factor.suspendedUntil.map($0.times.end) },
    .markup("enrolled") { $0.times.day($0.factor.enrolledAt) },
    .markup("lastUsed") {
      $0.factor.lastUsedAt.map($0.times.past) ?? AccountChips.lastUse(in: $0.pool)
    },
  ]
}

struct GuidanceAside: ViewModel {
  let href: String
  let text: Markup
  let isWhole: Bool

  init?(_ beginning: GuidanceBeginning?, of pool: Pool, _ prose: GuidanceProse) {
    guard let beginning else { return nil }
    href = ConsolePaths.poolGuidance(pool)
    text = prose.markup(beginning, of: pool)
    isWhole = beginning.isWhole
  }

  static let keys: Keys<Self> = [
    .text(\.href),
    .markup(\.text),
    .text("linkText") {
      $0.isWhole ? Message("Open") : Message("Read more")
    },
  ]
}

struct BackupCodesView: ViewModel {
  var temporaryCode: TemporaryCodeFact?
  var recoveryCodes: RecoveryCodesFact?
  let caution: Notice?

  init?(_ account: Account, _ state: BackupCodeState, at now: Instant, in context: PoolContext) {
    let times = context.signedIn.times
    temporaryCode = state.temporaryUntil.map {
      TemporaryCodeFact(until: times.moment($0), isOff: state.temporaryIsOff)
    }
    if let left = state.recoveryLeft, let madeAt = state.recoveryMadeAt {
      recoveryCodes = RecoveryCodesFact(
        left: left, madeAt: times.moment(madeAt), isOff: state.recoveryIsOff)
    }
    caution = Notice(lockOf: account, at: now, in: context)
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
