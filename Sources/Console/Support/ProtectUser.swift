import HTTP
import Identity
import Localization
import MailText

/// `S/users/{uid}/protection`: restricts actions on a user to owners, or lifts the restriction.
struct ProtectUser: UserAction {
  static let action = ConsoleAction.protectUser
  static let name = Message("Change account protection")
  static let path = PoolPath1("users", nil, "protection")
  let identity: Identity

  static func label(_ offer: UserOffer) -> Message {
    offer.account.isProtected ? Message("Remove protection…") : Message("Protect…")
  }

  /// The field with the state that the page's button leads to, so that a form that is sent twice, or
  /// after a colleague's, changes nothing.
  private static let field = "protected"

  func page(_ target: PoolTarget) async throws -> FormPage {
    let account = try await identity.account(target)
    let isProtecting = wanted(target.form) ?? !account.isProtected
    var page = isProtecting ? protecting(account, target) : lifting(account, target)
    page.hidden = [HiddenField(name: Self.field, value: String(isProtecting))]
    if account.isProtected == isProtecting {
      page.refusal = ActionErrorText.sentence(.nothingToDo)
    }
    return page
  }

  private func wanted(_ form: Form) -> Bool? {
    Bool(form.trimmed(Self.field))
  }

  private func protecting(_ account: Account, _ target: PoolTarget) -> FormPage {
    FormPage(
      account, in: target.pool, title: Message("Protect account"),
      heading: Message("Protect {user}?", ["user": account.shortLabel]),
      consequences: [
        Message(
          """
          Actions on this account require the {roles} role. Other administrators can still view \
          it.
          """, ["roles": Permission.protectUsers.roleNames]),
        Message("Use protection for accounts with broad access, such as those of executives."),
      ], button: Message("Protect account"), isDestructive: false)
  }

  private func lifting(_ account: Account, _ target: PoolTarget) -> FormPage {
    FormPage(
      account, in: target.pool, title: Message("Remove protection"),
      heading: Message(
        "Remove protection from {user}?", ["user": account.shortLabel]),
      consequences: [
        Message("Every administrator whose role allows it can act on this account again.")
      ],
      button: Message("Remove protection"))
  }

  func perform(_ input: Void, _ target: PoolTarget) async throws -> FormEnd {
    // A form without the field never removes a protection.
    let isProtecting = wanted(target.form) ?? true
    let done = try await identity.support.protect(
      target.pool, target.user, isProtecting, target.request)
    return FormEnd(
      isProtecting
        ? Message(
          "The account is protected. Actions on it require the {roles} role.",
          ["roles": Permission.protectUsers.roleNames])
        : Message("Protection removed."),
      at: target.userPage, after: done)
  }
}

/// `S/users/{uid}/allowed-changes`: unlocks a user's account after a reported change.
struct AllowChanges: FormAction {
  static let action = ConsoleAction.allowChanges
  static let name = Message("Unlock changes")
  static let path = PoolPath1("users", nil, "allowed-changes")
  let identity: Identity

  func page(_ target: PoolTarget) async throws -> FormPage {
    let account = try await identity.account(target)
    // Without a report, there's a refusal in place of the consequences.
    let since = account.lock.map { target.times.value($0.since) } ?? .text("")
    var page = FormPage(
      account, in: target.pool, title: Self.name,
      heading: Message(
        "Unlock {user}?", ["user": account.shortLabel]),
      consequences: [
        Message(
          """
          On {time}, the user reported a change that they didn’t make. The account has been locked \
          since then.
          """, ["time": since]),
        (account.lock?.signIn ?? .open).sentence,
        Message(
          """
          Find out what happened first. The history shows who changed what. Contact the user \
          through a channel you trust.
          """),
        Message(
          """
          After that, anyone with the present password and second factors can sign in, and change \
          them.
          """),
      ], button: Message("Unlock changes"))
    page.notifies = target.pool.kind == .hosted
    if account.lock == nil {
      page.refusal = ActionErrorText.sentence(.nothingToDo)
    }
    return page
  }

  func perform(_ input: Void, _ target: PoolTarget) async throws -> FormEnd {
    let done = try await identity.support.allowChanges(target.pool, target.user, target.request)
    return FormEnd(Message("Account unlocked."), at: target.userPage, after: done)
  }
}

/// `S/users/{uid}/unlock`: lets a user try codes again after too many incorrect ones.
struct UnlockCodes: UserAction {
  static let action = ConsoleAction.unlockCodes
  static let name = Message("Unlock codes")
  static let path = PoolPath1("users", nil, "unlock")
  let identity: Identity

  static func intent(_ offer: UserOffer) -> UserIntent { .rejected }

  static func label(_ offer: UserOffer) -> Message { Message("Unlock codes…") }

  static func isOffered(_ offer: UserOffer) -> Bool {
    offer.account.codeLock(at: offer.now) != .open
  }

  func page(_ target: PoolTarget) async throws -> FormPage {
    let account = try await identity.account(target)
    var page = FormPage(
      account, in: target.pool, title: Self.name,
      heading: Message("Unlock codes for {user}?", ["user": account.shortLabel]),
      consequences: [
        Message("Codes work again right away."),
        Message(
          one: "Ask whether the attempt was theirs: someone may be guessing.",
          other: "Ask whether the {count} attempts were theirs: someone may be guessing.",
          ["count": .number(account.wrongCodes)]),
      ], button: Message("Unlock codes"), isDestructive: false)
    page.notifies = true
    if account.wrongCodes == 0, account.codesBlockedUntil == nil {
      page.refusal = ActionErrorText.sentence(.nothingToDo)
    }
    return page
  }

  func perform(_ input: Void, _ target: PoolTarget) async throws -> FormEnd {
    let done = try await identity.support.unlock(target.pool, target.user, target.request)
    return FormEnd(Message("Codes unlocked."), at: target.userPage, after: done)
  }
}
