import HTTP
import Identity
import Localization
import Templating

/// `S/users/{uid}/removals/{removal}/undo`: restores a user's removed factors.
struct RestoreFactors: UserAction {
  static let action = ConsoleAction.restoreFactors
  static let name = Message("Restore factors")
  static let path = PoolPath2("users", nil, "removals", nil, "undo")
  let identity: Identity

  static func intent(_ offer: UserOffer) -> UserIntent { .found }

  static func label(_ offer: UserOffer) -> Message {
    offer.hold?.remover == offer.context.signedIn.administrator.id
      ? Message("See who can restore {factor}", ["factor": offer.name])
      : Message("Restore {factor}…", ["factor": offer.name])
  }

  private static let gone = Message(
    """
    There’s nothing left to restore. The factors were already restored, the undo period ended, or \
    the user enrolled again.
    """)

  func page(_ target: PoolTarget) async throws -> FormPage {
    let found = try await identity.removed(target, orSaying: Self.gone)
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
    var page = FormPage(
      account, in: target.pool, title: Self.name,
      heading: Message(
        "Restore factors removed from {user}?", ["user": account.shortLabel]),
      consequences: consequences,
      button: Message(
        one: "Restore factor", other: "Restore factors", ["count": .number(hold.factors.count)]),
      isDestructive: false, factsHeading: Message("Removal"),
      facts: FactorText.facts(hold, target.times))
    page.notifies = true
    if hold.remover == target.signedIn.administrator.id {
      page.refusal = ActionErrorText.sentence(.ownRemoval)
      page.otherAdministrators = try await otherAdministrators(
        account, target, to: hold.factors.count == 1 ? .restoreFactor : .restoreFactors)
    }
    return page
  }

  /// Returns who can restore the factors in place of the agent; nil if no one can because of the
  /// account's state.
  private func otherAdministrators(
    _ account: Account, _ target: PoolTarget, to purpose: OtherAdministratorsView.Purpose
  ) async throws -> OtherAdministratorsView? {
    let (administrator, pool) = (target.signedIn.administrator, target.pool)
    guard administrator.obstacle(to: Self.action, on: account, in: pool) == nil else { return nil }
    return try await .find(
      identity.administrators, for: Self.action, on: account, in: pool, of: administrator,
      to: purpose,
      link: target.origin + target.address)
  }

  func perform(_ input: Void, _ target: PoolTarget) async throws -> FormEnd {
    let done = try await identity.factorRemovals.undo(
      target.pool, target.user, ID(target.object), target.request)
    let (hold, ended) = (done.value.hold, done.value.sessionsEnded)
    return FormEnd(
      Message(
        one: "Restored the factor {names}. {sessions} A code is required again at sign-in.",
        other: "Restored the factors {names}. {sessions} A code is required again at sign-in.",
        [
          "count": .number(hold.factors.count), "names": .list(FactorText.names(hold.factors)),
          "sessions": .message(SessionText.ended(ended)),
        ]), at: target.userPage, after: done)
  }

  func denied(_ denial: ActionDenial, _ target: PoolTarget) async throws -> FieldError? {
    guard case .factorNotFound = denial else { return nil }
    throw try await identity.nothingLeft(target, Self.gone)
  }
}

/// `S/users/{uid}/removals/{removal}/purge`: deletes a user's removed factors permanently before the
/// undo window ends.
struct PurgeFactors: UserAction {
  static let action = ConsoleAction.purgeFactors
  static let name = Message("Delete removed factors permanently")
  static let path = PoolPath2("users", nil, "removals", nil, "purge")
  static let isDestructive = true
  let identity: Identity

  static func label(_ offer: UserOffer) -> Message {
    Message("Delete {factor} permanently…", ["factor": offer.name])
  }

  private static let gone = Message(
    """
    There’s nothing left to delete. The factors were already deleted or restored, the undo period \
    ended, or the user enrolled again.
    """)

  func page(_ target: PoolTarget) async throws -> FormPage {
    let found = try await identity.removed(target, orSaying: Self.gone)
    let factors = found.hold.factors
    return FormPage(
      found.account, in: target.pool, title: Message("Delete permanently"),
      heading: Message(
        "Permanently delete factors removed from {user}?",
        ["user": found.account.shortLabel]),
      consequences: Self.consequences(factors),
      button: Message(
        one: "Delete factor permanently", other: "Delete factors permanently",
        ["count": .number(factors.count)]),
      factsHeading: Message("Removal"),
      facts: factors.map { Fact(Message("Factor"), HTML.isolated(Formatted.short($0.label))) }
        + FactorText.facts(found.hold, target.times))
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

  func perform(_ input: Void, _ target: PoolTarget) async throws -> FormEnd {
    let done = try await identity.factorRemovals.purge(
      target.pool, target.user, ID(target.object), target.request)
    let factors = done.value.hold.factors
    return FormEnd(
      Message(
        one: "Permanently deleted the factor {names}.",
        other: "Permanently deleted the factors {names}.",
        ["count": .number(factors.count), "names": .list(FactorText.names(factors))]),
      at: target.userPage, after: done)
  }

  func denied(_ denial: ActionDenial, _ target: PoolTarget) async throws -> FieldError? {
    guard case .factorNotFound = denial else { return nil }
    throw try await identity.nothingLeft(target, Self.gone)
  }
}

extension Identity {
  /// Returns the removed factors of a form, whose address someone may open later, such as a
  /// colleague's link.
  fileprivate func removed(
    _ target: PoolTarget, orSaying text: Message
  ) async throws -> Restoration {
    do {
      return try await factorRemovals.consequencesOfUndo(
        target.pool, target.user, ID(target.object))
    } catch {
      guard case .notFound? = Refusal(error) else { throw error }
      throw try await nothingLeft(target, text)
    }
  }
}
