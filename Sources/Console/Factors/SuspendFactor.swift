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

  func question(_ target: SupportTarget) async throws -> SupportConfirmation {
    let found = try await pages.factor(target)
    var question = isEnding ? ending(found) : try await suspending(found, target)
    question.factsHeading = Message("This factor")
    question.facts = FactorText.facts(found.factor, target.times)
    return question
  }

  private func suspending(
    _ found: Suspension, _ target: SupportTarget
  ) async throws -> SupportConfirmation {
    let heading = Message(
      "Suspend “{factor}” for {user}?",
      [
        "factor": FactorText.name(found.factor),
        "user": .name(Formatted.short(found.account.label)),
      ])
    let settings = try await pages.support.settings(target.scope)
    let now = pages.frames.clock.now()
    let isDue = found.factorsDue.contains { $0.id == found.factor.id }
    let others = found.factorsDue.count - (isDue ? 1 : 0)
    let consequences: [Message?] = [
      isDue
        ? Message(
          """
          A second factor is still required at sign-in. During the suspension, codes from this \
          factor are rejected as incorrect but don’t count as incorrect attempts.
          """) : Self.isOff(found.factor.kind),
      others > 0
        ? Message(
          one: "{count} other factor still works.",
          other: "{count} other factors still work.", ["count": .number(others)])
        : isDue ? Self.onlyOne(found.factor, settings) : nil,
      Message(
        """
        Active sessions continue. If someone else may have the device, end them on the user’s \
        page.
        """),
      Message("The suspension ends automatically at the time you choose. You can end it early."),
    ]
    var question = SupportConfirmation(
      user: found.account, title: Message("Suspend factor"), heading: Markup(html: heading),
      consequences: consequences.compactMap { $0 }, button: Message("Suspend factor"))
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
      "End the suspension of “{factor}” for {user}?",
      [
        "factor": FactorText.name(found.factor),
        "user": .name(Formatted.short(found.account.label)),
      ])
    let consequences = [
      Message("Codes from this factor are accepted again immediately."),
      Message("Make sure the user has the device. Anyone who has it can generate valid codes."),
    ]
    var question = SupportConfirmation(
      user: found.account, title: Message("End suspension"), heading: Markup(html: heading),
      consequences: consequences, button: Message("End suspension"))
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
  ) async throws -> SupportResult {
    guard !isEnding else {
      let done = try await pages.support.resume(
        target.scope, target.user, ID(target.object), request)
      return SupportResult(
        Message(
          "Suspension ended. Codes from the factor “{name}” are accepted again.",
          ["name": FactorText.name(done.value.factor)]), after: done)
    }
    let field = until(target)
    let done = try await pages.support.suspend(
      target.scope, target.user, ID(target.object), until: field.moment, request)
    let until = field.moment.map { target.times.endValue($0) } ?? .text("")
    let end = Link(
      text: Message("End now"),
      href: ConsolePaths.endOfSuspension(target.scope, target.uid, target.object))
    return SupportResult(
      Message(
        "Suspended factor “{name}” until {until}.",
        ["name": FactorText.name(done.value.factor), "until": until]),
      link: end, after: done)
  }

  private func until(_ target: SupportTarget) -> UntilField {
    UntilField(target.form, target.formTimes, at: pages.frames.clock.now())
  }

  /// Returns that a factor's codes aren't required, because its kind is off in the pool.
  private static func isOff(_ kind: Factor.Kind) -> Message {
    switch kind {
    case .totp:
      Message(
        """
        TOTP is off in this user pool, so sign-in doesn’t ask for codes from this factor. If TOTP \
        is turned on during the suspension, codes from this factor are rejected.
        """)
    case .phone:
      Message(
        """
        SMS is off in this user pool, so sign-in doesn’t ask for codes from this factor. If SMS is \
        turned on during the suspension, codes from this factor are rejected.
        """)
    }
  }

  /// Returns the consequence of suspending a user's only required factor.
  private static func onlyOne(_ factor: Factor, _ settings: SupportRules) -> Message {
    guard factor.kind == .totp else {
      return Message(
        """
        This is the only factor that sign-in asks for. During the suspension, the user can’t sign \
        in.
        """)
    }
    return switch (settings.temporaryCodes, settings.recoveryCodes) {
    case (true, true):
      Message(
        """
        This is the only factor that sign-in asks for. During the suspension, the user can sign in \
        only with a temporary code or a recovery code.
        """)
    case (true, false):
      Message(
        """
        This is the only factor that sign-in asks for. During the suspension, the user can sign in \
        only with a temporary code.
        """)
    case (false, true):
      Message(
        """
        This is the only factor that sign-in asks for. During the suspension, the user can sign in \
        only with a recovery code.
        """)
    case (false, false):
      Message(
        """
        This is the only factor that sign-in asks for. During the suspension, the user can’t sign \
        in.
        """)
    }
  }
}
