import Identity

/// `S/users/{uid}/protection`: restricts actions on a user to owners, or lifts the restriction.
struct ProtectUser: SupportAction {
  static let action = ConsoleAction.protectUser

  let pages: SupportPages

  func question(_ target: SupportTarget) async throws(Refusal) -> SupportConfirmation {
    let account = try await pages.account(target)
    return account.isProtected ? lifting(account) : protecting(account)
  }

  private func protecting(_ account: Account) -> SupportConfirmation {
    var question = SupportConfirmation(
      user: account, title: "Protect account", heading: HTML.heading("Protect", account.label),
      consequences: [
        "Only \(Permission.protectUsers.holders) can act on this account. Other administrators can still view it and add notes.",
        "Use protection for accounts with broad access, such as those of executives.",
      ], button: "Protect account")
    question.isDestructive = false
    question.reasons = [.compromised, .other]
    return question
  }

  private func lifting(_ account: Account) -> SupportConfirmation {
    var question = SupportConfirmation(
      user: account, title: "Remove protection",
      heading: HTML.heading("Remove protection from", account.label),
      consequences: ["Every administrator whose role allows it can act on this account again."],
      button: "Remove protection")
    question.reasons = [.left, .mistake, .other]
    return question
  }

  func perform(
    _ target: SupportTarget, _ request: ActionRequest
  ) async throws(ActionDenial) -> SupportResult {
    let account: Account?
    do {
      account = try await pages.identity.accounts.find(target.scope, target.user)
    } catch {
      guard case .unavailable(let cause) = error else { throw .accountNotFound }
      throw .unavailable(cause)
    }
    guard let account else { throw .accountNotFound }
    let done = try await pages.support.protect(
      target.scope, target.user, !account.isProtected, request)
    return SupportResult(
      account.isProtected
        ? "Protection removed."
        : "The account is protected. Only \(Permission.protectUsers.holders) can act on it.",
      after: done)
  }

  func closing(_ denial: ActionDenial) -> SupportClosing? {
    if case .nothingToDo = denial { .unchanged } else { nil }
  }
}
