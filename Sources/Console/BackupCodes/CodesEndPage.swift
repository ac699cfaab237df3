import HTTP
import Identity
import Templating

/// `S/users/{uid}/temporary-code/removal` and `S/users/{uid}/recovery-codes/removal`: revokes a
/// user's temporary code or recovery codes.
struct CodesEndPage: Sendable {
  /// The kind of codes to revoke.
  enum Kind: Sendable {
    case temporary, recovery
  }

  let kind: Kind
  let identity: Identity
  let pages: SupportPages

  func ask(_ context: ScopeContext, _ uid: String) async throws(Refusal) -> Response {
    try await page(context, try await pages.account(uid, context, identity))
  }

  func end(_ context: ScopeContext, _ uid: String) async throws(Refusal) -> Response {
    let account = try await pages.account(uid, context, identity)
    let answers = ActionInput(context.signedIn.form)
    let request = answers.request(context.signedIn)
    let outcome: ActionOutcome<Int>
    do {
      outcome =
        switch kind {
        case .temporary:
          try await identity.backupCodes.endTemporaryCode(
            request, of: account.id, in: context.scope)
        case .recovery:
          try await identity.backupCodes.endRecoveryCodes(
            request, of: account.id, in: context.scope)
        }
    } catch {
      let faults = try ActionErrorText.faults(error, context.signedIn.times)
      return try await page(context, account, answers, errors: faults)
    }
    let text =
      switch kind {
      case .temporary: "Temporary code revoked."
      case .recovery:
        "\(Words.count(outcome.value, "recovery code", "recovery codes")) revoked. The user can generate new ones in the application."
      }
    return pages.leave(Flash(text: text), account, context, renewed: outcome.renewed)
  }

  private func page(
    _ context: ScopeContext, _ account: Account, _ answers: ActionInput = ActionInput(),
    errors: [FieldError] = []
  ) async throws(Refusal) -> Response {
    let state = try await refusing { try await identity.backupCodes.state(of: account) }
    var question = question(account, state, context)
    if (kind == .temporary ? state.temporaryMadeAt : state.recoveryMadeAt) == nil {
      question.refusal = ActionErrorText.sentence(.noCodes)
    }
    return try await pages.ask(question, about: account, context, answers, errors: errors)
  }

  private func question(
    _ account: Account, _ state: BackupCodeState, _ context: ScopeContext
  ) -> SupportConfirmation {
    let (scope, uid) = (context.scope, account.id.text)
    switch kind {
    case .temporary:
      return SupportConfirmation(
        title: "Revoke temporary code",
        heading: HTML.heading("Revoke the temporary code of", account.label),
        consequences: [
          "The code can no longer be used to sign in.", pages.notice(to: account),
        ].compactMap { $0 },
        button: "Revoke code", keep: "Cancel",
        action: ConsolePaths.temporaryCodeRemoval(scope, uid))
    case .recovery:
      return SupportConfirmation(
        title: "Revoke recovery codes",
        heading: HTML.heading("Revoke the recovery codes of", account.label),
        consequences: [
          "\(Words.count(state.recoveryLeft ?? 0, "unused code", "unused codes")) can no longer be used to sign in.",
          "The user can generate new codes in the application after they sign in with their authenticator app.",
          pages.notice(to: account),
        ].compactMap { $0 },
        button: "Revoke codes", keep: "Cancel",
        action: ConsolePaths.recoveryCodesRemoval(scope, uid))
    }
  }
}
