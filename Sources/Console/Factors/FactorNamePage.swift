import HTTP
import Identity
import Templating

/// `S/users/{uid}/factors/{enrollment}/name`: renames a factor.
struct FactorNamePage: Sendable {
  let support: Support
  let pages: SupportPages

  /// Shows the form; the query can prefill the name, as the Undo link after a rename does.
  func ask(
    _ context: ScopeContext, _ uid: String, _ enrollment: String
  ) async throws(Refusal) -> Response {
    let asked = String(context.signedIn.query.trimmed("name").prefix(Factor.longestName))
    return try await page(context, uid, enrollment, name: asked.isEmpty ? nil : asked)
  }

  func rename(
    _ context: ScopeContext, _ uid: String, _ enrollment: String
  ) async throws(Refusal) -> Response {
    let answers = ActionInput(context.signedIn.form)
    let name = context.signedIn.form.trimmed("name")
    let outcome: ActionOutcome<Renaming>
    do {
      outcome = try await support.rename(
        context.scope, ID(uid), ID(enrollment), to: name, answers.request(context.signedIn))
    } catch {
      if case .nothingToDo = error { return pages.leaveUnchanged(uid, context) }
      let faults = try ActionErrorText.faults(error, context.signedIn.times)
      return try await page(context, uid, enrollment, name: name, answers, errors: faults)
    }
    let done = outcome.value
    // A factor without a previous name has no name to restore.
    let undo = done.factor.displayName.map { old in
      let form = ["name": old] as Form
      return Link(
        text: "Undo",
        href: form.query(of: ConsolePaths.factorName(context.scope, uid, enrollment)))
    }
    let (old, new) = (Words.isolated(done.factor.label), Words.isolated(done.name))
    return pages.leave(
      Flash(text: "Renamed factor “\(old)” to “\(new)”.", link: undo), done.account, context,
      renewed: outcome.renewed)
  }

  private func page(
    _ context: ScopeContext, _ uid: String, _ enrollment: String, name: String?,
    _ answers: ActionInput = ActionInput(), errors: [FieldError] = []
  ) async throws(Refusal) -> Response {
    let found: Suspension
    do {
      found = try await support.factor(context.scope, ID(uid), ID(enrollment))
    } catch {
      guard case .unavailable = error else { throw .notFound }
      throw .unavailable(error)
    }
    let times = context.signedIn.times
    var heading = HTML()
    heading.raw("Rename “")
    heading.name(found.factor.label)
    heading.raw("” of ")
    heading.name(found.account.label)
    heading.raw("?")
    var question = SupportConfirmation(
      title: "Rename factor", heading: heading.markup,
      consequences: [
        "The user sees the new name at sign-in, where it identifies the device.",
        "Codes and sessions aren’t affected.",
        pages.notice(to: found.account),
        found.factor.displayName == nil
          ? "The factor has no name yet. You can rename it again later. The audit log keeps every name."
          : "You can change the name back later. The audit log keeps both names.",
      ].compactMap { $0 }, button: "Rename factor", keep: "Cancel",
      action: ConsolePaths.factorName(context.scope, uid, enrollment),
      factsHeading: "This factor", facts: FactorWords.facts(found.factor, times))
    question.isDestructive = false
    question.reasons = [.asked, .replaced, .mistake, .other]
    question.name = NameField(value: name ?? found.factor.displayName ?? "")
    return try await pages.ask(question, about: found.account, context, answers, errors: errors)
  }
}
