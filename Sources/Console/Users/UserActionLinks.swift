import HTTP
import Identity
import Localization
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
  let newExemption: String?

  init(_ account: Account, sessions: Int, in context: ScopeContext) {
    let (scope, uid) = (context.scope, account.id.text)
    func link(
      _ action: ConsoleAction, _ path: (Scope, String) -> String, where isUseful: Bool = true
    ) -> String? {
      let denial = context.signedIn.administrator.denial(of: action, on: account, in: scope)
      return isUseful && denial == nil ? path(scope, uid) : nil
    }
    verification = link(
      .verifyEmail, { ConsolePaths.verification($0, $1) },
      where: account.email != nil && !account.emailVerified)
    unlock = link(
      .unlockCodes, { ConsolePaths.unlock($0, $1) }, where: account.wrongCodes > 0)
    endOfSessions = link(
      .endSessions, { ConsolePaths.endOfSessions($0, $1) }, where: sessions > 0)
    enabling = link(.enableUser, { ConsolePaths.enabling($0, $1) }, where: account.disabled)
    disabling = link(.disableUser, { ConsolePaths.disabling($0, $1) }, where: !account.disabled)
    protection = link(.protectUser, { ConsolePaths.protection($0, $1) })
    isProtected = account.isProtected
    removalOfAll = link(
      .removeAllFactors, { ConsolePaths.removalOfAll($0, $1) }, where: !account.factors.isEmpty)
    newExemption = link(.exemptUser, { ConsolePaths.exemption($0, $1) })
    deletion = link(.deleteUser, { ConsolePaths.deletion($0, $1) })
  }

  static let keys: Keys<Self> = [
    .flag("some") { links in
      [
        links.verification, links.endOfSessions, links.enabling, links.disabling,
        links.protection, links.newExemption,
      ].contains { $0 != nil }
    },
    .text(\.verification),
    .text(\.unlock),
    .text(\.endOfSessions),
    .text(\.enabling),
    .text(\.disabling),
    .text(\.protection),
    .text("protectionText") {
      $0.isProtected ? Message("users.remove-protection") : Message("users.protect")
    },
    .text(\.newExemption),
    .text(\.removalOfAll),
    .text(\.deletion),
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

  private var suspensionText: Message {
    isSuspended
      ? Message("users.end-suspension-of-name", ["name": .name(factor.label)])
      : Message("users.suspend-name", ["name": .name(factor.label)])
  }

  static let keys: Keys<Self> = [
    .text("name") { $0.factor.label },
    .text("id") { $0.factor.id.text },
    .text("kind") { $0.factor.kind.title },
    .text("number") { $0.factor.displayName == nil ? nil : $0.factor.phoneNumber },
    .flag(\.isSuspended),
    .markup("state") { _ in AccountChips.suspended },
    .markup("until") { $0.factor.suspendedUntil.map($0.times.moment) },
    .markup("enrolled") { $0.times.day($0.factor.enrolledAt) },
    .markup("lastUsed") { $0.factor.lastUsedAt.map($0.times.past) ?? AccountChips.never },
    .text(\.removal),
    .text(\.rename),
    .text(\.suspension),
    .markup("suspensionText") { $0.suspensionText },
  ]
}
