import HTTP
import Identity
import Localization
import Templating

/// `S/users/{uid}/factors/{enrollment}/name`: renames a factor.
///
/// The query can prefill the name, as the Undo link after a rename does.
struct RenameFactor: SupportAction {
  let action = ConsoleAction.renameFactor

  let pages: SupportPages

  func question(_ target: SupportTarget) async throws(Refusal) -> SupportConfirmation {
    let found = try await pages.factor(target)
    let heading = Message(
      "factors.rename-heading",
      [
        "factor": FactorText.name(found.factor),
        "user": .name(Formatted.short(found.account.label)),
      ])
    let consequences = [
      Message("factors.user-sees-name"),
      Message("factors.rename-affects-nothing-else"),
      found.factor.displayName == nil
        ? Message("factors.first-name-can-change") : Message("factors.name-can-change-back"),
    ]
    var question = SupportConfirmation(
      user: found.account, title: Message("factors.rename"), heading: Markup(html: heading),
      consequences: consequences, button: Message("factors.rename"),
      factsHeading: Message("factors.this-factor"),
      facts: FactorText.facts(found.factor, target.times))
    question.notifies = true
    question.isDestructive = false
    question.reasons = [.asked, .replaced, .mistake, .other]
    question.name = NameField(value: name(target) ?? found.factor.displayName ?? "")
    return question
  }

  /// The name as entered, even if it's empty, or as the query prefills it; nil for neither.
  private func name(_ target: SupportTarget) -> String? {
    let signedIn = target.context.signedIn
    guard signedIn.request.isReading else { return target.form.trimmed("name") }
    let asked = String(signedIn.query.trimmed("name").prefix(Factor.longestName))
    return asked.isEmpty ? nil : asked
  }

  func perform(
    _ target: SupportTarget, _ request: ActionRequest
  ) async throws(ActionDenial) -> SupportResult {
    let done = try await pages.support.rename(
      target.scope, target.user, ID(target.object), to: target.form.trimmed("name"), request)
    // A factor without a previous name has no name to restore.
    let undo = done.value.factor.displayName.map { old in
      let form = ["name": old] as Form
      return Link(text: Message("factors.undo"), href: form.query(of: target.address))
    }
    return SupportResult(
      Message(
        "factors.renamed",
        [
          "old": FactorText.name(done.value.factor),
          "new": .name(Formatted.short(done.value.name)),
        ]), link: undo, after: done)
  }
}
