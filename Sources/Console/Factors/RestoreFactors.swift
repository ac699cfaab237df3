import Identity
import Localization
import Templating

/// `S/users/{uid}/removals/{removal}/undo`: restores a user's removed factors; `…/purge` deletes them
/// permanently before the undo window ends.
struct RestoreFactors: SupportAction {
  let pages: SupportPages
  var isPurge = false

  var action: ConsoleAction { isPurge ? .purgeFactors : .restoreFactors }

  func question(_ target: SupportTarget) async throws(Refusal) -> SupportConfirmation {
    let found = try await pages.restoration(target)
    var question =
      isPurge ? Self.purging(found) : try await restoring(found, target)
    question.factsHeading = Message("factors.removal")
    question.facts += FactorText.facts(found.hold, target.times)
    return question
  }

  private func restoring(
    _ found: Restoration, _ target: SupportTarget
  ) async throws(Refusal) -> SupportConfirmation {
    let (account, hold) = (found.account, found.hold)
    let consequences = [
      Message(
        "factors.are-restored",
        [
          "count": .number(hold.factors.count), "names": .list(FactorText.names(hold.factors)),
        ]),
      Message("factors.check-device"),
      SessionText.ending(found.sessionsEnded, none: Message("factors.sessions-not-restored")),
    ]
    var question = SupportConfirmation(
      user: account, title: Message("factors.restore-title"),
      heading: Markup(
        html: Message("factors.restore-heading", ["user": .name(Formatted.short(account.label))])),
      consequences: consequences,
      button: Message("factors.restore", ["count": .number(hold.factors.count)]))
    question.notifies = true
    question.isDestructive = false
    question.reasons = [.found, .mistake, .other]
    if hold.remover == target.context.signedIn.administrator.id {
      question.refusal = ActionErrorText.sentence(.ownRemoval)
      question.otherAdministrators = try await pages.otherAdministrators(
        for: action, on: account, target,
        to: hold.factors.count == 1 ? .restoreFactor : .restoreFactors)
    }
    return question
  }

  private static func purging(_ found: Restoration) -> SupportConfirmation {
    let factors = found.hold.factors
    var question = SupportConfirmation(
      user: found.account, title: Message("factors.purge-title"),
      heading: Markup(
        html: Message(
          "factors.purge-heading", ["user": .name(Formatted.short(found.account.label))])),
      consequences: consequences(factors),
      button: Message("factors.purge", ["count": .number(factors.count)]),
      facts: factors.map { Fact(Message("users.factor"), HTML.isolated(Formatted.short($0.label))) }
    )
    question.reasons = [.stolen, .compromised, .left, .other]
    return question
  }

  private static func consequences(_ factors: [Factor]) -> [Message] {
    let secrets = factors.count { $0.kind == .totp }
    let sentences: [Message?] = [
      Message(
        "factors.are-purged",
        ["count": .number(factors.count), "names": .list(FactorText.names(factors))]),
      secrets == 0 ? nil : Message("factors.secrets-purged", ["count": .number(secrets)]),
      Message("factors.purge-affects-nothing-else"),
    ]
    return sentences.compactMap { $0 }
  }

  func perform(
    _ target: SupportTarget, _ request: ActionRequest
  ) async throws(ActionDenial) -> SupportResult {
    let removals = pages.identity.factorRemovals
    guard !isPurge else {
      let done = try await removals.purge(
        target.scope, target.user, ID(target.object), request)
      let factors = done.value.hold.factors
      return SupportResult(
        Message(
          "factors.purged",
          ["count": .number(factors.count), "names": .list(FactorText.names(factors))]),
        after: done)
    }
    let done = try await removals.undo(target.scope, target.user, ID(target.object), request)
    let (hold, ended) = (done.value.hold, done.value.sessionsEnded)
    return SupportResult(
      Message(
        "factors.restored",
        [
          "count": .number(hold.factors.count), "names": .list(FactorText.names(hold.factors)),
          "sessions": .message(SessionText.ended(ended)),
        ]), after: done)
  }

  func closing(_ denial: ActionDenial) -> SupportClosing? {
    if case .factorNotFound = denial { gone } else { nil }
  }

  var gone: SupportClosing? {
    SupportClosing(
      text: isPurge
        ? Message("factors.nothing-to-purge") : Message("factors.nothing-to-restore"),
      checksUser: true)
  }
}

extension SupportPages {
  func restoration(_ target: SupportTarget) async throws(Refusal) -> Restoration {
    try await finding { () async throws(ActionDenial) in
      try await identity.factorRemovals.consequencesOfUndo(
        target.scope, target.user, ID(target.object))
    }
  }
}
