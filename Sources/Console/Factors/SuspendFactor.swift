import HTTP
import Identity
import Localization

/// `S/users/{uid}/factors/{enrollment}/suspension`: suspends a factor until a date.
struct SuspendFactor: UserAction {
  static let action = ConsoleAction.suspendFactor
  static let name = Message("Suspend factor")
  static let path = PoolPath2("users", nil, "factors", nil, "suspension")
  let identity: Identity

  static func intent(_ offer: UserOffer) -> UserIntent { .atHome }

  static func label(_ offer: UserOffer) -> Message {
    Message("Suspend {factor}…", ["factor": offer.name])
  }

  static func isOffered(_ offer: UserOffer) -> Bool {
    offer.factor?.isSuspended(at: offer.now) == false
  }

  func page(_ target: PoolTarget) async throws -> FormPage {
    let found = try await identity.factor(target)
    let heading = Message(
      "Suspend “{factor}” for {user}?",
      [
        "factor": FactorText.name(found.factor),
        "user": found.account.shortLabel,
      ])
    let settings = try await identity.support.settings(target.pool)
    let now = identity.clock.now()
    let isDue = found.factorsDue.contains { $0.id == found.factor.id }
    let others = found.factorsDue.count - (isDue ? 1 : 0)
    let consequences: [Message?] = [
      isDue
        ? Message(
          """
          A second factor is still required at sign-in. During the suspension, codes from this \
          factor are rejected as incorrect but don’t count as incorrect attempts.
          """) : Self.isOff(found.factor.kind),
      others > 0
        ? Message(
          one: "{count} other factor still works.",
          other: "{count} other factors still work.", ["count": .number(others)])
        : isDue ? Self.onlyOne(found.factor, settings) : nil,
      Message(
        """
        Active sessions continue. If someone else may have the device, end them on the user’s \
        page.
        """),
      Message("The suspension ends automatically at the time you choose. You can end it early."),
    ]
    var page = FormPage(
      found.account, in: target.pool, title: Self.name, heading: heading,
      consequences: consequences.compactMap { $0 }, button: Message("Suspend factor"),
      factsHeading: Message("This factor"), facts: FactorText.facts(found.factor, target.times))
    page.notifies = true
    if isDue, settings.temporaryCodes || settings.recoveryCodes {
      page.caution = Notice(lockOf: found.account, at: now, in: target.place)
    }
    page.fields = try end(target).fields
    return page
  }

  func perform(_ input: Void, _ target: PoolTarget) async throws -> FormEnd {
    let end = try end(target)
    let done = try await identity.support.suspend(
      target.pool, target.user, ID(target.object), until: end.moment, target.request)
    let until = end.moment.map { target.times.endValue($0) } ?? .text("")
    let undo = Link(
      text: Message("End now"),
      href: ResumeFactor.path(target.pool, target.uid, target.object))
    return FormEnd(
      Message(
        "Suspended factor “{name}” through {until}.",
        ["name": FactorText.name(done.value.factor), "until": until]),
      link: undo, at: target.userPage, after: done)
  }

  func placed(_ error: FieldError, _ target: PoolTarget) -> FieldError {
    EndFields.placed(error, target)
  }

  private func end(_ target: PoolTarget) throws -> EndFields {
    try EndFields(target, at: identity.clock.now())
  }

  /// Returns that a factor's codes aren't required, because its kind is off in the pool.
  private static func isOff(_ kind: Factor.Kind) -> Message {
    switch kind {
    case .totp:
      Message(
        """
        TOTP is off in this user pool, so sign-in doesn’t ask for codes from this factor. If TOTP \
        is turned on during the suspension, codes from this factor are rejected.
        """)
    case .phone:
      Message(
        """
        SMS is off in this user pool, so sign-in doesn’t ask for codes from this factor. If SMS is \
        turned on during the suspension, codes from this factor are rejected.
        """)
    }
  }

  /// Returns the consequence of suspending a user's only required factor.
  private static func onlyOne(_ factor: Factor, _ settings: SupportRules) -> Message {
    let isTOTP = factor.kind == .totp
    return switch (isTOTP && settings.temporaryCodes, isTOTP && settings.recoveryCodes) {
    case (true, true):
      Message(
        """
        This is the only factor that sign-in asks for. During the suspension, the user can sign in \
        only with a temporary code or a recovery code.
        """)
    case (true, false):
      Message(
        """
        This is the only factor that sign-in asks for. During the suspension, the user can sign in \
        only with a temporary code.
        """)
    case (false, true):
      Message(
        """
        This is the only factor that sign-in asks for. During the suspension, the user can sign in \
        only with a recovery code.
        """)
    case (false, false):
      Message(
        """
        This is the only factor that sign-in asks for. During the suspension, the user can’t sign \
        in.
        """)
    }
  }
}

/// `S/users/{uid}/factors/{enrollment}/suspension/end`: ends the suspension of a factor early.
struct ResumeFactor: UserAction {
  static let action = ConsoleAction.resumeFactor
  static let name = Message("End suspension")
  static let path = PoolPath2("users", nil, "factors", nil, "suspension", "end")
  let identity: Identity

  static func intent(_ offer: UserOffer) -> UserIntent { .atHome }

  static func label(_ offer: UserOffer) -> Message {
    Message("End suspension of {factor}…", ["factor": offer.name])
  }

  static func isOffered(_ offer: UserOffer) -> Bool {
    offer.factor?.isSuspended(at: offer.now) == true
  }

  func page(_ target: PoolTarget) async throws -> FormPage {
    let found = try await identity.factor(target)
    let heading = Message(
      "End the suspension of “{factor}” for {user}?",
      [
        "factor": FactorText.name(found.factor),
        "user": found.account.shortLabel,
      ])
    let consequences = [
      Message("Codes from this factor are accepted again immediately."),
      Message("Make sure the user has the device. Anyone who has it can generate valid codes."),
    ]
    var page = FormPage(
      found.account, in: target.pool, title: Self.name, heading: heading,
      consequences: consequences, button: Message("End suspension"), isDestructive: false,
      factsHeading: Message("This factor"), facts: FactorText.facts(found.factor, target.times))
    page.notifies = true
    if !found.factor.isSuspended(at: identity.clock.now()) {
      page.refusal = ActionErrorText.sentence(.nothingToDo)
    }
    return page
  }

  func perform(_ input: Void, _ target: PoolTarget) async throws -> FormEnd {
    let done = try await identity.support.resume(
      target.pool, target.user, ID(target.object), target.request)
    return FormEnd(
      Message(
        "Suspension ended. Codes from the factor “{name}” are accepted again.",
        ["name": FactorText.name(done.value.factor)]), at: target.userPage, after: done)
  }
}
