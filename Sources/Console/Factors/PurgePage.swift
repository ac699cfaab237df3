import HTTP
import Identity
import Templating

/// `S/users/{uid}/removals/{removal}/purge`: permanently deletes removed factors before the undo
/// window ends.
struct PurgePage: Sendable {
  let factorRemovals: FactorRemovals
  let pages: SupportPages

  func ask(
    _ context: ScopeContext, _ uid: String, _ removal: String
  ) async throws(Refusal) -> Response {
    try await page(context, uid, removal)
  }

  func purge(
    _ context: ScopeContext, _ uid: String, _ removal: String
  ) async throws(Refusal) -> Response {
    let answers = ActionInput(context.signedIn.form)
    let outcome: ActionOutcome<Restoration>
    do {
      outcome = try await factorRemovals.purge(
        context.scope, ID(uid), ID(removal), answers.request(context.signedIn))
    } catch {
      if case .factorNotFound = error {
        return try await pages.leaveGone(
          "There’s nothing left to delete. The factors were already deleted or restored, the undo window ended, or the user enrolled again.",
          uid, context)
      }
      let faults = try ActionErrorText.faults(error, context.signedIn.times)
      return try await page(context, uid, removal, answers, errors: faults)
    }
    let factors = outcome.value.apart.factors
    let text =
      "Permanently deleted \(FactorWords.list(factors))."
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
    let apart = found.apart
    let secrets = apart.factors.count { $0.kind == .totp }
    var question = SupportConfirmation(
      title: "Delete permanently",
      heading: HTML.heading("Permanently delete factors removed from", found.account.label),
      consequences: [
        "\(Words.sentence(FactorWords.list(apart.factors))) \(apart.factors.count == 1 ? "is" : "are") deleted permanently and can’t be restored.",
        secrets == 0
          ? nil
          : "\(secrets == 1 ? "Its encrypted secret is" : "Their encrypted secrets are") overwritten in the database immediately. Existing backups still contain \(secrets == 1 ? "it" : "them"), encrypted.",
        "Sessions and other factors aren’t affected. The user isn’t notified.",
      ].compactMap { $0 },
      button: apart.factors.count == 1 ? "Delete factor permanently" : "Delete factors permanently",
      keep: "Cancel",
      action: ConsolePaths.purge(context.scope, uid, removal), factsHeading: "Removal",
      facts: apart.factors.map { Fact("Factor", HTML.isolated(Words.short($0.label))) } + [
        Fact("Removed", times.moment(apart.removedAt)),
        Fact("Removed by", HTML.isolated(apart.removerName)),
        Fact("Restorable until", times.moment(apart.until)),
      ])
    question.reasons = [.stolen, .compromised, .left, .other]
    return try await pages.ask(question, about: found.account, context, answers, errors: errors)
  }
}
