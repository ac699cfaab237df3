import Identity
import Localization
import Templating

/// `S/users/{uid}/recovery-codes/removal`: revokes a user's recovery codes.
struct RevokeRecoveryCodes: SupportAction {
  let action = ConsoleAction.revokeRecoveryCodes

  let pages: SupportPages

  func question(_ target: SupportTarget) async throws(Refusal) -> SupportConfirmation {
    let (account, state) = try await pages.accountWithCodes(target)
    var question = SupportConfirmation(
      user: account, title: Message("backup-codes.revoke-recovery-codes"),
      heading: Markup(
        html: Message(
          "backup-codes.revoke-recovery-codes-heading",
          ["user": .name(Formatted.short(account.label))])),
      consequences: [
        Message("backup-codes.recovery-codes-end", ["count": .number(state.recoveryLeft ?? 0)]),
        Message("backup-codes.user-can-generate-codes"),
      ], button: Message("backup-codes.revoke-codes"))
    question.notifies = true
    if state.recoveryMadeAt == nil { question.refusal = ActionErrorText.sentence(.noCodes) }
    return question
  }

  func perform(
    _ target: SupportTarget, _ request: ActionRequest
  ) async throws(ActionDenial) -> SupportResult {
    let done = try await pages.identity.backupCodes.endRecoveryCodes(
      request, of: target.user, in: target.scope)
    return SupportResult(
      Message("backup-codes.recovery-codes-revoked", ["count": .number(done.value)]),
      after: done)
  }
}
