import HTTP
import Identity
import Templating

/// `S/users/{uid}/temporary-code/removal` and `S/users/{uid}/recovery-codes/removal`: asks, and ends
/// codes that stand in for the authenticator app.
struct CodesEndPage: Sendable {
  /// Which codes.
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
      case .temporary: "The temporary code does not count any more."
      case .recovery:
        "\(Words.count(outcome.value, "recovery code", "recovery codes")) ended. The user can make new ones in the application."
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
        title: "End the temporary code",
        heading: HTML.heading("End the temporary code of", account.label),
        consequences: [
          "Whoever was given the code cannot use it any more.", pages.notice(to: account),
        ].compactMap { $0 },
        button: "End the code", keep: "Keep it",
        action: ConsolePaths.temporaryCodeRemoval(scope, uid))
    case .recovery:
      return SupportConfirmation(
        title: "End the recovery codes",
        heading: HTML.heading("End the recovery codes of", account.label),
        consequences: [
          "\(Words.count(state.recoveryLeft ?? 0, "code that is", "codes that are")) left do not let anybody in any more.",
          "The user can make new ones in the application, once they have signed in with their authenticator app.",
          pages.notice(to: account),
        ].compactMap { $0 },
        button: "End the codes", keep: "Keep them",
        action: ConsolePaths.recoveryCodesRemoval(scope, uid))
    }
  }
}
