import HTTP
import Identity
import Templating

/// The links to the actions on a user that the administrator can perform; nil hides an action.
struct UserActionLinks: ViewModel {
  let verification: String?
  let unlock: String?
  let endOfSessions: String?
  let enabling: String?
  let disabling: String?
  let protection: String?
  let isProtected: Bool
  let removalOfAll: String?
  let deletion: String?

  init(_ account: Account, sessions: Int, refusal: ActionDenial?, in context: ScopeContext) {
    let (scope, uid) = (context.scope, account.id.text)
    // Locked changes of second factors don't prevent the other actions.
    var isLockedOnly = false
    if case .changesLocked? = refusal { isLockedOnly = true }
    let mayAct = refusal == nil || isLockedOnly
    let mayChange = context.may(.changeUsers) && mayAct
    verification =
      mayChange && account.email != nil && !account.emailVerified
      ? ConsolePaths.verification(scope, uid) : nil
    unlock =
      context.may(.removeFactors) && refusal == nil && account.wrongCodes > 0
      ? ConsolePaths.unlock(scope, uid) : nil
    endOfSessions =
      context.may(.endSessions) && mayAct && sessions > 0
      ? ConsolePaths.endOfSessions(scope, uid) : nil
    enabling = mayChange && account.disabled ? ConsolePaths.enabling(scope, uid) : nil
    disabling = mayChange && !account.disabled ? ConsolePaths.disabling(scope, uid) : nil
    protection =
      context.may(.protectUsers) && mayAct ? ConsolePaths.protection(scope, uid) : nil
    isProtected = account.isProtected
    removalOfAll =
      context.may(.removeFactors) && refusal == nil && !account.factors.isEmpty
      ? ConsolePaths.removalOfAll(scope, uid) : nil
    deletion =
      context.may(.changeUsers) && refusal == nil ? ConsolePaths.deletion(scope, uid) : nil
  }

  static let keys: Keys<Self> = [
    .flag("some") { links in
      [
        links.verification, links.endOfSessions, links.enabling, links.disabling,
        links.protection,
      ].contains { $0 != nil }
    },
    .text("verification") { $0.verification },
    .text("unlock") { $0.unlock },
    .text("endOfSessions") { $0.endOfSessions },
    .text("enabling") { $0.enabling },
    .text("disabling") { $0.disabling },
    .text("protection") { $0.protection },
    .text("protectionText") { $0.isProtected ? "Remove protection…" : "Protect…" },
    .text("removalOfAll") { $0.removalOfAll },
    .text("deletion") { $0.deletion },
  ]
}

struct FactorRow: ViewModel {
  let factor: Factor
  /// The addresses of the factor's actions; nil without the permission.
  let removal: String?
  let rename: String?
  let suspension: String?
  let isSuspended: Bool
  let times: Times

  init(
    _ factor: Factor, of account: Account, in context: ScopeContext, mayAct: Bool, at now: Instant,
    times: Times
  ) {
    self.factor = factor
    self.times = times
    let (scope, uid, id) = (context.scope, account.id.text, factor.id.text)
    let may = context.may(.removeFactors) && mayAct
    isSuspended = factor.isSuspended(at: now)
    removal = may ? ConsolePaths.removal(scope, uid, id) : nil
    rename = may ? ConsolePaths.factorName(scope, uid, id) : nil
    let path = isSuspended ? ConsolePaths.endOfSuspension : ConsolePaths.suspension
    suspension = may ? path(scope, uid, id) : nil
  }

  private var state: Markup? {
    guard isSuspended, let until = factor.suspendedUntil else { return nil }
    var html = HTML()
    html.add(AccountChips.suspended)
    html.raw(" <span class=\"sub\">until ")
    html.add(times.moment(until))
    html.raw("</span>")
    return html.markup
  }

  static let keys: Keys<Self> = [
    .text("name") { $0.factor.label },
    .text("id") { $0.factor.id.text },
    .text("kind") { Words.sentence($0.factor.kind.name) },
    .text("number") { $0.factor.displayName == nil ? nil : $0.factor.phoneNumber },
    .markup("state") { $0.state },
    .markup("enrolled") { $0.times.day($0.factor.enrolledAt) },
    .markup("lastUsed") { $0.factor.lastUsedAt.map($0.times.past) ?? AccountChips.never },
    .text("removal") { $0.removal },
    .text("rename") { $0.rename },
    .text("suspension") { $0.suspension },
    .text("suspensionText") { $0.isSuspended ? "End suspension…" : "Suspend…" },
  ]
}
