import HTTP
import Identity
import Templating

/// The account recovery section of a user's page: temporary and recovery codes and their actions.
struct BackupCodesView: ViewModel {
  var facts: [Fact] = []
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
    facts = Self.facts(state, context.signedIn.times)
    if !facts.isEmpty { caution = LockCaution(account, at: now, in: context) }
    if mayAct {
      if settings.temporaryCodes {
        links.append(
          Link(text: "Generate temporary code…", href: ConsolePaths.temporaryCode(scope, uid)))
      }
      if state.temporaryUntil != nil {
        links.append(
          Link(
            text: "Revoke temporary code…", href: ConsolePaths.temporaryCodeRemoval(scope, uid)))
      }
      if state.recoveryLeft != nil {
        links.append(
          Link(
            text: "Revoke recovery codes…", href: ConsolePaths.recoveryCodesRemoval(scope, uid)))
      }
    }
    if facts.isEmpty, links.isEmpty { return nil }
  }

  /// Creates the section of a user without an authenticator app; nil if they can't enroll one by
  /// link.
  init?(enrolling account: Account, _ policy: Policy, in context: ScopeContext) {
    guard EnrollmentLinks.refusal(account, policy) == nil else { return nil }
    links = [
      Link(
        text: "Send enrollment link…",
        href: ConsolePaths.enrollmentLink(context.scope, account.id.text))
    ]
  }

  private static func facts(_ state: BackupCodeState, _ times: Times) -> [Fact] {
    var facts: [Fact] = []
    if let until = state.temporaryUntil {
      var html = HTML()
      html.raw("single use, expires ")
      html.add(times.moment(until))
      facts.append(Fact("Temporary code", html.markup))
    }
    if let left = state.recoveryLeft, let madeAt = state.recoveryMadeAt {
      var html = HTML()
      html.number(left)
      html.raw(" left, generated ")
      html.add(times.moment(madeAt))
      facts.append(Fact("Recovery codes", html.markup))
    }
    return facts
  }

  static let keys: Keys<Self> = [
    .optional("caution") { $0.caution },
    .flag("hasFacts") { !$0.facts.isEmpty },
    .list("facts") { $0.facts },
    .flag("hasLinks") { !$0.links.isEmpty },
    .list("links") { $0.links },
  ]
}
