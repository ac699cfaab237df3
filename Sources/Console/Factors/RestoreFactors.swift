import Identity

/// `S/users/{uid}/removals/{removal}/undo`: restores a user's removed factors.
struct RestoreFactors: SupportAction {
  static let action = ConsoleAction.restoreFactors

  let pages: SupportPages

  func question(_ target: SupportTarget) async throws(Refusal) -> SupportConfirmation {
    let found = try await pages.restoration(target)
    let times = target.times
    let (account, apart) = (found.account, found.apart)
    var question = SupportConfirmation(
      user: account, title: "Restore factors",
      heading: HTML.heading("Restore factors removed from", account.label),
      consequences: [
        "\(Words.sentence(FactorWords.list(apart.factors))) \(apart.factors.count == 1 ? "works" : "work") again, and a code is required at the next sign-in.",
        "Make sure the user has the device. Anyone who has it can generate valid codes.",
        SessionWords.ending(
          found.sessionsEnded,
          none:
            "There are no active sessions. Sessions that ended with the removal aren’t restored."),
        pages.notice(to: account),
      ].compactMap { $0 },
      button: apart.factors.count == 1 ? "Restore factor" : "Restore factors",
      factsHeading: "Removal",
      facts: [
        Fact("Removed", times.moment(apart.removedAt)),
        Fact("Removed by", HTML.isolated(apart.removerName)),
        Fact("Restorable until", times.moment(apart.until)),
      ])
    question.isDestructive = false
    question.reasons = [.found, .mistake, .other]
    if apart.remover == target.context.signedIn.administrator.id {
      question.refusal = ActionErrorText.sentence(.ownRemoval)
      question.colleagues = try await pages.colleagues(
        for: Self.self, on: account, target,
        to: apart.factors.count == 1 ? .restoreFactor : .restoreFactors)
    }
    return question
  }

  func perform(
    _ target: SupportTarget, _ request: ActionRequest
  ) async throws(ActionDenial) -> SupportResult {
    let done = try await pages.identity.factorRemovals.undo(
      target.scope, target.user, ID(target.object), request)
    let (apart, ended) = (done.value.apart, done.value.sessionsEnded)
    return SupportResult(
      "Restored \(FactorWords.list(apart.factors)). \(SessionWords.ended(ended)) A code is required again at sign-in.",
      after: done)
  }

  func closing(_ denial: ActionDenial) -> SupportClosing? {
    guard case .factorNotFound = denial else { return nil }
    return SupportClosing(
      text:
        "There’s nothing left to restore. The factors were already restored, the undo window ended, or the user enrolled again.",
      checksUser: true)
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
