import Identity
import Localization
import Templating

/// `S/users/{uid}/removals/{removal}/undo`: restores a user's removed factors; `…/purge` deletes them
/// permanently before the undo window ends.
struct RestoreFactors: SupportAction {
  let pages: SupportPages
  var isPurge = false

  var action: ConsoleAction { isPurge ? .purgeFactors : .restoreFactors }

  func question(_ target: SupportTarget) async throws -> SupportConfirmation {
    let found = try await pages.restoration(target)
    var question =
      isPurge ? Self.purging(found) : try await restoring(found, target)
    question.factsHeading = Message("Removal")
    question.facts += FactorText.facts(found.hold, target.times)
    return question
  }

  private func restoring(
    _ found: Restoration, _ target: SupportTarget
  ) async throws -> SupportConfirmation {
    let (account, hold) = (found.account, found.hold)
    let consequences = [
      Message(
        one: "The factor {names} works again, and a code is required at the next sign-in.",
        other: "The factors {names} work again, and a code is required at the next sign-in.",
        [
          "count": .number(hold.factors.count), "names": .list(FactorText.names(hold.factors)),
        ]),
      Message("Make sure the user has the device. Anyone who has it can generate valid codes."),
      SessionText.ending(
        found.sessionsEnded,
        none: Message(
          "The user has no active sessions. Sessions that ended with the removal aren’t restored.")),
    ]
    var question = SupportConfirmation(
      user: account, title: Message("Restore factors"),
      heading: Markup(
        html: Message(
          "Restore factors removed from {user}?", ["user": .name(Formatted.short(account.label))])),
      consequences: consequences,
      button: Message(
        one: "Restore factor", other: "Restore factors", ["count": .number(hold.factors.count)]))
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
      user: found.account, title: Message("Delete permanently"),
      heading: Markup(
        html: Message(
          "Permanently delete factors removed from {user}?",
          ["user": .name(Formatted.short(found.account.label))])),
      consequences: consequences(factors),
      button: Message(
        one: "Delete factor permanently", other: "Delete factors permanently",
        ["count": .number(factors.count)]),
      facts: factors.map { Fact(Message("Factor"), HTML.isolated(Formatted.short($0.label))) }
    )
    question.reasons = [.stolen, .compromised, .left, .other]
    return question
  }

  private static func consequences(_ factors: [Factor]) -> [Message] {
    let secrets = factors.count { $0.kind == .totp }
    let sentences: [Message?] = [
      Message(
        one: "The factor {names} is deleted permanently and can’t be restored.",
        other: "The factors {names} are deleted permanently and can’t be restored.",
        ["count": .number(factors.count), "names": .list(FactorText.names(factors))]),
      secrets == 0
        ? nil
        : Message(
          one: """
            Its encrypted secret is overwritten in the database immediately. Existing backups still \
            contain it, encrypted.
            """,
          other: """
            Their encrypted secrets are overwritten in the database immediately. Existing backups \
            still contain them, encrypted.
            """, ["count": .number(secrets)]),
      Message("Sessions and other factors aren’t affected. The user isn’t notified."),
    ]
    return sentences.compactMap { $0 }
  }

  func perform(
    _ target: SupportTarget, _ request: ActionRequest
  ) async throws -> SupportResult {
    let removals = pages.identity.factorRemovals
    guard !isPurge else {
      let done = try await removals.purge(
        target.scope, target.user, ID(target.object), request)
      let factors = done.value.hold.factors
      return SupportResult(
        Message(
          one: "Permanently deleted the factor {names}.",
          other: "Permanently deleted the factors {names}.",
          ["count": .number(factors.count), "names": .list(FactorText.names(factors))]),
        after: done)
    }
    let done = try await removals.undo(target.scope, target.user, ID(target.object), request)
    let (hold, ended) = (done.value.hold, done.value.sessionsEnded)
    return SupportResult(
      Message(
        one: "Restored the factor {names}. {sessions} A code is required again at sign-in.",
        other: "Restored the factors {names}. {sessions} A code is required again at sign-in.",
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
        ? Message(
          """
          There’s nothing left to delete. The factors were already deleted or restored, the undo \
          period ended, or the user enrolled again.
          """)
        : Message(
          """
          There’s nothing left to restore. The factors were already restored, the undo period \
          ended, or the user enrolled again.
          """),
      checksUser: true)
  }
}

extension SupportPages {
  func restoration(_ target: SupportTarget) async throws -> Restoration {
    try await identity.factorRemovals.consequencesOfUndo(
      target.scope, target.user, ID(target.object))
  }
}
