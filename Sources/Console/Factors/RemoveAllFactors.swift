import HTTP
import Identity
import Localization
import Templating
import Text

/// `S/users/{uid}/factors/removal`: removes all factors of a user.
struct RemoveAllFactors: FormAction {
  let action = ConsoleAction.removeAllFactors
  let identity: Identity

  /// The field with the ID of each factor that the page shows.
  private static let field = "enrollment"

  func page(_ target: PoolTarget) async throws -> FormPage {
    let words = RemovalText(identity: identity, target: target)
    let removal = try await words.consequences(of: nil)
    var page = FormPage(
      removal.account, in: target.pool, title: Message("Remove all factors"),
      heading: Message(
        "Remove all factors from {user}?", ["user": removal.account.shortLabel]
      ),
      consequences: words.sentences(removal), button: Message("Remove all factors"),
      factsHeading: Message("Last used"),
      facts: removal.factors.map { factor in
        Fact(
          Formatted.short(factor.label, 40),
          factor.lastUsedAt.map(target.times.past) ?? AccountChips.never)
      })
    page.hidden = removal.factors.map { HiddenField(name: Self.field, value: $0.id.text) }
    page.rules = removal.rules
    page.notifies = true
    return page
  }

  func perform(
    _ input: Void, _ target: PoolTarget, _ request: ActionRequest
  ) async throws -> FormEnd {
    let done = try await identity.factorRemovals.remove(
      target.pool, target.user, nil, request,
      seen: Set(target.form.all(Self.field).map { ID($0.text) }))
    return RemovalText(identity: identity, target: target).result(done)
  }

  func denied(_ denial: ActionDenial, _ target: PoolTarget) async throws -> FieldError? {
    try await RemovalText(identity: identity, target: target).denied(denial)
  }
}
