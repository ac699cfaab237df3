import HTTP
import Identity
import Localization
import Templating

/// The account recovery section of a user's page: temporary and recovery codes and their actions.
struct BackupCodesView: ViewModel {
  /// The user's temporary code; nil if there's none.
  var temporaryCode: TemporaryCodeFact?
  /// The user's recovery codes; nil if there are none.
  var recoveryCodes: RecoveryCodesFact?
  var links: [Link] = []
  /// A warning that codes are locked; nil if they aren't or if there are none.
  var caution: LockCaution?

  /// Creates the section of a user who has an authenticator app; nil if there is nothing to show.
  init?(
    _ account: Account, _ state: BackupCodeState, _ settings: SupportRules, mayAct: Bool,
    at now: Instant,
    in context: ScopeContext
  ) {
    let (scope, uid) = (context.scope, account.id.text)
    let times = context.signedIn.times
    temporaryCode = state.temporaryUntil.map { TemporaryCodeFact(until: times.moment($0)) }
    if let left = state.recoveryLeft, let madeAt = state.recoveryMadeAt {
      recoveryCodes = RecoveryCodesFact(left: left, madeAt: times.moment(madeAt))
    }
    if hasFacts { caution = LockCaution(account, at: now, in: context) }
    if mayAct {
      if settings.temporaryCodes {
        links.append(
          Link(
            text: Message("backup-codes.generate-temporary-code"),
            href: ConsolePaths.temporaryCode(scope, uid)))
      }
      if state.temporaryUntil != nil {
        links.append(
          Link(
            text: Message("backup-codes.revoke-temporary-code-link"),
            href: ConsolePaths.temporaryCodeRemoval(scope, uid)))
      }
      if state.recoveryLeft != nil {
        links.append(
          Link(
            text: Message("backup-codes.revoke-recovery-codes-link"),
            href: ConsolePaths.recoveryCodesRemoval(scope, uid)))
      }
    }
    if !hasFacts, links.isEmpty { return nil }
  }

  /// Creates the section of a user without an authenticator app; nil if they can't enroll one by
  /// link.
  init?(enrolling account: Account, _ policy: Policy, in context: ScopeContext) {
    guard EnrollmentLinks.refusal(account, policy) == nil else { return nil }
    links = [
      Link(
        text: Message("backup-codes.send-enrollment-link"),
        href: ConsolePaths.enrollmentLink(context.scope, account.id.text))
    ]
  }

  private var hasFacts: Bool { temporaryCode != nil || recoveryCodes != nil }

  static let keys: Keys<Self> = [
    .optional(\.caution),
    .flag("hasFacts") { $0.hasFacts },
    .optional(\.temporaryCode),
    .optional(\.recoveryCodes),
    .flag("hasLinks") { !$0.links.isEmpty },
    .list(\.links),
  ]
}

/// The temporary code of a user.
struct TemporaryCodeFact: ViewModel {
  let until: Markup

  static let keys: Keys<Self> = [.markup("until") { $0.until }]
}

/// The recovery codes of a user.
struct RecoveryCodesFact: ViewModel {
  /// The number of unused codes.
  let left: Int
  let madeAt: Markup

  static let keys: Keys<Self> = [
    .number(\.left),
    .markup(\.madeAt),
  ]
}
