import Identity
import Localization
import Templating

/// `S/users/{uid}/removals/{removal}/undo`: restores a user's removed factors.
struct RestoreFactors: SupportAction {
  static let action = ConsoleAction.restoreFactors

  let pages: SupportPages

  func question(_ target: SupportTarget) async throws(Refusal) -> SupportConfirmation {
    let found = try await pages.restoration(target)
    let (account, hold) = (found.account, found.hold)
    let consequences: [Message?] = [
      Message(
        "factors.are-restored",
        [
          "count": .number(hold.factors.count), "names": .list(FactorWords.names(hold.factors)),
        ]),
      Message("factors.check-device"),
      SessionWords.ending(found.sessionsEnded, none: Message("factors.sessions-not-restored")),
      pages.notice(to: account),
    ]
    var question = SupportConfirmation(
      user: account, title: Message("factors.restore-title"),
      heading: Markup(
        html: Message("factors.restore-heading", ["user": .name(Words.short(account.label))])),
      consequences: consequences.compactMap { $0 },
      button: Message("factors.restore", ["count": .number(hold.factors.count)]),
      factsHeading: Message("factors.removal"), facts: FactorWords.facts(hold, target.times))
    question.isDestructive = false
    question.reasons = [.found, .mistake, .other]
    if hold.remover == target.context.signedIn.administrator.id {
      question.refusal = ActionErrorText.sentence(.ownRemoval)
      question.otherAdministrators = try await pages.otherAdministrators(
        for: Self.self, on: account, target,
        to: hold.factors.count == 1 ? .restoreFactor : .restoreFactors)
    }
    return question
  }

  func perform(
    _ target: SupportTarget, _ request: ActionRequest
  ) async throws(ActionDenial) -> SupportResult {
    let done = try await pages.identity.factorRemovals.undo(
      target.scope, target.user, ID(target.object), request)
    let (hold, ended) = (done.value.hold, done.value.sessionsEnded)
    return SupportResult(
      Message(
        "factors.restored",
        [
          "count": .number(hold.factors.count), "names": .list(FactorWords.names(hold.factors)),
          "sessions": .message(SessionWords.ended(ended)),
        ]), after: done)
  }

  func closing(_ denial: ActionDenial) -> SupportClosing? {
    guard case .factorNotFound = denial else { return nil }
    return SupportClosing(text: Message("factors.nothing-to-restore"), checksUser: true)
  }
}

extension SupportPages {
  /// Returns a removal that can still be undone.
  ///
  /// - Throws: ``Refusal/notFound`` if there's no such user or removal.
  func restoration(_ target: SupportTarget) async throws(Refusal) -> Restoration {
    try await finding { () async throws(ActionDenial) in
      try await identity.factorRemovals.consequencesOfUndo(
        target.scope, target.user, ID(target.object))
    }
  }
}
