import Identity
import Localization
import Templating

/// `S/users/{uid}/recovery-codes/removal`: revokes a user's recovery codes.
struct RevokeRecoveryCodes: FormAction {
  let action = ConsoleAction.revokeRecoveryCodes
  let identity: Identity

  func page(_ target: PoolTarget) async throws -> FormPage {
    let (account, state) = try await identity.accountWithCodes(target)
    var page = FormPage(
      account, in: target.pool, title: Message("Revoke recovery codes"),
      heading: Message(
        "Revoke the recovery codes for {user}?",
        ["user": account.shortLabel]),
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
    page.notifies = true
    if state.recoveryMadeAt == nil { page.refusal = ActionErrorText.sentence(.noCodes) }
    return page
  }

  func perform(
    _ input: Void, _ target: PoolTarget, _ request: ActionRequest
  ) async throws -> FormEnd {
    let done = try await identity.backupCodes.endRecoveryCodes(
      request, of: target.user, in: target.pool)
    return FormEnd(
      Message(
        one: "{count} recovery code revoked. The user can generate new ones in the application.",
        other: "{count} recovery codes revoked. The user can generate new ones in the application.",
        ["count": .number(done.value)]),
      at: target.userPage, after: done)
  }
}
