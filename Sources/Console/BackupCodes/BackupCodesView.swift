import HTTP
import Identity
import Templating

/// What stands in for a user's authenticator app, and what may be done about it, on the user's page.
///
/// An address that is nil is not offered.
struct BackupCodesView: ViewModel {
  var facts: [Fact] = []
  var links: [Link] = []
  /// That the codes wait; nil while codes are looked at, or when there are none.
  var caution: LockCaution?

  /// Of a user who has an authenticator app; nil when there is nothing to show.
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
          Link(text: "Make a temporary code…", href: ConsolePaths.temporaryCode(scope, uid)))
      }
      if state.temporaryUntil != nil {
        links.append(
          Link(
            text: "End the temporary code…", href: ConsolePaths.temporaryCodeRemoval(scope, uid)))
      }
      if state.recoveryLeft != nil {
        links.append(
          Link(
            text: "End the recovery codes…", href: ConsolePaths.recoveryCodesRemoval(scope, uid)))
      }
    }
    if facts.isEmpty, links.isEmpty { return nil }
  }

  /// Of a user without an authenticator app, whom an agent may send a link; nil when they may not.
  init?(enrolling account: Account, _ policy: Policy, in context: ScopeContext) {
    guard EnrollmentLinks.refusal(account, policy) == nil else { return nil }
    links = [
      Link(
        text: "Send a link to enroll…",
        href: ConsolePaths.enrollmentLink(context.scope, account.id.text))
    ]
  }

  private static func facts(_ state: BackupCodeState, _ times: Times) -> [Fact] {
    var facts: [Fact] = []
    if let until = state.temporaryUntil {
      var html = HTML()
      html.raw("counts once until ")
      html.add(times.moment(until))
      facts.append(Fact("Temporary code", html.markup))
    }
    if let left = state.recoveryLeft, let madeAt = state.recoveryMadeAt {
      var html = HTML()
      html.number(left)
      html.raw(" left, made ")
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
