import HTTP
import Identity
import Templating

/// `S/users/{uid}/factors/{enrollment}/suspension`: suspends a factor until a date.
struct SuspendFactor: SupportAction {
  static let action = ConsoleAction.suspendFactor

  let pages: SupportPages

  func question(_ target: SupportTarget) async throws(Refusal) -> SupportConfirmation {
    let found = try await pages.factor(target)
    let settings = try await refusing { try await pages.support.settings(target.scope) }
    let now = pages.frames.clock.now()
    var question = SupportConfirmation(
      user: found.account, title: "Suspend factor",
      heading: HTML.heading("Suspend “", found),
      consequences: [
        "A second factor is still required at sign-in. Until then, codes from this factor are rejected as incorrect, but don’t count as incorrect attempts.",
        found.account.factors.count == 1
          ? Self.onlyOne(found.factor, settings)
          : "\(Words.count(found.account.factors.count - 1, "other factor still works", "other factors still work")).",
        "Active sessions continue. If someone else may have the device, end them on the user’s page.",
        "The suspension ends automatically. You can end it early.",
        pages.notice(to: found.account),
      ].compactMap { $0 }, button: "Suspend factor", factsHeading: "This factor",
      facts: FactorWords.facts(found.factor, target.times))
    question.reasons = [.lost, .stolen, .compromised, .other]
    if settings.temporaryCodes || settings.recoveryCodes {
      question.caution = LockCaution(found.account, at: now, in: target.context)
    }
    question.until = until(target)
    return question
  }

  func perform(
    _ target: SupportTarget, _ request: ActionRequest
  ) async throws(ActionDenial) -> SupportResult {
    let field = until(target)
    let done = try await pages.support.suspend(
      target.scope, target.user, ID(target.object), until: field.moment, request)
    let name = Words.isolated(done.value.factor.label)
    let until = field.moment.map(target.times.words) ?? ""
    let end = Link(
      text: "End now",
      href: ConsolePaths.endOfSuspension(target.scope, target.uid, target.object))
    return SupportResult("Suspended factor “\(name)” until \(until).", link: end, after: done)
  }

  private func until(_ target: SupportTarget) -> UntilField {
    UntilField(target.form, target.times, at: pages.frames.clock.now())
  }

  /// Returns the consequence of suspending a user's only factor.
  private static func onlyOne(_ factor: Factor, _ settings: SupportRules) -> String {
    let codes = [
      settings.temporaryCodes ? "a temporary code" : nil,
      settings.recoveryCodes ? "a recovery code" : nil,
    ].compactMap { $0 }
    return factor.kind == .totp && !codes.isEmpty
      ? "This is the user’s only factor. Until then, they can sign in only with \(codes.joined(separator: " or "))."
      : "This is the user’s only factor. Until then, they can’t sign in."
  }
}

extension HTML {
  /// Returns a heading that asks about a factor of a user.
  static func heading(_ start: StaticString, _ found: Suspension) -> Markup {
    var html = HTML()
    html.raw(start)
    html.name(found.factor.label)
    html.raw("” of ")
    html.name(found.account.label)
    html.raw("?")
    return html.markup
  }
}
