import HTTP
import Identity
import Localization
import Templating

/// `S/users/{uid}/factors/{enrollment}/suspension`: suspends a factor until a date;
/// `…/suspension/end` ends the suspension early.
struct SuspendFactor: SupportAction {
  let pages: SupportPages
  var isEnding = false

  var action: ConsoleAction { isEnding ? .resumeFactor : .suspendFactor }

  func question(_ target: SupportTarget) async throws(Refusal) -> SupportConfirmation {
    let found = try await pages.factor(target)
    var question = isEnding ? ending(found) : try await suspending(found, target)
    question.factsHeading = Message("factors.this-factor")
    question.facts = FactorText.facts(found.factor, target.times)
    return question
  }

  private func suspending(
    _ found: Suspension, _ target: SupportTarget
  ) async throws(Refusal) -> SupportConfirmation {
    let heading = Message(
      "factors.suspend-heading",
      [
        "factor": FactorText.name(found.factor),
        "user": .name(Formatted.short(found.account.label)),
      ])
    let settings = try await refusing { try await pages.support.settings(target.scope) }
    let now = pages.frames.clock.now()
    let isDue = found.factorsDue.contains { $0.id == found.factor.id }
    let others = found.factorsDue.count - (isDue ? 1 : 0)
    let consequences: [Message?] = [
      isDue ? Message("factors.still-asked-for-codes") : Self.isOff(found.factor.kind),
      others > 0
        ? Message("factors.others-still-work", ["count": .number(others)])
        : isDue ? Self.onlyOne(found.factor, settings) : nil,
      Message("factors.sessions-continue"),
      Message("factors.suspension-ends"),
    ]
    var question = SupportConfirmation(
      user: found.account, title: Message("factors.suspend"), heading: Markup(html: heading),
      consequences: consequences.compactMap { $0 }, button: Message("factors.suspend"))
    question.notifies = true
    question.reasons = [.lost, .stolen, .compromised, .other]
    if isDue, settings.temporaryCodes || settings.recoveryCodes {
      question.caution = LockCaution(found.account, at: now, in: target.context)
    }
    question.until = until(target)
    return question
  }

  private func ending(_ found: Suspension) -> SupportConfirmation {
    let heading = Message(
      "factors.resume-heading",
      [
        "factor": FactorText.name(found.factor),
        "user": .name(Formatted.short(found.account.label)),
      ])
    let consequences = [
      Message("factors.codes-accepted-again"),
      Message("factors.check-device"),
    ]
    var question = SupportConfirmation(
      user: found.account, title: Message("factors.resume"), heading: Markup(html: heading),
      consequences: consequences, button: Message("factors.resume"))
    question.notifies = true
    question.isDestructive = false
    question.reasons = [.found, .mistake, .other]
    if !found.factor.isSuspended(at: pages.frames.clock.now()) {
      question.refusal = ActionErrorText.sentence(.nothingToDo)
    }
    return question
  }

  func perform(
    _ target: SupportTarget, _ request: ActionRequest
  ) async throws(ActionDenial) -> SupportResult {
    guard !isEnding else {
      let done = try await pages.support.resume(
        target.scope, target.user, ID(target.object), request)
      return SupportResult(
        Message("factors.resumed", ["name": FactorText.name(done.value.factor)]), after: done)
    }
    let field = until(target)
    let done = try await pages.support.suspend(
      target.scope, target.user, ID(target.object), until: field.moment, request)
    let until = field.moment.map { target.times.endValue($0) } ?? .text("")
    let end = Link(
      text: Message("factors.end-now"),
      href: ConsolePaths.endOfSuspension(target.scope, target.uid, target.object))
    return SupportResult(
      Message(
        "factors.suspended",
        ["name": FactorText.name(done.value.factor), "until": until]),
      link: end, after: done)
  }

  private func until(_ target: SupportTarget) -> UntilField {
    UntilField(target.form, target.formTimes, at: pages.frames.clock.now())
  }

  /// Returns that a factor's codes aren't required, because its kind is off in the pool.
  private static func isOff(_ kind: Factor.Kind) -> Message {
    switch kind {
    case .totp: Message("factors.totp-is-off")
    case .phone: Message("factors.sms-is-off")
    }
  }

  /// Returns the consequence of suspending a user's only required factor.
  private static func onlyOne(_ factor: Factor, _ settings: SupportRules) -> Message {
    guard factor.kind == .totp else { return Message("factors.only-factor") }
    return switch (settings.temporaryCodes, settings.recoveryCodes) {
    case (true, true): Message("factors.only-factor-but-codes")
    case (true, false): Message("factors.only-factor-but-temporary-code")
    case (false, true): Message("factors.only-factor-but-recovery-code")
    case (false, false): Message("factors.only-factor")
    }
  }
}
