import HTTP
import Identity
import Localization

/// `S/users/{uid}/verification`: marks a user's email address as verified.
struct VerifyEmail: UserAction {
  static let action = ConsoleAction.verifyEmail
  static let name = Message("Mark email as verified")
  static let path = PoolPath1("users", nil, "verification")
  let identity: Identity

  static func label(_ offer: UserOffer) -> Message { Message("Mark email as verified…") }

  static func isOffered(_ offer: UserOffer) -> Bool {
    offer.account.email != nil && !offer.account.emailVerified
  }

  func page(_ target: PoolTarget) async throws -> FormPage {
    let account = try await identity.account(target)
    var page = FormPage(
      account, in: target.pool, title: Self.name,
      heading: Message(
        "Mark email as verified for {user}?", ["user": account.shortLabel]),
      consequences: [
        Message(
          """
          The address is treated as the user’s own: enrollment links can be sent to it, and the \
          user can enroll.
          """),
        Message(
          """
          In the note, say how you verified the address. If you can, have the application send a \
          verification email instead.
          """),
      ], button: Message("Mark email as verified"), isDestructive: false)
    if account.email == nil || account.emailVerified {
      page.refusal = ActionErrorText.sentence(.nothingToDo)
    }
    return page
  }

  func perform(_ input: Void, _ target: PoolTarget) async throws -> FormEnd {
    let done = try await identity.support.verifyEmail(target.pool, target.user, target.request)
    return FormEnd(Message("Email marked as verified."), at: target.userPage, after: done)
  }
}

extension Identity {
  /// Returns what follows a change of a user: the user's page with what was done, or the page of the
  /// change that the server of a connected project was asked for.
  fileprivate func ended(
    _ outcome: ActionOutcome<UserChangeOutcome>, _ target: PoolTarget,
    _ text: (_ sessions: Int) -> Message
  ) async -> FormEnd {
    switch outcome.value {
    case .done(let sessions): FormEnd(text(sessions), at: target.userPage, after: outcome)
    case .requested(let change): await ended(change, in: target.pool, after: outcome)
    }
  }
}

/// `S/users/{uid}/disabling`: keeps a user from signing in.
struct DisableUser: UserAction {
  static let action = ConsoleAction.disableUser
  static let name = Message("Disable user")
  static let path = PoolPath1("users", nil, "disabling")
  static let isDestructive = true
  let identity: Identity

  static func intent(_ offer: UserOffer) -> UserIntent { .signIn }

  static func label(_ offer: UserOffer) -> Message { Message("Disable user…") }

  static func isOffered(_ offer: UserOffer) -> Bool { !offer.account.disabled }

  func page(_ target: PoolTarget) async throws -> FormPage {
    let (account, sessions) = try await identity.accountWithSessions(target)
    var page = FormPage(
      account, in: target.pool, title: Self.name,
      heading: Message("Disable {user}?", ["user": account.shortLabel]),
      consequences: [
        Message("The user can’t sign in until an administrator enables the account again."),
        SessionText.ending(sessions, in: target.pool),
      ], button: Message("Disable user"))
    if account.disabled { page.refusal = ActionErrorText.sentence(.nothingToDo) }
    return page
  }

  func perform(_ input: Void, _ target: PoolTarget) async throws -> FormEnd {
    let done = try await identity.support.disable(target.pool, target.user, target.request)
    return await identity.ended(done, target) { sessions in
      Message("User disabled. {sessions}", ["sessions": .message(SessionText.ended(sessions))])
    }
  }
}

/// `S/users/{uid}/enabling`: allows a user to sign in again.
struct EnableUser: UserAction {
  static let action = ConsoleAction.enableUser
  static let name = Message("Enable user")
  static let path = PoolPath1("users", nil, "enabling")
  let identity: Identity

  static func intent(_ offer: UserOffer) -> UserIntent { .signIn }

  static func label(_ offer: UserOffer) -> Message { Message("Enable user…") }

  static func isOffered(_ offer: UserOffer) -> Bool { offer.account.disabled }

