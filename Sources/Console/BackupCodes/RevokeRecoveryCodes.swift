import Identity
import Localization
import Templating

/// `S/users/{uid}/recovery-codes/removal`: revokes a user's recovery codes.
struct RevokeRecoveryCodes: SupportAction {
  let action = ConsoleAction.revokeRecoveryCodes

  let pages: SupportPages

  func question(_ target: SupportTarget) async throws -> SupportConfirmation {
    let (account, state) = try await pages.accountWithCodes(target)
    var question = SupportConfirmation(
      user: account, title: Message("Revoke recovery codes"),
      heading: Markup(
        html: Message(
          "Revoke the recovery codes for {user}?",
          ["user": .name(Formatted.short(account.label))])),
      consequences: [
        Message(
          one: "{count} unused code can no longer be used to sign in.",
          other: "{count} unused codes can no longer be used to sign in.",
          ["count": .number(state.recoveryLeft ?? 0)]),
        Message(
          """
          The user can generate new codes in the application after they sign in with their \
          authenticator app.
          """),
      ], button: Message("Revoke codes"))
    question.notifies = true
    if state.recoveryMadeAt == nil { question.refusal = ActionErrorText.sentence(.noCodes) }
    return question
  }

  func perform(
    _ target: SupportTarget, _ request: ActionRequest
  ) async throws -> SupportResult {
    let done = try await pages.identity.backupCodes.endRecoveryCodes(
      request, of: target.user, in: target.scope)
    return SupportResult(
      Message(
        one: "{count} recovery code revoked. The user can generate new ones in the application.",
        other: "{count} recovery codes revoked. The user can generate new ones in the application.",
        ["count": .number(done.value)]),
      after: done)
  }
}
