import Identity
import Localization
import Templating

/// `S/users/{uid}/protection`: restricts actions on a user to owners, or lifts the restriction.
struct ProtectUser: SupportAction {
  let action = ConsoleAction.protectUser

  let pages: SupportPages

  func question(_ target: SupportTarget) async throws(Refusal) -> SupportConfirmation {
    let account = try await pages.account(target)
    return account.isProtected ? lifting(account) : protecting(account)
  }

  private func protecting(_ account: Account) -> SupportConfirmation {
    var question = SupportConfirmation(
      user: account, title: Message("support.protect-account"),
      heading: Markup(
        html: Message(
          "support.protect-account-heading", ["user": .name(Formatted.short(account.label))])),
      consequences: [
        Message(
          "support.protection-restricts-actions",
          ["holders": .message(Permission.protectUsers.holders)]),
        Message("support.protection-is-for-broad-access"),
      ], button: Message("support.protect-account"))
    question.isDestructive = false
    question.reasons = [.compromised, .other]
    return question
  }

  private func lifting(_ account: Account) -> SupportConfirmation {
    var question = SupportConfirmation(
      user: account, title: Message("support.remove-protection"),
      heading: Markup(
        html: Message(
          "support.remove-protection-heading", ["user": .name(Formatted.short(account.label))])),
      consequences: [Message("support.protection-no-longer-restricts")],
      button: Message("support.remove-protection"))
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
        ? Message("support.protection-removed")
        : Message(
          "support.protection-added", ["holders": .message(Permission.protectUsers.holders)]),
      after: done)
  }
}
