import HTTP
import Identity
import Localization
import Templating

/// `S/users/{uid}/protection`: restricts actions on a user to owners, or lifts the restriction.
struct ProtectUser: SupportAction {
  let action = ConsoleAction.protectUser

  let pages: SupportPages

  /// The field with the state that the page's button leads to, so that a form that is sent twice, or
  /// after a colleague's, changes nothing.
  private static let field = "protected"

  func question(_ target: SupportTarget) async throws -> SupportConfirmation {
    let account = try await pages.account(target)
    let isProtecting = wanted(target.form) ?? !account.isProtected
    var question = isProtecting ? protecting(account) : lifting(account)
    question.carried = [HiddenField(name: Self.field, value: String(isProtecting))]
    if account.isProtected == isProtecting {
      question.refusal = ActionErrorText.sentence(.nothingToDo)
    }
    return question
  }

  private func wanted(_ form: Form) -> Bool? {
    Bool(form.trimmed(Self.field))
  }

  private func protecting(_ account: Account) -> SupportConfirmation {
    var question = SupportConfirmation(
      user: account, title: Message("Protect account"),
      heading: Markup(
        html: Message("Protect {user}?", ["user": .name(Formatted.short(account.label))])),
      consequences: [
        Message(
          """
          Actions on this account require the {roles} role. Other administrators can still view \
          it.
          """, ["roles": Permission.protectUsers.roleNames]),
        Message("Use protection for accounts with broad access, such as those of executives."),
      ], button: Message("Protect account"))
    question.isDestructive = false
    question.reasons = [.compromised, .other]
    return question
  }

  private func lifting(_ account: Account) -> SupportConfirmation {
    var question = SupportConfirmation(
      user: account, title: Message("Remove protection"),
      heading: Markup(
        html: Message(
          "Remove protection from {user}?", ["user": .name(Formatted.short(account.label))])),
      consequences: [
        Message("Every administrator whose role allows it can act on this account again.")
      ],
      button: Message("Remove protection"))
    question.reasons = [.left, .mistake, .other]
    return question
  }

  func perform(
    _ target: SupportTarget, _ request: ActionRequest
  ) async throws -> SupportResult {
    // A form without the field never removes a protection.
    let isProtecting = wanted(target.form) ?? true
    let done = try await pages.support.protect(
      target.scope, target.user, isProtecting, request)
    return SupportResult(
      isProtecting
        ? Message(
          "The account is protected. Actions on it require the {roles} role.",
          ["roles": Permission.protectUsers.roleNames])
        : Message("Protection removed."),
      after: done)
  }
}
