import Identity
import Localization
import Templating

/// `S/users/{uid}/temporary-code/removal`: revokes a user's temporary code.
struct RevokeTemporaryCode: FormAction {
  let action = ConsoleAction.revokeTemporaryCode
  let identity: Identity

  func page(_ target: PoolTarget) async throws -> FormPage {
    let (account, state) = try await identity.accountWithCodes(target)
    var page = FormPage(
      account, in: target.pool, title: Message("Revoke temporary code"),
      heading: Message(
        "Revoke the temporary code for {user}?",
        ["user": account.shortLabel]),
      consequences: [Message("The code can no longer be used to sign in.")],
      button: Message("Revoke code"))
    page.notifies = true
    if state.temporaryMadeAt == nil { page.refusal = ActionErrorText.sentence(.noCodes) }
    return page
  }

  func perform(
    _ input: Void, _ target: PoolTarget, _ request: ActionRequest
  ) async throws -> FormEnd {
    let done = try await identity.backupCodes.endTemporaryCode(
      request, of: target.user, in: target.pool)
    return FormEnd(Message("Temporary code revoked."), at: target.userPage, after: done)
  }
}

extension Identity {
  func accountWithCodes(
    _ target: PoolTarget
  ) async throws -> (Account, BackupCodeState) {
    let account = try await account(target)
    let state = try await backupCodes.state(of: account, in: target.pool)
    return (account, state)
  }
}
