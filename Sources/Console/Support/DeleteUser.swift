import Identity

/// `S/users/{uid}/deletion`: deletes a user, confirmed by typing their email address or UID.
struct DeleteUser: SupportAction {
  static let action = ConsoleAction.deleteUser

  let pages: SupportPages

  func question(_ target: SupportTarget) async throws(Refusal) -> SupportConfirmation {
    let (account, sessions) = try await pages.accountWithSessions(target)
    let factors = account.factors.map { "“\(Words.isolated($0.label))”" }.joined(separator: ", ")
    var question = SupportConfirmation(
      user: account, title: "Delete user", heading: HTML.heading("Delete", account.label),
      consequences: [
        "The account is deleted, along with its password, name, and custom claims.",
        account.factors.isEmpty
          ? "The account has no second factor."
          : "\(Words.count(account.factors.count, "second factor is", "second factors are")) deleted: \(factors).",
        SessionWords.ending(sessions),
        pages.notice(to: account),
        "This can’t be undone. The account’s history stays in the audit log.",
      ].compactMap { $0 }, button: "Delete user")
    question.reasons = [.left, .mistake, .other]
    question.confirmation = ConfirmationField(
      account: account, typed: target.form.trimmed("confirmation"))
    return question
  }

  func perform(
    _ target: SupportTarget, _ request: ActionRequest
  ) async throws(ActionDenial) -> SupportResult {
    let done = try await pages.support.delete(target.scope, target.user, request)
    return SupportResult(
      Flash(text: "Deleted user \(Words.isolated(done.value.label))."),
      at: ConsolePaths.users(target.scope), renewed: done.renewed)
  }

  func closing(_ denial: ActionDenial) -> SupportClosing? {
    if case .nothingToDo = denial { .unchanged } else { nil }
  }
}
