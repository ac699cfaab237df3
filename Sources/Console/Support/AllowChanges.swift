import Identity

/// `S/users/{uid}/allowed-changes`: unlocks a user's second factors after a reported change.
struct AllowChanges: SupportAction {
  static let action = ConsoleAction.allowChanges

  let pages: SupportPages

  func question(_ target: SupportTarget) async throws(Refusal) -> SupportConfirmation {
    let account = try await pages.account(target)
    let since = account.changesLockedAt.map(target.times.words) ?? ""
    var question = SupportConfirmation(
      user: account, title: "Allow changes again",
      heading: HTML.heading("Allow changes again for", account.label),
      consequences: [
        "On \(since), the user reported a change to their second factors that they didn’t make. Their second factors have been locked since then.",
        "Find out what happened first. The history shows who changed what. Contact the user through a channel you trust.",
        "Second factors of this account can then be removed, suspended, and unlocked as usual.",
        pages.notice(to: account),
      ].compactMap { $0 }, button: "Allow changes again")
    question.reasons = [.found, .mistake, .other]
    if account.changesLockedAt == nil {
      question.refusal = ActionErrorText.sentence(.nothingToDo)
    }
    return question
  }

  func perform(
    _ target: SupportTarget, _ request: ActionRequest
  ) async throws(ActionDenial) -> SupportResult {
    let done = try await pages.support.allowChanges(target.scope, target.user, request)
    return SupportResult("Second factors of this user can be changed again.", after: done)
  }

  func closing(_ denial: ActionDenial) -> SupportClosing? {
    if case .nothingToDo = denial { .unchanged } else { nil }
  }
}
