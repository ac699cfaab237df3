import Identity

/// `S/users/{uid}/unlock`: lets a user try codes again after too many incorrect ones.
struct UnlockCodes: SupportAction {
  static let action = ConsoleAction.unlockCodes

  let pages: SupportPages

  func question(_ target: SupportTarget) async throws(Refusal) -> SupportConfirmation {
    let account = try await pages.account(target)
    var question = SupportConfirmation(
      user: account, title: "Unlock codes",
      heading: HTML.heading("Unlock codes for", account.label),
      consequences: [
        "The count of \(Words.count(account.wrongCodes, "consecutive incorrect code", "consecutive incorrect codes")) is reset, and codes are accepted again immediately.",
        "Incorrect codes can be someone else’s guesses. Ask the user about them first.",
        pages.notice(to: account),
      ].compactMap { $0 }, button: "Unlock codes")
    question.isDestructive = false
    question.reasons = [.locked, .mistake, .other]
    if account.wrongCodes == 0, account.codesBlockedUntil == nil {
      question.refusal = ActionErrorText.sentence(.nothingToDo)
    }
    return question
  }

  func perform(
    _ target: SupportTarget, _ request: ActionRequest
  ) async throws(ActionDenial) -> SupportResult {
    let done = try await pages.support.unlock(target.scope, target.user, request)
    return SupportResult("Codes unlocked.", after: done)
  }

  func closing(_ denial: ActionDenial) -> SupportClosing? {
    if case .nothingToDo = denial { .unchanged } else { nil }
  }
}
