import HTTP
import Identity
import Localization
import Templating
import Text

/// `S/users/{uid}/factors/removal`: removes all factors of a user.
struct RemoveAllFactors: SupportAction {
  let action = ConsoleAction.removeAllFactors

  let pages: SupportPages

  /// The field with the ID of each factor that the page shows.
  private static let field = "enrollment"

  func question(_ target: SupportTarget) async throws -> SupportConfirmation {
    let words = RemovalText(pages: pages, target: target)
    let removal = try await words.consequences(of: nil)
    var question = SupportConfirmation(
      user: removal.account, rules: removal.rules, title: Message("Remove all factors"),
      heading: Markup(
        html: Message(
          "Remove all factors from {user}?", ["user": .name(Formatted.short(removal.account.label))]
        )),
      consequences: words.sentences(removal), button: Message("Remove all factors"),
      factsHeading: Message("Last used"),
      facts: removal.factors.map { factor in
        Fact(
          Formatted.short(factor.label, 40),
          factor.lastUsedAt.map(target.times.past) ?? AccountChips.never)
      })
    question.carried = removal.factors.map { HiddenField(name: Self.field, value: $0.id.text) }
    question.notifies = true
    return question
  }

  func perform(
    _ target: SupportTarget, _ request: ActionRequest
  ) async throws -> SupportResult {
    let done = try await pages.identity.factorRemovals.remove(
      target.scope, target.user, nil, request,
      seen: Set(target.form.all(Self.field).map { ID($0.text) }))
    return RemovalText(pages: pages, target: target).result(done)
  }

  func closing(_ denial: ActionDenial) -> SupportClosing? { RemovalText.closing(denial) }
}
