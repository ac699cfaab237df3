import HTTP
import Identity

/// `S/users/{uid}/factors/{enrollment}/name`: renames a factor.
///
/// The query can prefill the name, as the Undo link after a rename does.
struct RenameFactor: SupportAction {
  static let action = ConsoleAction.renameFactor

  let pages: SupportPages

  func question(_ target: SupportTarget) async throws(Refusal) -> SupportConfirmation {
    let found = try await pages.factor(target)
    var question = SupportConfirmation(
      user: found.account, title: "Rename factor", heading: HTML.heading("Rename “", found),
      consequences: [
        "The user sees the new name at sign-in, where it identifies the device.",
        "Codes and sessions aren’t affected.",
        pages.notice(to: found.account),
        found.factor.displayName == nil
          ? "The factor has no name yet. You can rename it again later. The audit log keeps every name."
          : "You can change the name back later. The audit log keeps both names.",
      ].compactMap { $0 }, button: "Rename factor", factsHeading: "This factor",
      facts: FactorWords.facts(found.factor, target.times))
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
      return Link(text: "Undo", href: form.query(of: target.address))
    }
    let (old, new) = (
      Words.isolated(done.value.factor.label), Words.isolated(done.value.name)
    )
    return SupportResult("Renamed factor “\(old)” to “\(new)”.", link: undo, after: done)
  }

  func closing(_ denial: ActionDenial) -> SupportClosing? {
    if case .nothingToDo = denial { .unchanged } else { nil }
  }
}
