import Identity

/// `S/users/{uid}/disabling`: keeps a user from signing in.
struct DisableUser: SupportAction {
  static let action = ConsoleAction.disableUser

  let pages: SupportPages

  func question(_ target: SupportTarget) async throws(Refusal) -> SupportConfirmation {
    let (account, sessions) = try await pages.accountWithSessions(target)
    var question = SupportConfirmation(
      user: account, title: "Disable user", heading: HTML.heading("Disable", account.label),
      consequences: [
        "The user can’t sign in until an administrator enables the account again.",
        SessionWords.ending(sessions),
      ], button: "Disable user")
    question.reasons = [.left, .compromised, .stolen, .other]
    if account.disabled { question.refusal = ActionErrorText.sentence(.nothingToDo) }
    return question
  }

  func perform(
    _ target: SupportTarget, _ request: ActionRequest
  ) async throws(ActionDenial) -> SupportResult {
    let done = try await pages.support.disable(target.scope, target.user, request)
    return SupportResult("User disabled. \(SessionWords.ended(done.value))", after: done)
  }

  func closing(_ denial: ActionDenial) -> SupportClosing? {
    if case .nothingToDo = denial { .unchanged } else { nil }
  }
}
