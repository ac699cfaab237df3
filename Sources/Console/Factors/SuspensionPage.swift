import HTTP
import Identity
import Templating

/// `S/users/{uid}/factors/{enrollment}/suspension`: suspends a factor until a date; and
/// `…/suspension/end`: ends the suspension early.
struct SuspensionPage: Sendable {
  let support: Support
  let pages: SupportPages

  func ask(
    _ context: ScopeContext, _ uid: String, _ enrollment: String
  ) async throws(Refusal) -> Response {
    try await page(context, uid, enrollment)
  }

  func suspend(
    _ context: ScopeContext, _ uid: String, _ enrollment: String
  ) async throws(Refusal) -> Response {
    let answers = ActionInput(context.signedIn.form)
    let times = context.signedIn.times
    let field = UntilField(context.signedIn.form, times, at: pages.frames.clock.now())
    let outcome: ActionOutcome<Suspension>
    do {
      outcome = try await support.suspend(
        context.scope, ID(uid), ID(enrollment), until: field.moment,
        answers.request(context.signedIn))
    } catch {
      let faults = try ActionErrorText.faults(error, times)
      return try await page(context, uid, enrollment, answers, errors: faults)
    }
    let name = Words.isolated(outcome.value.factor.label)
    let until = field.moment.map(times.words) ?? ""
    let end = Link(
      text: "End now", href: ConsolePaths.endOfSuspension(context.scope, uid, enrollment))
    return pages.leave(
      Flash(text: "Suspended factor “\(name)” until \(until).", link: end),
      outcome.value.account, context, renewed: outcome.renewed)
  }

  func askForEnd(
    _ context: ScopeContext, _ uid: String, _ enrollment: String
  ) async throws(Refusal) -> Response {
    try await endPage(context, uid, enrollment)
  }

  func end(
    _ context: ScopeContext, _ uid: String, _ enrollment: String
  ) async throws(Refusal) -> Response {
    let answers = ActionInput(context.signedIn.form)
    let outcome: ActionOutcome<Suspension>
    do {
      outcome = try await support.resume(
        context.scope, ID(uid), ID(enrollment), answers.request(context.signedIn))
    } catch {
      if case .nothingToDo = error { return pages.leaveUnchanged(uid, context) }
      let faults = try ActionErrorText.faults(error, context.signedIn.times)
      return try await endPage(context, uid, enrollment, answers, errors: faults)
    }
    let name = Words.isolated(outcome.value.factor.label)
    return pages.leave(
      Flash(text: "Suspension ended. Codes from the factor “\(name)” are accepted again."),
      outcome.value.account, context, renewed: outcome.renewed)
  }

  private func find(
    _ context: ScopeContext, _ uid: String, _ enrollment: String
  ) async throws(Refusal) -> Suspension {
    do {
      return try await support.factor(context.scope, ID(uid), ID(enrollment))
    } catch {
      guard case .unavailable = error else { throw .notFound }
      throw .unavailable(error)
    }
  }

  private func page(
    _ context: ScopeContext, _ uid: String, _ enrollment: String,
    _ answers: ActionInput = ActionInput(), errors: [FieldError] = []
  ) async throws(Refusal) -> Response {
    let found = try await find(context, uid, enrollment)
    let settings = try await refusing { try await support.settings(context.scope) }
    let times = context.signedIn.times
    var question = SupportConfirmation(
      title: "Suspend factor", heading: Self.heading("Suspend “", found),
      consequences: [
        "A second factor is still required at sign-in. Until then, codes from this factor are rejected as incorrect, but don’t count as incorrect attempts.",
        found.account.factors.count == 1
          ? Self.onlyOne(found.factor, settings)
          : "\(Words.count(found.account.factors.count - 1, "other factor still works", "other factors still work")).",
        "Active sessions continue. If someone else may have the device, end them on the user’s page.",
        "The suspension ends automatically. You can end it early.",
        pages.notice(to: found.account),
      ].compactMap { $0 }, button: "Suspend factor", keep: "Cancel",
      action: ConsolePaths.suspension(context.scope, uid, enrollment),
      factsHeading: "This factor", facts: FactorWords.facts(found.factor, times))
    question.reasons = [.lost, .stolen, .compromised, .other]
    if settings.temporaryCodes || settings.recoveryCodes {
      question.caution = LockCaution(found.account, at: pages.frames.clock.now(), in: context)
    }
    question.until = UntilField(context.signedIn.form, times, at: pages.frames.clock.now())
    return try await pages.ask(question, about: found.account, context, answers, errors: errors)
  }

  private func endPage(
    _ context: ScopeContext, _ uid: String, _ enrollment: String,
    _ answers: ActionInput = ActionInput(), errors: [FieldError] = []
  ) async throws(Refusal) -> Response {
    let found = try await find(context, uid, enrollment)
    let times = context.signedIn.times
    var question = SupportConfirmation(
      title: "End suspension", heading: Self.heading("End the suspension of “", found),
      consequences: [
        "Codes from this factor are accepted again immediately.",
        "Make sure the user has the device. Anyone who has it can generate valid codes.",
        pages.notice(to: found.account),
      ].compactMap { $0 }, button: "End suspension", keep: "Cancel",
      action: ConsolePaths.endOfSuspension(context.scope, uid, enrollment),
      factsHeading: "This factor", facts: FactorWords.facts(found.factor, times))
    question.isDestructive = false
    question.reasons = [.found, .mistake, .other]
    if !found.factor.isSuspended(at: pages.frames.clock.now()) {
      question.refusal = ActionErrorText.sentence(.nothingToDo)
    }
    return try await pages.ask(question, about: found.account, context, answers, errors: errors)
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

  private static func heading(_ start: StaticString, _ found: Suspension) -> Markup {
    var html = HTML()
    html.raw(start)
    html.name(found.factor.label)
    html.raw("” of ")
    html.name(found.account.label)
    html.raw("?")
    return html.markup
  }
}
