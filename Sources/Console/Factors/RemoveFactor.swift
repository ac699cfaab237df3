import Identity
import Localization
import Templating

/// `S/users/{uid}/factors/{enrollment}/removal`: removes one factor of a user.
struct RemoveFactor: SupportAction {
  let action = ConsoleAction.removeFactor

  let pages: SupportPages

  func question(_ target: SupportTarget) async throws -> SupportConfirmation {
    let words = RemovalText(pages: pages, target: target)
    let removal = try await words.consequences(of: ID(target.object))
    let factor = removal.factors[0]
    let heading = Message(
      "Remove “{factor}” from {user}?",
      [
        "factor": FactorText.name(factor),
        "user": .name(Formatted.short(removal.account.label)),
      ])
    var question = SupportConfirmation(
      user: removal.account, rules: removal.rules, title: Message("Remove factor"),
      heading: Markup(html: heading),
      consequences: words.sentences(removal), button: Message("Remove factor"),
      factsHeading: Message("This factor"),
      facts: FactorText.facts(factor, target.times))
    question.notifies = true
    return question
  }

  func perform(
    _ target: SupportTarget, _ request: ActionRequest
  ) async throws -> SupportResult {
    let done = try await pages.identity.factorRemovals.remove(
      target.scope, target.user, ID(target.object), request)
    return RemovalText(pages: pages, target: target).result(done)
  }

  func closing(_ denial: ActionDenial) -> SupportClosing? { RemovalText.closing(denial) }
}
