import HTTP
import Identity

/// `S/users/{uid}/removals/{removal}/undo`: restores a user's removed factors.
struct UndoPage: Sendable {
  let factorRemovals: FactorRemovals
  let pages: SupportPages

  func ask(
    _ context: ScopeContext, _ uid: String, _ removal: String
  ) async throws(Refusal) -> Response {
    try await page(context, uid, removal)
  }

  func restore(
    _ context: ScopeContext, _ uid: String, _ removal: String
  ) async throws(Refusal) -> Response {
    let answers = ActionInput(context.signedIn.form)
    let outcome: ActionOutcome<Restoration>
    do {
      outcome = try await factorRemovals.undo(
        context.scope, ID(uid), ID(removal), answers.request(context.signedIn))
    } catch {
      if case .factorNotFound = error {
        return try await pages.leaveGone(
          "There’s nothing left to restore. The factors were already restored, the undo window ended, or the user enrolled again.",
          uid, context)
      }
      let faults = try ActionErrorText.faults(error, context.signedIn.times)
      return try await page(context, uid, removal, answers, errors: faults)
    }
    let (apart, ended) = (outcome.value.apart, outcome.value.sessionsEnded)
    let text =
      "Restored \(FactorWords.list(apart.factors)). \(SessionWords.ended(ended)) A code is required again at sign-in."
    return pages.leave(
      Flash(text: text), outcome.value.account, context, renewed: outcome.renewed)
  }

  private func page(
    _ context: ScopeContext, _ uid: String, _ removal: String,
    _ answers: ActionInput = ActionInput(), errors: [FieldError] = []
  ) async throws(Refusal) -> Response {
    let found: Restoration
    do {
      found = try await factorRemovals.consequencesOfUndo(context.scope, ID(uid), ID(removal))
    } catch {
      guard case .unavailable = error else { throw .notFound }
      throw .unavailable(error)
    }
    let times = context.signedIn.times
    let (account, apart) = (found.account, found.apart)
    var question = SupportConfirmation(
      title: "Restore factors",
      heading: HTML.heading("Restore factors removed from", account.label),
      consequences: [
        "\(Words.sentence(FactorWords.list(apart.factors))) \(apart.factors.count == 1 ? "works" : "work") again, and a code is required at the next sign-in.",
        "Make sure the user has the device. Anyone who has it can generate valid codes.",
        SessionWords.ending(
          found.sessionsEnded,
          none:
            "There are no active sessions. Sessions that ended with the removal aren’t restored."),
        pages.notice(to: account),
      ].compactMap { $0 },
      button: apart.factors.count == 1 ? "Restore factor" : "Restore factors",
      keep: "Cancel",
      action: ConsolePaths.undo(context.scope, uid, removal), factsHeading: "Removal",
      facts: [
        Fact("Removed", times.moment(apart.removedAt)),
        Fact("Removed by", HTML.isolated(apart.removerName)),
        Fact("Restorable until", times.moment(apart.until)),
      ])
    question.isDestructive = false
    question.reasons = [.found, .mistake, .other]
    if apart.remover == context.signedIn.administrator.id {
      question.refusal = ActionErrorText.sentence(.ownRemoval)
      question.colleagues = try await pages.colleagues(
        for: question, on: account, context,
        to: "restore \(apart.factors.count == 1 ? "it" : "them")")
    }
    return try await pages.ask(question, about: account, context, answers, errors: errors)
  }
}
