import Identity

/// `S/users/{uid}/factors/{enrollment}/removal`: removes one factor of a user.
struct RemoveFactor: SupportAction {
  static let action = ConsoleAction.removeFactor

  let pages: SupportPages

  func question(_ target: SupportTarget) async throws(Refusal) -> SupportConfirmation {
    let words = RemovalWords(pages: pages, target: target)
    let removal = try await words.consequences(of: ID(target.object))
    let factor = removal.factors[0]
    var heading = HTML()
    heading.raw("Remove “")
    heading.name(factor.label)
    heading.raw("” from ")
    heading.name(removal.account.label)
    heading.raw("?")
    return SupportConfirmation(
      user: removal.account, title: "Remove factor", heading: heading.markup,
      consequences: try await words.sentences(removal), button: "Remove factor",
      factsHeading: "This factor", facts: FactorWords.facts(factor, target.times))
  }

  func perform(
    _ target: SupportTarget, _ request: ActionRequest
  ) async throws(ActionDenial) -> SupportResult {
    let done = try await pages.identity.factorRemovals.remove(
      target.scope, target.user, ID(target.object), request)
    return RemovalWords(pages: pages, target: target).result(done)
  }

  func closing(_ denial: ActionDenial) -> SupportClosing? { RemovalWords.closing(denial) }
}
