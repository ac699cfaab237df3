import HTTP
import Identity
import Localization

/// `S/users/{uid}/erasure`: erases everything that's stored about a user, confirmed by typing their
/// email address or UID.
struct EraseUser: UserAction {
  static let action = ConsoleAction.eraseUser
  static let name = Message("Erase user data")
  static let path = PoolPath1("users", nil, "erasure")
  static let isDestructive = true
  let identity: Identity

  static func intent(_ offer: UserOffer) -> UserIntent { .erasure }

  static func label(_ offer: UserOffer) -> Message { Message("Erase user data…") }

  func page(_ target: PoolTarget) async throws -> FormPage {
    let (account, sessions) = try await identity.accountWithSessions(target)
    var page = FormPage(
      account, in: target.pool, title: Self.name,
      heading: Message(
        "Erase everything about {user}?", ["user": account.shortLabel]),
      consequences: [
        Message(
          "The account is deleted, along with its factors, code attempts, requests, and messages."),
        SessionText.ending(sessions),
        Message(
          """
          Audit log entries stay without the user’s details, which are replaced by digests. This \
          takes up to a minute and can’t be undone.
          """),
        Message("Backups, downloaded files, log files, and emails that were sent aren’t changed."),
        Message("The user isn’t notified."),
        Message(
          "Your reason, ticket, and note stay in the audit log. Don’t include the user’s details."),
      ].compactMap { $0 }, button: Message("Erase user data"))
    page.confirmation = .confirmation(of: account)
    return page
  }

  func perform(_ input: Void, _ target: PoolTarget) async throws -> FormEnd {
    let done = try await identity.userData.erase(
      target.pool, target.user, by: .console(target.request))
    return FormEnd(done.value.message, at: ConsolePaths.users(target.pool), after: done)
  }

  func placed(_ error: FieldError, _ target: PoolTarget) -> FieldError {
    Field.placedConfirmation(error, target)
  }
}

extension UserData.Erasure {
  var message: Message {
    Message(
      "User data erased as erasure {number}. Audit log entries follow within a minute.",
      ["number": .text(String(number))])
  }
}

/// `S/erasure`: erases what's still stored about a deleted user, found by UID.
struct EraseDeletedUser: FormAction {
  static let action = ConsoleAction.eraseDeletedUser
  static let name = Message("Erase a deleted user")
  static let path = PoolPath0("erasure")
  let userData: UserData

  func page(_ target: PoolTarget) -> FormPage {
    let list = ConsolePaths.users(target.pool)
    return FormPage(
      title: Self.name,
      crumbs: [Link(text: Message("Users"), href: list)],
      consequences: [
        Message(
          """
          Sessions, messages, requests, and bulk removal lines that remain from the account are \
          deleted.
          """),
        Message(
          """
          Audit log entries stay without the user’s details, which are replaced by digests. This \
          takes up to a minute and can’t be undone.
          """),
        Message("Backups, downloaded files, log files, and emails that were sent aren’t changed."),
      ],
      fields: [
        .line(
          "uid", Message("UID"),
          hint: Message("Case-sensitive. The user’s audit log entries show it."), Field.Look.exact)
      ], button: Message("Erase user data"), isDestructive: true, isFinal: true, back: list)
  }

  func input(_ target: PoolTarget) throws(InvalidInput) -> String {
    let typed = target.form.trimmed("uid")
    guard !typed.isEmpty else { throw .field("uid", Message("Enter the UID.")) }
    return typed
  }

  func perform(_ uid: String, _ target: PoolTarget) async throws -> FormEnd {
    let outcome = try await userData.eraseDeleted(target.pool, ID(uid), target.request)
    return FormEnd(outcome.value.message, at: ConsolePaths.users(target.pool), after: outcome)
  }

  func denied(_ denial: ActionDenial, _ target: PoolTarget) -> FieldError? {
    switch denial {
    case .accountNotFound:
      FieldError(field: "uid", text: Message("Nothing is stored about a user with this UID."))
    case .nothingToDo:
      FieldError(
        field: "uid",
        text: Message("This user isn’t deleted. Erase the data on the user’s page."))
    default: nil
    }
  }
}
