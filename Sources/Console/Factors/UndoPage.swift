import HTTP
import Identity

/// `S/users/{uid}/removals/{removal}/undo`: asks, and gives a user back what was removed.
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
          "There is nothing to restore any more: it was restored, its time is over, or the user has enrolled anew.",
          uid, context)
      }
      let faults = try ActionErrorText.faults(error, context.signedIn.times)
      return try await page(context, uid, removal, answers, errors: faults)
    }
    let (apart, ended) = (outcome.value.apart, outcome.value.sessionsEnded)
    let text =
      "Restored \(FactorWords.list(apart.factors)). \(SessionWords.ended(ended)) A code is asked for again at sign-in."
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
      heading: HTML.heading("Restore what was removed from", account.label),
      consequences: [
        "\(Words.sentence(FactorWords.list(apart.factors))) \(apart.factors.count == 1 ? "counts" : "count") again, and a code is asked for at the next sign-in.",
        "Make sure that the device is in the user’s own hands: whoever has it has valid codes.",
        SessionWords.ending(
          found.sessionsEnded, none: "No session is open; those from before the removal stay over."),
        pages.notice(to: account),
      ].compactMap { $0 },
      button: apart.factors.count == 1 ? "Restore the factor" : "Restore the factors",
      keep: "Leave it removed",
      action: ConsolePaths.undo(context.scope, uid, removal), factsHeading: "The removal",
      facts: [
        Fact("Removed", times.moment(apart.removedAt)),
        Fact("By", HTML.isolated(apart.removerName)),
        Fact("Can be restored until", times.moment(apart.until)),
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
