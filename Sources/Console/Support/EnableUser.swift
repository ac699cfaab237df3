import Identity

/// `S/users/{uid}/enabling`: lets a disabled user sign in again.
struct EnableUser: SupportAction {
  static let action = ConsoleAction.enableUser

  let pages: SupportPages

  func question(_ target: SupportTarget) async throws(Refusal) -> SupportConfirmation {
    let account = try await pages.account(target)
    var question = SupportConfirmation(
      user: account, title: "Enable user", heading: HTML.heading("Enable", account.label),
      consequences: [
        "The user can sign in again with their existing password and second factors.",
        "The history shows who disabled the account and why.",
      ], button: "Enable user")
    question.isDestructive = false
    question.reasons = [.found, .mistake, .other]
    if !account.disabled { question.refusal = ActionErrorText.sentence(.nothingToDo) }
    return question
  }

  func perform(
    _ target: SupportTarget, _ request: ActionRequest
  ) async throws(ActionDenial) -> SupportResult {
    let done = try await pages.support.enable(target.scope, target.user, request)
    return SupportResult("User enabled.", after: done)
  }

  func closing(_ denial: ActionDenial) -> SupportClosing? {
    if case .nothingToDo = denial { .unchanged } else { nil }
  }
}
