import Identity
import Localization
import Templating

/// `S/users/{uid}/factors/{enrollment}/removal`: removes one factor of a user.
struct RemoveFactor: FormAction {
  let action = ConsoleAction.removeFactor
  let identity: Identity

  func page(_ target: PoolTarget) async throws -> FormPage {
    let words = RemovalText(identity: identity, target: target)
    let removal = try await words.consequences(of: ID(target.object))
    let factor = removal.factors[0]
    let heading = Message(
      "Remove “{factor}” from {user}?",
      [
        "factor": FactorText.name(factor),
        "user": removal.account.shortLabel,
      ])
    var page = FormPage(
      removal.account, in: target.pool, title: Message("Remove factor"), heading: heading,
      consequences: words.sentences(removal), button: Message("Remove factor"),
      factsHeading: Message("This factor"),
      facts: FactorText.facts(factor, target.times))
    page.rules = removal.rules
    page.notifies = true
    return page
  }

  func perform(
    _ input: Void, _ target: PoolTarget, _ request: ActionRequest
  ) async throws -> FormEnd {
    let done = try await identity.factorRemovals.remove(
      target.pool, target.user, ID(target.object), request)
    return RemovalText(identity: identity, target: target).result(done)
  }

  func denied(_ denial: ActionDenial, _ target: PoolTarget) async throws -> FieldError? {
    try await RemovalText(identity: identity, target: target).denied(denial)
  }
}