  func page(_ target: PoolTarget) async throws -> FormPage {
    let account = try await identity.account(target)
    var page = FormPage(
      account, in: target.pool, title: Self.name,
      heading: Message("Enable {user}?", ["user": account.shortLabel]),
      consequences: [
        Message("The user can sign in again with their existing password and second factors."),
        Message("The history shows who disabled the account and why."),
      ], button: Message("Enable user"), isDestructive: false)
    if !account.disabled { page.refusal = ActionErrorText.sentence(.nothingToDo) }
    return page
  }

  func perform(_ input: Void, _ target: PoolTarget) async throws -> FormEnd {
    let done = try await identity.support.enable(target.pool, target.user, target.request)
    return await identity.ended(done, target) { _ in Message("User enabled.") }
  }
}

/// `S/users/{uid}/sessions/end`: ends all sessions of a user.
struct EndSessions: UserAction {
  static let action = ConsoleAction.endSessions
  static let name = Message("End sessions")
  static let path = PoolPath1("users", nil, "sessions", "end")
  let identity: Identity

  static func label(_ offer: UserOffer) -> Message { Message("End all sessions…") }

  /// Another server doesn't say how many sessions there are.
  static func isOffered(_ offer: UserOffer) -> Bool {
    offer.records.sessionCount > 0 || offer.context.pool.kind != .hosted
  }

  func page(_ target: PoolTarget) async throws -> FormPage {
    let (account, sessions) = try await identity.accountWithSessions(target)
    var page = FormPage(
      account, in: target.pool, title: Message("End all sessions"),
      heading: Message(
        "End all sessions for {user}?", ["user": account.shortLabel]),
      consequences: [
        SessionText.ending(sessions, in: target.pool),
        Message("The user can sign in again immediately."),
      ], button: Message("End all sessions"))
    page.notifies = sessions > 0 || target.pool.kind != .hosted
    return page
  }

  func perform(_ input: Void, _ target: PoolTarget) async throws -> FormEnd {
    let done = try await identity.support.endSessions(target.pool, target.user, target.request)
    return await identity.ended(done, target) { SessionText.ended($0) }
  }
}

/// `S/users/{uid}/deletion`: deletes a user, confirmed by typing their email address or UID.
struct DeleteUser: UserAction {
  static let action = ConsoleAction.deleteUser
  static let name = Message("Delete user")
  static let path = PoolPath1("users", nil, "deletion")
  static let isDestructive = true
  let identity: Identity

  static func intent(_ offer: UserOffer) -> UserIntent { .deletion }

  static func label(_ offer: UserOffer) -> Message { Message("Delete user…") }

  func page(_ target: PoolTarget) async throws -> FormPage {
    let (account, sessions) = try await identity.accountWithSessions(target)
    var page = FormPage(
      account, in: target.pool, title: Self.name,
      heading: Message("Delete {user}?", ["user": account.shortLabel]),
      consequences: [
        Message("The account is deleted, along with its password, name, and custom claims."),
        Self.deletion(of: account.factors),
        SessionText.ending(sessions),
        Message("This can’t be undone. The account’s history stays in the audit log."),
      ].compactMap { $0 }, button: Message("Delete user"))
    page.notifies = true
    page.confirmation = .confirmation(of: account)
    return page
  }

  private static func deletion(of factors: [Factor]) -> Message {
    guard !factors.isEmpty else { return Message("The account has no second factor.") }
    let names = factors.map {
      Message("“{name}”", ["name": .name(Formatted.short($0.label))])
    }
    return Message(
      one: "{count} second factor is deleted: {factors}.",
      other: "{count} second factors are deleted: {factors}.",
      ["count": .number(factors.count), "factors": .sequence(names)])
  }

  func perform(_ input: Void, _ target: PoolTarget) async throws -> FormEnd {
    let done = try await identity.support.delete(target.pool, target.user, target.request)
    return FormEnd(
      Message("Deleted user {user}.", ["user": done.value.shortLabel]),
      at: ConsolePaths.users(target.pool), after: done)
  }

  func placed(_ error: FieldError, _ target: PoolTarget) -> FieldError {
    Field.placedConfirmation(error, target)
  }
}
