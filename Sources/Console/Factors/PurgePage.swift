import HTTP
import Identity
import Templating

/// `S/users/{uid}/removals/{removal}/purge`: asks, and purges what was removed before its time.
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
          "There is nothing to purge any more: it was purged, its time is over, it was restored, or the user has enrolled anew.",
          uid, context)
      }
      let faults = try ActionErrorText.faults(error, context.signedIn.times)
      return try await page(context, uid, removal, answers, errors: faults)
    }
    let factors = outcome.value.apart.factors
    let text =
      "Purged \(FactorWords.list(factors)). \(factors.count == 1 ? "It" : "They") cannot come back."
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
      title: "Purge now", heading: HTML.heading("Purge what was removed from", found.account.label),
      consequences: [
        "\(Words.sentence(FactorWords.list(apart.factors))) \(apart.factors.count == 1 ? "goes" : "go") for good: nobody can restore \(apart.factors.count == 1 ? "it" : "them") any more.",
        secrets == 0
          ? nil
          : "\(secrets == 1 ? "Its sealed secret is" : "Their sealed secrets are") overwritten in the database at once. Backups from before still hold \(secrets == 1 ? "it" : "them"), sealed.",
        "Sessions and other factors stay as they are. No mail is written: what the user has does not change.",
      ].compactMap { $0 },
      button: apart.factors.count == 1 ? "Purge the factor" : "Purge the factors",
      keep: "Leave it to its time",
      action: ConsolePaths.purge(context.scope, uid, removal), factsHeading: "The removal",
      facts: apart.factors.map { Fact("Factor", HTML.isolated(Words.short($0.label))) } + [
        Fact("Removed", times.moment(apart.removedAt)),
        Fact("By", HTML.isolated(apart.removerName)),
        Fact("Can be restored until", times.moment(apart.until)),
      ])
    question.reasons = [.stolen, .compromised, .left, .other]
    return try await pages.ask(question, about: found.account, context, answers, errors: errors)
  }
}
