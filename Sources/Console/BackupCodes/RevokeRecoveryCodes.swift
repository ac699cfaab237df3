import Identity

/// `S/users/{uid}/recovery-codes/removal`: revokes a user's recovery codes.
struct RevokeRecoveryCodes: SupportAction {
  static let action = ConsoleAction.revokeRecoveryCodes

  let pages: SupportPages

  func question(_ target: SupportTarget) async throws(Refusal) -> SupportConfirmation {
    let (account, state) = try await pages.accountWithCodes(target)
    var question = SupportConfirmation(
      user: account, title: "Revoke recovery codes",
      heading: HTML.heading("Revoke the recovery codes of", account.label),
      consequences: [
        "\(Words.count(state.recoveryLeft ?? 0, "unused code", "unused codes")) can no longer be used to sign in.",
        "The user can generate new codes in the application after they sign in with their authenticator app.",
        pages.notice(to: account),
      ].compactMap { $0 }, button: "Revoke codes")
    if state.recoveryMadeAt == nil { question.refusal = ActionErrorText.sentence(.noCodes) }
    return question
  }

  func perform(
    _ target: SupportTarget, _ request: ActionRequest
  ) async throws(ActionDenial) -> SupportResult {
    let done = try await pages.identity.backupCodes.endRecoveryCodes(
      request, of: target.user, in: target.scope)
    return SupportResult(
      "\(Words.count(done.value, "recovery code", "recovery codes")) revoked. The user can generate new ones in the application.",
      after: done)
  }
}
