import Identity
import Localization
import Templating

/// `S/users/{uid}/removals/{removal}/purge`: permanently deletes removed factors before the undo
/// window ends.
struct PurgeFactors: SupportAction {
  static let action = ConsoleAction.purgeFactors

  let pages: SupportPages

  func question(_ target: SupportTarget) async throws(Refusal) -> SupportConfirmation {
    let found = try await pages.restoration(target)
    let times = target.times
    let hold = found.hold
    let names = hold.factors.map {
      Fact(Message("users.factor"), HTML.isolated(Words.short($0.label)))
    }
    var question = SupportConfirmation(
      user: found.account, title: Message("factors.purge-title"),
      heading: Markup(
        html: Message(
          "factors.purge-heading", ["user": .name(Words.short(found.account.label))])),
      consequences: Self.consequences(hold.factors),
      button: Message("factors.purge", ["count": .number(hold.factors.count)]),
      factsHeading: Message("factors.removal"),
      facts: names + FactorWords.facts(hold, times))
    question.reasons = [.stolen, .compromised, .left, .other]
    return question
  }

  private static func consequences(_ factors: [Factor]) -> [Message] {
    let secrets = factors.count { $0.kind == .totp }
    let sentences: [Message?] = [
      Message(
        "factors.are-purged",
        ["count": .number(factors.count), "names": .list(FactorWords.names(factors))]),
      secrets == 0 ? nil : Message("factors.secrets-purged", ["count": .number(secrets)]),
      Message("factors.purge-affects-nothing-else"),
    ]
    return sentences.compactMap { $0 }
  }

  func perform(
    _ target: SupportTarget, _ request: ActionRequest
  ) async throws(ActionDenial) -> SupportResult {
    let done = try await pages.identity.factorRemovals.purge(
      target.scope, target.user, ID(target.object), request)
    let factors = done.value.hold.factors
    return SupportResult(
      Message(
        "factors.purged",
        ["count": .number(factors.count), "names": .list(FactorWords.names(factors))]),
      after: done)
  }

  func closing(_ denial: ActionDenial) -> SupportClosing? {
    guard case .factorNotFound = denial else { return nil }
    return SupportClosing(text: Message("factors.nothing-to-purge"), checksUser: true)
  }
}
