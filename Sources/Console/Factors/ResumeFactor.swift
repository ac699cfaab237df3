import Identity
import Localization
import Templating

/// `S/users/{uid}/factors/{enrollment}/suspension/end`: ends a factor's suspension early.
struct ResumeFactor: SupportAction {
  static let action = ConsoleAction.resumeFactor

  let pages: SupportPages

  func question(_ target: SupportTarget) async throws(Refusal) -> SupportConfirmation {
    let found = try await pages.factor(target)
    let heading = Message(
      "factors.resume-heading",
      [
        "factor": FactorWords.name(found.factor),
        "user": .name(Words.short(found.account.label)),
      ])
    let consequences: [Message?] = [
      Message("factors.codes-accepted-again"),
      Message("factors.check-device"),
      pages.notice(to: found.account),
    ]
    var question = SupportConfirmation(
      user: found.account, title: Message("factors.resume"), heading: Markup(html: heading),
      consequences: consequences.compactMap { $0 }, button: Message("factors.resume"),
      factsHeading: Message("factors.this-factor"),
      facts: FactorWords.facts(found.factor, target.times))
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
    let done = try await pages.support.resume(
      target.scope, target.user, ID(target.object), request)
    return SupportResult(
      Message("factors.resumed", ["name": FactorWords.name(done.value.factor)]), after: done)
  }

  func closing(_ denial: ActionDenial) -> SupportClosing? {
    if case .nothingToDo = denial { .unchanged } else { nil }
  }
}
