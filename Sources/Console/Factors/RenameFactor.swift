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

  func question(_ target: SupportTarget) async throws -> SupportConfirmation {
    let found = try await pages.factor(target)
    let heading = Message(
      "Rename “{factor}” for {user}?",
      [
        "factor": FactorText.name(found.factor),
        "user": .name(Formatted.short(found.account.label)),
      ])
    let consequences = [
      Message("The user sees the new name at sign-in, where it identifies the device."),
      Message("Codes and sessions aren’t affected."),
      found.factor.displayName == nil
        ? Message(
          "The factor has no name yet. You can rename it later. The audit log keeps every name.")
        : Message("You can change the name back later. The audit log keeps both names."),
    ]
    var question = SupportConfirmation(
      user: found.account, title: Message("Rename factor"), heading: Markup(html: heading),
      consequences: consequences, button: Message("Rename factor"),
      factsHeading: Message("This factor"),
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
  ) async throws -> SupportResult {
    let done = try await pages.support.rename(
      target.scope, target.user, ID(target.object), to: target.form.trimmed("name"), request)
    // A factor without a previous name has no name to restore.
    let undo = done.value.factor.displayName.map { old in
      let form = ["name": old] as Form
      return Link(text: Message("Undo"), href: form.query(of: target.address))
    }
    return SupportResult(
      Message(
        "Renamed factor “{old}” to “{new}”.",
        [
          "old": FactorText.name(done.value.factor),
          "new": .name(Formatted.short(done.value.name)),
        ]), link: undo, after: done)
  }
}
