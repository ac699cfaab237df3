import Identity
import Localization
import Templating

/// `S/users/{uid}/temporary-code/removal`: revokes a user's temporary code.
struct RevokeTemporaryCode: SupportAction {
  let action = ConsoleAction.revokeTemporaryCode

  let pages: SupportPages

  func question(_ target: SupportTarget) async throws -> SupportConfirmation {
    let (account, state) = try await pages.accountWithCodes(target)
    var question = SupportConfirmation(
      user: account, title: Message("Revoke temporary code"),
      heading: Markup(
        html: Message(
          "Revoke the temporary code for {user}?",
          ["user": .name(Formatted.short(account.label))])),
      consequences: [Message("The code can no longer be used to sign in.")],
      button: Message("Revoke code"))
    question.notifies = true
    if state.temporaryMadeAt == nil { question.refusal = ActionErrorText.sentence(.noCodes) }
    return question
  }

  func perform(
    _ target: SupportTarget, _ request: ActionRequest
  ) async throws -> SupportResult {
    let done = try await pages.identity.backupCodes.endTemporaryCode(
      request, of: target.user, in: target.scope)
    return SupportResult(Message("Temporary code revoked."), after: done)
  }
}

extension SupportPages {
  func accountWithCodes(
    _ target: SupportTarget
  ) async throws -> (Account, BackupCodeState) {
    let account = try await account(target)
    let state = try await identity.backupCodes.state(of: account, in: target.scope)
    return (account, state)
  }
}
