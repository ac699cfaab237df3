import HTTP
import Identity
import Templating

/// `S/users/{uid}/factors/{enrollment}/removal` and `S/users/{uid}/factors/removal`: removes one
/// factor or all factors of a user.
struct RemovalPage: Sendable {
  let factorRemovals: FactorRemovals
  let approvals: Approvals
  let pages: SupportPages

  func ask(
    _ context: ScopeContext, _ uid: String, _ enrollment: String
  ) async throws(Refusal) -> Response {
    try await page(context, uid, ID(enrollment))
  }

  func askForAll(_ context: ScopeContext, _ uid: String) async throws(Refusal) -> Response {
    try await page(context, uid, nil)
  }

  func remove(
    _ context: ScopeContext, _ uid: String, _ enrollment: String
  ) async throws(Refusal) -> Response {
    try await remove(context, uid, ID(enrollment))
  }

  func removeAll(_ context: ScopeContext, _ uid: String) async throws(Refusal) -> Response {
    try await remove(context, uid, nil)
  }

  private func remove(
    _ context: ScopeContext, _ uid: String, _ factor: ID<Factor>?
  ) async throws(Refusal) -> Response {
    let answers = ActionInput(context.signedIn.form)
    let outcome: ActionOutcome<RemovalOutcome>
    do {
      outcome = try await factorRemovals.remove(
        context.scope, ID(uid), factor, answers.request(context.signedIn))
    } catch {
      if case .factorNotFound = error {
        return try await pages.leaveGone("Already removed. No changes made.", uid, context)
      }
      let faults = try ActionErrorText.faults(error, context.signedIn.times)
      return try await page(context, uid, factor, answers, errors: faults)
    }
    let removal: Removal
    switch outcome.value {
    case .done(let done): removal = done
    case .waits(let wish, let until):
      let moment = context.signedIn.times.words(until)
      return pages.leave(
        Flash(
          text: "Nothing is removed yet. A second administrator must approve by \(moment).",
          link: Link(text: "Approvals", href: ConsolePaths.approvals())),
        wish.account, context, renewed: outcome.renewed)
    }
    let undo = removal.apart.map {
      Link(
        text: "Ask another administrator",
        href: ConsolePaths.undo(context.scope, uid, $0.id.text))
    }
    return pages.leave(
      Flash(text: Self.words(removal, context.signedIn.times), link: undo), removal.account,
      context, renewed: outcome.renewed)
  }

  /// Returns the confirmation of a removal.
  private static func words(_ removal: Removal, _ times: Times) -> String {
    let what =
      removal.isOfAll
      ? Words.count(removal.factors.count, "factor", "factors")
      : "the factor “\(Words.isolated(removal.factors[0].label))”"
    let next =
      removal.factorsLeft == 0
      ? "Until they enroll again, the user can sign in with a first factor only."
      : "\(Words.count(removal.factorsLeft, "other factor remains", "other factors remain"))."
    let undo = removal.apart.map {
      " Another administrator can undo it until \(times.words($0.until))."
    }
    return "Removed \(what). \(SessionWords.ended(removal.sessionsEnded)) \(next)\(undo ?? "")"
  }

  private func page(
    _ context: ScopeContext, _ uid: String, _ factor: ID<Factor>?,
    _ answers: ActionInput = ActionInput(), errors: [FieldError] = []
  ) async throws(Refusal) -> Response {
    let removal: Removal
    do {
      removal = try await factorRemovals.consequences(context.scope, ID(uid), factor)
    } catch {
      guard case .unavailable = error else { throw .notFound }
      throw .unavailable(error)
    }
    var question = question(removal, in: context.scope, context.signedIn.times)
    let (wish, scope) = (removal, context.scope)
    let need = try await refusing { try await approvals.need(for: wish, in: scope) }
    if let need { question.consequences.insert(ApprovalWords.need(need), at: 0) }
    return try await pages.ask(
      question, about: removal.account, context, answers, errors: errors)
  }

  private func question(
    _ removal: Removal, in scope: Scope, _ times: Times
  ) -> SupportConfirmation {
    let uid = removal.account.id.text
    guard !removal.isOfAll else {
      return SupportConfirmation(
        title: "Remove all factors",
        heading: HTML.heading("Remove all factors from", removal.account.label),
        consequences: consequences(removal), button: "Remove all factors", keep: "Cancel",
        action: ConsolePaths.removalOfAll(scope, uid), factsHeading: "Last used",
        facts: removal.factors.map { factor in
          Fact(
            Words.short(factor.label, 40),
            factor.lastUsedAt.map(times.past) ?? AccountChips.never)
        })
    }
    let factor = removal.factors[0]
    var heading = HTML()
    heading.raw("Remove “")
    heading.name(factor.label)
    heading.raw("” from ")
    heading.name(removal.account.label)
    heading.raw("?")
    return SupportConfirmation(
      title: "Remove factor", heading: heading.markup, consequences: consequences(removal),
      button: "Remove factor", keep: "Cancel",
      action: ConsolePaths.removal(scope, uid, factor.id.text), factsHeading: "This factor",
      facts: FactorWords.facts(factor, times))
  }

  private func consequences(_ removal: Removal) -> [String] {
    let factors = removal.factors
    let names = factors.map { "“\(Words.isolated($0.label))”" }.joined(separator: ", ")
    return [
      removal.isOfAll
        ? "\(Words.count(factors.count, "factor is", "factors are")) removed: \(names)." : nil,
      SessionWords.ending(
        removal.sessionsEnded, none: "This user has no active sessions."),
      removal.factorsLeft == 0
        ? "Until they enroll again, the user can sign in with a first factor only."
        : "\(Words.count(removal.factorsLeft, "other factor remains and is", "other factors remain and are")) required at sign-in.",
      removal.endsTemporaryCode ? "The user’s temporary code is revoked." : nil,
      removal.recoveryCodesEnded == 0
        ? nil
        : "\(Words.count(removal.recoveryCodesEnded, "recovery code is", "recovery codes are")) revoked. Undoing the removal doesn’t restore \(removal.recoveryCodesEnded == 1 ? "it" : "them").",
      pages.notice(to: removal.account),
      removal.undoHours == 0
        ? "This can’t be undone. To use a second factor again, the user must enroll again."
        : "Another administrator can undo the removal for \(Words.hours(removal.undoHours)), or until the user enrolls again. Removals for “Stolen device” or “Compromised” can’t be undone.",
    ].compactMap { $0 }
  }
}
