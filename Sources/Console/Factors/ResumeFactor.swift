import Identity

/// `S/users/{uid}/factors/{enrollment}/suspension/end`: ends a factor's suspension early.
struct ResumeFactor: SupportAction {
  static let action = ConsoleAction.resumeFactor

  let pages: SupportPages

  func question(_ target: SupportTarget) async throws(Refusal) -> SupportConfirmation {
    let found = try await pages.factor(target)
    var question = SupportConfirmation(
      user: found.account, title: "End suspension",
      heading: HTML.heading("End the suspension of “", found),
      consequences: [
        "Codes from this factor are accepted again immediately.",
        "Make sure the user has the device. Anyone who has it can generate valid codes.",
        pages.notice(to: found.account),
      ].compactMap { $0 }, button: "End suspension", factsHeading: "This factor",
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
    let name = Words.isolated(done.value.factor.label)
    return SupportResult(
      "Suspension ended. Codes from the factor “\(name)” are accepted again.", after: done)
  }

  func closing(_ denial: ActionDenial) -> SupportClosing? {
    if case .nothingToDo = denial { .unchanged } else { nil }
  }
}
